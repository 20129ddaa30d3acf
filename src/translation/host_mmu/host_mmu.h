// The host's MMU: looks far faults up in its TLB, walks the host's page tables for those that miss, and hands them to
// the UVM driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/partition.h"
#include "sim/pool.h"
#include "stats/stat.h"
#include "translation/host_mmu/fault.h"
#include "translation/host_mmu/host_seams.h"
#include "translation/message.h"
#include "translation/tlb/tlb.h"
#include "translation/uvm/driver.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

struct HostMmuStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t pte_writes = 0;
  std::uint64_t duplicates = 0;

  void describe(StatVisitor& visitor);
};

/// The caches of the host's memory.
class HostCaches {
 public:
  virtual ~HostCaches() = default;
  /// Whether no line of a page of the host's memory is still on its way from there.
  virtual bool can_write_back(PhysPage page) = 0;
  virtual void write_back(PhysPage page) = 0;
  virtual void page_came(PhysPage from, PhysPage to) = 0;
};

struct HostMmuOptions {
  HostMmuSpec mmu;
  WalkSpec walk;
  PageTableSpec table;
  UvmOptions uvm;
};

class HostMmu final : public WalkClient, public HostTables {
 public:
  HostMmu(Partition& partition, const HostMmuOptions& options, FrameAllocator& frames, Messenger& messenger,
          HostCaches& caches, WalkMemory& memory, TranslationOracle* oracle);

  /// The host's page table of a process, and the record of each of its pages; the machine fills both.
  void add_process(Pid pid, std::unique_ptr<PageTable> table, std::uint64_t first, std::uint64_t pages);
  /// Writes what the record says into the table.
  void publish_at_start(PageKey page);

  void set_forwarder(Forwarder& forwarder) {
    forwarder_ = &forwarder;
    driver_.set_forwarder(forwarder);
  }

  void on_message(const Message& message);
  /// The translation of a fault has been found elsewhere: its walk is taken back, or ends for nobody.
  void stop_walk(Fault& fault);
  /// Who may have a mapping of a page: bits of the host table's entry.
  unsigned access_bits(PageKey page) const { return tables_[page.pid()]->read(page.number()).access_bits(); }
  void set_access_bits(PageKey page, unsigned bits);

  const PageTable& table(Pid pid) const override { return *tables_[pid]; }
  void walked(Walk& walk) override;
  void forget(PageKey page) override;
  void publish(PageKey page, const Mapping& mapping) override;
  void walk_for(PageKey page) override;
  void answered(Fault* fault) override;
  bool can_write_back(PhysPage page) override { return caches_.can_write_back(page); }
  void write_back(PhysPage page) override { caches_.write_back(page); }
  void page_came(PhysPage from, PhysPage to) override { caches_.page_came(from, to); }

  UvmDriver& driver() { return driver_; }
  WalkUnit& walkers() { return walkers_; }
  HostMmuStats& stats() { return stats_; }
  const ServedMisses& parts() const { return parts_; }
  Partition& partition() { return partition_; }
  Cycle tlb_latency() const { return options_.mmu.tlb.latency; }
  bool idle() const { return faults_.live() == 0 && walkers_.idle() && driver_.idle(); }
  std::string describe_waiting() const;

 private:
  void fault_arrived(const Message& message);
  void on_lookup(PointerEvent<Fault>* lookup);

  Partition& partition_;
  HostMmuOptions options_;
  HostCaches& caches_;
  Tlb tlb_;
  WalkUnit walkers_;
  ServedMisses parts_;
  UvmDriver driver_;
  std::vector<std::unique_ptr<PageTable>> tables_;
  Pool<Fault, 256> faults_;  ///< not yet answered
  Forwarder* forwarder_ = nullptr;
  HandlerId lookup_handler_;
  HostMmuStats stats_;
};

}  // namespace nearfar
