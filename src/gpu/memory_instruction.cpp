#include "gpu/memory_instruction.h"

#include <algorithm>
#include <bit>

namespace nearfar {

void MemoryInstruction::start(GpuContext& context, Wavefront& wave) {
  wave.stream.lanes(context.spec.wavefront, context.lanes);
  pages_.clear();
  next_ = 0;
  if (context.useful != nullptr) note_use(context, kind_of(wave.op), bytes_of(wave.op));
  PageAccess access;
  access.kind = kind_of(wave.op);
  access.bytes = static_cast<std::uint16_t>(bytes_of(wave.op));
  access.slot = wave.slot;
  access.translated = context.l2_tlb == nullptr;
  if (access.kind == OpKind::Store) {
    add_stores(context, access);
  } else {
    add_loads(context, access, wave);
  }
  if (context.watch != nullptr && access.is_atomic()) find_atomic_bytes(context, access.bytes);
  if (context.l2_tlb != nullptr) return;
  for (PageAccess& page : pages_) page.page = context.space->translate(context.device(), page.virtual_page);
}

void MemoryInstruction::add_stores(GpuContext& context, PageAccess& access) {
  const Stores stores = context.coalescer.stores(context.lanes, access.bytes);
  keep_byte_masks(stores);
  for (const StoreGroup& group : stores.groups) {
    access.virtual_page = group.page;
    access.lines = group.lines;
    access.whole = group.full;
    access.masks = byte_masks_.data() + group.first_partial;
    pages_.push_back(access);
  }
}

/// Loads and atomics take the next load slot of their wavefront.
void MemoryInstruction::add_loads(GpuContext& context, PageAccess& access, Wavefront& wave) {
  const unsigned load = wave.loads_issued % kLoadSlots;
  access.wave = &wave;
  access.load = static_cast<std::uint8_t>(load);
  for (const PageGroup& group : context.coalescer.loads(context.lanes, access.bytes)) {
    access.virtual_page = group.page;
    access.lines = group.lines;
    pages_.push_back(access);
  }
  wave.ready[load] = static_cast<std::uint32_t>(context.partition.now());
  wave.lines_left[load] = 1;  // the instruction itself, until it has left the unit
  ++wave.loads_issued;
}

/// Which bytes an instruction writes of its lines that are not written whole.
void MemoryInstruction::keep_byte_masks(const Stores& stores) {
  byte_masks_.clear();
  for (const PartialLine& line : stores.partial) byte_masks_.push_back({line.bytes});
}

/// Loads and atomics are coalesced to lines only; the data oracle wants to know the bytes.
void MemoryInstruction::find_atomic_bytes(GpuContext& context, unsigned bytes) {
  const Stores stores = context.coalescer.stores(context.lanes, bytes);
  keep_byte_masks(stores);
  for (PageAccess& page : pages_) {
    const auto group = std::ranges::find(stores.groups, page.virtual_page, &StoreGroup::page);
    page.masks = byte_masks_.data() + group->first_partial;
    page.whole = group->full;
  }
}

/// The lanes' own bytes of lines at home here, which other GPUs' stores may have brought. Pages do not move here.
void MemoryInstruction::note_use(GpuContext& context, OpKind kind, unsigned bytes) {
  const Stores touched = context.coalescer.stores(context.lanes, bytes);
  for (const StoreGroup& group : touched.groups) {
    const PhysPage page = context.space->translate(context.device(), group.page);
    if (page.device() != context.device()) continue;
    const PartialLine* partial = touched.partial.data() + group.first_partial;
    for (std::uint64_t rest = group.lines; rest != 0; rest &= rest - 1) {
      const bool whole = (group.full & rest & -rest) != 0;
      const ByteMask mask = whole ? ByteMask::all(static_cast<unsigned>(context.spec.line)) : ByteMask{partial->bytes};
      if (!whole) ++partial;
      const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
      if (kind == OpKind::Store) {
        context.useful->stored(line, mask);
      } else {
        context.useful->loaded(line, mask);
        if (kind == OpKind::Atomic) context.useful->changed(line, mask);
      }
    }
  }
}

std::uint64_t MemoryInstruction::lines() const {
  std::uint64_t lines = 0;
  for (const PageAccess& page : pages_) lines += static_cast<std::uint64_t>(std::popcount(page.lines));
  return lines;
}

}  // namespace nearfar
