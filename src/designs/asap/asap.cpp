#include "designs/asap/asap.h"

#include "config/schema.h"

namespace nearfar {

void AsapSpec::describe(Section& section) {
  section.choice<AsapLevels>("levels", levels,
                             {{"auto", AsapLevels::Auto},
                              {"L1", AsapLevels::L1},
                              {"L2", AsapLevels::L2},
                              {"L3", AsapLevels::L3},
                              {"L2+L1", AsapLevels::L2AndL1},
                              {"L3+L2", AsapLevels::L3AndL2}},
                             "The page-table levels whose entries are prefetched: L1 (the leaf), L2, L3, L2+L1, L3+L2, "
                             "or auto, which is the level above the leaf.");
  section.cycles("hit_latency", hit_latency, {0, 10'000},
                 "Latency of an access of a walk to an entry that was prefetched.");
  section.integer("coverage", coverage, {0, 100}, "%",
                  "Share of page-table nodes that lie contiguously, so that their entries can be prefetched; which "
                  "ones is drawn by a hash.");
}

bool AsapSpec::fetches(unsigned level, unsigned leaf) const {
  switch (levels) {
    case AsapLevels::Auto: return level == leaf + 1;
    case AsapLevels::L1: return level == 1;
    case AsapLevels::L2: return level == 2;
    case AsapLevels::L3: return level == 3;
    case AsapLevels::L2AndL1: return level == 1 || level == 2;
    case AsapLevels::L3AndL2: return level == 2 || level == 3;
  }
  return false;
}

void AsapStats::describe(StatVisitor& visitor) {
  visitor.counter("prefetches", "entries", "Page-table entries that were prefetched for a page walk.", prefetches);
  visitor.counter("prefetch_hits", "accesses", "Page-table accesses of walks that used a prefetched entry.", hits);
  visitor.counter("wait_cycles", "cycles",
                  "Time that page walks waited for entries whose prefetch was under way, summed over accesses.",
                  wait_cycles);
}

WalkPrefetcher::WalkPrefetcher(Partition& partition, WalkUnit& unit, const AsapSpec& spec)
    : partition_(partition),
      unit_(unit),
      spec_(spec),
      entry_handler_(partition.add_handler<&WalkPrefetcher::on_entry>(this)) {}

/// Whether the node that holds the entry lies in a row with others of its level.
bool WalkPrefetcher::covers(unsigned level, PageKey page) const {
  if (spec_.coverage >= 100) return true;
  const std::uint64_t node = unit_.table(page).prefix(level, page.number()) >> 9;
  const std::uint64_t key = (node << 16 | std::uint64_t{page.pid()} << 8 | level) * 0x9e3779b97f4a7c15ULL;
  return (key >> 32) % 100 < spec_.coverage;
}

/// The level at which the walk begins is read by the walk itself, at the same time.
void WalkPrefetcher::begins(Walk& walk) {
  const unsigned leaf = unit_.table(walk.page).leaf();
  for (unsigned level = leaf; level < walk.level; ++level) {
    if (!spec_.fetches(level, leaf) || !covers(level, walk.page)) continue;
    if (level > leaf || unit_.reads_leaf(walk)) issue(walk, level);
  }
}

void WalkPrefetcher::issue(Walk& walk, unsigned level) {
  ++stats_.prefetches;
  Fetch* fetch = fetches_.allocate();
  *fetch = {};
  fetch->page = walk.page;
  fetch->level = static_cast<std::uint8_t>(level);
  fetch->next = static_cast<Fetch*>(walk.fetched);
  walk.fetched = fetch;
  auto* event = partition_.pool().allocate<PointerEvent<Fetch>>();
  event->what = fetch;
  unit_.read(level, walk.page, event, entry_handler_, walk.looked_up);
}

void WalkPrefetcher::on_entry(PointerEvent<Fetch>* event) {
  Fetch* fetch = event->what;
  partition_.pool().release(event);
  const unsigned leaf = unit_.table(fetch->page).leaf();
  if (fetch->level > leaf && unit_.present(fetch->level, fetch->page)) {
    unit_.cache().fill(fetch->page, leaf, fetch->level);
  }
  fetch->arrived = true;
  if (!fetch->wanted) {
    fetches_.release(fetch);
  } else if (fetch->waiting != nullptr) {
    stats_.wait_cycles += partition_.now() - fetch->since;
    partition_.schedule(fetch->waiting, unit_.accessed_handler(), partition_.now() + spec_.hit_latency);
  }
}

WalkPrefetcher::Fetch* WalkPrefetcher::find(const Walk& walk, unsigned level) {
  Fetch* fetch = static_cast<Fetch*>(walk.fetched);
  while (fetch != nullptr && fetch->level != level) fetch = fetch->next;
  return fetch;
}

bool WalkPrefetcher::access(Walk& walk, WalkEvent* event, Cycle at) {
  Fetch* fetch = find(walk, walk.level);
  if (fetch == nullptr) return false;
  ++stats_.hits;
  if (fetch->arrived) {
    partition_.schedule(event, unit_.accessed_handler(), at + spec_.hit_latency);
  } else {
    fetch->waiting = event;
    fetch->since = at;
  }
  return true;
}

/// A walk that was cut short leaves entries on their way.
void WalkPrefetcher::ended(Walk& walk) {
  Fetch* fetch = static_cast<Fetch*>(walk.fetched);
  while (fetch != nullptr) {
    Fetch* following = fetch->next;
    fetch->wanted = false;
    if (fetch->arrived) fetches_.release(fetch);
    fetch = following;
  }
  walk.fetched = nullptr;
}

}  // namespace nearfar
