#include "designs/neighborhood/walk_coalescer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "designs/neighborhood/neighborhood.h"
#include "sim/error.h"

namespace nearfar {

void CoalescerStats::describe(StatVisitor& visitor) {
  visitor.counter("coalesced_full", "requests",
                  "Walk requests that a line read for another walk answered, without a walker of their own.", full);
  for (std::size_t level = 2; level <= 5; ++level) {
    visitor.counter(
        fmt::format("coalesced_part.L{}", level), "requests",
        fmt::format("Walk requests that a walker started with their entry of level {} known from another walk.", level),
        part[level - 2]);
  }
  visitor.counter(
      "wait_cycles", "cycles",
      "Time that walk requests waited for an access of another walk while a walker was idle, summed over requests.",
      wait_cycles);
  visitor.counter(
      "cam.reads", "searches",
      "Associative searches of the page-walk queue: one for each line that arrives, one for each choice of a request.",
      cam_reads);
  visitor.counter("cam.writes", "entries", "Writes to entries of the page-walk queue and of the walkers' table.",
                  cam_writes);
  visitor.counter("energy.table", "pJ", "Energy of page-table reads from memory.", energy_table);
  visitor.counter("energy.cam", "pJ", "Energy of the associative searches of and writes to the page-walk queue.",
                  energy_cam);
}

WalkCoalescer::WalkCoalescer(Partition& partition, WalkUnit& unit, const NeighborhoodSpec& spec, bool checked)
    : partition_(partition), unit_(unit), spec_(spec), checked_(checked), readings_(unit.walkers()) {}

void WalkCoalescer::describe(StatVisitor& visitor) {
  const auto& reads = unit_.stats().reads;
  stats_.energy_table = spec_.energy.of_table(std::accumulate(reads.begin(), reads.end(), std::uint64_t{0}));
  stats_.energy_cam = spec_.energy.of_cam(stats_.cam_reads, stats_.cam_writes);
  stats_.describe(visitor);
}

// ------------------------------------------------------------------------------------------------ who waits for what

/// The level that a request has yet to read first.
unsigned WalkCoalescer::next_level(const Walk& walk) const {
  return walk.known == 0 ? unit_.table(walk.page).root() : walk.known - 1U;
}

/// Whether an access can serve others: at the leaf only where that is a read.
bool WalkCoalescer::serves_others(const Reading& reading) const {
  if (!reading.valid) return false;
  const bool at_leaf = reading.level == unit_.table(reading.page).leaf();
  return at_leaf ? !reading.writes : !spec_.leaf_only;
}

/// Whether an access in flight will bring a request further.
bool WalkCoalescer::is_useful(const Reading& reading, const Walk& walk) const {
  const PageTable& table = unit_.table(walk.page);
  if (reading.level == table.leaf()) return !walk.writes();
  unsigned next = next_level(walk);
  if (spec_.wait_considers_pwc) {
    const unsigned held = unit_.cache().find(walk.page, table.leaf(), next);
    if (held != 0) next = held - 1;
  }
  return reading.level <= next;
}

bool WalkCoalescer::is_blocked(const Entry& entry, WaitRule rule) const {
  const Walk& walk = *entry.walk;
  const unsigned leaf = unit_.table(walk.page).leaf();
  const bool useful_only = rule == WaitRule::Useful || entry.refused > spec_.wait_limit;
  return std::ranges::any_of(readings_, [&](const Reading& reading) {
    return serves_others(reading) && same_neighborhood(reading.page, walk.page, reading.level, leaf) &&
           (!useful_only || is_useful(reading, walk));
  });
}

/// Sets CL; true if that changed it.
bool WalkCoalescer::refresh(Entry& entry) {
  const bool waits = is_blocked(entry, spec_.rule);
  if (waits == entry.waits) return false;
  entry.waits = waits;
  waits ? ++waiting_ : --waiting_;
  return true;
}

/// Calls `visit` with the place of every queued request of a neighborhood, oldest first.
template <class Visit>
void WalkCoalescer::for_each_neighbor(PageKey page, unsigned level, Visit visit) {
  const std::uint64_t mask = neighborhood_mask(level, unit_.table(page).leaf());
  for (std::size_t at = 0; at < pages_.size(); ++at) {
    if (((pages_[at] ^ page.value) & mask) == 0) visit(at);
  }
}

void WalkCoalescer::refresh_all() {
  for (Entry& entry : entries_) stats_.cam_writes += refresh(entry);
}

/// Where the walk cache counts, others may have filled it.
void WalkCoalescer::look_at_cache() {
  if (spec_.wait_considers_pwc) refresh_all();
}

void WalkCoalescer::refresh_neighbors(PageKey page, unsigned level) {
  for_each_neighbor(page, level, [&](std::size_t at) { stats_.cam_writes += refresh(entries_[at]); });
}

bool WalkCoalescer::waits(const Walk& walk) const { return entries_[place_of(walk)].waits; }

// ------------------------------------------------------------------------------------------------------ the queue

void WalkCoalescer::entered(Walk& walk) {
  pass_time();
  look_at_cache();
  pages_.push_back(walk.page.value);
  entries_.push_back({&walk});
  if (walk.writes()) ++writers_;
  stats_.cam_writes += refresh(entries_.back());
  check();
}

void WalkCoalescer::withdrawn(Walk& walk) {
  pass_time();
  remove(place_of(walk));
}

std::size_t WalkCoalescer::place_of(const Walk& walk) const {
  return static_cast<std::size_t>(std::ranges::find(entries_, &walk, &Entry::walk) - entries_.begin());
}

void WalkCoalescer::remove(std::size_t at) {
  if (entries_[at].waits) --waiting_;
  if (entries_[at].walk->writes()) --writers_;
  pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>(at));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
}

