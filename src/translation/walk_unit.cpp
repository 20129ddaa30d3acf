#include "translation/walk_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace nearfar {
namespace {

WalkCache make_cache(const WalkersSpec& spec) {
  if (spec.cache.unlimited) return WalkCache(LruSet::kUnlimited);
  if (spec.cache.by_level) return WalkCache(std::vector<std::uint32_t>{32, 4, 2, 2});
  return WalkCache(spec.cache.entries);
}

}  // namespace

void WalkStats::describe(StatVisitor& visitor) {
  for (std::size_t k = 0; k < kWalkKinds; ++k) {
    const char* kind = kWalkKindNames[k];
    visitor.counter(fmt::format("walks.{}", kind), "walks", fmt::format("Walks of kind {}.", kind), walks[k]);
    visitor.counter(fmt::format("accesses.{}", kind), "accesses",
                    fmt::format("Page-table accesses of walks of kind {}.", kind), accesses[k]);
    for (std::size_t level = 2; level <= 5; ++level) {
      visitor.counter(fmt::format("pw_cache.hits.L{}.{}", level, kind), "walks",
                      fmt::format("Walks of kind {} that the walk cache let begin below level {}.", kind, level),
                      cache_hits[level - 2][k]);
    }
    visitor.counter(fmt::format("pw_cache.misses.{}", kind), "walks",
                    fmt::format("Walks of kind {} that began at the root.", kind), cache_misses[k]);
    visitor.counter(fmt::format("pw_queue.wait.{}", kind), "cycles",
                    fmt::format("Time that walks of kind {} waited in the queue, summed.", kind), queue_wait[k]);
  }
  visitor.counter("blocked_cycles", "cycles", "Time that requests waited for a place in the queue, summed.",
                  blocked_cycles);
  visitor.counter("pw_queue.full_cycles", "cycles", "Time in which the queue was full.", full_cycles);
  visitor.counter("walks_withdrawn", "walks", "Walks taken back before they started.", withdrawn);
  visitor.histogram("pw_queue.depth", "walks", "Requests in the queue when another one came.", depth);
}

WalkUnit::WalkUnit(Partition& partition, const WalkersSpec& spec, const WalkSpec& timing, UpperLevels upper,
                   WalkClient& client, WalkMemory* memory)
    : partition_(partition),
      spec_(spec),
      timing_(timing),
      upper_(upper),
      client_(client),
      memory_(memory),
      cache_(make_cache(spec)),
      access_handler_(partition.add_handler<&WalkUnit::on_access>(this)) {}

Walk& WalkUnit::make(WalkKind kind, PageKey page) {
  Walk* walk = pool_.take();
  *walk = Walk{};
  walk->kind = kind;
  walk->page = page;
  return *walk;
}

void WalkUnit::submit(Walk& walk, WalkSource source) {
  walk.submitted = partition_.now();
  stats_.depth.add(queue_.size());
  outside_[static_cast<std::size_t>(source)].push(&walk);
  pump();
}

bool WalkUnit::withdraw(Walk& walk) {
  for (List* list : lists()) {
    Walk* before = nullptr;
    for (Walk* at = list->front(); at != nullptr; before = at, at = at->next) {
      if (at != &walk) continue;
      note_depth();
      list->remove(at, before);
      ++stats_.withdrawn;
      pool_.give(&walk);
      pump();
      return true;
    }
  }
  return false;
}

bool WalkUnit::may_start(const Walk& walk) const {
  if (writers_ == 0) return true;
  return std::ranges::none_of(walking_, [&](const Walk* at) { return at->writes() && at->page == walk.page; });
}

/// Starts and queues what can be. A client that is told of an end may submit more: that waits for its turn here.
void WalkUnit::pump() {
  if (pumping_) return;
  pumping_ = true;
  do {
    refill();
  } while (start_next());
  pumping_ = false;
}

/// Requests outside take the free places of the queue: what a waiting message may wait for first, then messages, then
/// the GPU's own misses.
void WalkUnit::refill() {
  for (List& list : outside_) {
    while (!list.empty()) {
      // One that can start now never takes a place.
      const bool passes = has_walker() && queue_.size() == 0;
      if (!passes && queue_.size() >= spec_.queue) return;
      Walk* walk = list.pop();
      walk->queued = partition_.now();
      if (walk->kind == WalkKind::Demand) stats_.blocked_cycles += walk->queued - walk->submitted;
      note_depth();
      queue_.push(walk);
      while (start_next()) {
      }
    }
  }
}

void WalkUnit::note_depth() {
  const Cycle now = partition_.now();
  if (queue_.size() >= spec_.queue) stats_.full_cycles += now - full_since_;
  full_since_ = now;
  if (Timeline* timeline = partition_.timeline()) {
    timeline->note(
        {TimelineEvent::Kind::Level, partition_.device().value, 0, "page-walk queue", now, now, 0, queue_.size()});
  }
}

