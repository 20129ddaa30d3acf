// ST: nine-point stencil in two dimensions (SHOC).
// Adjacent: a wavefront updates 16 rows of a strip of 64 columns, with a border of one. Workgroups are numbered down
// the strip, so that a GPU gets a vertical band that crosses the page of every row.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kRows = 16, kColumns = 64;  // of a workgroup's tile; one item a column
constexpr unsigned kLeft = 1, kRight = 2;

class Stencil final : public Workload {
 public:
  explicit Stencil(const Parameters& parameters)
      : pitch_((parameters["columns"] + 15) / 16 * 16),
        data_(allocate("data", 4 * parameters["rows"] * pitch_, Placement::Interleave)),
        new_data_(allocate("newData", 4 * parameters["rows"] * pitch_, Placement::Interleave)) {
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_launch({.kernel = "stencil",
                  .groups_x = static_cast<std::uint32_t>((parameters["rows"] - 2) / kRows),
                  .groups_y = static_cast<std::uint32_t>((parameters["columns"] - 2) / kColumns),
                  .size_x = 1,
                  .size_y = kColumns,
                  .local_bytes = sizeof(float) * (kRows + 2) * (kColumns + 2),
                  .split = Split::Blocks});
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const unsigned sides = (wave.local(0) == 0 ? kLeft : 0) | (wave.local(wave.lanes) == kColumns ? kRight : 0);
    const VirtAddr from = launch % 2 == 0 ? data_ : new_data_;
    const VirtAddr to = launch % 2 == 0 ? new_data_ : data_;
    return stencil(element(from, wave.group_x * kRows, wave.group_y * kColumns),
                   element(to, wave.group_x * kRows, wave.group_y * kColumns), wave.local(0), sides);
  }

 private:
  VirtAddr element(VirtAddr array, std::uint64_t row, std::uint64_t column) const {
    return array + 4 * (row * pitch_ + column);
  }

  /// `from` and `to` are the tile's upper left corner, border included; `here` says which sides the wavefront has.
  Stream stencil(VirtAddr from, VirtAddr to, std::uint32_t first, unsigned here) const {
    std::uint32_t i = 0;
    unsigned side = kLeft;
    const auto middle = load(4, [&] { return Row{element(from, i, first + 1)}; });
    const auto border = load(4, [&] {  // of one side: the first lane's, or the last's
      return side == kLeft ? Row{element(from, i, 0), 1} : Row{element(from, i, kColumns + 1), 1, kColumns - 1 - first};
    });
    const auto corners = load(4, [&](unsigned lane) {
      const std::uint64_t c = first + lane;
      return c == 0 ? element(from, kRows + 1, 0) : c == kColumns - 1 ? element(from, kRows + 1, kColumns + 1) : kIdle;
    });
    const auto result = store(4, [&] { return Row{element(to, i + 1, first + 1)}; });

    co_yield salu(78);
    co_yield valu(75);
    for (; i < kRows + 2; ++i) {
      co_yield valu(3);
      co_yield middle;
      co_yield valu(7);
      co_yield wait(0);
      co_yield local(1);
    }
    for (; side <= kRight; ++side) {
      co_yield salu(12);
      if ((side & here) == 0) continue;
      for (i = 0; i < kRows + 1; ++i) {
        co_yield valu(side == kLeft ? 6 : 7);
        co_yield border;
        co_yield wait(0);
        co_yield local(1);
      }
    }
    co_yield salu(11);
    co_yield valu(7);
    co_yield corners;
    co_yield wait(0);
    co_yield local(1);
    co_yield barrier();
    for (i = 0; i < kRows; ++i) {
      co_yield local(2);
      co_yield wait(0);
      co_yield valu(9);
      co_yield result;
    }
    co_yield salu(1);
  }

  std::uint64_t pitch_;
  VirtAddr data_, new_data_;
};

WorkloadInfo info() {
  return {.name = "ST",
          .title = "nine-point stencil",
          .suite = "SHOC",
          .sentence =
              "Adjacent: vertical bands of a row-major array; nearly every page is shared by two to four GPUs, "
              "which write and read it.",
          .parameters = {{.name = "rows",
                          .sentence = "rows of the array, border included",
                          .small = 1026,
                          .medium = 4098,
                          .paper = 4098,
                          .minimum = kRows + 2,
                          .maximum = (1 << 16) + 2,
                          .step = kRows,
                          .offset = 2},
                         {.name = "columns",
                          .sentence = "columns of the array, border included",
                          .small = 1026,
                          .medium = 4098,
                          .paper = 4098,
                          .minimum = kColumns + 2,
                          .maximum = (1 << 16) + 2,
                          .step = kColumns,
                          .offset = 2},
                         {.name = "iterations",
                          .sentence = "passes over the array",
                          .small = 3,
                          .medium = 2,
                          .paper = 4,
                          .minimum = 1,
                          .maximum = 1000}}};
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Stencil>(parameters);
}

}  // namespace

constinit const CatalogEntry kSt{info, make};

}  // namespace nearfar
