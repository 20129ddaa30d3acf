// The seams of the host: "before the host walk" and "whom to invalidate", and who keeps track of where pages are.
#pragma once

#include <cstdint>

#include "translation/host_mmu/fault.h"
#include "translation/page.h"

namespace nearfar {

/// Before the host walk: may have a fault's translation found elsewhere while its walk waits. Who finds it first,
/// decides; HostMmu::stop_walk() takes the walk back, and the fault goes to the driver. Where its GPU has been sent the
/// mapping it waits for (Fault::answered), the driver has only to close it. The baseline has none.
class Forwarder {
 public:
  virtual ~Forwarder() = default;
  /// A fault has missed the host's TLB and asked for its walk. `waiting` requests wait for walkers, this one counted;
  /// 0: a walker has it.
  virtual void walk_asked(Fault& fault, std::uint32_t waiting) = 0;
  /// Its walk has ended first.
  virtual void walk_ended(Fault& fault) = 0;
  /// The driver has come to a fault that is answered. `valid`: it closes the fault, which is gone then. Else the page
  /// has moved meanwhile, and the fault goes on: its time up to the answer is to be charged.
  virtual void answer_seen(Fault& fault, bool valid) = 0;
};

/// Whom to invalidate: a record of the GPUs that may have a mapping of a page. The baseline has none: it invalidates
/// everybody, or whom the driver knows (`invalidate.targets`).
class MappingDirectory {
 public:
  virtual ~MappingDirectory() = default;
  /// Whether the host's walk of a migration has to end before the record can be read.
  virtual bool needs_walk() const = 0;
  /// A GPU will be sent a mapping.
  virtual void add(PageKey page, DeviceId gpu) = 0;
  /// The same before the first cycle.
  virtual void add_at_start(PageKey page, DeviceId gpu) = 0;
  /// A page moves to `to`, and all mappings become void, that of `kept` apart (the host: none is). The record is read
  /// and cleared; UvmDriver::targets_known() is called with the answer.
  virtual void read(PageKey page, DeviceId to, DeviceId kept) = 0;
};

/// Who keeps track of which GPUs have a page, or a mapping of it.
class ResidencyObserver {
 public:
  virtual ~ResidencyObserver() = default;
  virtual void came(PageKey page, DeviceId gpu) = 0;
  virtual void left(PageKey page, DeviceId gpu) = 0;
  /// A GPU is sent a mapping of a page that lies elsewhere; the page moves and all such mappings are void.
  virtual void mapped_remotely(PageKey page, DeviceId gpu) = 0;
  virtual void remote_mapping_void(PageKey page, DeviceId gpu) = 0;
};

}  // namespace nearfar
