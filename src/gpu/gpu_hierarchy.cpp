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
      hit_handler_(partition.add_handler<&GpuHierarchy::on_hits>(this)),
      swept_handler_(partition.add_handler<&GpuHierarchy::on_swept>(this)),
      directory_timeline_(partition, map_, host_) {
  courier_.on_worked_off = [this] { work_off(); };
  const std::uint64_t stack = spec.gpu.dram.capacity / map_.slices();
  for (unsigned s = 0; s < map_.slices(); ++s) {
    nmoesi::LineCacheOptions l2;
    l2.self = map_.l2(s);
    l2.parent = map_.smd(gpu_, s);
    l2.sets = spec.gpu.l2.size / map_.slices() / spec.gpu.l2.ways / spec.gpu.line;
    l2.ways = spec.gpu.l2.ways;
    l2.index = spec.gpu.l2.index;
    l2.notifies_clean = spec.umh.clean_eviction_notice;
    l2.table = &table_of(spec.umh);
    l2.geometry = map_.geometry();
    if (spec.umh.l1_writes_back()) {
      l2.first_child = map_.l1(0);
      l2.children = WriteBackL1s::count(spec);
    }
    nmoesi::StackDirectoryOptions smd;
    smd.self = map_.smd(gpu_, s);
    smd.child = map_.l2(s);
    smd.ways = spec.umh.smd.ways;
    smd.sets = std::max<std::uint64_t>(1, stack / spec.umh.block / smd.ways);
    smd.set_stride = spec.umh.interleaved() == spec.umh.block ? map_.slices() : 1;
    smd.transactions = spec.umh.smd.transactions;
    smd.put_buffer = spec.umh.smd.put_buffer;
    smd.notifies_clean = spec.umh.clean_eviction_notice;
    smd.supplies_shared = spec.umh.peer_supplier == UmhSupplier::AnySharer;
    smd.table = &table_of(spec.umh);
    smd.geometry = map_.geometry();
    slices_[s].l2 = std::make_unique<nmoesi::LineCache>(l2, *this, this);
    slices_[s].smd = std::make_unique<nmoesi::StackDirectory>(smd, map_.home(0), map_.homes(), *this, this);
    slices_[s].stack = std::make_unique<DirectoryMemory>(
        spec.gpu.dram.channel_bandwidth.bytes_per_second, spec.gpu.clock.hertz, spec.umh.row_cycles,
        spec.umh.bank_conflicts ? spec.gpu.dram.banks : 0, spec.gpu.dram.row);
  }
  if (spec.umh.l1_writes_back()) l1s_ = std::make_unique<WriteBackL1s>(spec, map_, *this, *this);
}

// ------------------------------------------------------------------------------------------------------- from the L1s

/// Room at a slice. Where L1s write back, most of what they are asked for goes no further, and their MSHRs bound the
/// rest.
bool GpuHierarchy::reserve(PhysLine line, Waiter waiter) {
  if (l1s_) return true;
  Slice& slice = slice_of(line);
  if (slice.reserved >= room_) {
    slice.waiters.push(waiter);
    return false;
  }
  ++slice.reserved;
  return true;
}

/// Each line acts for itself in the cycle in which its group arrives, behind the lookup of the L1; ports and lookups
/// add their time. What hits comes back together.
void GpuHierarchy::request(LineRequest* group) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(group->mask));
  const unsigned last = 63U - static_cast<unsigned>(std::countl_zero(group->mask));
  std::uint64_t hits = 0;
  Cycle hits_end = 0;
  Cycle looked_up = partition_.now();
  for (std::uint64_t rest = group->mask; rest != 0; rest &= rest - 1, ++looked_up) {
    const unsigned index = static_cast<unsigned>(std::countr_zero(rest));
    const PhysLine line{group->line.page(), index};
    nmoesi::LineCache* cache = nullptr;
    Cycle answered = looked_up;
    if (l1s_) {
      cache = &l1s_->of(*group);
    } else {
      Slice& slice = slice_of(line);
      cache = slice.l2.get();
      const Cycle at_l2 = std::max(looked_up, slice.port_free);
      slice.port_free = at_l2 + 1;
      answered = at_l2 + l2_latency_;
      // What misses leaves together.
      if (index == first) lookup_ends_ = answered;
    }
    if (!act(*cache, *group, line, access_of(*group, line, index == first, index == last))) continue;
    hits |= std::uint64_t{1} << index;
    hits_end = std::max(hits_end, answered);
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
    default: ++(l1s_ ? stats_.l1 : stats_.l2).loads; break;
  }
  return access;
}

