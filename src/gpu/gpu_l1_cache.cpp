#include "gpu/gpu_l1_cache.h"

#include <bit>

namespace nearfar {

GpuL1Cache::GpuL1Cache(GpuContext& context, const L1Spec& spec, LoadUnit unit)
    : L1Cache(spec, context.spec.line, context.frames), context_(context), unit_(unit) {
  if (context.watch != nullptr) images_.resize(tags().slots());
}

void GpuL1Cache::acquire(L1Event why, Scope scope) {
  L1Cache::acquire(why);
  if (context_.watch != nullptr) context_.watch->acquired(unit_, scope);
}

void GpuL1Cache::send(LineRequest* request, RequestKind kind, PhysLine first, std::uint64_t lines, Cycle when) {
  request->kind = kind;
  request->line = first;
  request->mask = lines;
  request->unit = static_cast<std::uint16_t>(unit_.index());
  request->origin = context_.device().value;
  context_.partition.schedule(request, context_.leave_handler, when);
}

L1MshrFile::Arrival GpuL1Cache::fill(PhysPage page, std::uint64_t lines) {
  if (covered()) note_fill(page, lines);
  const L1MshrFile::Arrival arrival = pending().take(page, lines);
  stats().fills += static_cast<std::uint32_t>(std::popcount(lines));
  const std::uint64_t kept = may_keep(page) ? arrival.kept : 0;
  if (kept != 0) keep_page(page);
  // Who does not watch is not interested in the others.
  for (std::uint64_t rest = context_.watch == nullptr ? kept : lines; rest != 0; rest &= rest - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
    const bool keep = (kept & rest & -rest) != 0;
    const TagArray::Slot slot = keep ? install(line) : TagArray::kNone;
    if (context_.watch != nullptr) context_.watch->filled(unit_, line, keep ? &images_[slot] : nullptr);
  }
  if (context_.tracker != nullptr) context_.tracker->lines_came(page, lines);
  return arrival;
}

void GpuL1Cache::poison(L1MshrFile::Group& group, PhysLine line) {
  const std::uint64_t bit = std::uint64_t{1} << line.index();
  if ((group.poisoned & bit) == 0 && reserves(line)) give_way_up(line);
  group.poisoned |= bit;
}

void GpuL1Cache::note_fill(PhysPage page, std::uint64_t lines) {
  for (; lines != 0; lines &= lines - 1) {
    note(L1Event::Fill, PhysLine{page, static_cast<unsigned>(std::countr_zero(lines))});
  }
}

// --------------------------------------------------------------------------------------------------- the data oracle

void GpuL1Cache::watch_hit(VirtPage virtual_page, PhysLine line, TagArray::Slot slot) {
  const Location first = context_.location_of(virtual_page, line.page());
  context_.watch->l1_hit(unit_, context_.application, {first.value + line.index()}, line, images_[slot]);
}

RecordId GpuL1Cache::watch_loads(VirtPage virtual_page, PhysPage page, std::uint64_t lines) {
  return context_.watch->loads_issued(unit_, context_.application, context_.location_of(virtual_page, page), page,
                                      lines);
}

RecordId GpuL1Cache::watch_store(RecordId record, VirtPage virtual_page, PhysLine line, TagArray::Slot slot,
                                 const ByteMask& mask) {
  const Location first = context_.location_of(virtual_page, line.page());
  record = context_.watch->store_issued(record, unit_, context_.application, first, line, mask);
  if (slot != TagArray::kNone) context_.watch->l1_written(unit_, images_[slot], mask);
  return record;
}

}  // namespace nearfar
