#include "host/command_processor.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/split.h"

namespace nearfar {

void HostPhaseStats::describe(StatVisitor& visitor) {
  visitor.counter("count", "phases", "Phases between launches in which the host computed.", count);
  visitor.counter("cycles", "cycles", "Time that phases of the host between launches took, summed over them.", cycles);
}

CommandProcessor::CommandProcessor(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes,
                                   NetworkInterface& network, CopyEngine& dma, HostAgent& core, DataWatch* watch)
    : partition_(partition),
      spec_(spec),
      processes_(processes),
      network_(network),
      dma_(dma),
      core_(core),
      watch_(watch),
      progress_(processes.size()),
      running_(processes.size()),
      start_handler_(partition.add_handler<&CommandProcessor::on_start>(this)),
      phase_handler_(partition.add_handler<&CommandProcessor::on_host_phase>(this)),
      parts_(processes.size(), spec.gpu.line) {
  dma.on_done = [this](std::size_t application) { copy_done(application); };
  core.on_done = [this](std::size_t application) { proceed(application); };
  core.on_first_line = [this](std::size_t application, const HostAccess& access) {
    parts_.host_sees(application, *processes_[application].workload, access, partition_.now(), synchronized_bytes(),
                     bound_of_synchronization(application));
  };
}

void CommandProcessor::start() { partition_.schedule(partition_.pool().allocate<Event>(), start_handler_, 0); }

void CommandProcessor::on_start(Event* event) {
  partition_.pool().release(event);
  for (std::size_t a = 0; a < processes_.size(); ++a) proceed(a);
}

/// The step before has ended, or there was none.
void CommandProcessor::proceed(std::size_t a) {
  Progress& progress = progress_[a];
  const std::vector<Step>& steps = processes_[a].steps;
  if (progress.first) parts_.step_ended(a, partition_.now());
  if (progress.step < steps.size()) {
    if (finished()) return;
    const Step& step = steps[progress.step++];
    parts_.step_begins(a, step);
    std::visit([&](const auto& what) { take_step(a, what); }, step);
  } else if (progress.copies != 0) {
    wait_for_copies(a);
  } else {
    execution_done(a);
  }
}

void CommandProcessor::take_step(std::size_t a, const LaunchStep& step) {
  Progress& progress = progress_[a];
  progress.launch = step.launch;
  if (!progress.unsettled && (!spec_.has_directories() || !progress.copied)) {
    launch(a);
    return;
  }
  // What copies have overwritten, a kernel may not find in L2 caches any more; in a unified memory hierarchy it has to
  // find what kernels before it stored, which the host's core did not wait for.
  progress.copied = progress.unsettled = false;
  progress.gpus_running = processes_[a].gpus;
  tell_all(a, {ControlKind::Settle, 0, 0, static_cast<std::uint8_t>(a), false});
}

void CommandProcessor::take_step(std::size_t a, const Copy& copy) {
  ++progress_[a].copies;
  progress_[a].copied = true;
  dma_.start(a, copy);
  copy.wait ? wait_for_copies(a) : proceed(a);
}

void CommandProcessor::take_step(std::size_t a, const HostPhase& phase) {
  ++host_phases_.count;
  host_phases_.cycles += phase.cycles;
  note_step(a, "host phase", partition_.now(), partition_.now() + phase.cycles);
  auto* event = partition_.pool().allocate<PhaseEvent>();
  event->cycles_left = phase.cycles;
  event->application = static_cast<std::uint32_t>(a);
  on_host_phase(event);
}

/// The host's core sees what kernels before have stored.
void CommandProcessor::take_step(std::size_t a, const HostAccess& access) {
  if (watch_ != nullptr && spec_.boundary.l1 == L1AtBoundary::Invalidate)
    watch_->boundary(static_cast<std::uint8_t>(a));
  progress_[a].copied |= access.writes;
  core_.start(a, access);
}

void CommandProcessor::take_step(std::size_t a, const Transfer& transfer) {
  progress_[a].copies += dma_.start(a, transfer);
  progress_[a].copied = true;
  proceed(a);
}

void CommandProcessor::take_step(std::size_t a, const Sync&) { wait_for_copies(a); }

void CommandProcessor::wait_for_copies(std::size_t a) {
  progress_[a].waits_for_copies = progress_[a].copies != 0;
  if (!progress_[a].waits_for_copies) proceed(a);
}

void CommandProcessor::copy_done(std::size_t a) {
  Progress& progress = progress_[a];
  if (--progress.copies != 0 || !progress.waits_for_copies) return;
  progress.waits_for_copies = false;
  proceed(a);
}

/// A phase of the host passes in pieces, shorter than what the watchdog allows without progress.
void CommandProcessor::on_host_phase(PhaseEvent* event) {
  partition_.progress().steps += 1;
  const Cycle piece = std::min<Cycle>(event->cycles_left, spec_.link.latency);
  if (piece != 0) {
    event->cycles_left -= piece;
    partition_.schedule(event, phase_handler_, partition_.now() + piece);
    return;
  }
  const std::size_t a = event->application;
  partition_.pool().release(event);
  proceed(a);
}

/// Starts a launch of the application on all its GPUs.
void CommandProcessor::launch(std::size_t a) {
  const Process& process = processes_[a];
  Progress& progress = progress_[a];
  const Launch& launch = process.workload->launches()[progress.launch];
  progress.gpus_running = process.gpus;
  progress.next_group = 0;
  progress.record = {a, progress.launch, partition_.now(), 0, 0, 0};
  parts_.launch_begins(a);
  // Where L1 caches keep their lines, a boundary binds nobody.
  if (watch_ != nullptr && spec_.boundary.l1 == L1AtBoundary::Invalidate)
    watch_->boundary(static_cast<std::uint8_t>(a));
  const bool last = progress.launch + 1 == process.workload->launches().size();
  const bool greedy = effective_split(launch.split, spec_.dispatch, process.gpus) == Split::Greedy;
  for (unsigned g = 0; g < process.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint16_t>(process.first_gpu + g)};
    tell(gpu, {ControlKind::Launch, progress.launch, 0, static_cast<std::uint8_t>(a), last && progress.first});
  }
  for (unsigned g = 0; greedy && g < process.gpus; ++g) {
    grant(a, DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)}, capacity(launch));
  }
}