/// Lets the first request that may start have a free walker.
bool WalkUnit::start_next() {
  if (!has_walker()) return false;
  Walk* before = nullptr;
  for (Walk* walk = queue_.front(); walk != nullptr; before = walk, walk = walk->next) {
    if (!may_start(*walk)) continue;
    note_depth();
    queue_.remove(walk, before);
    start(*walk);
    return true;
  }
  return false;
}

void WalkUnit::start(Walk& walk) {
  const auto kind = static_cast<std::size_t>(walk.kind);
  walk.started = partition_.now();
  if (partition_.timeline() != nullptr) walk.walker = free_walker();
  walking_.push_back(&walk);
  if (walk.writes()) ++writers_;
  ++stats_.walks[kind];
  stats_.queue_wait[kind] += walk.started - walk.queued;

  const PageTable& table = client_.table(walk.page.pid());
  Transaction* t = partition_.pool().take();
  static_assert(sizeof(std::uintptr_t) <= sizeof(t->mask));
  t->mask = reinterpret_cast<std::uintptr_t>(&walk);
  if (timing_.timing == WalkTiming::FixedTotal) {
    walk.looked_up = walk.at_leaf = walk.started;
    walk.level = static_cast<std::uint8_t>(table.leaf());
    partition_.schedule(t, access_handler_, walk.started + timing_.cycles);
    return;
  }
  const unsigned hit = cache_.look_up(walk.page, table.leaf(), table.root());
  walk.hit_level = static_cast<std::uint8_t>(hit);
  if (hit == 0) {
    ++stats_.cache_misses[kind];
  } else {
    ++stats_.cache_hits[hit - 2][kind];
  }
  walk.level = static_cast<std::uint8_t>(hit == 0 ? table.root() : hit - 1);
  walk.looked_up = walk.started + spec_.cache.latency;
  access(walk, t, walk.looked_up);
}

/// The access of the walk's level begins at `at`.
void WalkUnit::access(Walk& walk, Transaction* t, Cycle at) {
  const PageTable& table = client_.table(walk.page.pid());
  if (walk.level == table.leaf()) walk.at_leaf = at;
  ++stats_.accesses[static_cast<std::size_t>(walk.kind)];
  if (timing_.timing == WalkTiming::Memory) {
    // The walk cache's latency stands before the first access; memory adds it behind (see Dram::read).
    t->user = static_cast<std::uint32_t>(at - partition_.now());
    memory_->read_table(table.line(walk.level, walk.page.number()), t, access_handler_);
    return;
  }
  partition_.schedule(t, access_handler_, at + timing_.cycles_per_level);
}

void WalkUnit::on_access(Transaction* t) {
  Walk& walk = *reinterpret_cast<Walk*>(static_cast<std::uintptr_t>(t->mask));
  const PageTable& table = client_.table(walk.page.pid());
  if (walk.level > table.leaf()) {
    const bool present = upper_ == UpperLevels::Prebuilt || table.present(walk.level, walk.page.number());
    if (present || walk.kind == WalkKind::Update) {
      cache_.fill(walk.page, table.leaf(), walk.level);
      --walk.level;
      access(walk, t, partition_.now());
      return;
    }
    walk.cut_short = true;
    walk.at_leaf = partition_.now();
  }
  partition_.pool().give(t);
  end(walk);
}

std::uint16_t WalkUnit::free_walker() const {
  std::uint16_t walker = 0;
  while (std::ranges::find(walking_, walker, &Walk::walker) != walking_.end()) ++walker;
  return walker;
}

void WalkUnit::note_span(const Walk& walk) {
  Timeline* timeline = partition_.timeline();
  if (timeline == nullptr) return;
  timeline->note(
      {TimelineEvent::Kind::Span, partition_.device().value, walk.walker,
       kWalkKindNames[static_cast<std::size_t>(walk.kind)], walk.started, partition_.now(), walk.page.value, 0},
      walk.page.number());
}

void WalkUnit::end(Walk& walk) {
  note_span(walk);
  std::erase(walking_, &walk);
  if (walk.writes()) --writers_;
  pumping_ = true;  // what the client submits now comes behind what waits
  client_.walked(walk);
  pumping_ = false;
  pool_.give(&walk);
  pump();
}

std::string WalkUnit::describe_waiting(const char* name) const {
  if (walking_.empty() && queue_.empty() && outside() == 0) return {};
  const Walk* oldest = queue_.front() != nullptr ? queue_.front() : walking_.empty() ? nullptr : walking_.front();
  return fmt::format(
      "  {}: {} walking, {} queued, {} waiting for a place{}\n", name, walking_.size(), queue_.size(), outside(),
      oldest == nullptr ? "" : fmt::format(" (page {:#x} since cycle {})", oldest->page.number(), oldest->submitted));
}

}  // namespace nearfar
