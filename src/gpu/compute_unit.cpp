#include "gpu/compute_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/scalar_cache.h"
#include "sim/prefetch.h"

namespace nearfar {
namespace {

/// A cycle from its low 32 bits, which are less than half their range away from `now`.
Cycle widen(Cycle now, std::uint32_t low) {
  return now + static_cast<Cycle>(
                   static_cast<std::int64_t>(static_cast<std::int32_t>(low - static_cast<std::uint32_t>(now))));
}

/// Lines of the host's cache that are fetched of a wavefront and of its stream's frame.
constexpr std::size_t kWaveLines = (sizeof(Wavefront) + kHostLine - 1) / kHostLine;
constexpr std::size_t kFrameLines = 4;

}  // namespace

void ComputeUnitStats::describe(StatVisitor& visitor) {
  visitor.counter("instructions", "instructions", "Wavefront instructions of every kind that compute units issued.",
                  instructions);
  visitor.counter("accesses", "lines", "Line accesses of vector memory instructions after coalescing.", accesses);
  visitor.counter("vector_loads", "instructions", "Vector load instructions that compute units issued.", vector_loads);
  visitor.counter("vector_stores", "instructions", "Vector store instructions that compute units issued.",
                  vector_stores);
  visitor.counter("vector_atomics", "instructions", "Vector atomic instructions that compute units issued.",
                  vector_atomics);
  visitor.counter("scalar_loads", "instructions", "Scalar load instructions that compute units issued.", scalar_loads);
  visitor.counter("local_instructions", "instructions", "Local-memory instructions that compute units issued.",
                  local_instructions);
  visitor.counter("barriers", "instructions", "Barrier instructions that compute units issued.", barriers);
  visitor.counter("page_groups", "pages", "Pages that a vector memory instruction touches, summed over instructions.",
                  page_groups);
  visitor.counter("simd_busy_cycles", "cycles", "Time that SIMDs executed vector instructions, summed over SIMDs.",
                  simd_busy_cycles);
  visitor.counter("stalled_instructions", "instructions",
                  "Memory instructions that stalled in the load/store unit since MSHRs, buffers or queues were full.",
                  stalled_instructions);
  visitor.counter("waves", "wavefronts", "Wavefronts that compute units executed.", waves);
  visitor.counter("groups", "workgroups", "Workgroups that compute units executed.", groups);
}

ComputeUnit::ComputeUnit(GpuContext& context, GroupListener& listener, ScalarCache& scalar, unsigned index)
    : context_(context),
      waves_(std::size_t{context.spec.cu.simds} * context.spec.cu.waves_per_simd),
      wakings_(waves_.size()),
      l1_(context.spec.l1v, context.spec.line),
      index_(index),
      wave_handler_(context.partition.add_handler<&ComputeUnit::on_wave>(this)),
      simd_free_(context.spec.cu.simds, 0),
      listener_(listener),
      scalar_(scalar),
      groups_(waves_.size()),
      simd_waves_(context.spec.cu.simds, 0),
      local_bytes_free_(context.spec.cu.local_memory),
      free_waves_(static_cast<std::uint32_t>(waves_.size())),
      tlb_(context.spec.l1_tlb) {
  context.partition.set_preparation<&ComputeUnit::prepare_wave, ComputeUnit>(wave_handler_);
  for (std::size_t slot = 0; slot < waves_.size(); ++slot) {
    Wavefront& wave = waves_[slot];
    wave.slot = static_cast<std::uint8_t>(slot);
    wave.simd = static_cast<std::uint8_t>(slot % context.spec.cu.simds);
    wakings_[slot].slot = static_cast<std::uint32_t>(slot);
  }
  if (context.watch != nullptr) images_.resize(l1_.tags().slots());
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
    wakings_[wave.slot].frame = wave.stream.frame();
    wave.group = static_cast<std::uint16_t>(place - groups_.begin());
    wave.other_ready = 0;
    wave.loads_issued = 0;
    wave.loads_retired = 0;
    wave.op = salu(0);  // nothing: its first operation is fetched when it starts
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

void ComputeUnit::on_wave(WaveEvent* event) { advance(waves_[event->slot]); }

void ComputeUnit::prepare_wave(const WaveEvent& event) const {
  prefetch_lines(&waves_[event.slot], kWaveLines);
  prefetch_lines(event.frame, kFrameLines);
}

void ComputeUnit::sleep(Wavefront& wave, Cycle until) {
  wave.state = WaveState::Ready;
  context_.partition.schedule(&wakings_[wave.slot], wave_handler_, until);
}

void ComputeUnit::fetch(Wavefront& wave) {
  wave.op = wave.stream.step();
  stats_.instructions += instructions(wave.op);
}

/// Runs a wavefront until it has to wait for something.
void ComputeUnit::advance(Wavefront& wave) {
  bool goes_on = true;
  while (goes_on) {
    switch (kind_of(wave.op)) {
      case OpKind::VectorAlu:
      case OpKind::ScalarAlu:
      case OpKind::Local: goes_on = run_arithmetic(wave); break;
      case OpKind::Load:
      case OpKind::Store:
      case OpKind::Atomic: goes_on = issue(wave); break;
      case OpKind::ScalarLoad: goes_on = run_scalar_load(wave); break;
      case OpKind::Wait: goes_on = wait_for_loads(wave, count_of(wave.op)); break;
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
    if (kind_of(wave.op) == OpKind::VectorAlu) {
      vector += count_of(wave.op);
    } else if (kind_of(wave.op) == OpKind::ScalarAlu) {
      scalar += count_of(wave.op);
    } else if (kind_of(wave.op) == OpKind::Local) {
      local_memory += count_of(wave.op);
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
  if (kind_of(wave.op) == OpKind::Wait || kind_of(wave.op) == OpKind::End) {
    // Waiting does nothing but wait: it begins now, and ends no earlier than the arithmetic does.
    wave.wake = std::max(wave.wake, done);
    return true;
  }
  sleep(wave, done);
  return false;
}

bool ComputeUnit::run_scalar_load(Wavefront& wave) {
  const VirtAddr address{address_of(wave.op)};
  PhysPage page;
  if (!has_tlb()) {
    page = context_.space->translate(context_.device(), page_of(address));
  } else if (!translate_scalar(wave, page_of(address), page)) {
    return false;
  }
  const auto index = static_cast<unsigned>((address.value & (kPageBytes - 1)) / context_.spec.line);
  Cycle ready = 0;
  switch (scalar_.load(index_, wave.slot, page_of(address), PhysLine{page, index}, ready)) {
    case ScalarCache::Answer::Hit: wave.other_ready = std::max(wave.other_ready, ready); break;
    case ScalarCache::Answer::Pending: ++wave.scalars_pending; break;
    case ScalarCache::Answer::NoRegister:
      wave.state = WaveState::ScalarMiss;
      wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
      return false;
  }
  if (wave.holds_page) leave_page(wave);
  ++stats_.scalar_loads;
  fetch(wave);
  return true;
}

void ComputeUnit::scalar_done(unsigned slot) {
  Wavefront& wave = waves_[slot];
  --wave.scalars_pending;
  if (wave.scalars_pending == 0 && wave.state == WaveState::Scalars) advance(wave);
}

/// The frame of a scalar load's page; false when it has to wait for it.
bool ComputeUnit::translate_scalar(Wavefront& wave, VirtPage virtual_page, PhysPage& page) {
  if (wave.holds_page) {
    page = wave.scalar_page;
    return true;
  }
  const PageKey key = key_of(virtual_page);
  if (const Mapping* mapping = tlb_.look_up(key, false)) {
    if (context_.translation_oracle != nullptr) {
      context_.translation_oracle->used(context_.device(), key, *mapping, false);
    }
    page = context_.page_size.frame_of(mapping->page, virtual_page);
    return true;
  }
  wave.state = WaveState::ScalarMiss;
  wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
  if (tlb_.mshrs().full() && tlb_.mshrs().find(key) == nullptr) {
    scalar_tlb_waiters_.push(&wave);
    return false;
  }
  PageAccess access;
  access.virtual_page = virtual_page;
  access.kind = OpKind::ScalarLoad;
  access.wave = &wave;
  park(key, access);
  return false;
}

/// The translation that a scalar load waits for has come. It keeps it, as other accesses do: would it look it up again,
/// the page might be gone, and two GPUs could take it from each other for ever.
void ComputeUnit::hold_page(Wavefront& wave, PageKey key, const Mapping& mapping, VirtPage virtual_page) {
  if (context_.translation_oracle != nullptr) context_.translation_oracle->used(context_.device(), key, mapping, false);
  wave.scalar_page = context_.page_size.frame_of(mapping.page, virtual_page);
  wave.holds_page = true;
  if (context_.tracker != nullptr) context_.tracker->enter(wave.scalar_page, 1);
  sleep(wave, context_.partition.now());
}

void ComputeUnit::leave_page(Wavefront& wave) {
  wave.holds_page = false;
  if (context_.tracker != nullptr) context_.tracker->leave(wave.scalar_page, 1);
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
  if (kind_of(wave.op) == OpKind::Wait) fetch(wave);
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

/// System-scope release and acquire: the wavefront's loads and atomics have come back, the compute unit's stores are
/// ordered, then its L1 drops what it holds.
bool ComputeUnit::pass_fence(Wavefront& wave) {
  if (!wait_for_loads(wave, 0)) return false;
  if (stores_outstanding_ != 0) {
    wave.state = WaveState::Fence;
    wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
    fences_.push(&wave);
    return false;
  }
  pass_fences();
  fetch(wave);
  return true;
}

/// Release: all stores have been ordered. Acquire: the L1 drops what it holds.
void ComputeUnit::pass_fences() {
  if (context_.watch != nullptr) context_.watch->released(unit());
  acquire(L1Event::Fence);
  context_.l2->drop_remote_lines();
}

void ComputeUnit::acquire(L1Event why) {
  l1_.acquire(why);
  if (context_.watch != nullptr) context_.watch->acquired(unit());
}

// ------------------------------------------------------------------------------------------------------- completions

void ComputeUnit::fill(PhysPage page, std::uint64_t lines) {
  if (l1_.covered()) note_fill(page, lines);
  L1MshrFile::Arrival arrival = l1_.pending().take(page, lines);
  const auto count = static_cast<std::uint32_t>(std::popcount(lines));
  const std::uint32_t took = static_cast<std::uint32_t>(context_.partition.now()) - arrival.issued;
  context_.latency.count += count;
  context_.latency.total += std::uint64_t{count} * took;
  context_.latency.histogram.add(took, count);
  l1_.stats().fills += count;
  context_.partition.progress().steps += 1;
  const bool may_keep = context_.keep_remote || page.device() == context_.device();
  for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
    const bool keep = may_keep && (arrival.kept >> line.index() & 1) != 0;
    const TagArray::Slot slot = keep ? l1_.install(line) : TagArray::kNone;
    if (context_.watch != nullptr) context_.watch->filled(unit(), line, keep ? &images_[slot] : nullptr);
  }
  if (context_.tracker != nullptr) {
    context_.tracker->add_lines(page, lines);
    context_.tracker->leave(page, count);
  }
  lines_come(arrival.target, lines);
  while (!arrival.merged.empty()) {
    L1MshrFile::MergedLoad* merge = arrival.merged.pop();
    const L1MshrFile::Target target = merge->target;
    const std::uint64_t come = merge->lines;
    l1_.pending().release(merge);
    lines_come(target, come);
  }
  retry(StallReason::Register);
}

void ComputeUnit::note_fill(PhysPage page, std::uint64_t lines) {
  for (; lines != 0; lines &= lines - 1) {
    l1_.note(L1Event::Fill, PhysLine{page, static_cast<unsigned>(std::countr_zero(lines))});
  }
}

void ComputeUnit::lines_come(L1MshrFile::Target target, std::uint64_t lines) {
  lines_done(waves_[wave_slot(target)], target & (kLoadSlots - 1), static_cast<unsigned>(std::popcount(lines)));
}

/// `lines` of those that a load waits for are there, or have gone on their way.
void ComputeUnit::lines_done(Wavefront& wave, unsigned load, unsigned lines) {
  note_ready(wave, load, context_.partition.now());
  wave.lines_left[load] = static_cast<std::uint8_t>(wave.lines_left[load] - lines);
  if (wave.lines_left[load] != 0) return;
  if (wave.state == WaveState::Loads && wave.loads_retired % kLoadSlots == load) advance(wave);
}

void ComputeUnit::stores_ordered(PhysPage page, unsigned lines) {
  if (context_.tracker != nullptr) context_.tracker->leave(page, lines);
  stores_outstanding_ -= lines;
  context_.partition.progress().steps += 1;
  if (stores_outstanding_ == 0) {
    if (!fences_.empty()) pass_fences();
    while (!fences_.empty()) {
      Wavefront& wave = *fences_.pop();
      fetch(wave);
      sleep(wave, context_.partition.now());
    }
    listener_.stores_settled();
  }
  retry(StallReason::StoreBuffer);
}

bool ComputeUnit::idle() const {
  return free_waves_ == waves_.size() && in_unit_ == nullptr && unit_queue_.empty() && stores_outstanding_ == 0 &&
         l1_.pending().used() == 0 && tlb_.parked() == 0;
}

bool ComputeUnit::computes() const {
  return std::any_of(waves_.begin(), waves_.end(), [](const Wavefront& w) { return w.state == WaveState::Ready; });
}

bool ComputeUnit::starves() {
  waited_.resize(waves_.size());
  bool any = false;
  for (const Wavefront& wave : waves_) {
    const bool idle = wave.state == WaveState::Free || wave.state == WaveState::Ready;
    Waiting now;
    if (!idle && wave.state != WaveState::Barrier) {
      now = {wave.state, wave.waiting_since, wave.loads_issued, wave.loads_retired};
      any |= now == waited_[wave.slot];
    }
    waited_[wave.slot] = now;
  }
  return any;
}

std::string ComputeUnit::describe_waiting() const {
  static constexpr const char* kWhat[] = {"",
                                          "",
                                          "a vector load",
                                          "a scalar load",
                                          "the barrier of its workgroup",
                                          "the load/store unit",
                                          "an MSHR of the scalar cache",
                                          "its stores to be ordered"};
  std::string text;
  for (const Wavefront& wave : waves_) {
    if (wave.state <= WaveState::Ready) continue;
    text += fmt::format("  compute unit {} wavefront {}: waits for {} since cycle {}\n", index_, wave.slot,
                        kWhat[static_cast<unsigned>(wave.state)], wave.waiting_since);
  }
  if (in_unit_ != nullptr || stores_outstanding_ != 0 || l1_.pending().used() != 0 || tlb_.parked() != 0) {
    text += fmt::format(
        "  compute unit {}: {} lines pending in the L1, {} stores not ordered, {} accesses wait for translation{}\n",
        index_, l1_.pending().used(), stores_outstanding_, tlb_.parked(),
        in_unit_ != nullptr ? ", load/store unit stalled" : "");
  }
  return text;
}

}  // namespace nearfar
