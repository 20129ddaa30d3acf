#include "memory/cache/l2_lookups.h"

namespace nearfar {

void L2LookupStats::describe(StatVisitor& visitor) {
  visitor.counter("local_reads", "lines", "Reads of a GPU's own units that looked up lines at home here in its L2.",
                  local_reads);
  visitor.counter("local_read_misses", "lines",
                  "Reads of a GPU's own units that missed lines at home here in its L2, merged ones not counted.",
                  local_read_misses);
  visitor.counter("local_writes", "lines",
                  "Writes and atomics of a GPU's own units that looked up lines at home here in its L2.", local_writes);
  visitor.counter("local_write_misses", "lines",
                  "Writes and atomics of a GPU's own units that missed lines at home here in its L2, merged ones not "
                  "counted.",
                  local_write_misses);
  visitor.counter("remote_reads", "lines",
                  "Reads of a GPU's own units that looked up lines at home in other GPUs in its L2.", remote_reads);
  visitor.counter("remote_read_misses", "lines",
                  "Reads of a GPU's own units that missed lines at home in other GPUs in its L2, merged ones not "
                  "counted.",
                  remote_read_misses);
  visitor.counter("remote_writes", "lines",
                  "Writes and atomics of a GPU's own units that looked up lines at home in other GPUs in its L2.",
                  remote_writes);
  visitor.counter("remote_write_misses", "lines",
                  "Writes and atomics of a GPU's own units that missed lines at home in other GPUs in its L2.",
                  remote_write_misses);
  visitor.counter("lookups", "lines", "Lookups of a GPU's own units in its L2.", lookups);
  visitor.counter("misses", "lines", "Lookups of a GPU's own units that missed in its L2, merged ones not counted.",
                  misses);
  visitor.counter("cold_misses", "lines", "L2 misses of lines that the GPU had never looked up before.", cold_misses);
  visitor.counter("misses_after_replacement", "lines", "L2 misses of lines that had been replaced by others.",
                  misses_after_replacement);
  visitor.counter("misses_after_eviction_invalidation", "lines",
                  "L2 misses of lines that had been invalidated since their directory entry was replaced.",
                  misses_after_eviction_invalidation);
  visitor.counter("misses_after_write_invalidation", "lines",
                  "L2 misses of lines that had been invalidated since a line of their directory entry was written.",
                  misses_after_write_invalidation);
  visitor.counter("misses_after_drop", "lines",
                  "L2 misses of lines that had been dropped at a kernel boundary, a fence, an atomic, a copy or a page "
                  "migration.",
                  misses_after_drop);
  visitor.counter(
      "misses_not_kept", "lines",
      "L2 misses of lines that had been looked up before but never kept, as stores to part of a remote line "
      "do not keep it.",
      misses_not_kept);
  visitor.counter("timed", "lines", "Lookups in an L2 whose time was taken, those of other GPUs included.", timed);
  visitor.counter(
      "cycles", "cycles",
      "Time from the arrival of a request at an L2 bank until hit or miss is known, summed over requests of "
      "this GPU and others.",
      cycles);
}

void L2Lookups::miss(const LineRequest& request, bool remote) {
  if (!counted(request, remote)) return;
  ++lookups_of(request);
  if (is_local(request)) {
    ++(request.writes() ? stats_.local_write_misses : stats_.local_read_misses);
  } else {
    ++(request.writes() ? stats_.remote_write_misses : stats_.remote_read_misses);
  }
  Page& page = page_of(request.line.page());
  const std::uint64_t bit = std::uint64_t{1} << request.line.index();
  if ((page.seen & bit) == 0) {
    page.seen |= bit;
    ++stats_.cold_misses;
    return;
  }
  unsigned why = 0;
  for (unsigned i = 0; i < page.why.size(); ++i) {
    why |= static_cast<unsigned>(page.why[i] >> request.line.index() & 1) << i;
  }
  switch (static_cast<Departure>(why)) {
    case Departure::NotKept: ++stats_.misses_not_kept; break;
    case Departure::Replaced: ++stats_.misses_after_replacement; break;
    case Departure::EvictionInvalidation: ++stats_.misses_after_eviction_invalidation; break;
    case Departure::WriteInvalidation: ++stats_.misses_after_write_invalidation; break;
    case Departure::Dropped: ++stats_.misses_after_drop; break;
  }
}

L2LookupStats& L2Lookups::stats() {
  stats_.lookups = stats_.local_reads + stats_.local_writes + stats_.remote_reads + stats_.remote_writes;
  stats_.misses =
      stats_.local_read_misses + stats_.local_write_misses + stats_.remote_read_misses + stats_.remote_write_misses;
  return stats_;
}

}  // namespace nearfar
