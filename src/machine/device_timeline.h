// What a device's parts say for its timeline, each in a piece of its own: put together where the run asks for them.
#pragma once

#include <memory>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/launch_timeline.h"
#include "host/host.h"
#include "interconnect/link_timeline.h"
#include "memory/cache/l2_timeline.h"
#include "memory/dram/dram_timeline.h"
#include "memory/request_timeline.h"
#include "sim/timeline_frames.h"
#include "translation/process.h"

namespace nearfar {

/// Which page lies in which frame before the first cycle.
std::shared_ptr<const TimelineFrames::Pages> pages_by_frame(const std::vector<Process>& processes);

/// What a packet is called in a timeline, and what it is about.
PacketLabel packet_label(const Packet& packet, const Timeline& timeline);

/// Its device says what the timeline of its partition wants; it lives as long as the device runs.
class DeviceTimeline {
 public:
  DeviceTimeline(Gpu& gpu, const Topology& topology);
  DeviceTimeline(Host& host, const Topology& topology);

 private:
  void record(Partition& partition, L2Cache& cache, NetworkInterface& network, const Topology& topology);

  std::unique_ptr<LaunchTimeline> launches_;
  std::unique_ptr<RequestTimeline> requests_;
  std::unique_ptr<DramTimeline> memory_;
  std::unique_ptr<L2Timeline> l2_;
  std::unique_ptr<LinkTimeline> links_;
};

}  // namespace nearfar
