#include "coherence/block_directory.h"

#include "coherence/invalidate.h"

namespace nearfar {

void BlockDirectory::remote_read(PhysLine line, DeviceId reader, Invalidations& out) {
  ++stats_.remote_reads;
  const Entry entry = find_or_allocate(blocks_.block_of(line), out);
  const Sharers before = sharers_.get(entry);
  stats_.remote_read_hits += before != 0;
  sharers_.set(entry, before | sharer(reader));
}

/// The writer keeps its copy, which it has updated, and so must stay tracked; all others lose theirs.
void BlockDirectory::remote_write(PhysLine line, DeviceId writer, Invalidations& out) {
  ++stats_.remote_writes;
  const Entry entry = find_or_allocate(blocks_.block_of(line), out);
  const Sharers before = sharers_.get(entry);
  stats_.remote_write_hits += before != 0;
  sharers_.set(entry, sharer(writer));
  invalidate_written(line, before & ~sharer(writer), out);
}

void BlockDirectory::local_write(PhysLine line, Invalidations& out) {
  ++stats_.local_writes;
  const Entry entry = array_.find(blocks_.block_of(line));
  if (entry == DirectoryArray::kNone) return;
  ++stats_.local_write_hits;
  invalidate_written(line, sharers_.get(entry), out);
  free(entry);
}

/// All lines of the block, for none of them stays tracked.
void BlockDirectory::invalidate_written(PhysLine line, Sharers sharers, Invalidations& out) const {
  const std::uint64_t block = blocks_.block_of(line);
  invalidate(sharers,
             {.page = line.page(),
              .lines = blocks_.block_mask(block),
              .written = blocks_.line_mask(block, blocks_.position_of(line)),
              .to = {},
              .cause = InvalidationCause::Write},
             out);
}

void BlockDirectory::invalidate_entry(Entry entry, Invalidations& out) {
  const std::uint64_t block = array_.block(entry);
  stats_.lines_at_eviction.add(blocks_.lines());
  invalidate(sharers_.get(entry),
             {.page = blocks_.page_of(block),
              .lines = blocks_.block_mask(block),
              .written = 0,
              .to = {},
              .cause = InvalidationCause::Eviction},
             out);
}

Sharers BlockDirectory::sharers(PhysLine line) const {
  const Entry entry = array_.find(blocks_.block_of(line));
  return entry == DirectoryArray::kNone ? 0 : sharers_.get(entry);
}

}  // namespace nearfar
