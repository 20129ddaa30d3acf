#include "gpu/gpu_hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/error.h"

namespace nearfar {

GpuHierarchy::GpuHierarchy(Partition& partition, const SystemSpec& spec, const Topology& topology,
                           NetworkInterface& network, L2Client& client, ByteMaskPool& masks, DataWatch* watch)
    : partition_(partition),
      spec_(spec.umh),
      map_(spec, watch != nullptr),
      gpu_(partition.device().value),
      host_(topology.host()),
      client_(client),
      masks_(masks),
      watch_(watch),
      l2_latency_(spec.gpu.l2.tag_latency + spec.gpu.l2.data_latency),
      smd_latency_(smd_latency(spec)),
      room_(spec.gpu.l2.queue + spec.gpu.l2.mshrs),
      courier_(partition, network, spec.umh, map_.geometry(),
               [this](nmoesi::Message&& message) { deliver(std::move(message)); }),
      slices_(map_.slices()),
      hit_handler_(partition.add_handler<&GpuHierarchy::on_hits>(this)) {
  courier_.on_worked_off = [this] { work_off(); };
  const std::uint64_t stack = spec.gpu.dram.capacity / map_.slices();
  for (unsigned s = 0; s < map_.slices(); ++s) {
    nmoesi::LineCacheOptions l2;
    l2.self = map_.l2(s);
    l2.parent = map_.smd(gpu_, s);
    l2.sets = spec.gpu.l2.size / map_.slices() / spec.gpu.l2.ways / spec.gpu.line;
    l2.ways = spec.gpu.l2.ways;
    l2.index = spec.gpu.l2.index;
    l2.table = &table_of(spec.umh);
    l2.geometry = map_.geometry();
    nmoesi::StackDirectoryOptions smd;
    smd.self = map_.smd(gpu_, s);
    smd.child = map_.l2(s);
    smd.ways = spec.umh.smd.ways;
    smd.sets = std::max<std::uint64_t>(1, stack / spec.umh.block / smd.ways);
    smd.set_stride = spec.umh.interleaved() == spec.umh.block ? map_.slices() : 1;
    smd.transactions = spec.umh.smd.transactions;
    smd.put_buffer = spec.umh.smd.put_buffer;
    smd.supplies_shared = spec.umh.peer_supplier == UmhSupplier::AnySharer;
    smd.table = &table_of(spec.umh);
    smd.geometry = map_.geometry();
    slices_[s].l2 = std::make_unique<nmoesi::LineCache>(l2, *this, this);
    slices_[s].smd = std::make_unique<nmoesi::StackDirectory>(smd, map_.home(0), map_.homes(), *this, this);
    slices_[s].stack =
        std::make_unique<DirectoryMemory>(spec.gpu.dram.channel_bandwidth.bytes_per_second, spec.gpu.clock.hertz,
                                          spec.umh.row_cycles, spec.gpu.dram.banks, spec.gpu.dram.row);
  }
}

// ------------------------------------------------------------------------------------------------------- from the L1s

bool GpuHierarchy::reserve(PhysLine line, Waiter waiter) {
  Slice& slice = slice_of(line);
  if (slice.reserved >= room_) {
    slice.waiters.push(waiter);
    return false;
  }
  ++slice.reserved;
  return true;
}

/// Each line acts for itself in the cycle in which its group arrives; ports and lookups add their time. What hits comes
/// back together.
void GpuHierarchy::request(LineRequest* group) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(group->mask));
  const unsigned last = 63U - static_cast<unsigned>(std::countl_zero(group->mask));
  std::uint64_t hits = 0;
  Cycle hits_end = 0;
  std::uint64_t arrived = 0;
  for (std::uint64_t rest = group->mask; rest != 0; rest &= rest - 1) {
    const unsigned index = static_cast<unsigned>(std::countr_zero(rest));
    const PhysLine line{group->line.page(), index};
    Slice& slice = slice_of(line);
    const Cycle looked_up = std::max(partition_.now() + arrived++, slice.port_free);
    slice.port_free = looked_up + 1;
    // What misses leaves together.
    if (arrived == 1) lookup_ends_ = looked_up + l2_latency_;
    const std::uint64_t before = hits;
    act(*group, line, access_of(*group, line, index == first, index == last), hits);
    if (hits != before) hits_end = std::max(hits_end, looked_up + l2_latency_);
  }
  if (group->kind == RequestKind::Write) {
    masks_.release(partition_.device(), as_store(*group).masks);
    as_store(*group).masks = 0;
  }
  if (hits == 0) {
    partition_.pool().release(group);
  } else {
    group->mask = hits;
    partition_.schedule(group, hit_handler_, hits_end);
  }
  work_off();
}

