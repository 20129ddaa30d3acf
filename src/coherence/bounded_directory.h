// A coherence directory of a bounded number of entries: what all set-associative organizations share. They differ in
// what an entry says about its block, and in whom they tell when one of its lines is written or the entry is replaced.
#pragma once

#include <cstdint>

#include "coherence/coherence_spec.h"
#include "coherence/directory.h"
#include "coherence/directory_array.h"
#include "coherence/line_blocks.h"
#include "coherence/sharer_table.h"

namespace nearfar {

class BoundedDirectory : public Directory {
 public:
  void drop_page(PhysPage page) final;
  void prefetch(PhysLine line) const final { array_.prefetch(blocks_.block_of(line)); }
  std::uint64_t used() const final { return array_.used(); }
  void check() const override;

 protected:
  using Entry = DirectoryArray::Entry;

  /// An entry has `vectors` vectors of sharers.
  BoundedDirectory(const DirectorySpec& spec, const DirectoryHome& home, std::uint32_t lines_per_block,
                   std::uint32_t vectors);

  /// Appends the invalidations of an entry that is replaced.
  virtual void invalidate_entry(Entry entry, Invalidations& out) = 0;

  /// The entry of a block, which becomes the youngest of its set: the one that it has, or a new one, for which another
  /// may be replaced.
  Entry find_or_allocate(std::uint64_t block, Invalidations& out);
  /// Clears its sharers.
  void free(Entry entry);

  DirectoryHome home_;
  LineBlocks blocks_;
  std::uint32_t vectors_;
  DirectoryArray array_;
  SharerTable sharers_;  ///< `vectors_` of each entry
};

}  // namespace nearfar
