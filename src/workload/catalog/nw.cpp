// NW: Needleman-Wunsch sequence alignment (Rodinia; in the studies of Neighborhood).
// Blocks of a matrix are filled along its anti-diagonals, one launch each. A block's rows lie a whole matrix row apart
// and unaligned, and neighbours on the diagonal share none of them: irregular for a TLB.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

class NeedlemanWunsch final : public Workload {
 public:
  explicit NeedlemanWunsch(const Parameters& parameters)
      : block_(parameters.u32("block")),
        blocks_(parameters.u32("n") / block_),
        columns_(parameters["n"] + 1),
        reference_(allocate("reference", 4 * columns_ * columns_, Placement::Interleave)),
        items_(allocate("input_itemsets", 4 * columns_ * columns_, Placement::Interleave)) {
    if (parameters["n"] % block_ != 0) {
      parameters.refuse("n", "must be a multiple of block", std::max<std::uint64_t>(blocks_, 1) * block_);
    }
    allocate("output_itemsets", 4 * columns_ * columns_, Placement::Interleave);  // which no kernel touches
    for (std::uint32_t diagonal = 1; diagonal <= blocks_; ++diagonal) add_diagonal("needle_1", diagonal);
    for (std::uint32_t diagonal = blocks_ - 1; diagonal >= 1; --diagonal) add_diagonal("needle_2", diagonal);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const auto number = static_cast<std::uint32_t>(launch);
    // Up to the longest diagonal blocks begin in column 0, behind it they end in the last column.
    const std::uint32_t length = number < blocks_ ? number + 1 : 2 * blocks_ - 1 - number;
    const std::uint32_t x = number < blocks_ ? wave.group_x : wave.group_x + blocks_ - length;
    const std::uint32_t y = number < blocks_ ? length - 1 - wave.group_x : blocks_ - 1 - wave.group_x;
    return align(columns_ * block_ * y + std::uint64_t{block_} * x, wave.local(0), live_lanes(wave));
  }

 private:
  void add_diagonal(const char* kernel, std::uint32_t blocks) {
    add_launch({.kernel = kernel,
                .groups_x = blocks,
                .size_x = block_,
                .local_bytes = sizeof(int) * (block_ * block_ + (block_ + 1) * (block_ + 1)),
                .split = Split::Blocks});
  }

  /// The block whose north-west neighbour is element `base`; this wavefront has its columns from `first` on.
  Stream align(std::uint64_t base, std::uint32_t first, std::uint32_t lanes) const {
    std::uint64_t r = 0;  // 0 the row north of the block
    const auto row = [&](VirtAddr matrix) { return Row{matrix + 4 * (base + columns_ * r + 1 + first), lanes}; };
    const auto corner = load(4, [&] { return Row{items_ + 4 * base, 1}; });
    const auto reference = load(4, [&] { return row(reference_); });
    const auto west = load(
        4, [&](unsigned lane) { return lane < lanes ? items_ + 4 * (base + columns_ * (first + lane + 1)) : kIdle; });
    const auto north = load(4, [&] { return row(items_); });
    const auto result = store(4, [&] { return row(items_); });

    co_yield salu(8);
    co_yield valu(14);
    if (first == 0) {
      co_yield corner;
      co_yield wait(0);
      co_yield local(1);
    }
    for (r = 1; r <= block_; ++r) {
      co_yield valu(3);
      co_yield reference;
      if (r % 2 == 0) co_yield wait(0);
      co_yield local(1);
    }
    co_yield barrier();
    co_yield valu(10);
    co_yield west;
    co_yield wait(0);
    co_yield local(1);
    co_yield barrier();
    r = 0;
    co_yield valu(9);
    co_yield north;
    co_yield wait(0);
    co_yield local(1);
    for (std::uint32_t step = 0; step < 2 * block_ - 1; ++step) {
      co_yield barrier();
      co_yield local(4);
      co_yield valu(16);
      co_yield salu(3);
    }
    co_yield barrier();
    for (r = 1; r <= block_; ++r) {
      co_yield local(1);
      co_yield valu(2);
      co_yield result;
    }
    co_yield salu(1);
  }

  std::uint32_t block_, blocks_;
  std::uint64_t columns_;
  VirtAddr reference_, items_;
};

WorkloadInfo info() {
  return {.name = "NW",
          .title = "Needleman-Wunsch sequence alignment",
          .suite = "Rodinia",
          .sentence = "Blocks along anti-diagonals, each with rows on 34 pages of its own; half-empty wavefronts.",
          .parameters = {sized("n", "length of the sequences, a multiple of block", {1536, 4096, 6816}, 16, 1 << 15),
                         constant("block", "elements on a side of a block (64 in MGPUSim)", 16, 16, 64, 16)}};
}

}  // namespace

constinit const CatalogEntry kNw{info, construct<NeedlemanWunsch>};

}  // namespace nearfar