nmoesi::CoreAccess GpuHierarchy::access_of(const LineRequest& request, PhysLine line, bool first, bool last) {
  nmoesi::CoreAccess access;
  access.line = HierarchyMap::number(line);
  const nmoesi::Geometry& geometry = map_.geometry();
  switch (request.kind) {
    case RequestKind::Write: {
      ByteMask bytes = ByteMask::all(geometry.line_bytes);
      const ByteMasksId masks = as_store(request).masks;
      if (masks != 0 && first) bytes = masks_.at(masks).first;
      if (masks != 0 && last && !first) bytes = masks_.at(masks).last;
      access.mask = geometry.granules_of(bytes);
      const bool covers = geometry.covers_granules(bytes);
      access.event = covers ? nmoesi::Event::NStore : nmoesi::Event::Store;
      ++(covers ? stats_.nstores : stats_.coherent_stores);
      if (!covers) ++stats_.subgranule_stores;
      break;
    }
    case RequestKind::Atomic:
      access.event = nmoesi::Event::Store;
      access.mask = geometry.granules_of(ByteMask::all(geometry.line_bytes));
      ++stats_.coherent_stores;
      break;
    default: ++stats_.loads; break;
  }
  return access;
}

void GpuHierarchy::act(LineRequest& group, PhysLine line, const nmoesi::CoreAccess& asked, std::uint64_t& hits) {
  Slice& slice = slice_of(line);
  nmoesi::CoreAccess access = asked;
  const std::uint64_t bit = std::uint64_t{1} << line.index();
  LineImage* image = nullptr;
  if (!slice.l2->access(access, image)) {
    LineRequest* alone = partition_.pool().copy(group);
    alone->line = line;
    alone->mask = bit;
    access.token = alone;
    slice.l2->wait(access);
    return;
  }
  ++(access.event == nmoesi::Event::Load ? stats_.load_hits : stats_.store_hits);
  watch_performed(group, line, access, image);
  hits |= bit;
}

void GpuHierarchy::watch_performed(const LineRequest& request, PhysLine line, const nmoesi::CoreAccess& access,
                                   LineImage* image) {
  if (watch_ == nullptr) return;
  if (access.event == nmoesi::Event::Load) {
    watch_->unified_load(request.record, line, *image);
  } else {
    watch_->unified_store(request.record, line, *image);
  }
}

void GpuHierarchy::on_hits(LineRequest* request) {
  complete(request);
  work_off();
}

/// What a line waited for has been performed.
void GpuHierarchy::performed(const nmoesi::CoreAccess& access, LineImage* image) {
  auto* request = static_cast<LineRequest*>(access.token);
  watch_performed(*request, request->line, access, image);
  complete(request);
}

void GpuHierarchy::complete(LineRequest* request) {
  for (std::uint64_t rest = request->mask; rest != 0; rest &= rest - 1) {
    release(slice_of(PhysLine{request->line.page(), static_cast<unsigned>(std::countr_zero(rest))}), 1);
  }
  if (request->kind != RequestKind::Write) {
    client_.lines_served(request);
    return;
  }
  if (watch_ != nullptr) watch_->stores_acknowledged(request->record, request->mask);
  const unsigned unit = request->unit;
  const PhysPage page = request->line.page();
  const unsigned lines = request->lines();
  partition_.pool().release(request);
  client_.stores_ordered(unit, page, lines);
}

void GpuHierarchy::release(Slice& slice, std::uint32_t count) {
  slice.reserved -= count;
  while (!slice.waiters.empty() && slice.reserved < room_) client_.l2_has_room(slice.waiters.pop());
}

// ------------------------------------------------------------------------------------------------------------ messages

void GpuHierarchy::on_message(Packet* packet) {
  courier_.receive(packet, smd_latency_);
  work_off();
}

void GpuHierarchy::work_off() {
  courier_.work_off();
  if (boundary_ != Boundary::None) go_on_with_boundary();
}

void GpuHierarchy::send(nmoesi::Message&& message) {
  const bool of_l2 = message.from >= map_.l2(0);
  if (of_l2) {
    Cycle when = partition_.now();
    if (class_of(message.kind) == nmoesi::MessageClass::Request) {
      when = std::max(lookup_ends_, when) + smd_latency_;
    } else if (message.kind == nmoesi::Kind::ProbeAck) {
      when += message.lines.size();
    }
    courier_.carry(std::move(message), when);
    return;
  }
  if (message.to >= map_.l2(0)) {
    const Cycle when = message.ready;
    courier_.carry(std::move(message), when);
    return;
  }
  const DeviceId to = map_.is_smd(message.to) ? DeviceId{static_cast<std::uint16_t>(map_.gpu_of(message.to))} : host_;
  courier_.send(std::move(message), to);
}

