// The host's records: what it knows of every page, which frames of the GPUs are in use, and which page leaves a GPU
// that is full. No timing.
#pragma once

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
        frames_(frames),
        pools_(options.gpus) {}

  void add_process(Pid pid, std::uint64_t first, std::uint64_t pages);
  /// The record of a page; a SimulationError where it belongs to no buffer.
  PageRecord& of(PageKey page);
  /// The record of a page that the machine fills before the first cycle.
  PageRecord& fresh(PageKey page) { return processes_[page.pid()].pages[page.number() - processes_[page.pid()].first]; }
  /// A frame that is in use then, for good, or for a page that may leave it.
  void note_resident(PhysPage frame);
  void note_resident(PageKey page, PhysPage frame);

  /// Whether a device has a frame for one more page. A SimulationError where it has none and pages do not leave.
  bool has_frame(DeviceId device) const;
  PhysPage take_frame(PageKey page, DeviceId device);
  void give_frame(PageKey page, PhysPage frame);

  /// Whether a page is on its way out of a full GPU.
  bool is_evicting(DeviceId gpu) const { return pools_[gpu.value].evicting != PageKey{}; }
  /// The page that has been on a GPU longest and is not moving, which leaves it now; none where all of them are moving.
  /// A SimulationError where none can ever leave.
  PageKey begin_eviction(DeviceId gpu);
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
    PageKey evicting;  ///< the page that is on its way out, if there is one
  };

  DeviceId host_;
  std::uint64_t gpu_pages_;
  bool evicts_;
  FrameAllocator& frames_;
  std::vector<Process> processes_;
  std::vector<FramePool> pools_;  ///< by GPU
};

}  // namespace nearfar
