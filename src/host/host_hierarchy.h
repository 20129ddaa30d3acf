// The host's part of a unified memory hierarchy: modules of its memory, each with a directory that is the home of the
// blocks in it, and the last-level cache, through which the host's core reaches them. Before the core loads a line that
// GPUs may have stored to, it issues a store of no bytes to it, which brings home what they have changed of its block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coherence/nmoesi/home_directory.h"
#include "coherence/nmoesi/line_cache.h"
#include "coherence/umh/courier.h"
#include "coherence/umh/directory_memory.h"
#include "coherence/umh/directory_timeline.h"
#include "coherence/umh/hierarchy_map.h"
#include "host/host_line_port.h"
#include "interconnect/topology.h"
#include "memory/data_oracle.h"
#include "memory/memory_level.h"
#include "translation/design_component.h"

namespace nearfar {

struct HostHierarchyStats {
  nmoesi::HomeDirectoryStats hmd;
  DirectoryMemoryStats memory;
  HierarchyTraffic traffic;
  std::uint64_t llc_hits = 0;
  std::uint64_t llc_misses = 0;

  void describe(StatVisitor& visitor);
};

class HostHierarchy final : public HostMemoryLevel,
                            public HostLinePort,
                            public DesignComponent,
                            public nmoesi::Fabric,
                            public nmoesi::CacheClient {
 public:
  HostHierarchy(Partition& partition, const SystemSpec& spec, const Topology& topology, NetworkInterface& network,
                DataWatch* watch);

  void on_message(Packet* packet) override;
  void finish_boundary(std::function<void()> done) override;
  std::uint64_t synchronized_bytes() const override;

  // HostLinePort
  void access(const HostLineAccess& access, Event* event, HandlerId done) override;
  bool idle() const override;

  const char* name() const override { return "umh"; }
  void describe(StatVisitor& visitor) override;
  std::string describe_waiting() const override;

  const HierarchyMap& map() const { return map_; }
  /// What memory holds of a line, with what the last-level cache has changed.
  LineImage contents(nmoesi::Line line) const;
  const nmoesi::HomeDirectory& home_of(nmoesi::Block block) const { return *homes_[block % homes_.size()]; }
  const nmoesi::LineCache& llc() const { return *llc_; }

 private:
  /// An access of the core that is under way.
  struct CoreLine {
    HostLineAccess what;
    Event* event = nullptr;
    HandlerId done = 0;
  };

  void on_issue(IndexEvent* event);
  void watch_performed(const CoreLine& access, LineImage* image);
  void complete(std::uint32_t number, Cycle when);
  void work_off();

  void send(nmoesi::Message&& message) override;
  Cycle read_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) override;
  void write_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) override;
  void performed(const nmoesi::CoreAccess& access, LineImage* image) override;
  void deliver(nmoesi::Message&& message);

  Partition& partition_;
  UmhSpec spec_;
  HierarchyMap map_;
  DataWatch* watch_;
  Cycle core_latency_;
  Cycle llc_latency_;
  Courier courier_;
  std::unique_ptr<nmoesi::LineCache> llc_;
  std::vector<std::unique_ptr<nmoesi::HomeDirectory>> homes_;
  std::vector<DirectoryMemory> modules_;
  HandlerId issue_handler_;
  DirectoryTimeline directory_timeline_;
  Cycle lookup_ends_ = 0;
  std::vector<CoreLine> lines_;  ///< by number
  std::vector<std::uint32_t> free_lines_;
  std::function<void()> settled_;  ///< who waits for the end of a boundary
  std::uint64_t llc_hits_ = 0;
  std::uint64_t llc_misses_ = 0;
};

}  // namespace nearfar
