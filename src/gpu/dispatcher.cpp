#include "gpu/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {

Dispatcher::Dispatcher(GpuContext& context, NetworkInterface& network, const SystemSpec& spec, DeviceId host,
                       const std::vector<Process>& processes, std::vector<ComputeUnit>& cus,
                       std::vector<ScalarCache>& scalars)
    : context_(context),
      partition_(context.partition),
      network_(network),
      host_(host),
      processes_(processes),
      cus_(cus),
      scalars_(scalars),
      policy_(spec.dispatch),
      chunk_(spec.dispatch_chunk),
      start_jitter_(spec.perturb),
      interval_(spec.gpu.dispatch_interval),
      boundary_(spec.boundary) {}

void Dispatcher::on_control(Packet* packet) {
  const Control control = static_cast<const ControlMessage&>(*packet).control;
  partition_.pool().release(packet);
  switch (control.kind) {
    case ControlKind::Launch: start_launch(control); break;
    case ControlKind::Groups:
      granted_.push_back(control);
      start_groups();
      break;
    case ControlKind::NoMore:
      more_may_come_ = false;
      try_release();
      break;
    case ControlKind::Stop:
      more_may_come_ = false;
      share_.reset();
      granted_.clear();
      next_granted_ = 0;
      try_release();
      break;
    case ControlKind::Release: release(control); break;
    case ControlKind::Settle:
      settling_ = true;
      if (context_.level != nullptr) {
        context_.level->start_boundary(false);
      } else {
        context_.coherence->start_boundary(control.application);
      }
      break;
    case ControlKind::GroupsDone:
    case ControlKind::LaunchDone:
    case ControlKind::Released:
    case ControlKind::Settled: break;  // the host's
  }
}

/// Acquire, then workgroups: the caches that software keeps coherent forget what they hold.
void Dispatcher::start_launch(const Control& control) {
  const Process& process = processes_[control.application];
  const Launch& launch = process.workload->launches()[control.value];
  launch_ = control;
  running_ = true;
  groups_ended_ = partition_.now();
  context_.workload = process.workload.get();
  context_.space = process.space.get();
  context_.launch = &launch;
  context_.launch_index = control.value;
  context_.application = control.application;
  if (process.arguments != nullptr) {
    context_.arguments = process.arguments->arguments(control.value, partition_.device().value - process.first_gpu);
  }
  if (context_.touches != nullptr) context_.touches->start(process.space->first_page(), process.space->pages());
  instructions_before_ = instructions();
  accesses_before_ = accesses();
  if (timeline_ != nullptr) timeline_->begins(control.application, control.value);
  if (boundary_.l1 == L1AtBoundary::Invalidate) acquire();
  context_.l2->drop_remote_lines();
  take_share(process, launch);
  start_groups();
  try_release();
}

void Dispatcher::acquire() {
  if (timeline_ != nullptr) timeline_->acquired();
  for (ScalarCache& scalar : scalars_) scalar.l1().acquire(L1Event::Boundary, Scope::System);
  for (ComputeUnit& cu : cus_) cu.load_store().acquire(L1Event::Boundary, Scope::System);
}

/// Which workgroups are this GPU's: known from the start, or granted by the host as the GPU gets room.
void Dispatcher::take_share(const Process& process, const Launch& launch) {
  const Split split = effective_split(launch.split, policy_, process.gpus);
  greedy_ = split == Split::Greedy;
  more_may_come_ = greedy_;
  share_.reset();
  granted_.clear();
  next_granted_ = 0;
  if (greedy_) return;
  share_.emplace(launch, split, partition_.device().value - process.first_gpu, process.gpus,
                 static_cast<unsigned>(cus_.size()), chunk_);
}

std::optional<std::uint64_t> Dispatcher::next_group(unsigned cu) {
  if (share_) return share_->take(cu);
  if (next_granted_ < granted_.size()) {
    Control& run = granted_[next_granted_];
    const std::uint64_t group = run.value++;
    if (--run.count == 0) ++next_granted_;
    return group;
  }
  return std::nullopt;
}

bool Dispatcher::start_one(unsigned cu) {
  if (!cus_[cu].has_room()) return false;
  const std::optional<std::uint64_t> group = next_group(cu);
  if (!group) return false;
  dispatch_free_ = std::max(dispatch_free_, partition_.now());
  ++running_groups_;
  cus_[cu].start_group(*group, start_jitter_.start(dispatch_free_, launch_.application, launch_.value, *group));
  dispatch_free_ += interval_;
  return true;
}

/// Workgroups go round robin over the compute units until none has room or none is left.
void Dispatcher::start_groups() {
  const auto units = static_cast<unsigned>(cus_.size());
  for (unsigned refused = 0; refused < units && groups_left();) {
    const unsigned cu = next_cu_;
    next_cu_ = (next_cu_ + 1) % units;
    refused = start_one(cu) ? 0 : refused + 1;
  }
}