/// Whether the access is performed at once; else its line waits, in a request of its own.
bool GpuHierarchy::act(nmoesi::LineCache& cache, LineRequest& group, PhysLine line, nmoesi::CoreAccess access) {
  LineImage* image = nullptr;
  if (!cache.access(access, image)) {
    LineRequest* alone = partition_.pool().copy(group);
    alone->line = line;
    alone->mask = std::uint64_t{1} << line.index();
    access.token = alone;
    cache.wait(access);
    return false;
  }
  GpuHierarchyStats::Lookups& lookups = l1s_ ? stats_.l1 : stats_.l2;
  ++(access.event == nmoesi::Event::Load ? lookups.load_hits : lookups.store_hits);
  watch_performed(group, line, access, image);
  return true;
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
  if (timeline_ != nullptr) timeline_->ordered(unit, page, request->mask);
  partition_.pool().release(request);
  client_.stores_ordered(unit, page, lines);
}

void GpuHierarchy::release(Slice& slice, std::uint32_t count) {
  if (l1s_) return;
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
  if (map_.is_l1(message.from)) {
    send_to_l2(std::move(message));
    return;
  }
  if (map_.is_l2(message.from)) {
    send_from_l2(std::move(message));
    return;
  }
  if (map_.is_l2(message.to)) {
    const Cycle when = message.ready;
    courier_.carry(std::move(message), when);
    return;
  }
  if (directory_timeline_.on()) directory_timeline_.stack_sends(message);
  const DeviceId to = map_.is_smd(message.to) ? DeviceId{static_cast<std::uint16_t>(map_.gpu_of(message.to))} : host_;
  courier_.send(std::move(message), to);
}

/// Of an L1, to the slice of its line. Requests pass the slice's port and its lookup.
void GpuHierarchy::send_to_l2(nmoesi::Message&& message) {
  const unsigned s = map_.slice_of(map_.geometry().line_of(message.block, message.line));
  message.to = map_.l2(s);
  Cycle when = partition_.now();
  if (class_of(message.kind) == nmoesi::MessageClass::Request) {
    const Cycle looked_up = std::max(when, slices_[s].port_free);
    slices_[s].port_free = looked_up + 1;
    when = looked_up + l2_latency_;
  }
  courier_.carry(std::move(message), when);
}

void GpuHierarchy::send_from_l2(nmoesi::Message&& message) {
  Cycle when = partition_.now();
  if (map_.is_l1(message.to)) {
    if (class_of(message.kind) == nmoesi::MessageClass::Probe) when += l1s_->latency(message.to - map_.l1(0));
  } else if (class_of(message.kind) == nmoesi::MessageClass::Request) {
    when = std::max(lookup_ends_, when) + smd_latency_;
  } else if (message.kind == nmoesi::Kind::ProbeAck) {
    when += message.lines.size();
  }
  courier_.carry(std::move(message), when);
}

void GpuHierarchy::deliver(nmoesi::Message&& message) {
  lookup_ends_ = 0;
  if (map_.is_l1(message.to)) {
    (*l1s_)[message.to - map_.l1(0)].receive(std::move(message));
  } else if (map_.is_l2(message.to)) {
    nmoesi::LineCache& l2 = *slices_[message.to - map_.l2(0)].l2;
    if (map_.is_l1(message.from)) count_at_l2(l2, message);
    l2.receive(std::move(message));
  } else {
    if (!map_.is_l2(message.from) && directory_timeline_.on()) directory_timeline_.stack_receives(message);
    slices_[message.to % map_.slices()].smd->receive(std::move(message));
  }
}

/// What write-back L1s ask for counts when it arrives.
void GpuHierarchy::count_at_l2(const nmoesi::LineCache& l2, const nmoesi::Message& message) {
  if (class_of(message.kind) != nmoesi::MessageClass::Request || message.kind == nmoesi::Kind::Put) return;
  const nmoesi::State state = l2.state_of(map_.geometry().line_of(message.block, message.line));
  if (message.kind == nmoesi::Kind::Write) {
    if (nmoesi::is_exclusive(state)) ++stats_.l2.store_hits;
    return;
  }
  ++stats_.l2.loads;
  if (state != nmoesi::State::I) ++stats_.l2.load_hits;
}

