// The lines at home in a GPU, divided into blocks of one or more neighbouring lines: what one entry of its coherence
// directory tracks. A block never crosses a 4 KiB frame, so that all of it has one home and leaves it as one.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "coherence/directory_home.h"
#include "sim/types.h"

namespace nearfar {

class LineBlocks {
 public:
  /// Both numbers of lines are powers of two.
  LineBlocks(const DirectoryHome& home, std::uint32_t lines_per_block)
      : home_(home.gpu),
        lines_(lines_per_block),
        block_bits_(static_cast<unsigned>(std::countr_zero(lines_per_block))),
        page_bits_(static_cast<unsigned>(std::countr_zero(home.lines_per_page)) - block_bits_) {
    assert(std::has_single_bit(lines_per_block) && std::has_single_bit(home.lines_per_page));
    assert(lines_per_block <= home.lines_per_page && home.lines_per_page <= 64);
  }

  /// Lines of a block.
  std::uint32_t lines() const { return lines_; }
  std::uint32_t blocks_per_page() const { return 1U << page_bits_; }

  /// The number of a line's block among all blocks of the home's memory.
  std::uint64_t block_of(PhysLine line) const {
    assert(line.device() == home_);
    return first_of(line.page()) + (line.index() >> block_bits_);
  }
  std::uint32_t position_of(PhysLine line) const { return line.index() & (lines_ - 1); }
  std::uint64_t first_of(PhysPage page) const { return page.frame() << page_bits_; }

  PhysPage page_of(std::uint64_t block) const { return PhysPage(home_, block >> page_bits_); }
  /// A line of a block as a mask of the lines of its page.
  std::uint64_t line_mask(std::uint64_t block, std::uint32_t position) const {
    return std::uint64_t{1} << ((block & (blocks_per_page() - 1)) * lines_ + position);
  }
  /// All lines of a block.
  std::uint64_t block_mask(std::uint64_t block) const {
    return ~std::uint64_t{0} >> (64 - lines_) << ((block & (blocks_per_page() - 1)) * lines_);
  }

 private:
  DeviceId home_;
  std::uint32_t lines_;
  unsigned block_bits_;
  unsigned page_bits_;  ///< of the number of a block in its page
};

}  // namespace nearfar
