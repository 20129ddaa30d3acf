#include "gpu/compute_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/scalar_cache.h"

namespace nearfar {
namespace {

/// A cycle from its low 32 bits, which are less than half their range away from `now`.
Cycle widen(Cycle now, std::uint32_t low) {
  return now + static_cast<Cycle>(
                   static_cast<std::int64_t>(static_cast<std::int32_t>(low - static_cast<std::uint32_t>(now))));
}

/// Wavefront slot and load slot, as the L1's miss registers remember who waits.
std::uint16_t load_target(const Wavefront& wave, unsigned load) {
  return static_cast<std::uint16_t>(wave.slot << 4 | load);
}

}  // namespace

void ComputeUnitStats::describe(StatVisitor& visitor) {
  visitor.counter("instructions", "instructions", "Wavefront instructions issued, of every kind.", instructions);
  visitor.counter("accesses", "lines", "Line accesses of vector memory instructions after coalescing.", accesses);
  visitor.counter("vector_loads", "instructions", "Vector load instructions.", vector_loads);
  visitor.counter("vector_stores", "instructions", "Vector store instructions.", vector_stores);
  visitor.counter("vector_atomics", "instructions", "Vector atomic instructions.", vector_atomics);
  visitor.counter("scalar_loads", "instructions", "Scalar load instructions.", scalar_loads);
  visitor.counter("local_instructions", "instructions", "Local-memory instructions.", local_instructions);
  visitor.counter("barriers", "instructions", "Barrier instructions.", barriers);
  visitor.counter("page_groups", "pages", "Pages touched, summed over vector memory instructions.", page_groups);
  visitor.counter("simd_busy_cycles", "cycles", "Time that SIMDs executed vector instructions, summed.",
                  simd_busy_cycles);
  visitor.counter("stalled_instructions", "instructions",
                  "Memory instructions that stalled in the load/store unit (registers, buffers or queues full).",
                  stalled_instructions);
  visitor.counter("waves", "wavefronts", "Wavefronts run.", waves);
  visitor.counter("groups", "workgroups", "Workgroups run.", groups);
}

ComputeUnit::ComputeUnit(GpuContext& context, GroupListener& listener, ScalarCache& scalar, unsigned index)
    : context_(context),
      listener_(listener),
      scalar_(scalar),
      index_(index),
      l1_(context.spec.l1v, context.spec.line),
      waves_(std::size_t{context.spec.cu.simds} * context.spec.cu.waves_per_simd),
      groups_(waves_.size()),
      simd_free_(context.spec.cu.simds, 0),
      simd_waves_(context.spec.cu.simds, 0),
      local_bytes_free_(context.spec.cu.local_memory),
      free_waves_(static_cast<std::uint32_t>(waves_.size())),
      wave_handler_(context.partition.add_handler<&ComputeUnit::on_wave>(this)) {
  for (std::size_t slot = 0; slot < waves_.size(); ++slot) {
    Wavefront& wave = waves_[slot];
    wave.slot = static_cast<std::uint8_t>(slot);
    wave.simd = static_cast<std::uint8_t>(slot % context.spec.cu.simds);
    wave.event = context.partition.pool().take();
    wave.event->user = static_cast<std::uint32_t>(slot);
  }
  if (context.oracle != nullptr) versions_.resize(l1_.tags().slots());
}

// ---------------------------------------------------------------------------------------------------- workgroups

bool ComputeUnit::has_room() const {
  const Launch& launch = *context_.launch;
  return free_waves_ >= launch.waves(context_.spec.wavefront) && local_bytes_free_ >= launch.local_bytes;
}

void ComputeUnit::start_group(std::uint64_t group, Cycle when) {
  const Launch& launch = *context_.launch;
  const auto place = std::find_if(groups_.begin(), groups_.end(), [](const Workgroup& g) { return !g.live; });
  const std::uint32_t lanes = context_.spec.wavefront;
  const std::uint32_t waves = launch.waves(lanes);
  *place = {waves, 0, {}, true};
  local_bytes_free_ -= launch.local_bytes;
  free_waves_ -= waves;
  ++stats_.groups;
  stats_.waves += waves;
  for (std::uint32_t w = 0; w < waves; ++w) {
    Wavefront& wave = take_slot();
    wave.stream = context_.workload->wavefront(context_.launch_index, launch.wave(group, w, lanes));
    wave.group = static_cast<std::uint16_t>(place - groups_.begin());
    wave.other_ready = 0;
    wave.loads_issued = 0;
    wave.loads_retired = 0;
    wave.op = to_op(salu(0));  // nothing: its first operation is fetched when it starts
    sleep(wave, when);
  }
}

/// A free slot on the SIMD with the fewest wavefronts.
Wavefront& ComputeUnit::take_slot() {
  const auto fewest = std::min_element(simd_waves_.begin(), simd_waves_.end());
  ++*fewest;
  auto slot = static_cast<std::size_t>(fewest - simd_waves_.begin());
  while (waves_[slot].state != WaveState::Free) slot += simd_waves_.size();
  return waves_[slot];
}

void ComputeUnit::end(Wavefront& wave) {
  Workgroup& group = groups_[wave.group];
  wave.stream = Stream{};
  wave.state = WaveState::Free;
  --simd_waves_[wave.simd];
  ++free_waves_;
  if (--group.waves_left == 0) {
    group.live = false;
    local_bytes_free_ += context_.launch->local_bytes;
    listener_.group_done(index_);
    return;
  }
  // The wavefronts that remain may all be waiting at the barrier that this one will not reach.
  if (group.at_barrier == group.waves_left) {
    group.at_barrier = 0;
    while (!group.barrier.empty()) sleep(*group.barrier.pop(), context_.partition.now());
  }
}

// ------------------------------------------------------------------------------------------------------ wavefronts

void ComputeUnit::on_wave(Transaction* t) { advance(waves_[t->user]); }

void ComputeUnit::sleep(Wavefront& wave, Cycle until) {
  wave.state = WaveState::Ready;
  context_.partition.schedule(wave.event, wave_handler_, until);
}

void ComputeUnit::fetch(Wavefront& wave) {
  wave.op = wave.stream.next();
  stats_.instructions += instructions(wave.op);
}

/// Runs a wavefront until it has to wait for something.
void ComputeUnit::advance(Wavefront& wave) {
  bool goes_on = true;
  while (goes_on) {
    switch (wave.op.kind) {
      case OpKind::VectorAlu:
      case OpKind::ScalarAlu:
      case OpKind::Local: goes_on = run_arithmetic(wave); break;
      case OpKind::Load:
      case OpKind::Store:
      case OpKind::Atomic: goes_on = issue(wave); break;
      case OpKind::ScalarLoad: goes_on = run_scalar_load(wave); break;
      case OpKind::Wait: goes_on = wait_for_loads(wave, wave.op.count); break;
      case OpKind::Barrier: goes_on = meet_barrier(wave); break;
      case OpKind::Fence: goes_on = pass_fence(wave); break;
      case OpKind::End:
        if (wait_for_loads(wave, 0)) end(wave);
        return;
    }
  }
}

/// A run of arithmetic and local-memory instructions up to the next operation of another kind. It occupies the SIMD
/// and the local memory as soon as these are free, as one piece; their throughput is exact, the order in which
/// instructions of several wavefronts interleave within it is not modelled.
bool ComputeUnit::run_arithmetic(Wavefront& wave) {
  const ComputeUnitSpec& spec = context_.spec.cu;
  const Cycle now = context_.partition.now();
  std::uint64_t vector = 0;
  std::uint64_t scalar = 0;
  std::uint64_t local_memory = 0;
  for (;; fetch(wave)) {
    if (wave.op.kind == OpKind::VectorAlu) {
      vector += wave.op.count;
    } else if (wave.op.kind == OpKind::ScalarAlu) {
      scalar += wave.op.count;
    } else if (wave.op.kind == OpKind::Local) {
      local_memory += wave.op.count;
    } else {
      break;
    }
  }
  Cycle done = now;
  if (vector != 0) {
    const Cycle busy = vector * (context_.spec.wavefront / spec.simd_lanes);
    Cycle& free = simd_free_[wave.simd];
    free = std::max(now, free) + busy;
    stats_.simd_busy_cycles += busy;
    done = free;
  }
  if (local_memory != 0) {
    stats_.local_instructions += local_memory;
    local_free_ = std::max(now, local_free_) + local_memory * spec.local_cycles;
    done = std::max(done, local_free_);
    wave.other_ready = std::max(wave.other_ready, local_free_ + spec.local_latency);
  }
  done += scalar * spec.scalar_cycles;
  if (done <= now) return true;
  sleep(wave, done);
  return false;
}

bool ComputeUnit::run_scalar_load(Wavefront& wave) {
  const VirtAddr address{wave.op.address};
  const PhysPage page = context_.space->translate(context_.device(), page_of(address));
  const auto index = static_cast<unsigned>((address.value & (kPageBytes - 1)) / context_.spec.line);
  Cycle ready = 0;
  switch (scalar_.load(index_, wave.slot, PhysLine{page, index}, ready)) {
    case ScalarCache::Answer::Hit: wave.other_ready = std::max(wave.other_ready, ready); break;
    case ScalarCache::Answer::Pending: ++wave.scalars_pending; break;
    case ScalarCache::Answer::NoRegister:
      wave.state = WaveState::ScalarMiss;
      wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
      return false;
  }
  ++stats_.scalar_loads;
  fetch(wave);
  return true;
}

void ComputeUnit::scalar_done(unsigned slot) {
  Wavefront& wave = waves_[slot];
  --wave.scalars_pending;
  if (wave.scalars_pending == 0 && wave.state == WaveState::Scalars) advance(wave);
}

void ComputeUnit::scalar_retry(unsigned slot) { advance(waves_[slot]); }

/// Waits until at most `outstanding` vector loads remain; for none, until scalar and local results are there too.
bool ComputeUnit::wait_for_loads(Wavefront& wave, std::uint32_t outstanding) {
  const Cycle now = context_.partition.now();
  const auto block = [&](WaveState state) {
    wave.state = state;
    wave.waiting_since = static_cast<std::uint32_t>(now);
    return false;
  };
  while (wave.loads_issued - wave.loads_retired > outstanding) {
    const unsigned oldest = wave.loads_retired % kLoadSlots;
    if (wave.lines_left[oldest] != 0) return block(WaveState::Loads);
    wave.wake = std::max(wave.wake, widen(now, wave.ready[oldest]));
    ++wave.loads_retired;
  }
  if (outstanding == 0) {
    if (wave.scalars_pending != 0) return block(WaveState::Scalars);
    wave.wake = std::max(wave.wake, wave.other_ready);
  }
  const Cycle until = wave.wake;
  wave.wake = 0;
  if (wave.op.kind == OpKind::Wait) fetch(wave);
  if (until <= now) return true;
  sleep(wave, until);
  return false;
}

bool ComputeUnit::meet_barrier(Wavefront& wave) {
  Workgroup& group = groups_[wave.group];
  ++stats_.barriers;
  fetch(wave);
  if (++group.at_barrier < group.waves_left) {
    wave.state = WaveState::Barrier;
    wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
    group.barrier.push(&wave);
    return false;
  }
  group.at_barrier = 0;
  while (!group.barrier.empty()) sleep(*group.barrier.pop(), context_.partition.now());
  return true;
}

/// System-scope release and acquire: the compute unit's stores are ordered, then its L1 forgets what it holds.
bool ComputeUnit::pass_fence(Wavefront& wave) {
  if (stores_outstanding_ != 0) {
    wave.state = WaveState::Fence;
    wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
    fences_.push(&wave);
    return false;
  }
  l1_.acquire();
  fetch(wave);
  return true;
}

// -------------------------------------------------------------------------------------------------- load/store unit

bool ComputeUnit::issue(Wavefront& wave) {
  if (in_unit_ != nullptr || (!unit_queue_.empty() && turn_ != &wave)) {
    wave.state = WaveState::LoadStore;
    wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
    unit_queue_.push(&wave);
    return false;
  }
  turn_ = nullptr;
  const bool needs_slot = wave.op.kind != OpKind::Store;
  if (needs_slot && wave.loads_issued - wave.loads_retired >= context_.spec.cu.loads_per_wave &&
      !wait_for_loads(wave, context_.spec.cu.loads_per_wave - 1)) {
    return false;
  }
  take_instruction(wave);
  if (work()) {
    finish_instruction(wave);
    return true;
  }
  ++stats_.stalled_instructions;
  wave.state = WaveState::LoadStore;
  wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
  return false;
}

/// Makes the pages and lines of an instruction; from here on only what is in `pages_` counts.
void ComputeUnit::take_instruction(Wavefront& wave) {
  const Op& op = wave.op;
  op.lanes(op.callable, context_.spec.wavefront, context_.lanes);
  pages_.clear();
  next_page_ = 0;
  if (op.kind == OpKind::Store) {
    ++stats_.vector_stores;
    const Stores stores = context_.coalescer.stores(context_.lanes, op.bytes);
    partial_.assign(stores.partial.begin(), stores.partial.end());
    for (const StoreGroup& group : stores.groups) {
      pages_.push_back(
          {context_.space->translate(context_.device(), group.page), group.lines, group.full, group.first_partial});
    }
  } else {
    ++(op.kind == OpKind::Load ? stats_.vector_loads : stats_.vector_atomics);
    for (const PageGroup& group : context_.coalescer.loads(context_.lanes, op.bytes)) {
      pages_.push_back({context_.space->translate(context_.device(), group.page), group.lines, 0, 0});
    }
    const unsigned load = wave.loads_issued % kLoadSlots;
    wave.ready[load] = static_cast<std::uint32_t>(context_.partition.now());
    wave.lines_left[load] = 1;  // the instruction itself, until it has left the unit
    ++wave.loads_issued;
  }
  std::uint64_t lines = 0;
  for (const Page& page : pages_) lines += static_cast<std::uint64_t>(std::popcount(page.lines));
  stats_.page_groups += pages_.size();
  stats_.accesses += lines;
  context_.partition.progress().accesses += lines;
  in_unit_ = &wave;
  l1_.start_instruction(context_.partition.now() + context_.translation_latency);
}

/// Works on the instruction in the unit; false when it has to stall.
bool ComputeUnit::work() {
  const bool stores = in_unit_->op.kind == OpKind::Store;
  for (; next_page_ < pages_.size(); ++next_page_) {
    Page& page = pages_[next_page_];
    if (!(stores ? store_page(page) : load_page(page))) return false;
  }
  return true;
}

void ComputeUnit::finish_instruction(Wavefront& wave) {
  in_unit_ = nullptr;
  if (wave.op.kind != OpKind::Store) --wave.lines_left[(wave.loads_issued - 1) % kLoadSlots];
  context_.partition.progress().steps += 1;
  fetch(wave);
}

/// Takes what a line that is not held needs to be asked for: a miss register and room on its way.
bool ComputeUnit::ask_for(PhysLine line) {
  if (l1_.mshrs().full()) {
    stall_ = Stall::Register;
    return false;
  }
  return take_room(line);
}

bool ComputeUnit::take_room(PhysLine line) {
  const auto me = static_cast<std::uint16_t>(index_);
  const bool taken = line.device() == context_.device() ? context_.home->reserve(line, me)
                                                        : context_.fabric->reserve(line.device(), me);
  if (!taken) stall_ = Stall::Room;
  return taken;
}

/// Looks up the lines of a page: those held are ready after the L1's latency, those pending are joined, the others are
/// asked for together. Stalls where something for that is missing.
bool ComputeUnit::load_page(Page& page) {
  Wavefront& wave = *in_unit_;
  const bool is_atomic = wave.op.kind == OpKind::Atomic;
  const unsigned load = (wave.loads_issued - 1) % kLoadSlots;
  std::uint64_t asked = 0;
  std::uint64_t hits = 0;
  Cycle leaves = 0;
  Cycle hit_at = 0;
  for (; page.lines != 0; page.lines &= page.lines - 1) {
    const PhysLine line{page.page, static_cast<unsigned>(std::countr_zero(page.lines))};
    const TagArray::Slot slot = l1_.look_up(line);
    if (slot != TagArray::kNone && !is_atomic) {
      ++hits;
      hit_at = l1_.next_line();
      if (context_.oracle != nullptr) context_.oracle->load_returned(context_.application, line, versions_[slot]);
      continue;
    }
    L1Cache::Mshrs::Entry* pending = l1_.mshrs().find(line);
    if (pending != nullptr) {
      if (is_atomic || pending->payload.poisoned) {
        stall_ = Stall::Register;  // until the pending line has come
        break;
      }
      ++l1_.stats().merges;
      ++l1_.stats().load_lines;
      l1_.next_line();
      pending->payload.targets.add(load_target(wave, load));
      ++wave.lines_left[load];
      continue;
    }
    if (!ask_for(line)) break;
    L1Cache::Pending& entry = l1_.mshrs().allocate(line).payload;
    entry.issued = static_cast<std::uint32_t>(context_.partition.now());
    entry.poisoned = is_atomic;
    entry.targets.add(load_target(wave, load));
    ++wave.lines_left[load];
    const Cycle at = l1_.next_line();
    if (asked == 0) leaves = at + context_.spec.l1v.latency;
    asked |= std::uint64_t{1} << line.index();
    if (is_atomic && slot != TagArray::kNone) l1_.tags().invalidate(slot);
    if (context_.oracle != nullptr) tell_oracle(line, is_atomic);
  }
  if (hits != 0) {
    l1_.stats().load_hits += hits;
    l1_.stats().load_lines += hits;
    note_ready(wave, load, hit_at + context_.spec.l1v.latency);
  }
  if (asked != 0) {
    const auto lines = static_cast<std::uint64_t>(std::popcount(asked));
    (is_atomic ? l1_.stats().atomic_lines : l1_.stats().load_lines) += lines;
    context_.latency.l1 += lines * (leaves - context_.partition.now());
    send(is_atomic ? TransactionKind::Atomic : TransactionKind::Read, page.page, asked, wave.op.bytes, leaves);
  }
  return stall_ == Stall::None;
}

/// The data of a load is not complete before `when`.
void ComputeUnit::note_ready(Wavefront& wave, unsigned load, Cycle when) {
  const auto low = static_cast<std::uint32_t>(when);
  if (static_cast<std::int32_t>(low - wave.ready[load]) > 0) wave.ready[load] = low;
}

void ComputeUnit::tell_oracle(PhysLine line, bool is_atomic) {
  const Oracle::Unit unit = Oracle::unit(context_.device(), index_, false);
  if (is_atomic) context_.oracle->store_issued(unit, line);
  context_.oracle->load_issued(unit, line);
}

bool ComputeUnit::store_page(Page& page) {
  const Cycle latency = context_.spec.l1v.latency;
  std::uint64_t whole = 0;
  Cycle whole_leaves = 0;
  for (; page.lines != 0; page.lines &= page.lines - 1) {
    const PhysLine line{page.page, static_cast<unsigned>(std::countr_zero(page.lines))};
    if (stores_outstanding_ >= context_.spec.cu.store_buffer) {
      stall_ = Stall::StoreBuffer;
      break;
    }
    if (!take_room(line)) break;
    ++stores_outstanding_;
    ++l1_.stats().store_lines;
    const Cycle leaves = l1_.next_line() + latency;
    const TagArray::Slot slot = l1_.look_up(line);
    if (slot != TagArray::kNone) {
      ++l1_.stats().store_hits;
    } else if (L1Cache::Mshrs::Entry* pending = l1_.mshrs().find(line)) {
      pending->payload.poisoned = true;  // what is on its way is older than this store
    }
    if (context_.oracle != nullptr) {
      context_.oracle->store_issued(Oracle::unit(context_.device(), index_, false), line);
    }
    const std::uint64_t bit = std::uint64_t{1} << line.index();
    if ((page.whole & bit) != 0) {
      if (whole == 0) whole_leaves = leaves;
      whole |= bit;
    } else {
      send(TransactionKind::Write, page.page, bit, partial_[page.first_partial++].count(), leaves);
    }
  }
  if (whole != 0) {
    send(TransactionKind::Write, page.page, whole, static_cast<unsigned>(context_.spec.line), whole_leaves);
  }
  return stall_ == Stall::None;
}

/// The lines of a page that have to go to their home leave the L1 together.
void ComputeUnit::send(TransactionKind kind, PhysPage page, std::uint64_t lines, unsigned bytes, Cycle leaves) {
  if (page.device() == context_.device()) {
    for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
      context_.home->prefetch(PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))});
    }
  }
  Transaction* t = context_.partition.pool().take();
  t->kind = kind;
  t->reply = false;
  t->line = PhysLine{page, 0};
  t->mask = lines;
  t->cu = static_cast<std::uint16_t>(index_);
  t->data_bytes = static_cast<std::uint16_t>(bytes);
  t->requester = context_.device().value;
  t->application = context_.application;
  context_.partition.schedule(t, context_.leave_handler, leaves);
}

