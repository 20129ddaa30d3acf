// IDYLL-InMem: the directory where page-table entries have no bits to spare. The VM-Table in the host's memory has an
// entry for each page with its access bits; the VM-Cache beside the host's MMU holds a few of them.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "designs/idyll/in_pte_directory.h"
#include "designs/idyll/spec.h"
#include "translation/design_component.h"
#include "translation/host_mmu/host_mmu.h"
#include "translation/page_event.h"

namespace nearfar {

/// Which entries the VM-Cache holds, and when those that are being fetched are there. Set-associative, true LRU, write
/// allocate, write back.
class VmCache {
 public:
  VmCache(std::uint32_t entries, std::uint32_t ways) : sets_(entries / ways), ways_(ways), lines_(entries) {}

  struct Access {
    bool hit = false;
    bool writes_back = false;  ///< an entry that had been changed had to leave
    Cycle ready = 0;           ///< when the entry is there
  };
  /// An operation that changes the entry of a page, which, if it is missing, arrives at `fetched`.
  Access change(PageKey page, Cycle fetched);

 private:
  struct Line {
    PageKey page;
    bool valid = false;
    Cycle ready = 0;
    std::uint64_t used = 0;
  };

  std::uint32_t sets_;
  std::uint32_t ways_;
  std::uint64_t clock_ = 0;
  std::vector<Line> lines_;
};

struct VmTableStats : InPteDirectoryStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t writebacks = 0;

  void describe(StatVisitor& visitor);
};

class VmTable final : public DesignComponent, public MappingDirectory {
 public:
  static constexpr unsigned kAccessBits = 19;
  static constexpr unsigned kEntryBits = 64;  ///< 45 of the page number, 19 access bits

  VmTable(HostMmu& mmu, unsigned gpus, DeviceId host, const VmCacheSpec& spec);

  const char* name() const override { return "vm_cache"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }

  bool needs_walk() const override { return false; }
  void add(PageKey page, DeviceId gpu) override;
  void add_at_start(PageKey page, DeviceId gpu) override { table_[page.value] |= bits_.bit(gpu); }
  void read(PageKey page, DeviceId to, DeviceId kept) override;

  unsigned access_bits(PageKey page) const;
  VmTableStats& stats() { return stats_; }

 private:
  /// Of the entry of a page that moves.
  struct Read : PageEvent {
    DeviceId to;
    DeviceId kept;
  };

  Cycle look_up(PageKey page);
  void on_read(Read* read);

  HostMmu& mmu_;
  DeviceId host_;
  VmCacheSpec spec_;
  AccessBits bits_;
  VmCache cache_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> table_;  ///< access bits by page
  HandlerId read_handler_;
  VmTableStats stats_;
};

}  // namespace nearfar