/// Greedy: hands the next workgroups in flattened order to a GPU that has room; with the last one, all are told.
void CommandProcessor::grant(std::size_t a, DeviceId gpu, std::uint64_t groups) {
  const Process& process = processes_[a];
  Progress& progress = progress_[a];
  const std::uint64_t left = process.workload->launches()[progress.launch].groups() - progress.next_group;
  const std::uint64_t given = std::min(groups, left);
  if (given == 0) return;
  tell(gpu, {ControlKind::Groups, progress.next_group, given, static_cast<std::uint8_t>(a), false});
  progress.next_group += given;
  if (given < left) return;
  tell_all(a, {ControlKind::NoMore, 0, 0, static_cast<std::uint8_t>(a), false});
}

/// Workgroups of a launch that a GPU holds at once.
std::uint64_t CommandProcessor::capacity(const Launch& launch) const {
  const GpuSpec& gpu = spec_.gpu;
  const std::uint64_t waves = launch.waves(gpu.wavefront);
  std::uint64_t groups = std::uint64_t{gpu.cu.simds} * gpu.cu.waves_per_simd / waves;
  if (launch.local_bytes != 0) groups = std::min(groups, gpu.cu.local_memory / launch.local_bytes);
  return groups * gpu.cus();
}

void CommandProcessor::on_control(Packet* packet) {
  const Control control = static_cast<const ControlMessage&>(*packet).control;
  const DeviceId gpu{packet->origin};
  partition_.pool().release(packet);
  if (control.kind == ControlKind::GroupsDone) {
    grant(control.application, gpu, control.value);
  } else {
    share_done(control.application, control);
  }
}

