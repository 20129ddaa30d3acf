#include "memory/cache/l1_cache.h"

namespace nearfar {

void L1Stats::describe(StatVisitor& visitor) {
  visitor.counter("load_lines", "lines", "Lines that loads looked up in the L1.", load_lines);
  visitor.counter("load_hits", "lines", "Lines of loads that hit in the L1.", load_hits);
  visitor.counter("merges", "lines", "Lines of loads that merged with a pending miss of the L1.", merges);
  visitor.counter("fills", "lines", "Lines that arrived at the L1 from the L2, whether the L1 kept them or not.",
                  fills);
  visitor.counter("store_lines", "lines",
                  "Lines that stores wrote; all are written through the L1 to the home of the line.", store_lines);
  visitor.counter("store_hits", "lines", "Lines of stores that hit in the L1 and updated it.", store_hits);
  visitor.counter("atomic_lines", "lines", "Lines of atomics, which are performed at the home of the line.",
                  atomic_lines);
  visitor.counter("port_wait_cycles", "cycles",
                  "Time that instructions waited for the port of the L1, summed over instructions.", port_wait_cycles);
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