Cycle GpuHierarchy::read_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) {
  const std::uint64_t bytes = map_.geometry().line_bytes;
  const std::uint64_t address = map_.geometry().line_of(map_.place_of(block), line) * bytes;
  return slices_[agent % map_.slices()].stack->read(partition_.now(), address, lines * bytes);
}

void GpuHierarchy::write_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) {
  const std::uint64_t bytes = map_.geometry().line_bytes;
  const std::uint64_t address = map_.geometry().line_of(map_.place_of(block), line) * bytes;
  slices_[agent % map_.slices()].stack->write(partition_.now(), address, lines * bytes);
}

// ------------------------------------------------------------------------------------------------------------ boundary

void GpuHierarchy::start_boundary(bool flush) {
  flush_ = flush;
  if (!flush && spec_.kernel_boundary == UmhBoundary::None) {
    client_.flushed();
    return;
  }
  if (l1s_) {
    boundary_ = Boundary::Sweep;
    partition_.schedule(partition_.pool().allocate<Event>(), swept_handler_, partition_.now() + l1s_->sweep());
    return;
  }
  start_caches();
  work_off();
}

/// The L1s have looked at their tags: what they have changed goes to the L2, and all leaves them.
void GpuHierarchy::on_swept(Event* event) {
  partition_.pool().release(event);
  boundary_ = Boundary::L1s;
  stats_.l1_flushed_lines += l1s_->changed_lines();
  l1s_->evict_all();
  work_off();
}

void GpuHierarchy::start_caches() {
  boundary_ = Boundary::Caches;
  for (Slice& slice : slices_) {
    if (spec_.kernel_boundary == UmhBoundary::FlushAll) {
      stats_.flushed_lines += slice.l2->changed_lines();
      slice.l2->evict_all();
    } else {
      stats_.flushed_lines += slice.l2->publish_all();
    }
  }
}

void GpuHierarchy::start_stacks() {
  boundary_ = Boundary::Stacks;
  put_before_flush_ = put_bytes();
  for (Slice& slice : slices_) {
    if (spec_.kernel_boundary == UmhBoundary::FlushAll) {
      slice.smd->evict_all(true);
    } else if (flush_) {
      slice.smd->evict_all(false);
    } else {
      slice.smd->publish_all();
    }
  }
}

/// That stacked memories have put or published so far.
std::uint64_t GpuHierarchy::put_bytes() const {
  const bool whole = spec_.writeback == UmhWriteBack::WholeBlock;
  std::uint64_t bytes = 0;
  for (const Slice& slice : slices_) {
    const nmoesi::StackDirectoryStats& smd = slice.smd->stats();
    bytes += whole ? smd.changed_puts * spec_.block : smd.put_lines * map_.geometry().line_bytes;
  }
  return bytes;
}

/// First the L1s have to be done, then the L2, then the stacks.
void GpuHierarchy::go_on_with_boundary() {
  if (boundary_ == Boundary::Sweep) return;
  const auto idle = [](const Slice& slice) { return slice.l2->idle() && slice.smd->idle(); };
  if (!std::ranges::all_of(slices_, idle) || !courier_.idle() || (l1s_ && !l1s_->idle())) return;
  if (boundary_ == Boundary::L1s) {
    start_caches();
    work_off();
    return;
  }
  if (boundary_ == Boundary::Caches) {
    start_stacks();
    work_off();
    return;
  }
  boundary_ = Boundary::None;
  if (flush_) stats_.flushed_home_bytes += put_bytes() - put_before_flush_;
  client_.flushed();
}

// ------------------------------------------------------------------------------------------------------------- account

bool GpuHierarchy::idle() const {
  return courier_.idle() && (!l1s_ || l1s_->idle()) && std::ranges::all_of(slices_, [](const Slice& slice) {
           return slice.reserved == 0 && slice.l2->idle() && slice.smd->idle();
         });
}

std::string GpuHierarchy::describe_waiting() const {
  std::string text = l1s_ ? l1s_->describe_waiting() : "";
  for (const Slice& slice : slices_) text += slice.l2->describe_waiting() + slice.smd->describe_waiting();
  return text;
}