/// A GPU has done its share, or the release behind it. When all have done the first, all are told to do the second.
void CommandProcessor::share_done(std::size_t a, const Control& control) {
  Progress& progress = progress_[a];
  if (control.kind == ControlKind::LaunchDone) {
    progress.record.instructions += control.value;
    progress.record.accesses += control.count;
    const Cycle now = partition_.now();
    parts_.groups_ended(a, now - static_cast<std::uint32_t>(static_cast<std::uint32_t>(now) - control.ended),
                        synchronized_bytes());
  }
  if (control.kind == ControlKind::Released) parts_.flushed(a, control.value);
  if (control.kind == ControlKind::Released && progress.late != 0) {
    --progress.late;
    return;
  }
  if (--progress.gpus_running != 0) return;
  if (control.kind == ControlKind::Settled) {
    if (level_ != nullptr) {
      level_->finish_boundary([this, a] { launch(a); });
    } else {
      launch(a);
    }
    return;
  }
  if (control.kind == ControlKind::LaunchDone && level_ != nullptr && spec_.umh.sync == UmhSync::Dynamic &&
      host_is_next(a)) {
    // The host's core takes what it needs by itself.
    progress.unsettled = true;
    progress.late = processes_[a].gpus;
    tell_all(a, {ControlKind::Release, kReleaseNothing, 0, static_cast<std::uint8_t>(a), false});
    launch_done(a);
    return;
  }
  if (control.kind == ControlKind::LaunchDone && (spec_.boundary.write_back || spec_.has_directories())) {
    progress.gpus_running = processes_[a].gpus;
    const bool flush = level_ != nullptr && spec_.umh.sync == UmhSync::FinalFlush && host_is_next(a);
    tell_all(a, {ControlKind::Release, flush ? kReleaseToHost : kReleaseToAll, 0, static_cast<std::uint8_t>(a), false});
    return;
  }
  if (level_ != nullptr) {
    level_->finish_boundary([this, a] { launch_done(a); });
  } else {
    launch_done(a);
  }
}

/// That GPUs have sent home on demand, in a unified memory hierarchy.
std::uint64_t CommandProcessor::synchronized_bytes() const {
  return level_ == nullptr ? 0 : level_->synchronized_bytes();
}

/// What the first line that the host reads of a result can bring home at most: a block of each GPU.
std::uint64_t CommandProcessor::bound_of_synchronization(std::size_t a) const {
  if (level_ == nullptr || spec_.umh.sync != UmhSync::Dynamic) return 0;
  return processes_[a].gpus * spec_.umh.block;
}

/// Whether the host's core, or the end, comes before the next launch.
bool CommandProcessor::host_is_next(std::size_t a) const {
  const std::vector<Step>& steps = processes_[a].steps;
  for (std::size_t i = progress_[a].step; i < steps.size(); ++i) {
    if (std::holds_alternative<HostAccess>(steps[i])) return true;
    if (std::holds_alternative<LaunchStep>(steps[i])) return false;
  }
  return true;
}

void CommandProcessor::launch_done(std::size_t a) {
  Progress& progress = progress_[a];
  partition_.progress().steps += 1;
  progress.record.end = partition_.now();
  note_step(a, "kernel", progress.record.start, progress.record.end);
  if (progress.first) records_.push_back(progress.record);
  proceed(a);
}

/// An application that ends early starts again until the longest has ended, so that the others keep their company.
void CommandProcessor::execution_done(std::size_t a) {
  Progress& progress = progress_[a];
  if (progress.first) {
    progress.first = false;
    if (on_first_execution) on_first_execution(a);
    if (--running_ == 0) {
      end_ = partition_.now();
      if (processes_.size() > 1) {
        for (const Process& process : processes_) {
          tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu)}, {ControlKind::Stop, 0, 0, 0, false});
        }
      }
    }
  }
  if (finished()) return;
  progress.step = 0;
  proceed(a);
}

void CommandProcessor::tell_all(std::size_t a, const Control& control) {
  const Process& process = processes_[a];
  for (unsigned g = 0; g < process.gpus; ++g) {
    tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)}, control);
  }
}

/// A step of an application, for the timeline.
void CommandProcessor::note_step(std::size_t a, const char* name, Cycle start, Cycle end) {
  Timeline* timeline = partition_.timeline();
  if (timeline == nullptr) return;
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = static_cast<std::uint16_t>(a);
  event.name = name;
  event.start = start;
  event.end = end;
  event.id = a;
  event.value = progress_[a].launch;
  event.unit = TimelineUnit::Application;
  timeline->note(event);
}

void CommandProcessor::tell(DeviceId gpu, const Control& control) { send_control(partition_, network_, gpu, control); }

std::string CommandProcessor::describe_waiting() const {
  std::string text;
  for (std::size_t a = 0; a < progress_.size(); ++a) {
    if (progress_[a].waits_for_copies)
      text += fmt::format("  application {}: waits for {} copies\n", a, progress_[a].copies);
    if (progress_[a].gpus_running == 0) continue;
    text += fmt::format("  application {}: launch {} waits for {} GPUs since cycle {}\n", a, progress_[a].launch,
                        progress_[a].gpus_running, progress_[a].record.start);
  }
  return text;
}

}  // namespace nearfar
