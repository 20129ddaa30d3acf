#include "memory/dram/dram_timeline.h"

namespace nearfar {

void DramTimeline::read_begins(const Event* read, PhysLine line, Cycle pipeline) {
  delay_ = 0;  // it was said of this read, and is the same
  const std::uint64_t bit = std::uint64_t{1} << line.index();
  if (timeline_.selects(timeline_.lines_of(line.page(), bit))) {
    reads_[read] = {line, partition_.now() + pipeline, pipeline};
  }
}

void DramTimeline::read_ends(const Event* read, std::uint32_t channel, Cycle complete, const char* name) {
  const auto found = reads_.find(read);
  if (found == reads_.end()) return;
  const Read& of = found->second;
  note(channel, of.line, name, of.start, complete + of.delay);
  reads_.erase(found);
}

void DramTimeline::note(std::uint32_t channel, PhysLine line, const char* name, Cycle start, Cycle end) {
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = static_cast<std::uint16_t>(channel);
  event.name = name;
  event.start = start;
  event.end = end;
  event.unit = TimelineUnit::DramChannel;
  event.lines = timeline_.lines_of(line.page(), std::uint64_t{1} << line.index());
  timeline_.note_lines(event);
}

}  // namespace nearfar
