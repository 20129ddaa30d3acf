// A radix page table as it lies in memory: nodes of 512 entries of 8 bytes, four or five levels, the leaf at level 1
// (4 KiB pages) or 2 (2 MiB pages). Levels count down to the leaf, as walkers do. A page of 64 KiB has 16 leaf entries
// that are written alike.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/types.h"
#include "translation/page.h"

namespace nearfar {

/// A page-table entry, bit for bit.
class Pte {
 public:
  static constexpr unsigned kFirstAccessBit = 52;
  static constexpr unsigned kAccessBits = 11;

  constexpr Pte() = default;
  constexpr explicit Pte(std::uint64_t bits) : bits_(bits) {}
  static Pte leaf(const Mapping& mapping, bool large) {
    return Pte{kValid | (mapping.writable ? kWritable : 0) | (large ? kLarge : 0) | encode(mapping.page)};
  }
  static Pte node(PhysPage table) { return Pte{kValid | kWritable | encode(table)}; }

  std::uint64_t bits() const { return bits_; }
  bool valid() const { return (bits_ & kValid) != 0; }
  bool writable() const { return (bits_ & kWritable) != 0; }
  bool large() const { return (bits_ & kLarge) != 0; }
  /// Device in the top 13 of the 40 bits of the page number, frame below.
  PhysPage page() const {
    const std::uint64_t number = bits_ >> kPageShift & ((std::uint64_t{1} << 40) - 1);
    return PhysPage{DeviceId{static_cast<std::uint16_t>(number >> kFrameBits)},
                    number & ((std::uint64_t{1} << kFrameBits) - 1)};
  }
  /// Bits 52–62: who may hold the page (host table only).
  unsigned access_bits() const { return static_cast<unsigned>(bits_ >> kFirstAccessBit & ((1U << kAccessBits) - 1)); }
  void set_access_bits(unsigned bits) {
    constexpr std::uint64_t mask = ((std::uint64_t{1} << kAccessBits) - 1) << kFirstAccessBit;
    bits_ = (bits_ & ~mask) | (std::uint64_t{bits} << kFirstAccessBit & mask);
  }
  void set_writable(bool writable) { bits_ = writable ? bits_ | kWritable : bits_ & ~kWritable; }
  void invalidate() { bits_ &= ~kValid; }

 private:
  static constexpr std::uint64_t kValid = 1U << 0;
  static constexpr std::uint64_t kWritable = 1U << 1;
  static constexpr std::uint64_t kLarge = 1U << 7;
  static constexpr unsigned kFrameBits = 27;

  static constexpr std::uint64_t encode(PhysPage page) {
    return (std::uint64_t{page.device().value} << kFrameBits | page.frame()) << kPageShift;
  }

  std::uint64_t bits_ = 0;
};
static_assert(sizeof(Pte) == 8);

class PageTable {
 public:
  /// Takes a frame for a node.
  using FrameSource = std::function<PhysPage()>;

  PageTable(unsigned levels, PageSize size, FrameSource frames);

  /// How many nodes a table that covers pages [first, first + count) has.
  static std::uint64_t nodes(unsigned levels, PageSize size, std::uint64_t first, std::uint64_t count);

  unsigned root() const { return levels_; }
  unsigned leaf() const { return leaf_; }
  std::uint64_t pages() const { return nodes_.size(); }

  /// The leaf entry of a page; invalid where the table does not reach.
  Pte read(std::uint64_t number) const;
  /// Writes a leaf entry, with the nodes above it where they are missing.
  void write(std::uint64_t number, Pte entry);
  /// Makes the nodes that cover pages [first, first + count).
  void cover(std::uint64_t first, std::uint64_t count);

  /// Whether the entry of `level` on the way to a page is valid.
  bool present(unsigned level, std::uint64_t number) const;
  /// The line of memory that holds that entry (lines of 64 bytes), or, where its node is missing, the lowest one above.
  PhysLine line(unsigned level, std::uint64_t number) const;

  /// The page number cut to what an entry of `level` covers: one name for each entry.
  std::uint64_t prefix(unsigned level, std::uint64_t number) const {
    return number << alike_bits_ >> 9 * (level - leaf_);
  }

 private:
  struct Node {
    PhysPage frame;
    std::array<Pte, 512> entries;
    std::vector<std::uint32_t> children;  ///< upper nodes: by entry
  };

  unsigned index(unsigned level, std::uint64_t number) const {
    return static_cast<unsigned>(prefix(level, number) & 511);
  }
  std::uint32_t add_node(unsigned level);
  /// The node of `level` on the way to a page, or none.
  const Node* node(unsigned level, std::uint64_t number) const;
  Node& make_leaf_node(std::uint64_t number);

  unsigned levels_;
  unsigned leaf_;
  unsigned alike_bits_;  ///< leaf entries of a page, as a power of two
  FrameSource frames_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::uint64_t first_leaf_ = 0;
  std::vector<Node*> leaves_;  ///< the leaf nodes that cover() made, from the first on: read without a descent
};

}  // namespace nearfar
