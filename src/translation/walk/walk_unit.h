// Walkers, their bounded queue and their walk cache. One class serves the GMMU, the IOMMU and the host's MMU.
//
// A request that finds a free walker starts at once; else it waits in the queue, first come, first served; where that
// is full, outside it, where messages go before misses and write-backs, and of these the older before the younger.
// While a request that writes a page's entry is walking, no other request of that page starts. Designs may decide which
// request starts (walk_order.h) and how an entry is got (walk_access.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/fifo.h"
#include "sim/partition.h"
#include "sim/pool.h"
#include "stats/stat.h"
#include "translation/page.h"
#include "translation/translation_spec.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk.h"
#include "translation/walk/walk_access.h"
#include "translation/walk/walk_cache.h"
#include "translation/walk/walk_concurrency.h"
#include "translation/walk/walk_order.h"

namespace nearfar {

struct WalkStats {
  std::array<std::uint64_t, kMostWalkKinds> walks{};
  std::array<std::uint64_t, kMostWalkKinds> accesses{};
  std::array<std::uint64_t, 5> reads{};  ///< by level, from 1
  std::uint64_t cache_lookups = 0;
  std::array<std::array<std::uint64_t, kMostWalkKinds>, 4> cache_hits{};  ///< levels 2 to 5
  std::array<std::uint64_t, kMostWalkKinds> cache_misses{};
  std::array<std::uint64_t, kMostWalkKinds> queue_wait{};
  std::uint64_t blocked_cycles = 0;
  std::uint64_t full_cycles = 0;
  std::uint64_t withdrawn = 0;
  Histogram depth;
  Histogram latency;
  Histogram service;

  void describe(StatVisitor& visitor);
};

class WalkClient {
 public:
  virtual ~WalkClient() = default;
  virtual const PageTable& table(Pid pid) const = 0;
  /// Whether a walk that has reached its leaf table reads the entry there. Else it ends above it.
  virtual bool reads_leaf(const Walk&) const { return true; }
  /// A walker has taken a request.
  virtual void started(Walk&) {}
  /// The last access of a walk has been made; the walk is gone afterwards.
  virtual void walked(Walk& walk) = 0;
  /// The queue is not full.
  virtual void queue_has_room() {}
  /// A message's request no longer waits for a place in the queue.
  virtual void message_entered() {}
};

/// How a page-table line is read where that is a real access to memory.
class WalkMemory {
 public:
  virtual ~WalkMemory() = default;
  /// Reads the line, from `delay` cycles from now on: `event` fires at `done` when it is there.
  virtual void read_table(PhysLine line, Event* event, HandlerId done, Cycle delay) = 0;
};

class WalkUnit {
 public:
  WalkUnit(Partition& partition, const WalkersSpec& spec, const WalkSpec& timing, UpperLevels upper, WalkClient& client,
           WalkMemory* memory);

  /// Plugs a design into a seam, before the first request. A walk order needs a limited number of walkers.
  void set_order(WalkOrder& order);
  void set_access(WalkAccess& access) { access_ = &access; }

  /// A new request; `owner` and the rest are the client's.
  Walk& make(WalkKind kind, PageKey page);
  void submit(Walk& walk, WalkSource source);
  /// Takes back a request that has not started; false when a walker has it.
  bool withdraw(Walk& walk);
  /// The entries of these pages have changed, and table nodes that hold no others are gone: what has been read of them
  /// is void. A walk of such a page begins again when its present access ends.
  void table_changed(const PageRange& range);
  /// Calls `visit` with every request of a page that has not ended.
  template <class Visit>
  void for_each_of(PageKey page, Visit visit) {
    for (Walk* walk : walking_) {
      if (walk->page == page) visit(*walk, true);
    }
    for (std::size_t i = 0; i <= outside_.size(); ++i) {
      for (Walk* walk = list(i).front(); walk != nullptr; walk = walk->next) {
        if (walk->page == page) visit(*walk, false);
      }
    }
  }