/// Goes on with the instruction in the unit if it stalled for `reason`, and then with those that queue behind it.
void ComputeUnit::retry(Stall reason) {
  if (stall_ != reason) return;
  stall_ = Stall::None;
  l1_.start_instruction(context_.partition.now());
  Wavefront* wave = in_unit_;
  if (!work()) return;
  finish_instruction(*wave);
  advance(*wave);
  while (in_unit_ == nullptr && !unit_queue_.empty()) {
    turn_ = unit_queue_.pop();
    advance(*turn_);
  }
}

// ------------------------------------------------------------------------------------------------------- completions

void ComputeUnit::fill(PhysLine line) {
  L1Cache::Mshrs::Entry* entry = l1_.mshrs().find(line);
  const Cycle now = context_.partition.now();
  const std::uint32_t took = static_cast<std::uint32_t>(now) - entry->payload.issued;
  ++context_.latency.count;
  context_.latency.total += took;
  context_.latency.histogram.add(took);
  ++l1_.stats().fills;
  const bool keep = !entry->payload.poisoned && (context_.keep_remote || line.device() == context_.device());
  std::uint32_t version = 0;
  if (context_.oracle != nullptr) {
    version = context_.oracle->load_filled(Oracle::unit(context_.device(), index_, false), line);
    context_.oracle->load_returned(context_.application, line, version);
  }
  if (keep) {
    const TagArray::Slot slot = l1_.install(line);
    if (context_.oracle != nullptr) versions_[slot] = version;
  }
  const Targets targets = std::move(entry->payload.targets);
  l1_.mshrs().release(*entry);
  targets.for_each([&](std::uint16_t target) { load_line_done(waves_[target >> 4], target & (kLoadSlots - 1)); });
  retry(Stall::Register);
}

