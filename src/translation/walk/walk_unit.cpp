#include "translation/walk/walk_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace nearfar {
namespace {

WalkCache make_cache(const WalkersSpec& spec) {
  const WalkCacheSpec& cache = spec.cache;
  if (cache.unlimited) return WalkCache(LruSet::kUnlimited, cache.level_bits, cache.page_bits);
  if (cache.by_level)
    return WalkCache(std::vector{cache.l2, cache.l3, cache.l4, cache.l5}, cache.level_bits, cache.page_bits);
  return WalkCache(cache.entries, cache.level_bits, cache.page_bits);
}

}  // namespace

void WalkStats::describe(StatVisitor& visitor) {
  for (const WalkKind each : all_walk_kinds()) {
    const auto k = static_cast<std::size_t>(each);
    const char* kind = traits_of(each).name;
    visitor.counter(fmt::format("walks.{}", kind), "walks",
                    fmt::format("Page walks of kind {} that walkers performed.", kind), walks[k]);
    visitor.counter(fmt::format("accesses.{}", kind), "accesses",
                    fmt::format("Page-table accesses of page walks of kind {}.", kind), accesses[k]);
    for (std::size_t level = 2; level <= 5; ++level) {
      visitor.counter(
          fmt::format("pw_cache.hits.L{}.{}", level, kind), "walks",
          fmt::format("Page walks of kind {} that the page-walk cache let begin below level {}.", kind, level),
          cache_hits[level - 2][k]);
    }
    visitor.counter(fmt::format("pw_cache.misses.{}", kind), "walks",
                    fmt::format("Page walks of kind {} that missed the page-walk cache and began at the root.", kind),
                    cache_misses[k]);
    visitor.counter(
        fmt::format("pw_queue.wait.{}", kind), "cycles",
        fmt::format("Time that page walks of kind {} waited in the page-walk queue, summed over walks.", kind),
        queue_wait[k]);
  }
  for (std::size_t level = 1; level <= reads.size(); ++level) {
    visitor.counter(fmt::format("reads.L{}", level), "lines",
                    fmt::format("Page-table lines read for entries of level {}.", level), reads[level - 1]);
  }
  visitor.counter("pw_cache.lookups", "walks", "Page walks that were looked up in the page-walk cache.", cache_lookups);
  visitor.counter("blocked_cycles", "cycles",
                  "Time that TLB misses waited for a place in the page-walk queue, summed over misses.",
                  blocked_cycles);
  visitor.counter("pw_queue.full_cycles", "cycles", "Time during which the page-walk queue was full.", full_cycles);
  visitor.counter("walks_withdrawn", "walks", "Page walks withdrawn from the page-walk queue before they started.",
                  withdrawn);
  visitor.histogram("pw_queue.depth", "walks", "Requests in the page-walk queue when another one arrived.", depth);
  visitor.histogram("walk_latency", "cycles", "Time of a page walk from its arrival in the page-walk queue to its end.",
                    latency);
  visitor.histogram("walk_service", "cycles", "Time that a walker was busy with a page walk.", service);
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
      access_handler_(partition.add_handler<&WalkUnit::accessed>(this)),
      choose_handler_(partition.add_handler<&WalkUnit::on_choose>(this)),
      outside_(kWalkSources) {}

void WalkUnit::set_order(WalkOrder& order) {
  assert(spec_.walkers != 0);
  order_ = &order;
  lanes_ = order.lanes();
  outside_.resize(kWalkSources * lanes_);
  for (std::uint32_t walker = 0; walker < spec_.walkers; ++walker) free_.push_back(static_cast<std::uint16_t>(walker));
}

Walk& WalkUnit::make(WalkKind kind, PageKey page) {
  Walk* walk = pool_.allocate();
  *walk = Walk{};
  walk->kind = kind;
  walk->page = page;
  return *walk;
}

void WalkUnit::submit(Walk& walk, WalkSource source) {
  walk.submitted = partition_.now();
  if (source == WalkSource::Writeback) walk.since = walk.submitted;
  stats_.depth.add(queue_.size());
  const std::uint32_t lane = order_ == nullptr ? 0 : order_->lane(walk);
  put_by_age(outside_[list_of(source, lane)], walk);
  pump();
}

/// A miss may come late: its first walk led to a fault, and this is its second.
void WalkUnit::put_by_age(List& waiting, Walk& walk) {
  Walk* before = waiting.back();
  if (before != nullptr && before->since > walk.since) {
    before = nullptr;
    for (Walk* at = waiting.front(); at->since <= walk.since; at = at->next) before = at;
  }
  waiting.insert(&walk, before);
}

bool WalkUnit::withdraw(Walk& walk) {
  for (std::size_t i = 0; i <= outside_.size(); ++i) {
    for (Walk* at = list(i).front(); at != nullptr; at = at->next) {
      if (at != &walk) continue;
      note_depth();
      take_out(list(i), walk);
      if (i == 0) {
        if (order_ != nullptr) order_->withdrawn(walk);
        if (concurrency_) concurrency_->ended(walk, partition_.now());
      }
      message_entered_ = true;  // or has gone: there is one less in any case
      ++stats_.withdrawn;
      pool_.release(&walk);
      pump();
      return true;
    }
  }
  return false;
}

void WalkUnit::take_out(List& list, Walk& walk) {
  Walk* before = nullptr;
  for (Walk* at = list.front(); at != &walk; at = at->next) before = at;
  list.remove(&walk, before);
}

bool WalkUnit::may_start(const Walk& walk) const {
  if (writers_ == 0) return true;
  return std::ranges::none_of(walking_, [&](const Walk* at) { return at->writes() && at->page == walk.page; });
}

/// Starts and queues what can be. A client that is told of an end may submit more: that waits for its turn here.
void WalkUnit::pump() {
  if (pumping_) return;
  pumping_ = true;
  refill();
  if (order_ != nullptr && order_->chooses_late()) {
    if (!choosing_) {
      choosing_ = true;
      partition_.schedule(partition_.pool().allocate<Event>(), choose_handler_, partition_.now());
    }
  } else {
    while (start_next()) refill();
  }
  pumping_ = false;
  tell_of_room();
}

void WalkUnit::tell_of_room() {
  if (!full()) client_.queue_has_room();
  if (!message_entered_) return;
  message_entered_ = false;
  client_.message_entered();
}

void WalkUnit::on_choose(Event* event) {
  partition_.pool().release(event);
  choosing_ = false;
  pumping_ = true;
  while (start_next()) refill();
  pumping_ = false;
  tell_of_room();
}

/// Requests outside take the free places of the queue, in the order of their sources.
void WalkUnit::refill() {
  while (!full()) {
    List* messages = oldest(WalkSource::Request, WalkSource::Response, &Walk::submitted);
    if (messages == nullptr) break;
    message_entered_ = true;
    enter(*messages->pop());
  }
  while (!full()) {
    List* own = oldest(WalkSource::Demand, WalkSource::Writeback, &Walk::since);
    if (own == nullptr) break;
    enter(*own->pop());
  }
}

/// Of the lists of two sources the one whose first request may enter and is the oldest; or null.
WalkUnit::List* WalkUnit::oldest(WalkSource first, WalkSource last, Cycle Walk::*age) {
  List* oldest = nullptr;
  for (std::size_t i = list_of(first, 0); i < list_of(last, 0) + lanes_; ++i) {
    List& waiting = outside_[i];
    if (!may_enter(waiting)) continue;
    if (oldest == nullptr || waiting.front()->*age < oldest->front()->*age) oldest = &waiting;
  }
  return oldest;
}

void WalkUnit::enter(Walk& walk) {
  walk.queued = partition_.now();
  if (walk.kind == WalkKind::Demand || walk.kind == WalkKind::Replay)
    stats_.blocked_cycles += walk.queued - walk.submitted;
  if (concurrency_) concurrency_->entered(walk);
  note_depth();
  queue_.push(&walk);
  if (order_ != nullptr) {
    order_->entered(walk);
    if (order_->chooses_late()) return;
  }
  // One that can start now does not keep its place.
  while (start_next()) {
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

/// Lets the first request that may start, or the one that the order chooses, have a free walker.
bool WalkUnit::start_next() {
  if (!has_walker() || queue_.empty()) return false;
  if (order_ != nullptr) return choose_and_start();
  Walk* before = nullptr;
  for (Walk* walk = queue_.front(); walk != nullptr; before = walk, walk = walk->next) {
    if (!may_start(*walk)) continue;
    note_depth();
    queue_.remove(walk, before);
    if (partition_.timeline() != nullptr) walk->walker = free_walker();
    start(*walk);
    return true;
  }
  return false;
}

bool WalkUnit::choose_and_start() {
  const WalkOrder::Choice choice = order_->choose(free_);
  if (choice.walk == nullptr) return false;
  assert(may_start(*choice.walk));
  note_depth();
  take_out(queue_, *choice.walk);
  std::erase(free_, choice.walker);
  choice.walk->walker = choice.walker;
  start(*choice.walk);
  order_->started(*choice.walk);
  return true;
}

void WalkUnit::start(Walk& walk) {
  const auto kind = static_cast<std::size_t>(walk.kind);
  walk.started = partition_.now();
  walking_.push_back(&walk);
  if (walk.writes()) ++writers_;
  client_.started(walk);
  ++stats_.walks[kind];
  stats_.queue_wait[kind] += walk.started - walk.queued;

  const PageTable& table = client_.table(walk.page.pid());
  auto* event = partition_.pool().allocate<WalkEvent>();
  event->what = &walk;
  if (timing_.timing == WalkTiming::FixedTotal) {
    walk.looked_up = walk.at_leaf = walk.started;
    walk.level = static_cast<std::uint8_t>(table.leaf());
    partition_.schedule(event, access_handler_, walk.started + timing_.cycles);
    return;
  }
  begin(walk);
  if (access_ != nullptr) access_->begins(walk);
  access(walk, event, walk.looked_up);
}

/// Looks where a walk begins: at the root, or below what is known or the walk cache has.
void WalkUnit::begin(Walk& walk) {
  const auto kind = static_cast<std::size_t>(walk.kind);
  const PageTable& table = client_.table(walk.page.pid());
  // Only entries below what is known already are worth a lookup.
  const unsigned top = walk.known == 0 ? table.root() : walk.known - 1U;
  unsigned hit = 0;
  if (top > table.leaf()) {
    ++stats_.cache_lookups;
    hit = cache_.look_up(walk.page, table.leaf(), top);
  }
  walk.hit_level = static_cast<std::uint8_t>(hit);
  if (hit != 0) {
    ++stats_.cache_hits[hit - 2][kind];
  } else if (walk.known == 0) {
    ++stats_.cache_misses[kind];
  }
  walk.level = static_cast<std::uint8_t>(hit == 0 ? top : hit - 1);
  walk.looked_up = partition_.now() + spec_.cache.latency;
}

/// The access of the walk's level begins at `at`.
void WalkUnit::access(Walk& walk, WalkEvent* event, Cycle at) {
  if (walk.level == client_.table(walk.page.pid()).leaf()) {
    walk.at_leaf = at;
    if (!client_.reads_leaf(walk)) {
      walk.ends_above = true;
      partition_.schedule(event, access_handler_, at);
      return;
    }
  }
  ++stats_.accesses[static_cast<std::size_t>(walk.kind)];
  if (concurrency_) observe(walk);
  if (access_ != nullptr && access_->access(walk, event, at)) return;
  read(walk.level, walk.page, event, access_handler_, at);
}

void WalkUnit::observe(const Walk& walk) {
  const PageTable& table = client_.table(walk.page.pid());
  concurrency_->read(walk, walk.level, walk.level == table.leaf(), table.line(walk.level, walk.page.number()),
                     table.prefix(walk.level, walk.page.number()));
}

void WalkUnit::read(unsigned level, PageKey page, Event* event, HandlerId done, Cycle at) {
  ++stats_.reads[level - 1];
  if (timing_.timing == WalkTiming::Memory) {
    // The walk cache's latency stands before the first access; memory adds it behind (see Dram::read).
    const Cycle delay = at - partition_.now();
    memory_->read_table(client_.table(page.pid()).line(level, page.number()), event, done, delay);
    return;
  }
  partition_.schedule(event, done, at + timing_.cycles_per_level);
}

void WalkUnit::accessed(WalkEvent* event) {
  Walk& walk = *event->what;
  const PageTable& table = client_.table(walk.page.pid());
  const unsigned level = walk.level;
  if (walk.begins_again) {
    walk.begins_again = false;
    walk.known = 0;
    begin(walk);
    if (access_ != nullptr) {
      access_->ended(walk);
      access_->begins(walk);
    }
    walk_on(walk, event, level, walk.looked_up);
    return;
  }
  if (walk.ends_above) {
    partition_.pool().release(event);
    end(walk, level + 1);
    return;
  }
  if (level > table.leaf()) {
    if (present(level, walk.page) || walk.kind == WalkKind::Update) {
      cache_.fill(walk.page, table.leaf(), level);
      --walk.level;
      walk_on(walk, event, level, partition_.now());
      return;
    }
    walk.cut_short = true;
    walk.at_leaf = partition_.now();
  }
  partition_.pool().release(event);
  end(walk, level);
}

/// The line with the entry of `level` has come, and the walk's next access begins at `at`.
void WalkUnit::walk_on(Walk& walk, WalkEvent* event, unsigned level, Cycle at) {
  access(walk, event, at);
  if (order_ == nullptr) return;
  order_->line_arrived(walk, level, false, served_);
  take_served();
  pumping_ = true;
  answer_served();
  pumping_ = false;
  pump();
}

void WalkUnit::table_changed(const PageRange& range) {
  const PageTable& changed = client_.table(range.first.pid());
  cache_.drop(range, changed.leaf(), changed.root());
  for (Walk* walk : walking_) {
    if (range.holds(walk->page)) walk->begins_again = true;
  }
  for (Walk* walk = queue_.front(); walk != nullptr; walk = walk->next) {
    if (range.holds(walk->page)) walk->known = 0;
  }
  if (order_ == nullptr) return;
  order_->table_changed(range);
  pump();
}

std::uint16_t WalkUnit::free_walker() const {
  std::uint16_t walker = 0;
  while (std::ranges::find(walking_, walker, &Walk::walker) != walking_.end()) ++walker;
  return walker;
}

void WalkUnit::note_span(const Walk& walk) {
  Timeline* timeline = partition_.timeline();
  if (timeline == nullptr) return;
  timeline->note({TimelineEvent::Kind::Span, partition_.device().value, walk.walker, traits_of(walk.kind).name,
                  walk.started, partition_.now(), walk.page.value, 0},
                 walk.page.number());
}

void WalkUnit::end(Walk& walk, unsigned level) {
  note_span(walk);
  std::erase(walking_, &walk);
  if (walk.writes()) --writers_;
  if (access_ != nullptr) access_->ended(walk);
  stats_.service.add(partition_.now() - walk.started);
  pumping_ = true;  // what the client submits now comes behind what waits
  if (order_ != nullptr) {
    free_.insert(std::ranges::lower_bound(free_, walk.walker), walk.walker);
    order_->line_arrived(walk, level, true, served_);
    take_served();
  }
  answer(walk);
  if (order_ != nullptr) answer_served();
  pumping_ = false;
  pump();
}

void WalkUnit::answer(Walk& walk) {
  if (concurrency_) concurrency_->ended(walk, partition_.now());
  stats_.latency.add(partition_.now() - walk.queued);
  client_.walked(walk);
  pool_.release(&walk);
}

/// A line that has come for one walk has all that some queued requests need: they end without a walker of their own.
/// They leave the queue before anyone is told of an end, since whoever is told may want to take requests back.
void WalkUnit::take_served() {
  if (served_.empty()) return;
  note_depth();
  Walk* before = nullptr;
  auto served = served_.begin();
  for (Walk* walk = queue_.front(); served != served_.end();) {
    Walk* following = walk->next;
    if (walk == *served) {
      queue_.remove(walk, before);
      ++served;
    } else {
      before = walk;
    }
    walk = following;
  }
}

void WalkUnit::answer_served() {
  for (Walk* walk : served_) {
    walk->started = walk->looked_up = walk->at_leaf = partition_.now();
    stats_.queue_wait[static_cast<std::size_t>(walk->kind)] += walk->started - walk->queued;
    answer(*walk);
  }
  served_.clear();
}

std::string WalkUnit::describe_waiting(const char* name) const {
  if (walking_.empty() && queue_.empty() && outside() == 0) return {};
  const Walk* oldest = queue_.front() != nullptr ? queue_.front() : walking_.empty() ? nullptr : walking_.front();
  return fmt::format(
      "  {}: {} walking, {} queued, {} waiting for a place{}\n", name, walking_.size(), queue_.size(), outside(),
      oldest == nullptr ? "" : fmt::format(" (page {:#x} since cycle {})", oldest->page.number(), oldest->submitted));
}

}  // namespace nearfar
