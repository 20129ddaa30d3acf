// A data cache of page-table lines beside the walkers. It makes accesses of a walk short, but every walk still has a
// walker to itself: that is how it differs from coalescing. Two walkers that miss on one line both read it.
#pragma once

#include <cstdint>

#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

class Section;

enum class PteCacheLevels : std::uint8_t { All, Leaf };

struct PteCacheSpec {
  std::uint32_t lines = 24;  // as much state as coalescing has
  Cycle latency = 4;
  PteCacheLevels levels = PteCacheLevels::All;

  void describe(Section& section);
};

struct PteCacheStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;

  void describe(StatVisitor& visitor);
};

class PteCache final : public WalkAccess, public DesignComponent {
 public:
  PteCache(Partition& partition, WalkUnit& unit, const PteCacheSpec& spec);

  bool access(Walk& walk, WalkEvent* event, Cycle at) override;

  const char* name() const override { return "pte_cache"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  PteCacheStats& stats() { return stats_; }

 private:
  void look_up(WalkEvent* event);
  void on_line(WalkEvent* event);
  std::uint64_t line_of(const Walk& walk) const;

  Partition& partition_;
  WalkUnit& unit_;
  PteCacheSpec spec_;
  HandlerId lookup_handler_;
  HandlerId line_handler_;
  LruSet lines_;
  PteCacheStats stats_;
};

}  // namespace nearfar
