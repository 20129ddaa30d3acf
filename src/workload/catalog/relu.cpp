// ReLU: the rectified linear unit of a layer, element by element (DNNMark).
// Streaming: an item reads one value and writes one; a GPU reads and writes its own pages only.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class Relu final : public Workload {
 public:
  explicit Relu(const Parameters& parameters)
      : count_(parameters["n"]),
        in_(allocate("in", 4 * count_, Placement::Distribute, kOnlyRead)),
        out_(allocate("out", 4 * count_, Placement::Distribute, kOverwritten)) {
    add_launch(linear_launch("relu", count_, kGroup, Split::Offset));
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return rectify(wave.item(0), live_lanes(wave, count_));
  }

 private:
  Stream rectify(std::uint64_t first, std::uint32_t lanes) const {
    const auto value = load(4, [&] { return Row{in_ + 4 * first, lanes}; });
    const auto result = store(4, [&] { return Row{out_ + 4 * first, lanes}; });

    co_yield salu(8);
    co_yield valu(3);
    if (lanes != 0) {
      co_yield salu(2);
      co_yield valu(5);
      co_yield value;
      co_yield valu(3);
      co_yield wait(0);
      co_yield valu(2);
      co_yield result;
    }
    co_yield salu(1);
  }

  std::uint64_t count_;
  VirtAddr in_, out_;
};

WorkloadInfo info() {
  return {.name = "ReLU",
          .title = "rectified linear unit",
          .suite = "DNNMark",
          .sentence = "Streaming: each value is read once and written once; no page is shared.",
          .parameters = {sized("n", "values", {1 << 22, 1 << 26, 1 << 24}, 1, 1 << 30)}};
}

}  // namespace

constinit const CatalogEntry kRelu{info, construct<Relu>};

}  // namespace nearfar
