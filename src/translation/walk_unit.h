// Walkers, their bounded queue and their walk cache. One class serves the GMMU, the IOMMU and the host's MMU.
//
// A request that finds a free walker starts at once; else it waits in the queue, first come, first served; where that
// is full, outside it. While a request that writes a page's entry is walking, no other request of that page starts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/fifo.h"
#include "sim/partition.h"
#include "sim/pool.h"
#include "stats/stat.h"
#include "translation/page.h"
#include "translation/page_table.h"
#include "translation/translation_spec.h"
#include "translation/walk_cache.h"

namespace nearfar {

enum class WalkKind : std::uint8_t { Demand, Replay, Invalidate, Update, Forwarded, Writeback };
inline constexpr std::size_t kWalkKinds = 6;
inline constexpr std::array<const char*, kWalkKinds> kWalkKindNames = {"demand", "replay",    "invalidate",
                                                                       "update", "forwarded", "writeback"};

/// One request to walk, from its submission to the client's answer to its end.
struct Walk {
  Walk* next = nullptr;  ///< in the queue, or in the free list
  PageKey page;
  WalkKind kind = WalkKind::Demand;
  std::uint8_t level = 0;      ///< of the access under way
  std::uint8_t hit_level = 0;  ///< where the walk cache let it begin; 0: at the root
  bool cut_short = false;      ///< an upper entry was invalid: there is no leaf
  Cycle submitted = 0;
  Cycle queued = 0;  ///< when it had a place in the queue
  Cycle started = 0;
  Cycle looked_up = 0;  ///< the walk cache has answered
  Cycle at_leaf = 0;    ///< the leaf's access began
  std::uint16_t walker = 0;
  void* owner = nullptr;
  Mapping mapping;  ///< update: what to write
  std::uint64_t note = 0;

  bool writes() const {
    return kind == WalkKind::Invalidate || kind == WalkKind::Update || kind == WalkKind::Writeback;
  }
};

/// Where a request comes from, in the order in which a place in a full queue is given away.
enum class WalkSource : std::uint8_t { Writeback, Message, Demand };

struct WalkStats {
  std::array<std::uint64_t, kWalkKinds> walks{};
  std::array<std::uint64_t, kWalkKinds> accesses{};
  std::array<std::array<std::uint64_t, kWalkKinds>, 4> cache_hits{};  ///< levels 2 to 5
  std::array<std::uint64_t, kWalkKinds> cache_misses{};
  std::array<std::uint64_t, kWalkKinds> queue_wait{};
  std::uint64_t blocked_cycles = 0;
  std::uint64_t full_cycles = 0;
  std::uint64_t withdrawn = 0;
  Histogram depth;

  void describe(StatVisitor& visitor);
};

class WalkClient {
 public:
  virtual ~WalkClient() = default;
  virtual const PageTable& table(Pid pid) const = 0;
  /// The last access of a walk has been made; the walk is gone afterwards.
  virtual void walked(Walk& walk) = 0;
};

/// Walk access: how a page-table entry is read where it is a real access to memory.
class WalkMemory {
 public:
  virtual ~WalkMemory() = default;
  /// `t` fires at `done` when the line is there.
  virtual void read_table(PhysLine line, Transaction* t, HandlerId done) = 0;
};

class WalkUnit {
 public:
  WalkUnit(Partition& partition, const WalkersSpec& spec, const WalkSpec& timing, UpperLevels upper, WalkClient& client,
           WalkMemory* memory);

  /// A new request; `owner` and the rest are the client's.
  Walk& make(WalkKind kind, PageKey page);
  void submit(Walk& walk, WalkSource source);
  /// Takes back a request that has not started; false when a walker has it.
  bool withdraw(Walk& walk);
  /// Calls `visit` with every request of a page that has not ended.
  template <class Visit>
  void for_each_of(PageKey page, Visit visit) {
    for (Walk* walk : walking_) {
      if (walk->page == page) visit(*walk, true);
    }
    for (List* list : lists()) {
      for (Walk* walk = list->front(); walk != nullptr; walk = walk->next) {
        if (walk->page == page) visit(*walk, false);
      }
    }
  }

  WalkCache& cache() { return cache_; }
  Cycle cache_latency() const { return spec_.cache.latency; }
  bool idle() const { return walking_.empty() && queue_.empty() && outside() == 0; }
  bool full() const { return !has_walker() && queue_.size() >= spec_.queue; }
  std::uint32_t waiting() const { return queue_.size(); }
  WalkStats& stats() { return stats_; }
  std::string describe_waiting(const char* name) const;

 private:
  using List = Fifo<Walk>;

  std::array<List*, 4> lists() { return {&queue_, &outside_[0], &outside_[1], &outside_[2]}; }
  std::uint32_t outside() const { return outside_[0].size() + outside_[1].size() + outside_[2].size(); }
  bool has_walker() const { return spec_.walkers == 0 || walking_.size() < spec_.walkers; }
  bool may_start(const Walk& walk) const;
  void pump();
  bool start_next();
  void refill();
  void start(Walk& walk);
  void access(Walk& walk, Transaction* t, Cycle at);
  void on_access(Transaction* t);
  void end(Walk& walk);
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
  List queue_;
  std::array<List, 3> outside_;  ///< by source: requests that found the queue full
  std::vector<Walk*> walking_;
  std::uint32_t writers_ = 0;  ///< among them
  bool pumping_ = false;
  Cycle full_since_ = 0;
  Pool<Walk, 64> pool_;
  WalkStats stats_;
};

}  // namespace nearfar
