// The array of the Invalidation Request Merging Buffer: pages to be invalidated, merged by the leaf table they are
// under (the base), each base with a few places in that table (offsets). No timing. The base that was added to least
// recently leaves first.
#pragma once

#include <cstdint>
#include <vector>

#include "translation/page.h"

namespace nearfar {

/// Pages under one leaf table.
struct MergedPages {
  PageKey base;  ///< process, and page number without its last 9 bits
  std::vector<std::uint16_t> offsets;

  PageKey page(std::uint16_t offset) const { return PageKey{base.pid(), base.number() << 9 | offset}; }
};

inline PageKey base_of(PageKey page) { return PageKey{page.pid(), page.number() >> 9}; }
inline std::uint16_t offset_of(PageKey page) { return static_cast<std::uint16_t>(page.number() & 511); }

class MergeBuffer {
 public:
  MergeBuffer(std::uint32_t bases, std::uint32_t offsets);

  enum class Way : std::uint8_t {
    Held,          ///< the page is there already
    Merges,        ///< its base is, with a free place
    Opens,         ///< its base is not, and there is a free entry
    EvictsBase,    ///< the oldest entry has to leave for it
    EvictsOffsets  ///< all offsets of its base have to
  };
  /// What adding a page would do.
  Way way_of(PageKey page) const;
  /// Adds a page. What had to leave is put into `evicted`.
  void add(PageKey page, MergedPages& evicted);
  /// Takes a page out; whether it was there.
  bool remove(PageKey page);
  bool holds(PageKey page) const;
  /// Takes out the entry that was added to least recently; there must be one.
  void take_oldest(MergedPages& taken);

  bool empty() const { return used_ == 0; }
  /// Entries in use, and pages in them.
  std::uint32_t bases() const { return used_; }
  std::uint64_t pages() const;

 private:
  /// Index into entries_, or used_.
  std::uint32_t find(PageKey base) const;
  void make_youngest(std::uint32_t index);

  std::uint32_t offsets_;
  std::uint32_t used_ = 0;
  std::vector<MergedPages> entries_;  ///< those in use first, the oldest at the front
};

}  // namespace nearfar
