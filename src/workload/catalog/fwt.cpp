// FWT: fast Walsh transform in place (AMD APP SDK; in the studies of UMH).
// A butterfly: each launch pairs elements twice as far apart as the one before, so that lines move between GPUs from
// launch to launch.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class WalshTransform final : public Workload {
 public:
  explicit WalshTransform(const Parameters& parameters)
      : array_(allocate("array", 4 * parameters["n"], Placement::Interleave)) {
    const unsigned steps = parameters.log2("n");
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    for (unsigned i = 0; i < steps; ++i) {
      add_launch(linear_launch("fast_walsh_transform", parameters["n"] / 2, kGroup, Split::RoundRobin));
    }
    if (host) add_host_read(array_);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return butterfly(wave.item(0), std::uint64_t{1} << launch);
  }

 private:
  Stream butterfly(std::uint64_t first, std::uint64_t step) const {
    bool match = false;  // the pair's second element
    const auto element = [&] { return pairs_of(array_, first, step, match); };
    const auto from = load(4, element);
    const auto to = store(4, element);

    co_yield salu(10);
    co_yield valu(45);
    co_yield from;
    match = true;
    co_yield from;
    co_yield wait(0);
    co_yield valu(2);
    match = false;
    co_yield to;
    match = true;
    co_yield to;
    co_yield salu(1);
  }

  VirtAddr array_;
};

WorkloadInfo info() {
  return {.name = "FWT",
          .title = "fast Walsh transform",
          .suite = "AMD APP SDK",
          .sentence = "A butterfly in place: partners at every power of two, so lines change GPUs with every launch.",
          .parameters = {sized("n", "elements, a power of two", {1 << 14, 1 << 22, 1 << 18}, 512, 1 << 28),
                         host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kFwt{info, construct<WalshTransform>};

}  // namespace nearfar
