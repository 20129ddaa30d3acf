// ASAP: when a walk begins, the entries of its lower levels are fetched at once, in parallel with the walk. Table nodes
// of those levels are laid out in a row, so that an entry's place follows from the page's number alone.
#pragma once

#include <array>
#include <cstdint>

#include "sim/partition.h"
#include "sim/pool.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

class Section;

/// Levels whose entries are fetched ahead.
enum class AsapLevels : std::uint8_t { Auto, L1, L2, L3, L2AndL1, L3AndL2 };

struct AsapSpec {
  AsapLevels levels = AsapLevels::Auto;
  Cycle hit_latency = 1;
  std::uint32_t coverage = 100;  // percent of the table nodes that lie in a row

  void describe(Section& section);
  /// Whether entries of a level are fetched ahead, in a table with this leaf.
  bool fetches(unsigned level, unsigned leaf) const;
};

struct AsapStats {
  std::uint64_t prefetches = 0;
  std::uint64_t hits = 0;
  std::uint64_t wait_cycles = 0;

  void describe(StatVisitor& visitor);
};

class WalkPrefetcher final : public WalkAccess, public DesignComponent {
 public:
  WalkPrefetcher(Partition& partition, WalkUnit& unit, const AsapSpec& spec);

  void begins(Walk& walk) override;
  bool access(Walk& walk, WalkEvent* event, Cycle at) override;
  void ended(Walk& walk) override;

  const char* name() const override { return "asap"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  bool idle() const override { return fetches_.live() == 0; }
  AsapStats& stats() { return stats_; }

 private:
  /// An entry on its way to a walk, or there.
  struct Fetch {
    Fetch* next = nullptr;  ///< of the same walk, or in the free list
    PageKey page;
    std::uint8_t level = 0;
    bool arrived = false;
    bool wanted = true;  ///< its walk goes on
    WalkEvent* waiting = nullptr;
    Cycle since = 0;  ///< when the walk began to wait
  };

  bool covers(unsigned level, PageKey page) const;
  void issue(Walk& walk, unsigned level);
  void on_entry(PointerEvent<Fetch>* event);
  static Fetch* find(const Walk& walk, unsigned level);

  Partition& partition_;
  WalkUnit& unit_;
  AsapSpec spec_;
  HandlerId entry_handler_;
  Pool<Fetch, 64> fetches_;
  AsapStats stats_;
};

}  // namespace nearfar
