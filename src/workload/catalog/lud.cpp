// LUD: blocked LU decomposition in place (Rodinia; in the studies of Neighborhood).
// Each step factors one diagonal block, solves for the blocks right of it and below it, and updates all the others.
// The published matrix fits a second-level TLB: translation costs nothing here.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kBlock = 16;

class Lud final : public Workload {
 public:
  explicit Lud(const Parameters& parameters)
      : n_(parameters["n"]), m_(allocate("m", 4 * n_ * n_, Placement::Interleave)) {
    for (auto left = static_cast<std::uint32_t>(n_ / kBlock - 1); left > 0; --left) {
      add_launch(group_launch("diagonal", 1, 1, kBlock, 1));
      add_launch(group_launch("perimeter", left, 1, 2 * kBlock, 3));
      Launch internal = group_launch("internal", left, left, kBlock, 2);
      internal.size_y = kBlock;
      add_launch(internal);
    }
    add_launch(group_launch("diagonal", 1, 1, kBlock, 1));
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::uint64_t offset = launch / 3 * kBlock;
    switch (launch % 3) {
      case 0: return diagonal(offset);
      case 1: return perimeter(offset, offset + std::uint64_t{kBlock} * (wave.group_x + 1));
      default:
        return internal({.offset = offset,
                         .row = offset + std::uint64_t{kBlock} * (wave.group_y + 1),
                         .column = offset + std::uint64_t{kBlock} * (wave.group_x + 1),
                         .down = wave.local(0) / kBlock});
    }
  }

 private:
  static Launch group_launch(const char* kernel, std::uint32_t groups_x, std::uint32_t groups_y, std::uint32_t size,
                             std::uint64_t local_blocks) {
    return {.kernel = kernel,
            .groups_x = groups_x,
            .groups_y = groups_y,
            .size_x = size,
            .local_bytes = local_blocks * sizeof(float) * kBlock * kBlock,
            .split = Split::Blocks};
  }

  VirtAddr element(std::uint64_t row, std::uint64_t column) const { return m_ + 4 * (row * n_ + column); }

  Stream diagonal(std::uint64_t offset) const {
    std::uint64_t i = 0;
    const auto row = [&] { return Row{element(offset + i, offset), kBlock}; };
    const auto from = load(4, row);
    const auto to = store(4, row);

    co_yield salu(10);
    co_yield valu(8);
    for (; i < kBlock; ++i) {
      co_yield valu(2);
      co_yield from;
    }
    co_yield wait(0);
    co_yield local(kBlock);
    co_yield barrier();
    for (std::uint32_t step = 0; step < kBlock - 1; ++step) {
      co_yield local(2 * step + 3);
      co_yield valu(step + 12);
      co_yield barrier();
      co_yield local(2 * step + 4);
      co_yield valu(step + 4);
      co_yield barrier();
      co_yield salu(6);
    }
    for (i = 1; i < kBlock; ++i) {
      co_yield local(1);
      co_yield valu(2);
      co_yield to;
    }
    co_yield salu(1);
  }

  /// The first 16 items have the block right of the diagonal one, in columns from `away` on; the others the block
  /// below it, in rows from `away` on. The two halves run one after the other.
  Stream perimeter(std::uint64_t offset, std::uint64_t away) const {
    struct {
      std::uint64_t row, column;
      bool below;
    } at{};
    const auto half = [&] { return Row{element(at.row, at.column), kBlock, at.below ? kBlock : 0}; };
    const auto from = load(4, half);
    const auto to = store(4, half);

    co_yield salu(14);
    co_yield valu(12);
    for (const bool below : {false, true}) {
      at.below = below;
      for (std::uint32_t i = 0; i < kBlock / 2 + kBlock; ++i) {
        if (i < kBlock / 2) {
          at.row = offset + i + (below ? kBlock / 2 : 0);
          at.column = offset;
        } else {
          at.row = (below ? away : offset) + i - kBlock / 2;
          at.column = below ? offset : away;
        }
        co_yield valu(2);
        co_yield from;
      }
      co_yield wait(0);
      co_yield local(kBlock / 2 + kBlock);
    }
    co_yield barrier();
    co_yield local(600);
    co_yield valu(430);
    co_yield salu(60);
    co_yield barrier();
    for (const bool below : {false, true}) {
      at.below = below;
      for (std::uint32_t i = below ? 0 : 1; i < kBlock; ++i) {
        at.row = (below ? away : offset) + i;
        at.column = below ? offset : away;
        co_yield local(1);
        co_yield valu(2);
        co_yield to;
      }
    }
    co_yield salu(1);
  }

  struct Block {
    std::uint64_t offset, row, column;  ///< of the diagonal block, and of this one
    std::uint32_t down;                 ///< rows of the block above lane 0's
  };

  Stream internal(Block at) const {
    const auto rows = [&](std::uint64_t row, std::uint64_t column) {
      return rows_of(kBlock, element(row + at.down, column), 4 * n_, 4);
    };
    const auto above = load(4, [&] { return rows(at.offset, at.column); });
    const auto left = load(4, [&] { return rows(at.row, at.offset); });
    const auto own = [&] { return rows(at.row, at.column); };
    const auto before = load(4, own);
    const auto after = store(4, own);

    co_yield salu(9);
    co_yield valu(27);
    co_yield above;
    co_yield left;
    co_yield wait(0);
    co_yield local(2);
    co_yield barrier();
    co_yield local(2 * kBlock);
    co_yield valu(kBlock);
    co_yield before;
    co_yield wait(0);
    co_yield valu(6);
    co_yield after;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr m_;
};

WorkloadInfo info() {
  return {
      .name = "LUD",
      .title = "blocked LU decomposition",
      .suite = "Rodinia",
      .sentence = "Blocks of 16×16 in a matrix of a few hundred pages: no cost in translation, many short launches.",
      .parameters = {sized("n", "floats on a side of the matrix", {560, 1280, 560}, 2 * kBlock, 1 << 15, kBlock)}};
}

}  // namespace

constinit const CatalogEntry kLud{info, construct<Lud>};

}  // namespace nearfar