void WalkCoalescer::remove_served() {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    if (entries_[at].served) {
      if (entries_[at].waits) --waiting_;
      continue;
    }
    pages_[kept] = pages_[at];
    entries_[kept++] = entries_[at];
  }
  pages_.resize(kept);
  entries_.resize(kept);
}

/// Requests of one page of which one writes the entry keep their order.
bool WalkCoalescer::behind_same_page(std::size_t at) const {
  if (writers_ == 0) return false;
  for (std::size_t older = 0; older < at; ++older) {
    if (pages_[older] == pages_[at] && (entries_[older].walk->writes() || entries_[at].walk->writes())) return true;
  }
  return false;
}

WalkOrder::Choice WalkCoalescer::choose(std::span<const std::uint16_t> free) {
  pass_time();
  look_at_cache();
  ++stats_.cam_reads;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    Entry& entry = entries_[at];
    if (entry.waits && !refused_too_often(entry)) continue;
    if (!unit_.may_start(*entry.walk) || behind_same_page(at)) continue;
    Walk* walk = entry.walk;
    if (walk->known != 0) ++stats_.part[walk->known - 2U];
    remove(at);
    return {walk, free.front()};
  }
  if (checked_ && busy_ == 0) throw SimulationError("every request for a walk waits, and no walker is busy");
  return {};
}

/// A request is passed over. Under the literal rule it counts how often in vain, and in the end waits no longer.
bool WalkCoalescer::refused_too_often(Entry& entry) {
  if (spec_.rule == WaitRule::Useful || is_blocked(entry, WaitRule::Useful)) return false;
  if (++entry.refused <= spec_.wait_limit) return false;
  stats_.cam_writes += refresh(entry);
  return true;
}

// --------------------------------------------------------------------------------------------------- the walkers

void WalkCoalescer::started(const Walk& walk) {
  readings_[walk.walker] = {true, walk.writes(), walk.level, walk.page, partition_.now()};
  ++busy_;
  ++stats_.cam_writes;
  const bool from_pa = walk.known != 0 && walk.hit_level == 0;
  if (from_pa && spec_.fill_pwc_from_pa) {
    unit_.cache().fill(walk.page, unit_.table(walk.page).leaf(), walk.known);
  }
  refresh_neighbors(walk.page, walk.level);
  look_at_cache();
  check();
}

void WalkCoalescer::line_arrived(const Walk& walk, unsigned level, bool ends, std::vector<Walk*>& served) {
  pass_time();
  Reading& reading = readings_[walk.walker];
  const bool serves = serves_others(reading);
  const Cycle issued = std::exchange(reading.since, partition_.now());
  reading.level = walk.level;
  ++stats_.cam_writes;
  if (ends) {
    reading.valid = false;
    --busy_;
  }
  if (serves) {
    ++stats_.cam_reads;
    for_each_neighbor(walk.page, level, [&](std::size_t at) { take_line(at, level, issued, served); });
    if (!served.empty()) remove_served();
  }
  // Neighbors at a lower level are neighbors at this one too: they have been looked at. Not so where nobody was, and
  // where a walk begins again.
  if (!ends && (!serves || walk.level >= level)) refresh_neighbors(walk.page, walk.level);
  look_at_cache();
  check();
}

/// A queued request takes its own entry from a line.
void WalkCoalescer::take_line(std::size_t at, unsigned level, Cycle issued, std::vector<Walk*>& served) {
  Entry& entry = entries_[at];
  Walk& walk = *entry.walk;
  // One that came in this cycle came behind the line.
  const bool for_it = walk.queued != partition_.now() && issued >= entry.void_before;
  const bool at_leaf = level == unit_.table(walk.page).leaf();
  bool changed = false;
  if (at_leaf) {
    entry.served = for_it && !walk.writes() && unit_.may_start(walk) && !behind_same_page(at);
  } else if (for_it && level <= next_level(walk)) {
    changed = unit_.present(level, walk.page);
    if (changed) walk.known = static_cast<std::uint8_t>(level);
    walk.cut_short = entry.served = !changed && !walk.writes();
  }
  if (entry.served) {
    served.push_back(&walk);
    ++stats_.full;
    return;
  }
  if (refresh(entry)) changed = true;
  stats_.cam_writes += changed;
}

void WalkCoalescer::table_changed(const PageRange& range) {
  pass_time();
  for (Entry& entry : entries_) {
    if (range.holds(entry.walk->page)) entry.void_before = partition_.now() + 1;
  }
  refresh_all();
  check();
}

/// Adds up the time since the last change.
void WalkCoalescer::pass_time() {
  const Cycle now = partition_.now();
  if (busy_ < readings_.size()) stats_.wait_cycles += waiting_ * (now - passed_);
  passed_ = now;
}

void WalkCoalescer::check() const {
  if (!checked_) return;
  std::uint32_t waiting = 0;
  for (const Entry& entry : entries_) {
    waiting += entry.waits;
    if (entry.waits != is_blocked(entry, spec_.rule)) {
      throw SimulationError(fmt::format("the request for page {:#x} {} for an access that is {} under way",
                                        entry.walk->page.number(), entry.waits ? "waits" : "does not wait",
                                        entry.waits ? "not" : ""));
    }
    if (entry.walk->known != 0 && !unit_.present(entry.walk->known, entry.walk->page)) {
      throw SimulationError("a queued request knows an entry that the page table does not have");
    }
  }
  const auto busy = std::ranges::count(readings_, true, &Reading::valid);
  if (waiting != waiting_ || static_cast<std::uint32_t>(busy) != busy_) {
    throw SimulationError("the counts of waiting requests and busy walkers are wrong");
  }
}

}  // namespace nearfar
