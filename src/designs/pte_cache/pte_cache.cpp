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

bool PteCache::access(Walk& walk, WalkEvent* event, Cycle at) {
  const bool at_leaf = walk.level == unit_.table(walk.page).leaf();
  if (spec_.levels == PteCacheLevels::Leaf && !at_leaf) return false;
  if (at_leaf && walk.writes()) return false;  // written through; a line that is held stays true
  if (at == partition_.now()) {
    look_up(event);
  } else {
    partition_.schedule(event, lookup_handler_, at);
  }
  return true;
}

std::uint64_t PteCache::line_of(const Walk& walk) const {
  return unit_.table(walk.page).line(walk.level, walk.page.number()).value;
}

void PteCache::look_up(WalkEvent* event) {
  ++stats_.lookups;
  const Walk& walk = *event->what;
  const std::uint64_t line = line_of(walk);
  if (!lines_.holds(line)) {
    unit_.read(walk.level, walk.page, event, line_handler_, partition_.now());
    return;
  }
  ++stats_.hits;
  lines_.use(line);
  partition_.schedule(event, unit_.accessed_handler(), partition_.now() + spec_.latency);
}

void PteCache::on_line(WalkEvent* event) {
  lines_.insert(line_of(*event->what));
  unit_.accessed(event);
}

}  // namespace nearfar