void Dispatcher::group_done(unsigned cu) {
  --running_groups_;
  groups_ended_ = partition_.now();
  ++partition_.progress().groups;
  if (greedy_) tell_host({ControlKind::GroupsDone, 1, 0, launch_.application, false});
  while (start_one(cu)) {
  }
  try_release();
}

/// Release, first half: all workgroups have ended and all their stores are ordered at their homes. The second half,
/// writing dirty lines back, comes when that is so on every GPU, since any of them may still write to lines at home
/// here.
void Dispatcher::try_release() {
  if (!running_ || writing_stores_ || running_groups_ != 0 || more_may_come_) return;
  if (groups_left()) return;
  if (timeline_ != nullptr) timeline_->groups_ended();
  const bool settled = std::all_of(cus_.begin(), cus_.end(),
                                   [](const ComputeUnit& cu) { return cu.load_store().stores_outstanding() == 0; });
  if (!settled) return;
  flushed_before_ = flushed_lines();
  writing_stores_ = context_.egress != nullptr ? !context_.egress->release(Egress::kWholeGpu, FlushCause::Kernel)
                                               : !context_.l2->release_remote_lines(Egress::kWholeGpu);
  if (!writing_stores_) end_launch();
}

void Dispatcher::stores_written() {
  writing_stores_ = false;
  end_launch();
}

void Dispatcher::end_launch() {
  running_ = false;
  if (timeline_ != nullptr) timeline_->stores_ordered();
  tell_host({ControlKind::LaunchDone, instructions() - instructions_before_, accesses() - accesses_before_,
             launch_.application, false, static_cast<std::uint32_t>(groups_ended_)});
  if (!boundary_.write_back && context_.coherence == nullptr) execution_ends();
}

/// Release, second half: every GPU has done the first.
void Dispatcher::release(const Control& control) {
  released_ = partition_.now();
  releasing_ = (boundary_.write_back ? 1 : 0) + (context_.coherence != nullptr ? 1 : 0);
  if (context_.coherence != nullptr) context_.coherence->start_boundary(control.application);
  if (!boundary_.write_back) return;
  if (timeline_ != nullptr) timeline_->write_back_begins();
  if (context_.level == nullptr) {
    context_.l2->flush();
  } else if (control.value == kReleaseNothing) {
    flushed();
  } else {
    context_.level->start_boundary(control.value == kReleaseToHost);
  }
}

/// Lines that boundaries have written back so far. Those at home in another GPU count there, when it writes them to its
/// memory.
std::uint64_t Dispatcher::flushed_lines() const {
  if (context_.level != nullptr) return context_.level->flushed_lines();
  return context_.l2->stats().flushed_lines + context_.l2->released_to_host();
}

void Dispatcher::flushed() {
  if (settling_) {
    settling_ = false;
    tell_host({ControlKind::Settled, 0, 0, launch_.application, false});
    return;
  }
  if (timeline_ != nullptr) timeline_->written_back();
  if (context_.coherence != nullptr) context_.coherence->note_flush(partition_.now() - released_);
  if (boundary_.l2 == L2AtBoundary::Drop) context_.l2->drop_clean_lines();
  released_in_part();
}

void Dispatcher::boundary_settled(std::uint8_t application) {
  if (!settling_) {
    released_in_part();
    return;
  }
  settling_ = false;
  tell_host({ControlKind::Settled, 0, 0, application, false});
}

void Dispatcher::released_in_part() {
  if (--releasing_ != 0) return;
  execution_ends();
  const std::uint64_t flushed = boundary_.write_back ? flushed_lines() - flushed_before_ : 0;
  tell_host({ControlKind::Released, flushed, 0, launch_.application, false});
}

void Dispatcher::execution_ends() {
  if (timeline_ != nullptr) timeline_->ends();
  if (launch_.last_of_first && on_first_execution) on_first_execution();
}

void Dispatcher::tell_host(const Control& control) { send_control(partition_, network_, host_, control); }

std::uint64_t Dispatcher::instructions() const {
  std::uint64_t sum = 0;
  for (const ComputeUnit& cu : cus_) sum += cu.stats().instructions;
  return sum;
}

std::uint64_t Dispatcher::accesses() const {
  std::uint64_t sum = 0;
  for (const ComputeUnit& cu : cus_) sum += cu.stats().accesses;
  return sum;
}

std::string Dispatcher::describe_waiting() const {
  if (!running_) return {};
  return fmt::format("  dispatcher: {} workgroups running, {} not started\n", running_groups_,
                     share_ ? share_->left() : granted_.size() - next_granted_);
}

}  // namespace nearfar
