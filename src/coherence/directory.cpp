#include "coherence/directory.h"

namespace nearfar {

void DirectoryStats::describe(StatVisitor& visitor) {
  visitor.counter("remote_reads", "lookups", "Reads of other GPUs that looked up the coherence directory.",
                  remote_reads);
  visitor.counter("remote_writes", "lookups",
                  "Writes and atomics of other GPUs that looked up the coherence directory.", remote_writes);
  visitor.counter("local_writes", "lookups",
                  "Writes and atomics of the GPU itself that looked up its coherence directory.", local_writes);
  visitor.counter("remote_read_hits", "lookups", "Reads of other GPUs whose line the coherence directory tracked.",
                  remote_read_hits);
  visitor.counter("remote_write_hits", "lookups",
                  "Writes and atomics of other GPUs whose line the coherence directory tracked.", remote_write_hits);
  visitor.counter("local_write_hits", "lookups",
                  "Writes and atomics of the GPU itself whose line its coherence directory tracked.", local_write_hits);
  visitor.counter("allocations", "entries", "Entries of the coherence directory that were allocated.", allocations);
  visitor.counter("evictions", "entries",
                  "Entries of the coherence directory that were replaced by others, and their sharers invalidated.",
                  evictions);
  visitor.histogram("lines_at_eviction", "lines",
                    "Lines that an entry of the coherence directory tracked when it was replaced.", lines_at_eviction);
}

}  // namespace nearfar
