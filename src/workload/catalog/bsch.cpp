// BSch: Black-Scholes option pricing (AMD APP SDK; in the studies of UMH).
// Streaming: an item loads four random numbers and stores four call and four put prices.
#include <cmath>

#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 16;  // of a workgroup
constexpr std::uint64_t kVector = 16;

/// The sample's own rule: a fourth of the samples, as vectors, on a square of which the side is a multiple of 256.
std::uint64_t grid_width(std::uint64_t samples) {
  const std::uint64_t vectors = std::max<std::uint64_t>(samples / 4 / 256 * 256, 256);
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(vectors)));
  return std::max<std::uint64_t>(side / 256 * 256, 256);
}

class BlackScholes final : public Workload {
 public:
  explicit BlackScholes(const Parameters& parameters)
      : width_(grid_width(parameters["samples"])),
        rand_(allocate("rand", kVector * width_ * width_, Placement::Interleave, kOnlyRead)),
        call_(allocate("call", kVector * width_ * width_, Placement::Interleave, kOverwritten)),
        put_(allocate("put", kVector * width_ * width_, Placement::Interleave, kOverwritten)) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch({.kernel = "black_scholes",
                .groups_x = static_cast<std::uint32_t>(width_ / kSide),
                .groups_y = static_cast<std::uint32_t>(width_ / kSide),
                .size_x = kSide,
                .size_y = kSide,
                .split = Split::RoundRobin});
    if (!host) return;
    add_host_read(call_);
    add_host_read(put_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return price(wave.global_y(0) * width_ + wave.global_x(0));
  }

 private:
  Stream price(std::uint64_t first) const {
    const auto vector = [&](VirtAddr array, unsigned lane) {
      return array + kVector * (first + lane / kSide * width_ + lane % kSide);
    };
    const auto random = load(kVector, [&](unsigned lane) { return vector(rand_, lane); });
    const auto call = store(kVector, [&](unsigned lane) { return vector(call_, lane); });
    const auto put = store(kVector, [&](unsigned lane) { return vector(put_, lane); });

    co_yield salu(12);
    co_yield random;
    co_yield wait(0);
    co_yield valu(450);
    co_yield call;
    co_yield valu(350);
    co_yield put;
    co_yield salu(1);
  }

  std::uint64_t width_;
  VirtAddr rand_, call_, put_;
};

WorkloadInfo info() {
  return {.name = "BSch",
          .title = "Black-Scholes option pricing",
          .suite = "AMD APP SDK",
          .sentence = "Streaming: every line once; long arithmetic in between.",
          .parameters = {sized("samples", "samples asked for; the sample rounds them down to a square grid",
                               {262144, 67108864, 2097152}, 1, std::uint64_t{1} << 32),
                         host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kBsch{info, construct<BlackScholes>};

}  // namespace nearfar
