#include "host/command_processor.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/split.h"

namespace nearfar {

CommandProcessor::CommandProcessor(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes,
                                   NetworkInterface& network, DataWatch* watch)
    : partition_(partition),
      spec_(spec),
      processes_(processes),
      network_(network),
      watch_(watch),
      progress_(processes.size()),
      running_(processes.size()),
      start_handler_(partition.add_handler<&CommandProcessor::on_start>(this)) {}

void CommandProcessor::start() { partition_.schedule(partition_.pool().allocate<Event>(), start_handler_, 0); }

void CommandProcessor::on_start(Event* event) {
  partition_.pool().release(event);
  for (std::size_t a = 0; a < processes_.size(); ++a) launch(a);
}

/// Starts the application's next launch on all its GPUs.
void CommandProcessor::launch(std::size_t a) {
  const Process& process = processes_[a];
  Progress& progress = progress_[a];
  const Launch& launch = process.workload->launches()[progress.launch];
  progress.gpus_running = process.gpus;
  progress.next_group = 0;
  progress.record = {a, progress.launch, partition_.now(), 0, 0, 0};
  if (watch_ != nullptr) watch_->boundary(static_cast<std::uint8_t>(a));
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
  for (unsigned g = 0; g < process.gpus; ++g) {
    tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)},
         {ControlKind::NoMore, 0, 0, static_cast<std::uint8_t>(a), false});
  }
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

/// A GPU has done its share, or has written back. When all have done the first, all are told to do the second.
void CommandProcessor::share_done(std::size_t a, const Control& control) {
  Progress& progress = progress_[a];
  if (control.kind == ControlKind::LaunchDone) {
    progress.record.instructions += control.value;
    progress.record.accesses += control.count;
  }
  if (--progress.gpus_running != 0) return;
  if (control.kind == ControlKind::LaunchDone && spec_.write_back_at_release) {
    const Process& process = processes_[a];
    progress.gpus_running = process.gpus;
    for (unsigned g = 0; g < process.gpus; ++g) {
      tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)},
           {ControlKind::WriteBack, 0, 0, static_cast<std::uint8_t>(a), false});
    }
    return;
  }
  launch_done(a);
}

void CommandProcessor::launch_done(std::size_t a) {
  Progress& progress = progress_[a];
  partition_.progress().steps += 1;
  progress.record.end = partition_.now();
  if (progress.first) records_.push_back(progress.record);
  if (++progress.launch < processes_[a].workload->launches().size()) {
    if (!finished()) launch(a);
    return;
  }
  execution_done(a);
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
  progress.launch = 0;
  launch(a);
}

void CommandProcessor::tell(DeviceId gpu, const Control& control) { send_control(partition_, network_, gpu, control); }

std::string CommandProcessor::describe_waiting() const {
  std::string text;
  for (std::size_t a = 0; a < progress_.size(); ++a) {
    if (progress_[a].gpus_running == 0) continue;
    text += fmt::format("  application {}: launch {} waits for {} GPUs since cycle {}\n", a, progress_[a].launch,
                        progress_[a].gpus_running, progress_[a].record.start);
  }
  return text;
}

}  // namespace nearfar
