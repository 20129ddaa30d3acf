#include "machine/device_timeline.h"

namespace nearfar {
namespace {

/// Lines, memory and links speak of frames, of which those who use translations know the pages.
bool wants_lines(const Timeline& timeline) {
  return timeline.wants(TimelineSubject::Data) || timeline.wants(TimelineSubject::Links) ||
         timeline.wants(TimelineSubject::Dram);
}

}  // namespace

DeviceTimeline::DeviceTimeline(Gpu& gpu, const Topology& topology) {
  Timeline& timeline = *gpu.partition().timeline();
  if (timeline.wants(TimelineSubject::Launches)) {
    launches_ = std::make_unique<LaunchTimeline>(gpu.partition(), timeline);
    gpu.dispatcher().record(launches_.get());
  }
  if (!wants_lines(timeline)) return;
  requests_ = std::make_unique<RequestTimeline>(gpu.partition(), timeline);
  gpu.record(requests_.get());
  record(gpu.partition(), gpu.l2(), gpu.network(), topology);
}

DeviceTimeline::DeviceTimeline(Host& host, const Topology& topology) {
  if (wants_lines(*host.partition().timeline())) record(host.partition(), host.llc(), host.network(), topology);
}

void DeviceTimeline::record(Partition& partition, L2Cache& cache, NetworkInterface& network, const Topology& topology) {
  Timeline& timeline = *partition.timeline();
  if (timeline.wants(TimelineSubject::Dram)) {
    memory_ = std::make_unique<DramTimeline>(partition, timeline);
    cache.dram().record(memory_.get());
  }
  // Memory has to know from the cache how late a miss reaches it.
  if (timeline.wants(TimelineSubject::Data) || memory_) {
    l2_ = std::make_unique<L2Timeline>(partition, timeline, requests_.get(), memory_.get());
    cache.record(l2_.get());
  }
  if (timeline.wants(TimelineSubject::Links)) {
    links_ = std::make_unique<LinkTimeline>(partition, timeline, topology, network.rate(), packet_label);
    network.record(links_.get());
  }
}

std::shared_ptr<const TimelineFrames::Pages> pages_by_frame(const std::vector<Process>& processes) {
  auto pages = std::make_shared<TimelineFrames::Pages>();
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const AddressSpace& space = *processes[p].space;
    space.for_each_page([&](std::uint64_t number, bool is_private) {
      const VirtPage first{number << space.page_size().bits};
      for (unsigned g = 0; g < (is_private ? space.gpus() : 1); ++g) {
        const PhysPage frame = space.translate(DeviceId{static_cast<std::uint16_t>(space.first_gpu() + g)}, first);
        (*pages)[TimelineFrames::key(frame, space.page_size())] = PageKey{static_cast<Pid>(p), number}.value;
      }
    });
  }
  return pages;
}

}  // namespace nearfar
