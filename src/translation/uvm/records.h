// The host's records: what it knows of every page, which frames of the GPUs are in use, and which page leaves a GPU
// that is full. No timing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "translation/address_space.h"
#include "translation/host_mmu/fault.h"
#include "translation/uvm/host_tables.h"
#include "translation/uvm/page_record.h"

namespace nearfar {

class PageRecords {
 public:
  PageRecords(const UvmOptions& options, FrameAllocator& frames)
      : host_(options.host),
        gpu_pages_(options.gpu_pages),
        evicts_(options.migration.evict),
        unit_(options.migration.unit),
        block_bits_(kBlockBits - std::min(kBlockBits, unsigned{options.size.bits})),
        frames_(frames),
        pools_(options.gpus) {}

  void add_process(Pid pid, std::uint64_t first, std::uint64_t pages);
  /// The record of a page; a SimulationError where it belongs to no buffer.
  PageRecord& of(PageKey page);
  /// The same; none where it belongs to no buffer.
  PageRecord* find(PageKey page);
  /// The record of a page that the machine fills before the first cycle.
  PageRecord& fresh(PageKey page) { return processes_[page.pid()].pages[page.number() - processes_[page.pid()].first]; }
  /// A frame that is in use then, for good, or for a page that may leave it.
  void note_resident(PhysPage frame);
  void note_resident(PageKey page, PhysPage frame);

  /// Whether a device has a frame for one more page. A SimulationError where it has none and pages do not leave.
  bool has_frame(DeviceId device) const;
  /// Whether a GPU has one that is not in use.
  bool has_free_frame(DeviceId gpu) const { return pools_[gpu.value].used < gpu_pages_; }
  PhysPage take_frame(PageKey page, DeviceId device);
  void give_frame(PageKey page, PhysPage frame);

  /// Whether a page is on its way out of a full GPU.
  bool is_evicting(DeviceId gpu) const { return !pools_[gpu.value].evicting.empty(); }
  /// Pages that are not moving and leave a GPU now: the one that has been there longest, or those of the block that no
  /// page has come to for longest; none where all of them are moving. A SimulationError where none can ever leave.
  std::vector<PageKey> begin_eviction(DeviceId gpu);
  void end_eviction(PageKey page);
  /// Faults that wait for a frame of a GPU.
  FaultQueue& waiting(DeviceId gpu) { return pools_[gpu.value].waiting; }

 private:
  struct Process {
    std::uint64_t first = 0;
    std::vector<PageRecord> pages;
  };
  /// The frames of a GPU.
  struct FramePool {
    std::deque<PageKey> residents;  ///< where pages are evicted: those that can be, in order of arrival
    std::uint64_t used = 0;
    FaultQueue waiting;
    std::vector<PageKey> evicting;  ///< the pages that are on their way out
  };

  /// Blocks are 2 MiB: 512 pages of 4 KiB.
  static constexpr unsigned kBlockBits = 9;
  PageKey block_of(PageKey page) const { return {page.pid(), page.number() >> block_bits_}; }
  std::vector<PageKey> oldest_block(const FramePool& pool);

  DeviceId host_;
  std::uint64_t gpu_pages_;
  bool evicts_;
  EvictionUnit unit_;
  unsigned block_bits_;  ///< of the number of a page in its block
  FrameAllocator& frames_;
  std::vector<Process> processes_;
  std::vector<FramePool> pools_;  ///< by GPU
};

}  // namespace nearfar
