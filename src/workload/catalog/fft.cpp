// FFT: a batch of 512-point Fourier transforms (SHOC; in the studies of least-TLB).
// Strided: a wavefront transforms the 512 complex numbers of exactly one page in three radix-8 steps with two
// transpositions through local memory, and stores them back. No page is shared.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;
constexpr std::uint32_t kPoints = 512;
constexpr std::uint32_t kComplex = 8;  // bytes of a complex number

class Fft final : public Workload {
 public:
  explicit Fft(const Parameters& parameters) : work_(allocate("work", parameters["bytes"], Placement::Interleave)) {
    const Launch launch =
        linear_launch("fft512", parameters["bytes"] / kComplex / (kPoints / kGroup), kGroup, Split::Blocks, 4608);
    for (std::uint64_t pass = 0; pass < parameters["passes"]; ++pass) add_launch(launch);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return transform(work_ + std::uint64_t{kComplex} * (std::uint64_t{kPoints} * wave.group_x + wave.local(0)));
  }

 private:
  Stream transform(VirtAddr first) const {
    std::uint64_t i = 0;
    const auto element = [&] { return Row{first + kComplex * kGroup * i}; };
    const auto from = load(kComplex, element);
    const auto to = store(kComplex, element);

    constexpr unsigned kButterfly = 257;
    constexpr unsigned kTwiddles = 14 * 26;  // seven factors, a sine and a cosine each
    co_yield salu(12);
    co_yield valu(60);
    for (; i < 8; ++i) co_yield from;
    co_yield wait(0);
    for (const unsigned barriers : {4, 3}) {
      co_yield valu(kButterfly + kTwiddles);
      co_yield salu(180);
      for (unsigned part = 0; part < 4; ++part) {  // write and read the real parts, then the imaginary ones
        co_yield local(4);
        if (part % 2 == 1) co_yield wait(0);
        if (part < barriers) co_yield barrier();
      }
    }
    co_yield valu(kButterfly);
    co_yield salu(10);
    for (i = 0; i < 8; ++i) co_yield to;
    co_yield salu(1);
  }

  VirtAddr work_;
};

WorkloadInfo info() {
  return {.name = "FFT",
          .title = "batched Fourier transform",
          .suite = "SHOC",
          .sentence = "Strided: a wavefront transforms one page in place; no page is shared.",
          .parameters = {sized("bytes", "bytes of complex numbers", {16 << 20, 64 << 20, 64 << 20}, 4096,
                               std::uint64_t{1} << 34, 4096),
                         sized("passes", "times the batch is transformed", {1, 4, 4}, 1, 1000)}};
}

}  // namespace

constinit const CatalogEntry kFft{info, construct<Fft>};

}  // namespace nearfar