void ComputeUnit::load_line_done(Wavefront& wave, unsigned load) {
  note_ready(wave, load, context_.partition.now());
  if (--wave.lines_left[load] != 0) return;
  if (wave.state == WaveState::Loads && wave.loads_retired % kLoadSlots == load) advance(wave);
}

void ComputeUnit::stores_ordered(unsigned lines) {
  stores_outstanding_ -= lines;
  if (stores_outstanding_ == 0) {
    if (!fences_.empty()) l1_.acquire();
    while (!fences_.empty()) {
      Wavefront& wave = *fences_.pop();
      fetch(wave);
      sleep(wave, context_.partition.now());
    }
    listener_.stores_settled();
  }
  retry(Stall::StoreBuffer);
}

bool ComputeUnit::idle() const {
  return free_waves_ == waves_.size() && in_unit_ == nullptr && unit_queue_.empty() && stores_outstanding_ == 0 &&
         l1_.pending() == 0;
}

std::string ComputeUnit::describe_waiting() const {
  static constexpr const char* kWhat[] = {"",
                                          "",
                                          "a vector load",
                                          "a scalar load",
                                          "the barrier of its workgroup",
                                          "the load/store unit",
                                          "a miss register of the scalar cache",
                                          "its stores to be ordered"};
  std::string text;
  for (const Wavefront& wave : waves_) {
    if (wave.state <= WaveState::Ready) continue;
    text += fmt::format("  compute unit {} wavefront {}: waits for {} since cycle {}\n", index_, wave.slot,
                        kWhat[static_cast<unsigned>(wave.state)], wave.waiting_since);
  }
  if (in_unit_ != nullptr || stores_outstanding_ != 0 || l1_.pending() != 0) {
    text += fmt::format("  compute unit {}: {} lines pending in the L1, {} stores not ordered{}\n", index_,
                        l1_.pending(), stores_outstanding_, in_unit_ != nullptr ? ", load/store unit stalled" : "");
  }
  return text;
}

}  // namespace nearfar
