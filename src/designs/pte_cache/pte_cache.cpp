#include "designs/pte_cache/pte_cache.h"

#include "config/schema.h"

namespace nearfar {

void PteCacheSpec::describe(Section& section) {
  section.integer("lines", lines, {1, 1U << 20}, "lines",
                  "Lines of 64 bytes that the PTE cache holds; it is fully associative with LRU replacement.");
  section.cycles("latency", latency, {0, 10'000},
                 "Latency of a hit of the PTE cache; a miss costs nothing beyond its read.");
  section.choice<PteCacheLevels>(
      "levels", levels, {{"all", PteCacheLevels::All}, {"leaf", PteCacheLevels::Leaf}},
      "The page-table levels whose lines the PTE cache holds: all levels, or the leaf alone.");
}

void PteCacheStats::describe(StatVisitor& visitor) {
  visitor.counter("lookups", "accesses", "Page-table accesses that were looked up in the PTE cache.", lookups);
  visitor.counter("hits", "accesses", "Page-table accesses whose line the PTE cache held.", hits);
}

PteCache::PteCache(Partition& partition, WalkUnit& unit, const PteCacheSpec& spec)
    : partition_(partition),
      unit_(unit),
      spec_(spec),
      lookup_handler_(partition.add_handler<&PteCache::look_up>(this)),
      line_handler_(partition.add_handler<&PteCache::on_line>(this)),
      lines_(spec.lines) {}

bool PteCache::access(Walk& walk, Transaction* t, Cycle at) {
  const bool at_leaf = walk.level == unit_.table(walk.page).leaf();
  if (spec_.levels == PteCacheLevels::Leaf && !at_leaf) return false;
  if (at_leaf && walk.writes()) return false;  // written through; a line that is held stays true
  if (at == partition_.now()) {
    look_up(t);
  } else {
    partition_.schedule(t, lookup_handler_, at);
  }
  return true;
}

std::uint64_t PteCache::line_of(const Transaction& t) const {
  const Walk& walk = WalkUnit::walk_of(t);
  return unit_.table(walk.page).line(walk.level, walk.page.number()).value;
}

void PteCache::look_up(Transaction* t) {
  ++stats_.lookups;
  const std::uint64_t line = line_of(*t);
  if (!lines_.holds(line)) {
    const Walk& walk = WalkUnit::walk_of(*t);
    unit_.read(walk.level, walk.page, t, line_handler_, partition_.now());
    return;
  }
  ++stats_.hits;
  lines_.use(line);
  partition_.schedule(t, unit_.accessed_handler(), partition_.now() + spec_.latency);
}

void PteCache::on_line(Transaction* t) {
  lines_.insert(line_of(*t));
  unit_.accessed(t);
}

}  // namespace nearfar
