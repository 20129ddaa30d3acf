// MM: matrix multiplication C = A·B with a tile of A in local memory (AMD APP SDK).
// Scatter-gather: a wavefront makes 32×32 of C from a band of rows of A and a band of columns of B. Each GPU has its
// own rows of A and C; everybody reads all of B.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 8;           // items on a side of a workgroup
constexpr std::uint32_t kBlock = 4 * kSide;  // floats on a side of its block

class Multiply final : public Workload {
 public:
  explicit Multiply(const Parameters& parameters)
      : n_(parameters["n"]),
        local_rows_(parameters["a_rows"] == 1),
        a_(allocate("A", 4 * n_ * n_, Placement::Distribute, kOnlyRead)),
        b_(allocate("B", 4 * n_ * n_, Placement::Distribute, kOnlyRead)),
        c_(allocate("C", 4 * n_ * n_, Placement::Distribute, kOverwritten)) {
    const auto blocks = static_cast<std::uint32_t>(n_ / kBlock);
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch({.kernel = "multiply",
                .groups_x = blocks,
                .groups_y = blocks,
                .size_x = kSide,
                .size_y = kSide,
                .local_bytes = sizeof(float) * kBlock * kBlock,
                .split = Split::Offset,
                .split_dim = Dim::Y});
    if (host) add_host_read(c_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return multiply(wave.group_x * kBlock, wave.group_y * kBlock, wave.local(0));
  }

 private:
  VirtAddr element(VirtAddr matrix, std::uint64_t row, std::uint64_t column) const {
    return matrix + 4 * (row * n_ + column);
  }

  /// The block of C from (row, column) on; items move vectors of four floats.
  Stream multiply(std::uint32_t column, std::uint32_t row, std::uint32_t first) const {
    std::uint32_t k = 0;  // row of an item's four in A and C, row of B
    std::uint32_t tile = 0;
    const std::uint32_t down = first / kSide * 4;  // rows of the block above lane 0's
    const auto a =
        load(16, [&] { return rows_of(kSide, element(a_, (local_rows_ ? 0 : row) + down + k, tile), 16 * n_, 16); });
    const auto b = load(16, [&] { return rows_of(kSide, element(b_, tile + k, column), 0, 16); });
    const auto c = store(16, [&] { return rows_of(kSide, element(c_, row + down + k, column), 16 * n_, 16); });

    co_yield salu(20);
    co_yield valu(100);
    for (; tile < n_; tile += kBlock) {
      for (k = 0; k < 4; ++k) {
        co_yield valu(5);
        co_yield a;
        co_yield wait(0);
        co_yield local(1);
      }
      co_yield barrier();
      co_yield valu(12);
      for (k = 0; k < kBlock; ++k) {
        const bool leads = k % 4 == 0;  // the first of four B vectors is asked for ahead of the local reads
        if (leads) co_yield valu(6);
        co_yield b;
        if (leads) {
          co_yield valu(10);
          co_yield local(1);
          co_yield valu(14);
          co_yield local(6);
        }
        if (k % 4 == 3) {
          co_yield wait(1);
          co_yield valu(48);
          co_yield wait(0);
          co_yield valu(32);
          co_yield salu(6);
        }
      }
      co_yield barrier();
      co_yield salu(8);
    }
    for (k = 0; k < 4; ++k) {
      co_yield valu(9);
      co_yield c;
    }
    co_yield salu(5);
  }

  std::uint64_t n_;
  bool local_rows_;
  VirtAddr a_, b_, c_;
};

WorkloadInfo info() {
  return {
      .name = "MM",
      .title = "matrix multiplication",
      .suite = "AMD APP SDK",
      .sentence = "Scatter-gather: own rows of A and C, all of B; every page of B is read by every GPU.",
      .parameters = {{.name = "n",
                      .sentence = "floats on a side of the matrices",
                      .small = 512,
                      .medium = 1280,
                      .paper = 2048,
                      .minimum = kBlock,
                      .maximum = 1 << 16,
                      .step = kBlock},
                     {.name = "a_rows",
                      .sentence = "rows of A a workgroup reads: 0 its own (global), 1 always the first 32 (local), as "
                                  "in MGPUSim's version",
                      .small = 0,
                      .medium = 0,
                      .paper = 0,
                      .minimum = 0,
                      .maximum = 1},
                     host_parameter()}};
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Multiply>(parameters);
}

}  // namespace

constinit const CatalogEntry kMm{info, make};

}  // namespace nearfar