void GpuHierarchy::deliver(nmoesi::Message&& message) {
  lookup_ends_ = 0;
  if (message.to >= map_.l2(0)) {
    slices_[message.to - map_.l2(0)].l2->receive(std::move(message));
  } else {
    slices_[message.to % map_.slices()].smd->receive(std::move(message));
  }
}

Cycle GpuHierarchy::read_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) {
  const std::uint64_t bytes = map_.geometry().line_bytes;
  const std::uint64_t address = map_.geometry().line_of(block / map_.slices(), line) * bytes;
  return slices_[agent % map_.slices()].stack->read(partition_.now(), address, lines * bytes);
}

void GpuHierarchy::write_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) {
  const std::uint64_t bytes = map_.geometry().line_bytes;
  const std::uint64_t address = map_.geometry().line_of(block / map_.slices(), line) * bytes;
  slices_[agent % map_.slices()].stack->write(partition_.now(), address, lines * bytes);
}

// ------------------------------------------------------------------------------------------------------------ boundary

void GpuHierarchy::start_boundary(bool flush) {
  flush_ = flush;
  if (!flush && spec_.kernel_boundary == UmhBoundary::None) {
    client_.flushed();
    return;
  }
  boundary_ = Boundary::Caches;
  std::uint64_t merged = 0;
  for (Slice& slice : slices_) {
    merged += slice.l2->changed_lines();
    if (spec_.kernel_boundary == UmhBoundary::FlushAll) {
      slice.l2->evict_all();
    } else {
      slice.l2->publish_all();
    }
  }
  stats_.flushed_lines += merged;
  work_off();
}

/// First the caches have to be done, then the stacks.
void GpuHierarchy::go_on_with_boundary() {
  const auto idle = [](const Slice& slice) { return slice.l2->idle() && slice.smd->idle(); };
  if (!std::ranges::all_of(slices_, idle) || !courier_.idle()) return;
  if (boundary_ == Boundary::Caches) {
    boundary_ = Boundary::Stacks;
    for (Slice& slice : slices_) {
      if (spec_.kernel_boundary == UmhBoundary::FlushAll) {
        slice.smd->evict_all(true);
      } else if (flush_) {
        slice.smd->evict_all(false);
      } else {
        slice.smd->publish_all();
      }
    }
    work_off();
    return;
  }
  boundary_ = Boundary::None;
  client_.flushed();
}

// ------------------------------------------------------------------------------------------------------------- account

bool GpuHierarchy::idle() const {
  return courier_.idle() && std::ranges::all_of(slices_, [](const Slice& slice) {
           return slice.reserved == 0 && slice.l2->idle() && slice.smd->idle();
         });
}

std::string GpuHierarchy::describe_waiting() const {
  std::string text;
  for (const Slice& slice : slices_) text += slice.l2->describe_waiting() + slice.smd->describe_waiting();
  return text;
}

/// A copy without a parent's, or changed bytes in a copy that has none, is the end of the protocol.
void GpuHierarchy::check() const {
  for (const Slice& slice : slices_) {
    slice.l2->for_each_line([&](nmoesi::Line line) {
      const nmoesi::State state = slice.l2->state_of(line);
      const auto* block = slice.smd->entry_of(map_.geometry().block_of(line));
      const unsigned index = map_.geometry().index_of(line);
      if (block == nullptr || block->state == nmoesi::State::I || !block->present.contains(index)) {
        throw SimulationError(fmt::format("check: GPU {} holds line {} in its L2, but not its block", gpu_, line));
      }
      if (nmoesi::is_exclusive(state) && !nmoesi::is_exclusive(block->state)) {
        throw SimulationError(fmt::format("check: GPU {} has line {} alone, but not its block", gpu_, line));
      }
      if (slice.l2->mask_of(line) != 0 && !nmoesi::may_be_changed(state)) {
        throw SimulationError(
            fmt::format("check: GPU {} has changed bytes in an unchanged copy of line {}", gpu_, line));
      }
    });
  }
}

void GpuHierarchy::overlay(nmoesi::Line line, LineImage& contents) const {
  const Slice& slice = slices_[map_.slice_of(line)];
  const unsigned index = map_.geometry().index_of(line);
  if (const auto* block = slice.smd->entry_of(map_.geometry().block_of(line))) {
    map_.geometry().overlay(contents, block->images[index], block->masks[index]);
  }
  if (const LineImage* image = slice.l2->image_of_line(line)) {
    map_.geometry().overlay(contents, *image, slice.l2->mask_of(line));
  }
}

