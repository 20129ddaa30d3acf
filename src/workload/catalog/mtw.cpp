// MTw: Mersenne-Twister random numbers (AMD APP SDK; in the studies of UMH).
// Streaming: an item loads a seed and stores `factor` vectors side by side, so that its lanes' stores lie apart.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 16;  // of a workgroup
constexpr std::uint64_t kVector = 16;

class MersenneTwister final : public Workload {
 public:
  explicit MersenneTwister(const Parameters& parameters)
      : width_(parameters["width"]),
        factor_(parameters["factor"]),
        seeds_(allocate("seeds", kVector * width_ * width_, Placement::Interleave, kOnlyRead)),
        result_(allocate("result", kVector * width_ * width_ * factor_, Placement::Interleave, kOverwritten)) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch({.kernel = "gaussian",
                .groups_x = static_cast<std::uint32_t>(width_ / kSide),
                .groups_y = static_cast<std::uint32_t>(width_ / kSide),
                .size_x = kSide,
                .size_y = kSide,
                .split = Split::RoundRobin});
    if (host) add_host_read(result_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return generate(wave.global_y(0) * width_ + wave.global_x(0));
  }

 private:
  Stream generate(std::uint64_t first) const {
    std::uint64_t number = 0;  // of the vectors an item makes
    const auto seed =
        load(kVector, [&] { return rows_of(kSide, seeds_ + kVector * first, kVector * width_, kVector); });
    const auto result = store(kVector, [&] {
      return rows_of(kSide, result_ + kVector * (first * factor_ + number), kVector * factor_ * width_,
                     static_cast<std::uint32_t>(kVector * factor_));
    });

    co_yield salu(14);
    co_yield seed;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(64 + 60 * factor_));
    for (; number < factor_; ++number) {
      if (number % 2 == 0) co_yield valu(240);
      co_yield result;
    }
    co_yield salu(1);
  }

  std::uint64_t width_, factor_;
  VirtAddr seeds_, result_;
};

WorkloadInfo info() {
  return {.name = "MTw",
          .title = "Mersenne-Twister random numbers",
          .suite = "AMD APP SDK",
          .sentence = "Streaming: every line of the result is written by several instructions, a piece each.",
          .parameters = {sized("width", "items on a side of the grid", {256, 1536, 256}, kSide, 1 << 14, kSide),
                         sized("factor", "vectors that each item makes", {2, 4, 4}, 2, 8, 2), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kMtw{info, construct<MersenneTwister>};

}  // namespace nearfar
