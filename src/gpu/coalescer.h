// The coalescer: makes the addresses of a vector memory instruction's lanes into pages and the lines of each.
// First stage of the load/store unit; from here to the L1 the unit of work is a page and a mask of its lines.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "program/stream.h"
#include "sim/types.h"

namespace nearfar {

struct PageGroup {
  VirtPage page;
  std::uint64_t lines = 0;  ///< bit i: line i of the page is touched
};

/// What a store writes in a page. Only lines that are not written whole have byte masks, in `Stores::partial`:
/// those of a group stand together, by ascending line, from `first_partial` on.
struct StoreGroup {
  VirtPage page;
  std::uint64_t lines = 0;
  std::uint64_t full = 0;  ///< lines of which every byte is written
  std::uint32_t first_partial = 0;

  std::uint64_t partial() const { return lines & ~full; }
};

struct PartialLine {
  std::array<std::uint64_t, 2> bytes{};  ///< bit b: byte b of the line is written (lines of 64 B use the first word)

  unsigned count() const { return static_cast<unsigned>(std::popcount(bytes[0]) + std::popcount(bytes[1])); }
};

struct Stores {
  std::span<const StoreGroup> groups;
  std::span<const PartialLine> partial;
};

/// Answers are in the order in which lanes first touch a page, each page once, and valid until the next question.
class Coalescer {
 public:
  explicit Coalescer(unsigned line_bytes);

  std::span<const PageGroup> loads(const LaneAddresses& lanes, unsigned bytes);
  Stores stores(const LaneAddresses& lanes, unsigned bytes);

 private:
  static constexpr unsigned kMaxGroups = 2 * kMaxLanes;  // every lane may straddle the end of a page
  static constexpr unsigned kSearched = 4;               // up to here pages are looked for one by one
  static constexpr unsigned kSlots = 256;

  struct Keyed {
    std::uint32_t key = 0;
    PartialLine line;
  };

  template <class Group>
  Group& group_of(std::array<Group, kMaxGroups>& groups, VirtPage page);
  template <class Group>
  Group& find_group(std::array<Group, kMaxGroups>& groups, VirtPage page);
  template <class Group>
  std::uint32_t look_up(const std::array<Group, kMaxGroups>& groups, VirtPage page);
  template <class Group>
  std::uint8_t* slot_of(const std::array<Group, kMaxGroups>& groups, VirtPage page);
  void load_lanes(const LaneAddresses& lanes, unsigned bytes);
  void load_each(const LaneAddresses& lanes, unsigned bytes);
  void load_run(std::uint64_t begin, std::uint64_t end);
  void store_lanes(const LaneAddresses& lanes, unsigned bytes);
  std::uint32_t store_strided(std::uint64_t begin, std::uint32_t lanes, std::uint32_t step, unsigned bytes);
  void store_run(std::uint64_t begin, std::uint64_t end);
  void store_part(StoreGroup& group, std::uint64_t begin, std::uint64_t end);
  PartialLine part_of_line(std::uint64_t begin, std::uint64_t last) const;
  void order_partial();
  /// Mask of the lines of bytes [begin, end), all in one page.
  std::uint64_t lines_of(std::uint64_t begin, std::uint64_t end) const;

  unsigned line_shift_;
  std::uint32_t count_ = 0;    // groups so far
  std::uint32_t current_ = 0;  // the one touched last
  std::uint32_t partial_count_ = 0;
  bool in_order_ = true;                      // partial lines came by ascending key, and none has become whole
  std::array<std::uint8_t, kSlots> slots_{};  // index + 1 of the group of a page, by its hash
  std::array<std::uint8_t, 16> recent_{};     // the group found last for a page, by its low bits
  std::array<PageGroup, kMaxGroups> loads_;
  std::array<StoreGroup, kMaxGroups> stores_;
  std::array<std::uint32_t, kMaxGroups> keys_;  // of partial lines: group << kLineIndexBits | line
  std::array<PartialLine, kMaxGroups> partial_;
  std::array<Keyed, kMaxGroups> order_;
};

}  // namespace nearfar
