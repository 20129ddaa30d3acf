#include "characterize/functional/functional_gpu.h"

#include <algorithm>
#include <bit>

namespace nearfar {

FunctionalGpu::FunctionalGpu(DeviceId device, const SystemSpec& system, const AddressSpace& space, Coalescer& coalescer,
                             FunctionalMemory& memory)
    : device_(device),
      line_bytes_(static_cast<std::uint32_t>(system.gpu.line)),
      lanes_(system.gpu.wavefront),
      cus_per_array_(system.gpu.cus_per_array),
      keeps_remote_(system.remote_cache != RemoteCache::None),
      acquires_(system.boundary.l1 == L1AtBoundary::Invalidate),
      space_(space),
      coalescer_(coalescer),
      memory_(memory) {
  const std::uint64_t frames = std::max(system.gpu.dram.capacity, system.host.dram.capacity) / kPageBytes * 3 / 2;
  for (unsigned c = 0; c < system.gpu.cus(); ++c) vector_l1s_.emplace_back(system.gpu.l1v, system.gpu.line, frames);
  for (unsigned a = 0; a < system.gpu.shader_arrays; ++a) {
    scalar_l1s_.emplace_back(system.gpu.l1s, system.gpu.line, frames);
  }
}

void FunctionalGpu::acquire() {
  if (acquires_) {
    for (L1Cache& l1 : vector_l1s_) l1.acquire();
    for (L1Cache& l1 : scalar_l1s_) l1.acquire();
  }
  memory_.acquire(device_);
}

TurnEnd FunctionalGpu::run(Stream& stream, unsigned cu) {
  for (;;) {
    const Plain op = stream.step();
    stats_.instructions += instructions(op);
    switch (kind_of(op)) {
      case OpKind::Load:
      case OpKind::Store:
      case OpKind::Atomic: run_memory(stream, op, vector_l1s_[cu]); return TurnEnd::Memory;
      case OpKind::ScalarLoad: load_scalar(VirtAddr{address_of(op)}, scalar_l1s_[cu / cus_per_array_]); break;
      case OpKind::Local: stats_.local_instructions += count_of(op); break;
      case OpKind::Fence: fence(scope_of(op), vector_l1s_[cu]); break;
      case OpKind::Barrier: ++stats_.barriers; return TurnEnd::Barrier;
      case OpKind::End: return TurnEnd::End;
      case OpKind::VectorAlu:
      case OpKind::ScalarAlu:
      case OpKind::Wait:
      case OpKind::Pause: break;
    }
  }
}

/// The lines of an instruction, of each of which `prefetch` is told: what it will need is then on its way.
template <class Group, class Prefetch>
void FunctionalGpu::find_lines(std::span<const Group> pages, Prefetch prefetch) {
  lines_.clear();
  for (const Group& group : pages) {
    const PhysPage page = space_.translate(device_, group.page);
    for (std::uint64_t rest = group.lines; rest != 0; rest &= rest - 1) {
      lines_.emplace_back(page, static_cast<unsigned>(std::countr_zero(rest)));
      prefetch(lines_.back());
    }
  }
  stats_.page_groups += pages.size();
  stats_.accesses += lines_.size();
}

void FunctionalGpu::run_memory(const Stream& stream, Plain op, L1Cache& l1) {
  stream.lanes(lanes_, addresses_);
  const unsigned bytes = bytes_of(op);
  switch (kind_of(op)) {
    case OpKind::Store:
      ++stats_.vector_stores;
      store(coalescer_.stores(addresses_, bytes), l1);
      break;
    case OpKind::Atomic:
      ++stats_.vector_atomics;
      atomic(coalescer_.loads(addresses_, bytes), bytes, l1);
      break;
    default:
      ++stats_.vector_loads;
      load(coalescer_.loads(addresses_, bytes), l1);
      break;
  }
}

/// All lines of an instruction are looked up before the first of those that miss comes and takes a way.
void FunctionalGpu::load(std::span<const PageGroup> pages, L1Cache& l1) {
  find_lines(pages, [&](PhysLine line) { l1.prefetch(line); });
  std::size_t missing = 0;
  for (const PhysLine line : lines_) {
    if (l1.look_up(line) != TagArray::kNone) continue;
    lines_[missing++] = line;
    memory_.prefetch(device_, line);
  }
  l1.stats().load_lines += lines_.size();
  l1.stats().load_hits += lines_.size() - missing;
  for (std::size_t i = 0; i < missing; ++i) {
    memory_.load(device_, lines_[i]);
    fill(lines_[i], l1);
  }
}

/// Performed at the home of each line: the L1 keeps neither its copy nor what comes back.
void FunctionalGpu::atomic(std::span<const PageGroup> pages, std::uint32_t bytes, L1Cache& l1) {
  find_lines(pages, [&](PhysLine line) { memory_.prefetch(device_, line); });
  l1.stats().atomic_lines += lines_.size();
  l1.stats().fills += lines_.size();
  for (const PhysLine line : lines_) {
    const TagArray::Slot slot = l1.look_up(line);
    if (slot != TagArray::kNone) l1.tags().invalidate(slot);
    memory_.atomic(device_, line, bytes);
  }
}

void FunctionalGpu::store(const Stores& stores, L1Cache& l1) {
  find_lines(stores.groups, [&](PhysLine line) { memory_.prefetch(device_, line); });
  l1.stats().store_lines += lines_.size();
  const PhysLine* line = lines_.data();
  for (const StoreGroup& group : stores.groups) {
    const PartialLine* partial = stores.partial.data() + group.first_partial;
    for (std::uint64_t rest = group.lines; rest != 0; rest &= rest - 1, ++line) {
      const bool whole = (group.full & rest & -rest) != 0;
      l1.stats().store_hits += l1.look_up(*line) != TagArray::kNone;
      memory_.store(device_, *line, whole ? line_bytes_ : (partial++)->count());
    }
  }
}

void FunctionalGpu::load_scalar(VirtAddr address, L1Cache& l1) {
  const auto index = static_cast<unsigned>((address.value & (kPageBytes - 1)) / line_bytes_);
  const PhysLine line{space_.translate(device_, page_of(address)), index};
  ++stats_.scalar_loads;
  ++l1.stats().load_lines;
  if (l1.look_up(line) != TagArray::kNone) {
    ++l1.stats().load_hits;
    return;
  }
  memory_.load(device_, line);
  fill(line, l1);
}

void FunctionalGpu::fill(PhysLine line, L1Cache& l1) {
  ++l1.stats().fills;
  if (!keeps_remote_ && line.device() != device_) return;
  l1.keep_page(line.page());
  l1.install(line);
}

void FunctionalGpu::fence(Scope scope, L1Cache& l1) {
  if (scope == Scope::Workgroup) return;
  l1.acquire();
  if (scope == Scope::System) memory_.acquire(device_);
}

}  // namespace nearfar
