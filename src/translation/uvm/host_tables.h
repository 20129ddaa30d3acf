// What the UVM driver asks of the host around it, and what it is made from.
#pragma once

#include <cstdint>

#include "translation/host_mmu/fault.h"
#include "translation/page.h"
#include "translation/translation_spec.h"

namespace nearfar {

/// The host's MMU around the driver: its TLB, table and walkers.
class HostTables {
 public:
  virtual ~HostTables() = default;
  /// A page is about to move: the host's TLB and table forget it.
  virtual void forget(PageKey page) = 0;
  /// A page has an owner again.
  virtual void publish(PageKey page, const Mapping& mapping) = 0;
  /// Walks the host's table for a migration that no fault began; UvmDriver::host_walk_done() follows.
  virtual void walk_for(PageKey page) = 0;
  /// The fault has been answered.
  virtual void answered(Fault* fault) = 0;
  /// Whether no line of a page of the host's memory is still on its way from there.
  virtual bool can_write_back(PhysPage page) = 0;
  /// A page of the host's memory is copied to a GPU, or comes from one.
  virtual void write_back(PhysPage page) = 0;
  virtual void page_came(PhysPage from, PhysPage to) = 0;
};

struct UvmOptions {
  unsigned gpus = 1;
  DeviceId host;
  UvmSpec uvm;
  MigrationSpec migration;
  InvalidateSpec invalidate;
  PagePolicy policy = PagePolicy::OnTouch;
  HostFirstTouch host_first_touch = HostFirstTouch::Move;
  PageSize size;
  std::uint64_t gpu_pages = 0;  ///< that fit into a GPU's memory
};

}  // namespace nearfar
