// BS: bitonic sort (AMD APP SDK; in the studies of least-TLB and IDYLL).
// Random: every pass compares elements a distance apart, from neighbours to half of the array, and stores both. As
// the distance grows the partner lies in another GPU's part: half of the pages are read and written by two GPUs.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class BitonicSort final : public Workload {
 public:
  explicit BitonicSort(const Parameters& parameters)
      : array_(allocate("array", 4 * parameters["n"], Placement::Distribute)) {
    const unsigned stages = parameters.log2("n");
    if (parameters["first_stage"] >= stages) {
      parameters.refuse("first_stage", "must be below the number of stages, log2 n", stages - 1);
    }
    for (std::uint32_t stage = parameters.u32("first_stage"); stage < stages; ++stage) {
      for (std::uint32_t pass = 0; pass <= stage; ++pass) {
        add_launch(linear_launch("bitonic_sort", parameters["n"] / 2, kGroup, Split::Offset));
        distances_.push_back(std::uint64_t{1} << (stage - pass));
      }
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return compare(wave.item(0), distances_[launch]);
  }

 private:
  Stream compare(std::uint64_t first, std::uint64_t distance) const {
    bool partner = false;  // the right one of the pair
    const auto element = [&] { return pairs_of(array_, first, distance, partner); };
    const auto from = load(4, element);
    const auto to = store(4, element);

    co_yield salu(16);
    co_yield valu(22);
    co_yield from;
    partner = true;
    co_yield from;
    co_yield wait(0);
    co_yield valu(5);
    partner = false;
    co_yield to;
    partner = true;
    co_yield to;
    co_yield salu(1);
  }

  VirtAddr array_;
  std::vector<std::uint64_t> distances_;  // by launch
};

WorkloadInfo info() {
  return {.name = "BS",
          .title = "bitonic sort",
          .suite = "AMD APP SDK",
          .sentence =
              "Random: passes over one array with partners at every power of two; half of the pages are written by "
              "two GPUs, a quarter by three.",
          .parameters = {sized("n", "elements to sort, a power of two", {1 << 15, 1 << 18, 1 << 23}, 128, 1 << 30),
                         sized("first_stage", "stage to begin with; 0 sorts, more is a window on the last stages",
                               {0, 0, 22}, 0, 29)}};
}

}  // namespace

constinit const CatalogEntry kBs{info, construct<BitonicSort>};

}  // namespace nearfar
