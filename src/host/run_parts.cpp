#include "host/run_parts.h"

#include <algorithm>

namespace nearfar {

void RunPartStats::describe(StatVisitor& visitor) {
  visitor.counter("copy_in", "cycles",
                  "Time of a run in which its application waited for copies to GPUs, summed over applications.",
                  copy_in);
  visitor.counter("kernel", "cycles",
                  "Time of a run from the start of each launch to its end, release included, summed over applications.",
                  kernel);
  visitor.counter("copy_out", "cycles",
                  "Time of a run in which its application waited for copies to the host, summed over applications.",
                  copy_out);
  visitor.counter("host", "cycles",
                  "Time of a run in which the host worked for its application between launches, summed over "
                  "applications.",
                  host);
}

void SyncStats::describe(StatVisitor& visitor) {
  visitor.counter("count", "synchronizations",
                  "Times that the host read the first line of what a launch before it may have written.", count);
  visitor.counter("cycles", "cycles",
                  "Time from the end of the last workgroup of a launch until the host had read the first line of a "
                  "result, summed over synchronizations.",
                  cycles);
  visitor.counter(
      "ff_bytes", "bytes",
      "Bytes of the lines that caches of GPUs wrote to memory of GPUs or the host at the end of launches that "
      "the host synchronized with.",
      ff_bytes);
  visitor.counter("r_bytes", "bytes", "Size of the buffers that kernels only read, as far as they use them.", r_bytes);
  visitor.counter("w_bytes", "bytes", "Size of the buffers that kernels write, as far as they use them.", w_bytes);
  visitor.counter("home_bytes", "bytes",
                  "Bytes that a management of memory copied from GPU memory to the host's copies of buffers; in a "
                  "unified memory hierarchy, of changed blocks that came home because the host's core asked, or by a "
                  "final flush.",
                  home_bytes);
}

void DemandSyncStats::describe(StatVisitor& visitor) {
  visitor.counter(
      "first_home_bytes", "bytes",
      "Bytes of changed blocks that came home on demand until the host had read the first line of a result: "
      "what one dynamic synchronization of a unified memory hierarchy takes, summed over synchronizations.",
      first_home_bytes);
  visitor.counter(
      "first_bound_bytes", "bytes",
      "Most bytes of changed blocks that may come home for the first line of a result: one block of each GPU, "
      "summed over dynamic synchronizations of a unified memory hierarchy.",
      first_bound_bytes);
}

void SyncStats::add_buffers(const Workload& workload) {
  for (const Buffer& buffer : workload.buffers()) (buffer.kernels.writes ? w_bytes : r_bytes) += buffer.used_bytes();
}

void RunParts::begins(Progress& progress, const HostAccess&) {
  progress.part = Part::Host;
  on_ = true;
}

void RunParts::begins(Progress& progress, const Transfer& transfer) {
  progress.part = transfer.to_host ? Part::CopyOut : Part::CopyIn;
  if (transfer.to_host) sync_.home_bytes += (transfer.bytes + line_bytes_ - 1) / line_bytes_ * line_bytes_;
  on_ = true;
}

void RunParts::step_begins(std::size_t application, const Step& step) {
  std::visit([&](const auto& what) { begins(progress_[application], what); }, step);
}

void RunParts::step_ended(std::size_t application, Cycle now) {
  Progress& progress = progress_[application];
  const Cycle took = now - progress.since;
  progress.since = now;
  switch (progress.part) {
    case Part::CopyIn: stats_.copy_in += took; break;
    case Part::Kernel: stats_.kernel += took; break;
    case Part::CopyOut: stats_.copy_out += took; break;
    case Part::Host: stats_.host += took; break;
  }
}

void RunParts::groups_ended(std::size_t application, Cycle when, std::uint64_t home) {
  LaunchEnd& launch = progress_[application].launch;
  launch.home = home;
  launch.ended = std::max(launch.ended, when);
  launch.open = true;
}

void RunParts::host_sees(std::size_t application, const Workload& workload, const HostAccess& access, Cycle now,
                         std::uint64_t home, std::uint64_t bound) {
  LaunchEnd& launch = progress_[application].launch;
  if (!launch.open || access.writes) return;
  const bool result = std::ranges::any_of(workload.buffers(), [&](const Buffer& buffer) {
    return buffer.kernels.writes && access.first.value >= buffer.base.value &&
           access.first.value < buffer.base.value + buffer.bytes;
  });
  if (!result) return;
  launch.open = false;
  ++sync_.count;
  sync_.cycles += now - launch.ended;
  sync_.ff_bytes += launch.flushed * line_bytes_;
  on_demand_.first_home_bytes += home - launch.home;
  on_demand_.first_bound_bytes += bound;
}

}  // namespace nearfar