void GpuHierarchy::describe(StatVisitor& visitor) {
  nmoesi::StackDirectoryStats smd;
  DirectoryMemoryStats stack;
  for (Slice& slice : slices_) {
    const nmoesi::StackDirectoryStats& one = slice.smd->stats();
    smd.hits += one.hits;
    smd.misses += one.misses;
    smd.upgrades += one.upgrades;
    smd.evictions += one.evictions;
    smd.recalls += one.recalls;
    smd.lines_recalled += one.lines_recalled;
    smd.stale_puts += one.stale_puts;
    smd.peer_supplies += one.peer_supplies;
    smd.published += one.published;
    const DirectoryMemoryStats& memory = slice.stack->stats();
    stack.reads += memory.reads;
    stack.writes += memory.writes;
    stack.read_bytes += memory.read_bytes;
    stack.write_bytes += memory.write_bytes;
    stack.busy_cycles += memory.busy_cycles;
  }
  stats_.smd = smd;
  stats_.stack = stack;
  stats_.traffic = courier_.traffic();
  stats_.describe(visitor);
}

void GpuHierarchyStats::describe(StatVisitor& visitor) {
  visitor.counter("l2.loads", "lines", "Lines that L1 caches asked the L2 of a unified memory hierarchy for.", loads);
  visitor.counter("l2.load_hits", "lines", "Lines that loads of compute units looked for in the L2 and found.",
                  load_hits);
  visitor.counter("l2.nstores", "lines",
                  "Lines of non-coherent stores at the L2 of a unified memory hierarchy: ordinary stores.", nstores);
  visitor.counter("l2.coherent_stores", "lines",
                  "Lines of coherent stores at the L2 of a unified memory hierarchy: atomics, and stores to parts of "
                  "granules.",
                  coherent_stores);
  visitor.counter("l2.subgranule_stores", "lines",
                  "Lines of stores that were coherent because they do not cover whole granules.", subgranule_stores);
  visitor.counter("l2.store_hits", "lines",
                  "Lines of stores that the L2 of a unified memory hierarchy performed at once.", store_hits);
  visitor.counter("l2.flushed_lines", "lines",
                  "Lines with changed bytes that the L2 gave to the stacked memories at kernel boundaries.",
                  flushed_lines);
  visitor.counter("smd.hits", "lines", "Requests of the L2 for lines whose block a stacked memory held.", smd.hits);
  visitor.counter("smd.misses", "lines", "Requests of the L2 for lines whose block was not in a stacked memory.",
                  smd.misses);
  visitor.counter("smd.upgrades", "lines", "Requests of the L2 to write a line whose block other devices may hold too.",
                  smd.upgrades);
  visitor.counter("smd.evictions", "blocks", "Blocks that left a stacked memory to make room, or at a flush.",
                  smd.evictions);
  visitor.counter("smd.recalls", "probes", "Probes of stacked memories' directories for lines in their L2 slice.",
                  smd.recalls);
  visitor.counter("smd.lines_recalled", "lines", "Lines that those probes asked for.", smd.lines_recalled);
  visitor.counter("smd.stale_puts", "lines", "Lines that the L2 put after their bytes had been taken by a probe.",
                  smd.stale_puts);
  visitor.counter("smd.peer_supplies", "blocks", "Blocks that a GPU sent to another one.", smd.peer_supplies);
  visitor.counter("smd.published", "blocks", "Blocks that a GPU published at kernel boundaries.", smd.published);
  visitor.counter("smd.block_wait_cycles", "cycles",
                  "Time that requests of the L2 waited for other work on their block, summed over lines.",
                  block_wait_cycles);
  visitor.histogram("smd.lines_used", "lines", "Lines of a block that were asked for between its fill and its end.",
                    lines_used);
  visitor.counter("stack.reads", "accesses", "Reads of stacked memories.", stack.reads);
  visitor.counter("stack.writes", "accesses", "Writes of stacked memories.", stack.writes);
  visitor.counter("stack.read_bytes", "bytes", "Bytes read from stacked memories.", stack.read_bytes);
  visitor.counter("stack.write_bytes", "bytes", "Bytes written to stacked memories.", stack.write_bytes);
  visitor.counter("stack.busy_cycles", "cycles", "Time that the data buses of stacked memories were in use.",
                  stack.busy_cycles);
  traffic.describe(visitor);
}

}  // namespace nearfar