  WalkCache& cache() { return cache_; }
  const WalkCache& cache() const { return cache_; }
  Cycle cache_latency() const { return spec_.cache.latency; }
  bool idle() const { return walking_.empty() && queue_.empty() && outside() == 0; }
  bool full() const { return queue_.size() >= spec_.queue; }
  /// Requests of a source that wait for a place in the queue.
  std::uint32_t outside(WalkSource source) const {
    std::uint32_t sum = 0;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) sum += outside_[list_of(source, lane)].size();
    return sum;
  }
  std::uint32_t waiting() const { return queue_.size(); }
  /// Those too that wait for a place.
  std::uint32_t all_waiting() const { return queue_.size() + outside(); }
  /// A walker has nothing to do, and nothing waits.
  bool has_idle_walker() const { return has_walker() && all_waiting() == 0; }
  std::uint32_t walkers() const { return spec_.walkers; }
  const PageTable& table(PageKey page) const { return client_.table(page.pid()); }
  /// Whether the entry of `level` on the way to a page leads on.
  bool present(unsigned level, PageKey page) const {
    return upper_ == UpperLevels::Prebuilt || table(page).present(level, page.number());
  }
  /// Whether a walk would make its last access here.
  bool reads_leaf(const Walk& walk) const { return client_.reads_leaf(walk); }
  /// No request that writes the page's entry is walking.
  bool may_start(const Walk& walk) const;

  /// Reads the entry of `level` for a page, from `at` on, as the baseline does: `event` fires at `done`.
  void read(unsigned level, PageKey page, Event* event, HandlerId done, Cycle at);
  /// Gives a walk (in `event`, as WalkAccess::access had it) the entry it waits for.
  void accessed(WalkEvent* event);
  HandlerId accessed_handler() const { return access_handler_; }
  WalkStats& stats() { return stats_; }
  /// Observes which page-table reads fall into lines that other walks need too.
  void measure_concurrency() { concurrency_ = std::make_unique<WalkConcurrency>(); }
  WalkConcurrency* concurrency() { return concurrency_.get(); }
  std::string describe_waiting(const char* name) const;

 private:
  using List = Fifo<Walk>;

  std::size_t list_of(WalkSource source, std::uint32_t lane) const {
    return static_cast<std::size_t>(source) * lanes_ + lane;
  }
  /// The queue, then the lists of those outside.
  List& list(std::size_t index) { return index == 0 ? queue_ : outside_[index - 1]; }
  std::uint32_t outside() const {
    std::uint32_t sum = 0;
    for (const List& waiting : outside_) sum += waiting.size();
    return sum;
  }
  bool has_walker() const { return spec_.walkers == 0 || walking_.size() < spec_.walkers; }
  void pump();
  void on_choose(Event* event);
  bool choose_and_start();
  bool start_next();
  void refill();
  bool may_enter(const List& waiting) const {
    return !waiting.empty() && (order_ == nullptr || order_->has_room(*waiting.front()));
  }
  List* oldest(WalkSource first, WalkSource last, Cycle Walk::*age);
  void tell_of_room();
  void start(Walk& walk);
  void begin(Walk& walk);
  void access(Walk& walk, WalkEvent* event, Cycle at);
  void walk_on(Walk& walk, WalkEvent* event, unsigned level, Cycle at);
  void observe(const Walk& walk);
  static void put_by_age(List& waiting, Walk& walk);
  void enter(Walk& walk);
  void end(Walk& walk, unsigned level);
  void answer(Walk& walk);
  void take_served();
  void answer_served();
  static void take_out(List& list, Walk& walk);
  void note_depth();
  void note_span(const Walk& walk);
  std::uint16_t free_walker() const;

  Partition& partition_;
  WalkersSpec spec_;
  WalkSpec timing_;
  UpperLevels upper_;
  WalkClient& client_;
  WalkMemory* memory_;
  WalkCache cache_;
  HandlerId access_handler_;
  HandlerId choose_handler_;
  WalkOrder* order_ = nullptr;
  WalkAccess* access_ = nullptr;
  List queue_;
  std::vector<List> outside_;  ///< by source, then by lane of the order: requests that found the queue full
  std::uint32_t lanes_ = 1;
  std::vector<Walk*> walking_;
  std::uint32_t writers_ = 0;  ///< among them
  bool pumping_ = false;
  bool message_entered_ = false;     ///< and the client does not know yet
  bool choosing_ = false;            ///< an order will be asked at the end of this cycle
  std::vector<std::uint16_t> free_;  ///< with an order: the numbers of the free walkers, lowest first
  std::vector<Walk*> served_;
  Cycle full_since_ = 0;
  Pool<Walk, 64> pool_;
  std::unique_ptr<WalkConcurrency> concurrency_;  ///< none in most runs
  WalkStats stats_;
};

}  // namespace nearfar
