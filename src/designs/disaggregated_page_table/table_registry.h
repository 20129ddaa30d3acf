// The host's part of the disaggregated page table: the UVM driver gives leaf tables their first home, and asks the home
// of a page's leaf table whom to invalidate when the page migrates.
#pragma once

#include <string>

#include "designs/access_bits.h"
#include "designs/disaggregated_page_table/table_homes.h"
#include "translation/design_component.h"
#include "translation/host_mmu/host_mmu.h"

namespace nearfar {

struct TableRegistryStats {
  std::uint64_t clears = 0;
  std::uint64_t targets = 0;
  std::uint64_t homes_given = 0;

  void describe(StatVisitor& visitor);
};

class TableRegistry final : public DesignComponent, public MappingDirectory {
 public:
  /// `broadcasts`: all GPUs may have a mapping of a page whose leaf table is replicated.
  TableRegistry(HostMmu& mmu, Messenger& messenger, unsigned gpus, unsigned access_bits, bool broadcasts);

  TableHomes& homes() { return homes_; }

  const char* name() const override { return "dpt"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  bool on_message(const Message& message) override;
  bool idle() const override { return asked_ == 0; }
  std::string describe_waiting() const override;

  /// The home has the entry: the host's own walk has nothing to add.
  bool needs_walk() const override { return false; }
  void add(PageKey, DeviceId) override {}
  void add_at_start(PageKey, DeviceId) override {}
  void read(PageKey page, DeviceId to, DeviceId kept) override;

  TableRegistryStats& stats() { return stats_; }

 private:
  void give_home(PageKey page, DeviceId gpu);

  HostMmu& mmu_;
  Messenger& messenger_;
  unsigned gpus_;
  AccessBits bits_;
  bool broadcasts_;
  TableHomes homes_;
  std::uint64_t asked_ = 0;  ///< entries that homes have not made invalid yet
  TableRegistryStats stats_;
};

}  // namespace nearfar
