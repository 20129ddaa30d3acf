#include "gpu/scalar_cache.h"

#include <utility>

#include "gpu/compute_unit.h"

namespace nearfar {

ScalarCache::ScalarCache(GpuContext& context, unsigned index)
    : context_(context), l1_(context, context.spec.l1s, LoadUnit::of(context.device(), index, true)) {}

ScalarCache::Answer ScalarCache::load(unsigned cu, unsigned slot, VirtPage virtual_page, PhysLine line, Cycle& ready) {
  const Cycle now = context_.partition.now();
  L1Stats& stats = l1_.stats();
  if (l1_.covered()) l1_.note(L1Event::Load, line);
  const TagArray::Slot found = l1_.look_up(line);
  L1MshrFile::Group* pending = found == TagArray::kNone ? l1_.pending().find(line) : nullptr;
  const bool blocked = pending != nullptr ? pending->poisoned != 0 : l1_.pending().full() || !l1_.has_way(line);
  if (found == TagArray::kNone && blocked) {
    waiters_.push_back(load_target(cu, slot));
    return Answer::NoMshr;
  }
  l1_.start_instruction(now + context_.translation_latency);
  const Cycle looked_up = l1_.next_line() + context_.spec.l1s.latency;
  ++stats.load_lines;
  if (found != TagArray::kNone) {
    ++stats.load_hits;
    if (context_.watch != nullptr) l1_.watch_hit(virtual_page, line, found);
    ready = looked_up;
    return Answer::Hit;
  }
  if (pending != nullptr) {
    ++stats.merges;
    if (context_.watch != nullptr) l1_.watch_merge(line);
    l1_.pending().merge(*pending, line, load_target(cu, slot));
    return Answer::Pending;
  }
  l1_.take_way(line);
  l1_.pending().begin(line, load_target(cu, slot), static_cast<std::uint32_t>(now));
  send_load(virtual_page, line, looked_up);
  return Answer::Pending;
}

void ScalarCache::send_load(VirtPage virtual_page, PhysLine line, Cycle when) {
  const std::uint64_t lines = std::uint64_t{1} << line.index();
  if (context_.tracker != nullptr) context_.tracker->enter(line.page(), 1);
  context_.reserve_always(line);
  auto* request = context_.partition.pool().allocate<LoadRequest>();
  request->record = context_.watch == nullptr ? 0 : l1_.watch_loads(virtual_page, line.page(), lines);
  l1_.send(request, RequestKind::ScalarRead, line, lines, when);
  if (context_.timeline != nullptr) {
    context_.timeline->missed(l1_.unit(), RequestKind::ScalarRead, line.page(), lines);
  }
}

void ScalarCache::fill(PhysLine line, std::vector<ComputeUnit>& units) {
  const std::uint64_t lines = std::uint64_t{1} << line.index();
  if (context_.timeline != nullptr) context_.timeline->filled(l1_.unit(), line.page(), lines);
  L1MshrFile::Arrival arrival = l1_.fill(line.page(), lines);
  l1_.notify_waiters(arrival, lines,
                     [&](Target target, std::uint64_t) { units[unit_of(target)].scalar_done(slot_of(target)); });
  const std::vector<Target> waiters = std::exchange(waiters_, {});
  for (const Target target : waiters) units[unit_of(target)].scalar_retry(slot_of(target));
}

}  // namespace nearfar
