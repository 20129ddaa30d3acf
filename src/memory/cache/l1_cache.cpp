#include "memory/cache/l1_cache.h"

namespace nearfar {

void L1Stats::describe(StatVisitor& visitor) {
  visitor.counter("load_lines", "lines", "Lines looked up by loads.", load_lines);
  visitor.counter("load_hits", "lines", "Lines among them that were there.", load_hits);
  visitor.counter("merges", "lines", "Lines among them that were on their way already.", merges);
  visitor.counter("fills", "lines", "Lines that came in.", fills);
  visitor.counter("store_lines", "lines", "Lines written by stores; all go on to the line's home.", store_lines);
  visitor.counter("store_hits", "lines", "Lines among them that were there and were updated.", store_hits);
  visitor.counter("atomic_lines", "lines", "Lines of atomics, performed at the line's home.", atomic_lines);
  visitor.counter("port_wait_cycles", "cycles", "Time that instructions waited for the cache's port, summed.",
                  port_wait_cycles);
}

void L1Cache::note(L1Event event, PhysLine line) {
  L1State state = L1State::Invalid;
  if (tags_.find(key(line)) != TagArray::kNone) {
    state = L1State::Valid;
  } else if (const L1MshrFile::Group* group = pending_.find(line)) {
    state = (group->poisoned >> line.index() & 1) != 0 ? L1State::Poisoned : L1State::Pending;
  }
  coverage_->count(state, event);
}

/// An event meets every line that is held or pending.
void L1Cache::note_all(L1Event event) {
  for (TagArray::Slot slot = 0; slot < tags_.slots(); ++slot) {
    if (tags_.valid(slot)) note(event, line_of(slot));
  }
  pending_.for_each([&](PhysLine line) { note(event, line); });
}

}  // namespace nearfar
