#include "gpu/scalar_cache.h"

namespace nearfar {

ScalarCache::ScalarCache(GpuContext& context, unsigned index)
    : context_(context), index_(index), l1_(context.spec.l1s, context.spec.line, context.frames) {
  if (context.watch != nullptr) images_.resize(l1_.tags().slots());
}

ScalarCache::Answer ScalarCache::load(unsigned cu, unsigned slot, VirtPage virtual_page, PhysLine line, Cycle& ready) {
  const Cycle now = context_.partition.now();
  L1Stats& stats = l1_.stats();
  if (l1_.covered()) l1_.note(L1Event::Load, line);
  const TagArray::Slot found = l1_.look_up(line);
  L1MshrFile::Group* pending = found == TagArray::kNone ? l1_.pending().find(line) : nullptr;
  const bool blocked = pending != nullptr ? pending->poisoned != 0 : l1_.pending().full();
  if (found == TagArray::kNone && blocked) {
    waiting_.push_back(target(cu, slot));
    return Answer::NoRegister;
  }
  l1_.start_instruction(now + context_.translation_latency);
  const Cycle looked_up = l1_.next_line() + context_.spec.l1s.latency;
  ++stats.load_lines;
  if (found != TagArray::kNone) {
    ++stats.load_hits;
    if (context_.watch != nullptr) {
      const Location first = context_.location_of(virtual_page, line.page());
      context_.watch->l1_hit(unit(), context_.application, {first.value + line.index()}, line, images_[found]);
    }
    ready = looked_up;
    return Answer::Hit;
  }
  if (pending != nullptr) {
    ++stats.merges;
    if (context_.watch != nullptr) context_.watch->load_merged(unit(), line);
    l1_.pending().merge(*pending, line, target(cu, slot));
    return Answer::Pending;
  }
  l1_.pending().begin(line, target(cu, slot), static_cast<std::uint32_t>(now));
  if (context_.tracker != nullptr) context_.tracker->enter(line.page(), 1);
  context_.l2->reserve_always(line);
  auto* request = context_.partition.pool().allocate<LoadRequest>();
  request->kind = RequestKind::ScalarRead;
  request->line = line;
  request->mask = std::uint64_t{1} << line.index();
  request->unit = static_cast<std::uint16_t>(index_);
  request->origin = context_.device().value;
  request->record =
      context_.watch == nullptr
          ? 0
          : context_.watch->loads_issued(unit(), context_.application, context_.location_of(virtual_page, line.page()),
                                         line.page(), request->mask);
  context_.partition.schedule(request, context_.leave_handler, looked_up);
  return Answer::Pending;
}

}  // namespace nearfar