/// A copy without a parent's, or changed bytes in a copy that has none, is the end of the protocol.
void GpuHierarchy::check() const {
  if (l1s_) check_l1s();
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

void GpuHierarchy::check_l1s() const {
  for (unsigned i = 0; i < l1s_->size(); ++i) {
    const nmoesi::LineCache& l1 = (*l1s_)[i];
    l1.for_each_line([&](nmoesi::Line line) {
      const nmoesi::LineCache& l2 = *slices_[map_.slice_of(line)].l2;
      const nmoesi::State below = l2.state_of(line);
      if (below == nmoesi::State::I || (l2.sharers_of(line) >> i & 1) == 0) {
        throw SimulationError(
            fmt::format("check: GPU {} holds line {} in L1 {}, which its L2 does not know", gpu_, line, i));
      }
      if (nmoesi::is_exclusive(l1.state_of(line)) && !nmoesi::is_exclusive(below)) {
        throw SimulationError(
            fmt::format("check: GPU {} has line {} alone in L1 {}, but not in its L2", gpu_, line, i));
      }
      if (l1.mask_of(line) != 0 && !nmoesi::may_be_changed(l1.state_of(line))) {
        throw SimulationError(
            fmt::format("check: GPU {} has changed bytes in an unchanged copy of line {} in L1 {}", gpu_, line, i));
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
  for (unsigned i = 0; l1s_ && i < l1s_->size(); ++i) {
    const nmoesi::LineCache& l1 = (*l1s_)[i];
    if (const LineImage* image = l1.image_of_line(line)) map_.geometry().overlay(contents, *image, l1.mask_of(line));
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
    smd.changed_puts += one.changed_puts;
    const DirectoryMemoryStats& memory = slice.stack->stats();
    stack.reads += memory.reads;
    stack.writes += memory.writes;
    stack.read_bytes += memory.read_bytes;
    stack.write_bytes += memory.write_bytes;
    stack.busy_cycles += memory.busy_cycles;
  }
  GpuHierarchyStats all = stats_;
  all.smd = smd;
  all.stack = stack;
  all.traffic = courier_.traffic();
  for (const Slice& slice : slices_) {
    slice.smd->for_each_block([&](const auto& block) { all.lines_used.add(block.touched.size()); });
  }
  all.describe(visitor);
}

void GpuHierarchyStats::describe(StatVisitor& visitor) {
  visitor.counter("l1.nstores", "lines",
                  "Lines of non-coherent stores of compute units in a unified memory hierarchy: ordinary stores.",
                  nstores);
  visitor.counter("l1.coherent_stores", "lines",
                  "Lines of coherent stores of compute units in a unified memory hierarchy: atomics, and stores to "
                  "parts of granules.",
                  coherent_stores);
  visitor.counter("l1.subgranule_stores", "lines",
                  "Lines of stores that were coherent because they do not cover whole granules.", subgranule_stores);
  visitor.counter("l1.loads", "lines",
                  "Lines that write-back L1s of a unified memory hierarchy were asked for; merged misses count once.",
                  l1.loads);
  visitor.counter("l1.load_hits", "lines", "Lines that loads looked for in write-back L1s and found.", l1.load_hits);
  visitor.counter("l1.store_hits", "lines",
                  "Lines of stores and atomics that write-back L1s performed without asking the L2.", l1.store_hits);
  visitor.counter("l1.flushed_lines", "lines",
                  "Lines with changed bytes that write-back L1s gave to the L2 at kernel boundaries.",
                  l1_flushed_lines);
  visitor.counter("l2.loads", "lines", "Lines that L1 caches asked the L2 of a unified memory hierarchy for.",
                  l2.loads);
  visitor.counter("l2.load_hits", "lines", "Lines that loads of compute units looked for in the L2 and found.",
                  l2.load_hits);
  visitor.counter("l2.store_hits", "lines",
                  "Lines of stores that the L2 of a unified memory hierarchy performed at once, or let a write-back L1 "
                  "perform without asking the stacked memory.",
                  l2.store_hits);
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
  visitor.counter("smd.changed_puts", "blocks",
                  "Blocks that went home with changed bytes because they were evicted, published or flushed.",
                  smd.changed_puts);
  visitor.counter("smd.flushed_home_bytes", "bytes",
                  "Bytes of changed blocks that final flushes sent to the host's memory.", flushed_home_bytes);
  visitor.counter("smd.block_wait_cycles", "cycles",
                  "Time that requests of the L2 waited for other work on their block, summed over lines.",
                  block_wait_cycles);
  visitor.histogram("smd.lines_used", "lines",
                    "Lines of a block that were asked for between its fill and its end, or the end of the run.",
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
