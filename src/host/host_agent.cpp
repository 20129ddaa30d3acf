#include "host/host_agent.h"

#include <fmt/format.h>

namespace nearfar {

void HostAgentStats::describe(StatVisitor& visitor) {
  visitor.counter("accesses", "ranges", "Ranges of buffers that the host's core read or wrote between launches.",
                  accesses);
  visitor.counter("lines_read", "lines", "Lines of buffers that the host's core read between launches.", lines_read);
  visitor.counter("lines_written", "lines", "Lines of buffers that the host's core wrote between launches.",
                  lines_written);
  visitor.counter("remote_lines", "lines",
                  "Lines that the host's core read or wrote between launches in the memory of GPUs.", remote_lines);
  visitor.counter("cycles", "cycles",
                  "Time that the host's core took to read and write ranges of buffers, summed over ranges.", cycles);
  visitor.counter("line_cycles", "cycles",
                  "Time from the start of each access of the host's core to a line to its end, summed over lines.",
                  line_cycles);
}

HostAgent::HostAgent(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes,
                     DataWatch* watch)
    : partition_(partition),
      processes_(processes),
      watch_(watch),
      outstanding_(spec.host.cpu.outstanding),
      line_bytes_(spec.gpu.line),
      line_handler_(partition.add_handler<&HostAgent::on_line>(this)),
      sweeps_(processes.size()) {}

void HostAgent::start(std::size_t application, const HostAccess& access) {
  Sweep& sweep = sweeps_[application];
  sweep = {.access = access,
           .next = access.first.value / line_bytes_ * line_bytes_,
           .end = access.first.value + access.bytes,
           .start = partition_.now()};
  ++sweeping_;
  ++stats_.accesses;
  issue_lines(application);
}

void HostAgent::issue_lines(std::size_t application) {
  Sweep& sweep = sweeps_[application];
  while (sweep.next < sweep.end && sweep.under_way < outstanding_) issue_line(application);
}

/// A page that each GPU has one of is read where the first has it, and written everywhere.
void HostAgent::issue_line(std::size_t application) {
  Sweep& sweep = sweeps_[application];
  const Process& process = processes_[application];
  const AddressSpace& space = process.host_space();
  const VirtAddr address{sweep.next};
  const VirtPage page = page_of(address);
  const bool copies = space.is_private(page);
  const DeviceId gpu{static_cast<std::uint16_t>(process.first_gpu + sweep.copy)};
  const PhysPage frame = space.translate(gpu, page);
  HostLineAccess access;
  access.line = PhysLine{frame, static_cast<unsigned>(address.value % kPageBytes / line_bytes_)};
  access.application = static_cast<std::uint8_t>(application);
  access.writes = sweep.access.writes;
  if (watch_ != nullptr) access.page = watch_->oracle().locate(access.application, gpu, page, frame, copies);
  if (!copies || !access.writes || ++sweep.copy == process.gpus) {
    sweep.copy = 0;
    sweep.next += line_bytes_;
  }
  ++sweep.under_way;
  ++(access.writes ? stats_.lines_written : stats_.lines_read);
  if (frame.device() != partition_.device()) ++stats_.remote_lines;
  auto* event = partition_.pool().allocate<LineEvent>();
  event->application = static_cast<std::uint32_t>(application);
  event->start = partition_.now();
  port_->access(access, event, line_handler_);
}

void HostAgent::on_line(LineEvent* event) {
  const std::size_t application = event->application;
  stats_.line_cycles += partition_.now() - event->start;
  partition_.pool().release(event);
  partition_.progress().steps += 1;
  Sweep& sweep = sweeps_[application];
  --sweep.under_way;
  if (!sweep.first_ended && on_first_line) on_first_line(application, sweep.access);
  sweep.first_ended = true;
  issue_lines(application);
  if (sweep.under_way != 0) return;
  stats_.cycles += partition_.now() - sweep.start;
  note_access(application, sweep);
  --sweeping_;
  on_done(application);
}

void HostAgent::note_access(std::size_t application, const Sweep& sweep) const {
  Timeline* timeline = partition_.timeline();
  if (timeline == nullptr) return;
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = static_cast<std::uint16_t>(application);
  event.name = sweep.access.writes ? "host writes" : "host reads";
  event.start = sweep.start;
  event.end = partition_.now();
  event.id = application;
  event.value = sweep.access.bytes;
  event.unit = TimelineUnit::Application;
  timeline->note(event);
}

std::string HostAgent::describe_waiting() const {
  std::string text;
  for (std::size_t a = 0; a < sweeps_.size(); ++a) {
    if (sweeps_[a].under_way == 0) continue;
    text += fmt::format("  core: application {} waits for {} lines of its data\n", a, sweeps_[a].under_way);
  }
  return text;
}

}  // namespace nearfar
