// A GPU's part of a unified memory hierarchy: the slices of its L2, each over a stacked memory that is a cache of the
// host's memory. L1 caches are above it, write through, and drop what they hold when a kernel begins: so the L2 is
// where stores and atomics are performed. Or they are write-back ones and part of it, and then stores and atomics are
// performed in them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/nmoesi/line_cache.h"
#include "coherence/nmoesi/stack_directory.h"
#include "coherence/umh/courier.h"
#include "coherence/umh/directory_memory.h"
#include "coherence/umh/directory_timeline.h"
#include "coherence/umh/hierarchy_map.h"
#include "gpu/write_back_l1s.h"
#include "interconnect/topology.h"
#include "memory/byte_masks.h"
#include "memory/cache/l2_cache.h"
#include "memory/memory_level.h"
#include "sim/wait_list.h"
#include "stats/stat.h"
#include "translation/design_component.h"

namespace nearfar {

struct GpuHierarchyStats {
  std::uint64_t nstores = 0;
  std::uint64_t coherent_stores = 0;
  std::uint64_t subgranule_stores = 0;
  /// What a level of caches has been asked for, and found.
  struct Lookups {
    std::uint64_t loads = 0;
    std::uint64_t load_hits = 0;
    std::uint64_t store_hits = 0;
  };
  Lookups l1;  ///< where they are write-back ones
  Lookups l2;
  std::uint64_t l1_flushed_lines = 0;
  std::uint64_t flushed_home_bytes = 0;
  std::uint64_t block_wait_cycles = 0;
  std::uint64_t flushed_lines = 0;
  nmoesi::StackDirectoryStats smd;
  DirectoryMemoryStats stack;
  HierarchyTraffic traffic;
  Histogram lines_used;

  void describe(StatVisitor& visitor);
};

class GpuHierarchy final : public MemoryLevel,
                           public DesignComponent,
                           public nmoesi::Fabric,
                           public nmoesi::CacheClient,
                           public nmoesi::StackListener {
 public:
  GpuHierarchy(Partition& partition, const SystemSpec& spec, const Topology& topology, NetworkInterface& network,
               L2Client& client, ByteMaskPool& masks, DataWatch* watch);

  // From the L1s.
  bool reserve(PhysLine line, Waiter waiter) override;
  void reserve_always(PhysLine line) override {
    if (!l1s_) ++slice_of(line).reserved;
  }
  void request(LineRequest* request) override;

  void on_message(Packet* packet) override;
  void start_boundary(bool flush) override;
  /// Non-coherent stores stay in the cache that performs them: an L1, or the L2 of the GPU.
  bool orders(Scope scope) const override { return scope == Scope::Workgroup || (scope == Scope::Gpu && !l1s_); }
  std::uint64_t flushed_lines() const override { return stats_.flushed_lines; }
  std::uint64_t flushed_home_bytes() const override { return stats_.flushed_home_bytes; }
  void record(RequestTimeline* timeline) override { timeline_ = timeline; }

  const char* name() const override { return "umh"; }
  void describe(StatVisitor& visitor) override;
  bool idle() const override;
  std::string describe_waiting() const override;
  void check() const override;

  const HierarchyMap& map() const { return map_; }
  /// Lays what this GPU has changed of a line over its contents.
  void overlay(nmoesi::Line line, LineImage& contents) const;

 private:
  struct Slice {
    std::unique_ptr<nmoesi::LineCache> l2;
    std::unique_ptr<nmoesi::StackDirectory> smd;
    std::unique_ptr<DirectoryMemory> stack;
    Cycle port_free = 0;
    std::uint32_t reserved = 0;
    WaitList waiters;
  };
  /// L1s look at their tags, then put what they have changed; then the L2, then the stacked memories.
  enum class Boundary : std::uint8_t { None, Sweep, L1s, Caches, Stacks };

  Slice& slice_of(PhysLine line) { return slices_[map_.slice_of(HierarchyMap::number(line))]; }
  nmoesi::CoreAccess access_of(const LineRequest& request, PhysLine line, bool first, bool last);
  bool act(nmoesi::LineCache& cache, LineRequest& group, PhysLine line, nmoesi::CoreAccess access);
  void complete(LineRequest* request);
  void release(Slice& slice, std::uint32_t count);
  void watch_performed(const LineRequest& request, PhysLine line, const nmoesi::CoreAccess& access, LineImage* image);
  void on_hits(LineRequest* request);
  void on_swept(Event* event);
  void start_caches();
  void start_stacks();
  std::uint64_t put_bytes() const;
  void go_on_with_boundary();
  void work_off();

  // nmoesi::Fabric
  void send(nmoesi::Message&& message) override;
  Cycle read_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) override;
  void write_memory(nmoesi::Agent agent, nmoesi::Block block, unsigned line, unsigned lines) override;
  void deliver(nmoesi::Message&& message);
  void send_to_l2(nmoesi::Message&& message);
  void send_from_l2(nmoesi::Message&& message);
  void count_at_l2(const nmoesi::LineCache& l2, const nmoesi::Message& message);
  void check_l1s() const;
  // nmoesi::CacheClient
  void performed(const nmoesi::CoreAccess& access, LineImage* image) override;
  // nmoesi::StackListener
  void block_left(unsigned lines_used) override { stats_.lines_used.add(lines_used, 1); }
  void waited(Cycle since) override { stats_.block_wait_cycles += partition_.now() - since; }
  Cycle now() const override { return partition_.now(); }

  Partition& partition_;
  UmhSpec spec_;
  HierarchyMap map_;
  unsigned gpu_;
  DeviceId host_;
  L2Client& client_;
  ByteMaskPool& masks_;
  DataWatch* watch_;
  Cycle l2_latency_;
  Cycle smd_latency_;
  std::uint32_t room_;  ///< lines that a slice takes at once
  Courier courier_;
  std::vector<Slice> slices_;
  std::unique_ptr<WriteBackL1s> l1s_;  ///< none: they write through
  HandlerId hit_handler_;
  HandlerId swept_handler_;
  Cycle lookup_ends_ = 0;  ///< of the group that acts
  DirectoryTimeline directory_timeline_;
  RequestTimeline* timeline_ = nullptr;
  Boundary boundary_ = Boundary::None;
  bool flush_ = false;
  std::uint64_t put_before_flush_ = 0;  ///< bytes
  GpuHierarchyStats stats_;
};

}  // namespace nearfar
