#include "gpu/launch_timeline.h"

#include <utility>

namespace nearfar {

void LaunchTimeline::begins(std::uint8_t application, std::uint64_t launch) {
  application_ = application;
  launch_ = launch;
  start_ = phase_start_ = partition_.now();
  running_ = true;
}

void LaunchTimeline::acquired() {
  TimelineEvent acquire = event("acquire", partition_.now());
  acquire.kind = TimelineEvent::Kind::Instant;
  timeline_.note(acquire);
}

void LaunchTimeline::groups_ended() {
  if (std::exchange(running_, false)) phase("workgroups");
}

void LaunchTimeline::ends() { timeline_.note(event("kernel", start_)); }

TimelineEvent LaunchTimeline::event(const char* name, Cycle start) const {
  TimelineEvent event;
  event.device = partition_.device().value;
  event.name = name;
  event.start = start;
  event.end = partition_.now();
  event.id = application_;
  event.value = launch_;
  event.unit = TimelineUnit::Kernel;
  return event;
}

/// What has gone on since the phase before ends now; what took no time is not shown.
void LaunchTimeline::phase(const char* name) {
  const Cycle start = std::exchange(phase_start_, partition_.now());
  if (start != phase_start_) timeline_.note(event(name, start));
}

}  // namespace nearfar
