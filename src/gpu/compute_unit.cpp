#include "gpu/compute_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/error.h"
#include "gpu/scalar_cache.h"
#include "gpu/scalar_tlb.h"
#include "sim/prefetch.h"

namespace nearfar {
namespace {

/// A cycle from its low 32 bits, which are less than half their range away from `now`.
Cycle widen(Cycle now, std::uint32_t low) {
  return now + static_cast<Cycle>(
                   static_cast<std::int64_t>(static_cast<std::int32_t>(low - static_cast<std::uint32_t>(now))));
}

/// What follows the loads of kernel arguments: the wait for them, and the first operation of the kernel itself.
constexpr std::uint32_t kBehindArguments = 2;

/// Lines of the host's cache that are fetched of a wavefront and of its stream's frame.
constexpr std::size_t kWaveLines = (sizeof(Wavefront) + kHostLine - 1) / kHostLine;
constexpr std::size_t kFrameLines = 4;

[[noreturn]] void refuse_fence(Scope scope) {
  throw InputError(
      fmt::format("a kernel has a fence of scope {}, which needs stores that others see before the kernel ends: a "
                  "unified memory hierarchy (memory.management=umh) has them in a workgroup, and with L1s that write "
                  "through in a GPU",
                  scope == Scope::System ? "system" : "GPU"));
}

}  // namespace

ComputeUnit::ComputeUnit(GpuContext& context, GroupListener& listener, ScalarCache& scalar, ScalarTlb* scalar_tlb,
                         unsigned index)
    : context_(context),
      waves_(std::size_t{context.spec.cu.simds} * context.spec.cu.waves_per_simd),
      wakings_(waves_.size()),
      wave_handler_(context.partition.add_handler<&ComputeUnit::on_wave>(this)),
      index_(index),
      lsu_(context, *this, waves_.data(), stats_, index),
      simd_free_(context.spec.cu.simds, 0),
      listener_(listener),
      scalar_(scalar),
      scalar_tlb_(scalar_tlb),
      groups_(waves_.size()),
      simd_waves_(context.spec.cu.simds, 0),
      local_bytes_free_(context.spec.cu.local_memory),
      free_waves_(static_cast<std::uint32_t>(waves_.size())) {
  context.partition.set_preparation<&ComputeUnit::prepare_wave, ComputeUnit>(wave_handler_);
  for (std::size_t slot = 0; slot < waves_.size(); ++slot) {
    Wavefront& wave = waves_[slot];
    wave.slot = static_cast<std::uint8_t>(slot);
    wave.simd = static_cast<std::uint8_t>(slot % context.spec.cu.simds);
    wakings_[slot].slot = static_cast<std::uint32_t>(slot);
  }
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
    const std::uint32_t loads = context_.arguments.loads();
    wave.arguments_left = static_cast<std::uint16_t>(loads == 0 ? 0 : loads + kBehindArguments);
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
    while (!group.barrier.empty()) wake(*group.barrier.pop());
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

/// The wavefront waits until whoever has what it waits for lets it go on.
bool ComputeUnit::block(Wavefront& wave, WaveState state) {
  wave.state = state;
  wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
  return false;
}

void ComputeUnit::fetch(Wavefront& wave) {
  if (wave.arguments_left != 0) {
    fetch_argument(wave);
  } else {
    wave.op = wave.stream.step();
  }
  stats_.instructions += instructions(wave.op);
}

/// Loads of kernel arguments come first. They are among the scalar instructions with which kernels begin, and so is the
/// wait for them.
void ComputeUnit::fetch_argument(Wavefront& wave) {
  const std::uint32_t loads = context_.arguments.loads();
  const std::uint32_t left = wave.arguments_left--;
  if (left > kBehindArguments) {
    wave.op = context_.arguments.load(loads + kBehindArguments - left);
  } else if (left == kBehindArguments) {
    wave.op = wait(0);
  } else {
    wave.op = wave.stream.step();
    if (kind_of(wave.op) != OpKind::ScalarAlu) return;
    const std::uint32_t counted = count_of(wave.op);
    wave.op = salu(counted - std::min(counted, loads + 1));
  }
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
      case OpKind::Pause: goes_on = pause(wave); break;
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

/// A memory instruction goes to the load/store unit. Loads and atomics need a load slot of their wavefront.
bool ComputeUnit::issue(Wavefront& wave) {
  if (!lsu_.may_issue(wave)) return block(wave, WaveState::LoadStore);
  const bool needs_slot = kind_of(wave.op) != OpKind::Store;
  if (needs_slot && wave.loads_issued - wave.loads_retired >= context_.spec.cu.loads_per_wave &&
      !wait_for_loads(wave, context_.spec.cu.loads_per_wave - 1)) {
    return false;
  }
  if (!lsu_.issue(wave)) {
    ++stats_.stalled_instructions;
    return block(wave, WaveState::LoadStore);
  }
  fetch(wave);
  return true;
}

bool ComputeUnit::run_scalar_load(Wavefront& wave) {
  const VirtAddr address{address_of(wave.op)};
  PhysPage page;
  if (!translate_scalar(wave, page_of(address), page)) return block(wave, WaveState::ScalarMiss);
  const auto index = static_cast<unsigned>((address.value & (kPageBytes - 1)) / context_.spec.line);
  Cycle ready = 0;
  switch (scalar_.load(index_, wave.slot, page_of(address), PhysLine{page, index}, ready)) {
    case ScalarCache::Answer::Hit: wave.other_ready = std::max(wave.other_ready, ready); break;
    case ScalarCache::Answer::Pending: ++wave.scalars_pending; break;
    case ScalarCache::Answer::NoMshr: return block(wave, WaveState::ScalarMiss);
  }
  context_.count_remote(CountAt::L1, page, 1);
  if (wave.holds_page) leave_page(wave);
  if (context_.useful != nullptr && page.device() == context_.device()) {
    const auto first = static_cast<unsigned>(address.value % context_.spec.line);
    const auto most = static_cast<unsigned>(context_.spec.line) - first;
    context_.useful->loaded(PhysLine{page, index}, ByteMask::range(first, std::min<unsigned>(bytes_of(wave.op), most)));
  }
  ++stats_.scalar_loads;
  fetch(wave);
  return true;
}

/// The frame of a scalar load's page; false when it has to wait for it.
bool ComputeUnit::translate_scalar(Wavefront& wave, VirtPage virtual_page, PhysPage& page) {
  if (context_.l2_tlb == nullptr) {
    page = context_.space->translate(context_.device(), virtual_page);
    return true;
  }
  if (wave.holds_page) {
    page = wave.scalar_page;
    return true;
  }
  if (scalar_tlb_ == nullptr) return lsu_.translate_scalar(wave, virtual_page, page);
  const PageKey key{context_.application, context_.page_size.number(virtual_page)};
  if (const Mapping* mapping = scalar_tlb_->look_up(key)) {
    page = use(key, *mapping, virtual_page);
    return true;
  }
  scalar_tlb_->wait(index_, wave.slot, key, virtual_page);
  return false;
}

/// The frame of a page in a mapping that a scalar load uses now, as the translation oracle sees.
PhysPage ComputeUnit::use(PageKey key, const Mapping& mapping, VirtPage virtual_page) const {
  if (context_.translation_oracle != nullptr) context_.translation_oracle->used(context_.device(), key, mapping, false);
  if (context_.timeline != nullptr) context_.timeline->translated(mapping.page, key.value);
  const PhysPage frame = context_.page_size.frame_of(mapping.page, virtual_page);
  context_.count_remote(CountAt::L1Tlb, frame, 1);
  return frame;
}

void ComputeUnit::scalar_translated(unsigned slot, PageKey key, const Mapping& mapping, VirtPage virtual_page) {
  const PhysPage page = use(key, mapping, virtual_page);
  if (context_.tracker != nullptr) context_.tracker->enter(page, 1);
  scalar_translated(waves_[slot], page);
}

void ComputeUnit::scalar_translated(Wavefront& wave, PhysPage page) {
  wave.scalar_page = page;
  wave.holds_page = true;
  wake(wave);
}

void ComputeUnit::leave_page(Wavefront& wave) {
  wave.holds_page = false;
  if (context_.tracker != nullptr) context_.tracker->leave(wave.scalar_page, 1);
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
  while (wave.loads_issued - wave.loads_retired > outstanding) {
    const unsigned oldest = wave.loads_retired % kLoadSlots;
    if (wave.lines_left[oldest] != 0) return block(wave, WaveState::Loads);
    wave.wake = std::max(wave.wake, widen(now, wave.ready[oldest]));
    ++wave.loads_retired;
  }
  if (outstanding == 0) {
    if (wave.scalars_pending != 0) return block(wave, WaveState::Scalars);
    wave.wake = std::max(wave.wake, wave.other_ready);
  }
  const Cycle until = wave.wake;
  wave.wake = 0;
  if (kind_of(wave.op) == OpKind::Wait) fetch(wave);
  if (until <= now) return true;
  sleep(wave, until);
  return false;
}

bool ComputeUnit::pause(Wavefront& wave) {
  const Cycle until = context_.partition.now() + count_of(wave.op);
  fetch(wave);
  sleep(wave, until);
  return false;
}

bool ComputeUnit::meet_barrier(Wavefront& wave) {
  Workgroup& group = groups_[wave.group];
  ++stats_.barriers;
  fetch(wave);
  if (++group.at_barrier < group.waves_left) {
    group.barrier.push(&wave);
    return block(wave, WaveState::Barrier);
  }
  group.at_barrier = 0;
  while (!group.barrier.empty()) wake(*group.barrier.pop());
  return true;
}

/// Release and acquire: the wavefront's loads and atomics have come back, and the compute unit's stores are ordered.
/// Within the workgroup that is all. Within the GPU the L1 then drops what it holds; within the system the L2 drops its
/// remote lines too, or, where directories invalidate them, waits until all invalidations have arrived.
bool ComputeUnit::pass_fence(Wavefront& wave) {
  if (!wait_for_loads(wave, 0)) return false;
  if (context_.level != nullptr && !context_.level->orders(scope_of(wave.op))) refuse_fence(scope_of(wave.op));
  const bool settles = must_settle(scope_of(wave.op));
  if (lsu_.stores_outstanding() == 0 && !settles) {
    pass_fence(scope_of(wave.op));
    fetch(wave);
    return true;
  }
  fences_.push(&wave);
  block(wave, WaveState::Fence);
  if (lsu_.stores_outstanding() == 0) pass_fences();
  return false;
}

/// Whether a fence has more to wait for than that the unit's stores have left it.
bool ComputeUnit::must_settle(Scope scope) const {
  if (context_.egress != nullptr) return scope != Scope::Workgroup;
  return scope == Scope::System && (context_.coherence != nullptr || context_.l2->keeps_stores());
}

/// Whether stores that have left the unit may be on their way, or kept by the L2.
bool ComputeUnit::stores_linger() const { return context_.egress != nullptr || context_.l2->keeps_stores(); }

/// The stores have been ordered, and that is all that a fence of this scope waits for.
void ComputeUnit::pass_fence(Scope scope) {
  if (scope == Scope::Workgroup) return;
  if (context_.watch != nullptr && !stores_linger()) context_.watch->stores_settled(lsu_.l1().unit());
  if (context_.watch != nullptr) context_.watch->released(lsu_.l1().unit(), scope, context_.partition.now());
  acquire(scope);
}

/// The oracle sees that a fence which has to settle begins.
void ComputeUnit::begin_release() {
  if (context_.watch == nullptr) return;
  if (!stores_linger()) {
    context_.watch->stores_settled(lsu_.l1().unit());
  } else {
    next_posted_ = context_.watch->release_begins(lsu_.l1().unit());
  }
}

/// All stores have been ordered, or posted.
void ComputeUnit::pass_fences() {
  while (!fences_.empty()) {
    Wavefront& wave = *fences_.pop();
    if (must_settle(scope_of(wave.op))) {
      begin_release();
      next_to_settle_.push(&wave);
      continue;
    }
    pass_fence(scope_of(wave.op));
    fetch(wave);
    wake(wave);
  }
  if (settling_.empty()) start_fence();
}

void ComputeUnit::acquire(Scope scope) {
  lsu_.acquire(L1Event::Fence, scope);
  if (scope == Scope::System) context_.l2->drop_remote_lines();
}

/// One fence of the unit at a time asks for markers, or has posted stores written, for all wavefronts that wait by
/// then. Stores that were issued since are none of theirs.
void ComputeUnit::start_fence() {
  if (next_to_settle_.empty()) return;
  while (!next_to_settle_.empty()) settling_.push(next_to_settle_.pop());
  release_begun_ = context_.partition.now();
  last_posted_ = next_posted_;
  const auto waiter = static_cast<Waiter>(index_);
  if (context_.coherence != nullptr) {
    context_.coherence->start_fence(context_.application, index_);
  } else if (context_.egress != nullptr ? context_.egress->release(waiter, FlushCause::Release)
                                        : context_.l2->release_remote_lines(waiter)) {
    fence_settled();
  }
}

/// Stores that linger are seen by all as soon as they have been written, whenever the fence began.
void ComputeUnit::fence_settled() {
  if (context_.watch != nullptr) {
    const bool posted = stores_linger();
    if (posted) context_.watch->release_ends(lsu_.l1().unit(), last_posted_);
    const Cycle begun = posted ? context_.partition.now() : release_begun_;
    context_.watch->released(lsu_.l1().unit(), Scope::System, begun);
  }
  acquire(Scope::System);
  while (!settling_.empty()) {
    Wavefront& wave = *settling_.pop();
    fetch(wave);
    wake(wave);
  }
  start_fence();
}

void ComputeUnit::stores_settled() {
  pass_fences();
  listener_.stores_settled();
}

void ComputeUnit::instruction_finished(Wavefront& wave) {
  fetch(wave);
  advance(wave);
}

// ----------------------------------------------------------------------------------------------------------- account

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
  return text + lsu_.describe_waiting();
}

}  // namespace nearfar
