// The L2 cache of a GPU, and the last-level cache of the host: banked, write-back for the lines of its own device's
// memory, whose home it is: it orders all reads and writes of them.
//
// Every request of the device's own L1s comes here, and the L2 routes it. Lines at home here act in their bank and miss
// into the device's memory. Lines at home elsewhere are passed on to their home as they are, without a look at the
// tags; or, where it caches remote lines (`remote_cache: l1l2`), act in their bank too: loads hit or miss to the home,
// stores update what is held and are written through, or kept and written back (`remote_write`), atomics go to the
// home, and what is replaced and not changed leaves silently.
//
// Requests come as groups of lines of one page, and each line acts for itself: in the cycle in which the first of its
// group arrives, in order; the arrival of the others, the bank's port, the tags and the data then add their time
// arithmetically. What cannot act (no MSHR, no way, no room for a dirty victim, none on the link) waits at the bank.
// What is ready together leaves together. Requests of other devices have a queue and MSHRs of their own, so that a
// stalled local request never holds up what another device waits for.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/byte_masks.h"
#include "memory/cache/cache_spec.h"
#include "memory/cache/l2_address_map.h"
#include "memory/cache/l2_lookups.h"
#include "memory/cache/l2_timeline.h"
#include "memory/cache/mshr.h"
#include "memory/cache/protocol_coverage.h"
#include "memory/cache/tag_array.h"
#include "memory/data_oracle.h"
#include "memory/dram/dram.h"
#include "memory/lower_level.h"
#include "memory/order_observer.h"
#include "sim/partition.h"
#include "sim/spacing.h"
#include "sim/wait_list.h"
#include "stats/latency.h"
#include "stats/stat.h"

namespace nearfar {

struct L2Stats {
  std::uint64_t reads = 0;
  std::uint64_t read_hits = 0;
  std::uint64_t merges = 0;
  std::uint64_t writes = 0;
  std::uint64_t write_hits = 0;
  std::uint64_t atomics = 0;
  std::uint64_t remote_requests = 0;
  std::uint64_t evictions = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t flushed_lines = 0;
  std::uint64_t port_wait_cycles = 0;
  std::uint64_t stalled_requests = 0;

  void describe(StatVisitor& visitor);
};

/// Of lines at home in other GPUs, where the L2 caches them.
struct RemoteLineStats {
  std::uint64_t reads = 0;
  std::uint64_t read_hits = 0;
  std::uint64_t merges = 0;
  std::uint64_t writes = 0;
  std::uint64_t write_hits = 0;
  std::uint64_t write_allocations = 0;
  std::uint64_t fetches = 0;
  std::uint64_t atomics = 0;
  std::uint64_t fills = 0;
  std::uint64_t poisoned_fills = 0;
  std::uint64_t evictions = 0;
  std::uint64_t dropped = 0;

  void describe(StatVisitor& visitor);
};

/// Of the same lines, where the L2 writes them back.
struct RemoteWriteBackStats {
  std::uint64_t evicted = 0;
  std::uint64_t released = 0;
  std::uint64_t before_reads = 0;
  std::uint64_t before_atomics = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stalls = 0;

  void describe(StatVisitor& visitor);
};

/// Invalidations that reach the L2 of a sharer, by line: what they found, and why they were sent.
struct InvalidationStats {
  std::uint64_t hit_write = 0;
  std::uint64_t hit_eviction = 0;
  std::uint64_t hit_collateral = 0;
  std::uint64_t pending_write = 0;
  std::uint64_t pending_eviction = 0;
  std::uint64_t pending_collateral = 0;
  std::uint64_t miss_write = 0;
  std::uint64_t miss_eviction = 0;
  std::uint64_t miss_collateral = 0;

  void describe(StatVisitor& visitor);
};

/// The device around an L2 cache.
class L2Client {
 public:
  virtual ~L2Client() = default;
  /// The lines `request->mask` of a page are there for the device's own unit; the client takes the request.
  virtual void lines_served(LineRequest* request) = 0;
  /// `lines` stores of the device's own compute unit to `page` have been ordered.
  virtual void stores_ordered(unsigned cu, PhysPage page, unsigned lines) = 0;
  /// Answer another device's requests for the lines `request->mask`; the first leaves `after` cycles from now, the
  /// others at reply_spacing() behind it. The client takes the request.
  virtual void answer(LineRequest* request, Cycle after) = 0;
  virtual Spacing reply_spacing(const LineRequest& request) const = 0;
  /// Lines of another device's request have left the banks' queues.
  virtual void requests_taken(const LineRequest& request, std::uint32_t count) = 0;
  /// A bank's queue in which there was no room for `waiter` has some.
  virtual void l2_has_room(Waiter waiter) = 0;
  /// Every line for which a write had been ordered when flush() was called has been handed to memory; once a call.
  virtual void flushed() = 0;
  /// What a release_remote_lines() of `waiter` had to write back is at its homes.
  virtual void remote_lines_released(Waiter /*waiter*/) {}
};

/// What an L2 does with lines at home in other devices.
struct RemoteLines {
  LowerLevel* home = nullptr;  ///< the way there; none: there is no such request
  bool cached = false;         ///< lines of other GPUs are kept
  bool fetches = false;        ///< a store to part of a line that is not held also reads the line
  bool written_back = false;   ///< what stores change is kept and written back
  bool tracked = false;        ///< directories invalidate them; else they are dropped at boundaries and fences
  DeviceId host;
  Bytes largest_memory = 0;  ///< of any device, where lines of the host are kept too; 0: they never are
};

class L2Cache final : public LowerLevel, public DramClient {
 public:
  L2Cache(Partition& partition, const L2Spec& spec, const DramSpec& dram, std::uint64_t line_bytes,
          std::uint64_t clock_hertz, L2Client& client, ByteMaskPool& masks, DataWatch* watch);

  /// Requests for lines at home elsewhere go this way; to be said before the first.
  void route_remote(const RemoteLines& remote);
  /// Sees the order of the requests for lines at home here.
  void set_observer(OrderObserver& observer) { observer_ = &observer; }

  /// Plugs a design into the seam "L2 cache replacement", before the first request.
  void set_replacement(const MakeCacheReplacement& make) {
    for (Bank& bank : banks_) bank.tags.set_replacement(make({bank.index, bank.tags.sets(), bank.tags.ways()}));
  }

  // The device's own requests.
  bool reserve(PhysLine line, Waiter waiter) override {
    if (passes(line.device())) return remote_.home->reserve(line, waiter);
    Bank& bank = bank_of(line);
    if (bank.reserved >= queue_) {
      bank.waiters.push(waiter);
      return false;
    }
    ++bank.reserved;
    return true;
  }
  void reserve_always(PhysLine line) override {
    if (passes(line.device())) {
      remote_.home->reserve_always(line);
    } else {
      ++bank_of(line).reserved;
    }
  }
  /// Line i of the group arrives i cycles after the first.
  void request(LineRequest* request) override {
    if (passes(request->line.device())) {
      remote_.home->request(request);
    } else {
      serve(request, false, Spacing::every(1));
    }
  }

  /// Another device's requests for lines at home here, which arrive at `spacing`.
  void remote_request(LineRequest* request, Spacing spacing);

  /// Lines that were asked of their home have come.
  void remote_reply(LineRequest* reply);
  /// There is room on the way to a remote home, for which a bank waits.
  static bool is_bank(Waiter waiter) { return waiter >= kBankWaiter; }
  void remote_has_room(Waiter waiter);
  /// Stores to remote lines have been acknowledged by their home.
  void stores_acknowledged(const LineRequest& reply);
  /// The L2 keeps stores to remote lines, so that one that it has taken may not be at its home yet.
  bool keeps_stores() const { return remote_.written_back; }
  /// Writes back what stores have changed of remote lines, which leave. False: the client hears when all that was
  /// written back until now is at its homes; true: it is.
  bool release_remote_lines(Waiter waiter);
  /// The home of a line has what was written back.
  void remote_line_written(LineRequest* reply);
  /// What is held of other devices' lines may be old from now on, unless directories track it: it is dropped, and fills
  /// under way are not kept. What stores have changed and is not written back yet stays.
  void drop_remote_lines();
  /// Their home has written one of these lines, `written`, or no longer tracks them (`evicted`): copies are dropped,
  /// and fills under way are not kept.
  void invalidate_remote_lines(PhysPage page, std::uint64_t lines, std::uint64_t written, bool evicted);
  /// The same for the lines of a page that leaves its frame. Stores may have brought some that no load asked for.
  void drop_remote_lines(PhysPage page);
  /// Brings the tags of these lines closer to the host's processor: they will be looked up soon.
  void prefetch_remote_lines(PhysPage page, std::uint64_t lines) const;

  /// Writes all dirty lines back, and those that will be when stores and atomics that wait for memory have been
  /// performed; they stay, clean. A flush that is asked for while another is under way follows it.
  void flush();

  /// From now on a line that a flush has written back leaves the cache.
  void drop_when_flushed() { drops_flushed_ = true; }
  /// Every line that is not dirty leaves the cache.
  void drop_clean_lines();

  /// From now on (nothing is held yet) it is known which lines of each page are here. The next two need it.
  void follow_pages() { follows_pages_ = true; }
  /// Whether a line of a page is on its way from memory.
  bool page_pending(PhysPage page) { return in_page(page).pending != 0; }
  /// Writes the dirty lines of a page back, of which none is pending, and drops all of them if it `leaves`.
  void write_back_page(PhysPage page, bool leaves);

  // What copies do to lines of a page: whether one of them is on its way from memory; if none is, dirty ones are
  // written back and stay; or all are overwritten in memory, and what the cache has of them leaves.
  bool lines_pending(PhysPage page, std::uint64_t lines);
  void write_back_lines(PhysPage page, std::uint64_t lines);
  void overwrite_lines(PhysPage page, std::uint64_t lines);

  /// Who else writes into the memory below, and is told after the cache when it has room.
  void set_other_writer(DramClient& writer) { other_writer_ = &writer; }
  void dram_has_room() override;

  /// From now on counts which events meet which states of a line.
  void cover(L2Coverage* coverage, RemoteLineCoverage* remote) {
    coverage_ = coverage;
    remote_coverage_ = remote;
  }

  /// From now on says what its lines do.
  void record(L2Timeline* timeline) { timeline_ = timeline; }
  L2Timeline* timeline() { return timeline_; }

  L2Stats& stats() { return stats_; }
  RemoteLineStats& remote_stats() { return remote_stats_; }
  RemoteWriteBackStats& write_back_stats() { return write_back_stats_; }
  /// Lines at home in the host that releases have written back.
  std::uint64_t released_to_host() const { return released_to_host_; }
  InvalidationStats& invalidation_stats() { return invalidation_stats_; }
  L2LookupStats& lookup_stats() { return lookups_.stats(); }
  /// Visits the remote lines that are held: `visit(PhysLine, const LineImage*)`, the image with the oracle.
  template <class Visit>
  void for_each_remote_line(Visit visit) const;
  bool caches_remote_lines() const { return remote_.cached; }
  Dram& dram() { return *dram_; }
  const LoadLatency& latency() const { return latency_; }

  /// Requests taken and not yet answered.
  std::uint64_t pending() const;
  /// What waits here, for the watchdog; empty when nothing does.
  std::string describe_waiting() const;

 private:
  /// A line that has been asked for. A remote line whose fill has been poisoned may be asked for once more before that
  /// fill has come: what waits for the second fill waits apart.
  struct Pending {
    LineRequestQueue waiting;  ///< requests behind the one that memory, or the home, is asked for, in order
    bool remote = false;       ///< whose share of the MSHRs it counts against
    bool writes = false;       ///< the line will be dirty: a store or an atomic is among those who wait
    bool flush = false;        ///< a flush waits for the line
    bool poisoned = false;     ///< remote lines: what comes is not kept, and nobody merges
    bool again = false;        ///< remote lines: the line has been asked for a second time
    bool again_poisoned = false;
    std::uint8_t fill = 0;  ///< remote lines: the name of the first fill; the second has the other one
    RecordId record = 0;    ///< of the request that memory is asked for, when the oracle is on
    LineRequestQueue waiting_again;
  };
  using Mshrs = MshrFile<Pending>;

  struct Bank {
    TagArray tags;
    Mshrs mshrs;
    LineRequestQueue own;     ///< the device's own requests that could not act
    LineRequestQueue remote;  ///< other devices' requests that could not act
    Cycle port_free = 0;
    std::uint32_t index = 0;
    std::uint32_t reserved = 0;
    std::uint32_t own_mshrs = 0;
    std::uint32_t remote_mshrs = 0;
    std::uint32_t dirty = 0;                ///< lines
    std::uint32_t write_backs = 0;          ///< lines on their way to remote homes
    bool waits_for_link = false;            ///< its first own request waits for room on the way to a remote home
    WaitList waiters;                       ///< who found no room here
    std::vector<LineImage> images;          ///< by slot, when the oracle is on
    std::vector<RemoteCopy> remote_images;  ///< the same of remote lines
    std::vector<ByteMask> changed;          ///< by slot: bytes of remote lines that their home does not have yet
  };

  /// What has become of a line's request. Hit: the data is here. Done: a write has been performed. Missed: an MSHR has
  /// been taken and memory is to be asked. Merged: it waits in the MSHR of another. In an MSHR a write counts as
  /// ordered. Forwarded: it goes on to its home elsewhere. Stall: nothing; it has to try again.
  enum class Outcome : std::uint8_t { Hit, Done, Missed, Merged, Forwarded, Stall };

  /// The lines of one page.
  struct PageLines {
    std::uint64_t held = 0;
    std::uint64_t pending = 0;
  };
  PageLines& in_page(PhysPage page) {
    if (page.frame() >= pages_.size()) [[unlikely]] {
      grow_pages(page.frame());
    }
    return pages_[page.frame()];
  }
  [[gnu::noinline]] void grow_pages(std::uint64_t frame) { pages_.resize(frame + frame / 2 + 64); }
  // States of a slot.
  static constexpr std::uint8_t kDirty = 1;
  static constexpr std::uint8_t kRemote = 2;   ///< its line has its home elsewhere
  static constexpr std::uint8_t kChanged = 4;  ///< and stores have changed bytes of it, which are here alone
  static constexpr std::uint8_t kPart = 8;     ///< the other bytes are not here

  /// Lines of a group that leave together, as soon as none of them would leave before it is ready.
  struct Batch {
    std::uint64_t mask = 0;
    Cycle due = 0;  ///< when the first of them leaves

    std::uint32_t count() const { return static_cast<std::uint32_t>(std::popcount(mask)); }
    static Cycle due_of(Cycle ready, Cycle behind) { return ready - std::min(ready, behind); }
    void add(std::uint64_t line, Cycle ready, Spacing spacing) {
      due = std::max(due, due_of(ready, spacing.at(count())));
      mask |= line;
    }
  };
  /// What a group has come to so far.
  struct Results {
    Cycle lookup = 0;                ///< what takes hit or miss to be known
    Spacing spacing;                 ///< of the replies
    Batch hits;                      ///< due in cycles from now
    Batch performed;                 ///< writes; the same
    std::array<Batch, 2> forwarded;  ///< to a remote home, by the name of the fill; the same
    Batch missing;                   ///< asked of memory; due in cycles of the clock
    Cycle missing_extra = 0;
  };
  /// Lines that memory has ready within so many cycles of one another come as one group.
  static constexpr Cycle kTogether = 16;
  /// Waiters for room on the links from here on are banks, those below compute units.
  static constexpr Waiter kBankWaiter = 0x8000;

  /// Whether requests for lines of a device go on to it without a look at the tags.
  bool passes(DeviceId home) const {
    return home != partition_.device() && (!remote_.cached || (home == remote_.host && remote_.largest_memory == 0));
  }
  Bank& bank_of(PhysLine line) { return banks_[map_.bank_of(line)]; }
  PhysLine line_of(const Bank& bank, TagArray::Slot slot) const {
    return map_.line_of(bank.index, bank.tags.key(slot), partition_.device(), (bank.tags.state(slot) & kRemote) != 0);
  }
  std::uint64_t key(PhysLine line) const { return map_.key(line); }
  std::uint64_t remote_key(PhysLine line) const { return map_.remote_key(line); }

  /// What a lookup takes before hit or miss is known.
  Cycle lookup_latency(bool remote) const { return remote ? remote_tag_latency_ : tag_latency_; }
  bool is_remote(const LineRequest& request) const { return request.requester() != partition_.device(); }

  /// Where a line at home here has its tag.
  TagArray::Place place_of(const Bank& bank, PhysLine line) const { return bank.tags.place(key(line)); }

  // l2_cache.cpp: requests, whatever they are for.
  Cycle pass_port(Bank& bank, Cycle arrival);
  void serve(LineRequest* group, bool remote, Spacing arrivals);
  Outcome act(Bank& bank, const LineRequest& request, bool remote, bool whole) {
    if (request.line.device() != partition_.device()) return act_on_remote_line(bank, request, whole);
    return act_at_home(bank, request, remote, whole);
  }
  void note(const LineRequest& request, Outcome outcome, Cycle extra, Results& results);
  bool settle_misses(LineRequest* group, Results& results);
  void settle(LineRequest* group, bool remote, Results& results);
  LineRequest* part(const LineRequest& request, std::uint64_t mask);
  LineRequest* part_with_masks(const LineRequest& group, std::uint64_t mask);
  void discard(LineRequest* request) {
    if (request->kind == RequestKind::Write) masks_.release(partition_.device(), as_store(*request).masks);
    partition_.pool().release(request);
  }
  bool writes_whole(const LineRequest& request, bool first, bool last) const;
  const ByteMask& bytes_written(const LineRequest& store) const;
  /// What is in a slot leaves.
  void make_room(Bank& bank, TagArray::Slot slot) {
    if (bank.tags.valid(slot)) evict(bank, slot);
  }
  void evict(Bank& bank, TagArray::Slot slot);
  bool reserve_way(Bank& bank, const TagArray::Place& place);
  void release(Bank& bank);
  void wake(Bank& bank);
  bool wake_one(Bank& bank, LineRequestQueue& queue, bool remote);
  void on_hit(LineRequest* request);

  // l2_home.cpp: lines at home here.
  Outcome act_at_home(Bank& bank, const LineRequest& request, bool remote, bool whole);
  Outcome write(Bank& bank, const LineRequest& request, const TagArray::Place& place, bool remote, bool whole);
  Outcome miss(Bank& bank, const LineRequest& request, const TagArray::Place& place, bool remote);
  void install(Bank& bank, TagArray::Slot slot, const TagArray::Place& place, PhysLine line);
  static void make_dirty(Bank& bank, TagArray::Slot slot) {
    std::uint8_t& state = bank.tags.state(slot);
    if ((state & kDirty) == 0) ++bank.dirty;
    state |= kDirty;
  }
  /// A request has its place in the order of its line: the directory acts, and the oracle sees it.
  void order(const LineRequest& request) {
    if (observer_ != nullptr || watch_ != nullptr) show_order(request);
  }
  void show_order(const LineRequest& request);
  void watch_performed(Bank& bank, TagArray::Slot slot, const LineRequest& request);
  void ask_memory(const LineRequest& request, Cycle extra, Results& results);
  void send_missing(LineRequest* lines, Results& results);
  void charge_lookup(const LineRequest& request, Cycle tags, Cycle waited);
  void on_fill(LineRequest* request);
  void fill(Bank& bank, LineRequest& request);
  void apply(Bank& bank, TagArray::Slot slot, const LineRequest& request);
  void hand_over(LineRequest* request);

  // l2_remote.cpp: lines at home elsewhere.
  Outcome act_on_remote_line(Bank& bank, const LineRequest& request, bool whole);
  Outcome read_remote_line(Bank& bank, const LineRequest& request);
  Outcome write_remote_line(Bank& bank, const LineRequest& request, bool whole);
  void fetch_remote_line(Bank& bank, const LineRequest& store);
  Outcome atomic_on_remote_line(Bank& bank, const LineRequest& request);
  bool reserve_link(Bank& bank, PhysLine line);
  void install_remote_line(Bank& bank, TagArray::Slot slot, PhysLine line);
  void poison(Bank& bank, PhysLine line);
  static void poison(Pending& pending);
  void invalidate_remote_line(Bank& bank, TagArray::Slot slot);
  void invalidate_remote_line(Bank& bank, PhysLine line, bool necessary, bool evicted);
  std::uint8_t ask_home(Bank& bank, PhysLine line, Mshrs::Entry* pending);
  void forward(LineRequest* request, Cycle due);
  void on_forward(LineRequest* request);
  void fill_remote_line(Bank& bank, const LineRequest& reply);

  // l2_remote_write_back.cpp: stores to such lines that are kept.
  Outcome keep_store(Bank& bank, const LineRequest& request, bool whole);
  bool allocate_for_store(Bank& bank, const LineRequest& request, bool whole);
  void write_home(Bank& bank, TagArray::Slot slot, Cycle waits = 0);
  void complete(Bank& bank, TagArray::Slot slot, const LineImage& rest);
  void release_round();

  // l2_flush.cpp: writing back.
  void start_flush();
  void continue_flush();
  bool flush_dirty();
  bool flush_filled();
  void flush_line(Bank& bank, TagArray::Slot slot, PhysLine line);
  void drop_line(Bank& bank, TagArray::Slot slot, PhysLine line);

  // l2_coverage.cpp
  L2State state_of(Bank& bank, PhysLine line) const;
  RemoteLineState remote_state_of(Bank& bank, PhysLine line) const;
  void cover_request(Bank& bank, const LineRequest& request, bool remote, bool whole);
  void cover_wait(Bank& bank, const LineRequest& request, bool remote, bool whole);
  void cover_remote(Bank& bank, PhysLine line, RemoteLineEvent event);
  void cover_flush();
  void cover_page(PhysPage page, bool leaves);

  // l2_timeline.cpp
  void trace(const Bank& bank, const LineRequest& request, Outcome outcome, Cycle extra);
  void trace_eviction(const Bank& bank, TagArray::Slot slot);

  Partition& partition_;
  L2Client& client_;
  ByteMaskPool& masks_;
  DataWatch* watch_;
  L2Timeline* timeline_ = nullptr;
  std::unique_ptr<Dram> dram_;
  std::vector<Bank> banks_;
  RemoteLines remote_;
  OrderObserver* observer_ = nullptr;
  Cycle lookup_ends_ = 0;  ///< of the request that acts: cycles from now
  std::uint8_t fill_ = 0;  ///< of a read of a remote line that has just missed: the name of the fill it waits for
  L2Coverage* coverage_ = nullptr;
  RemoteLineCoverage* remote_coverage_ = nullptr;
  bool follows_pages_ = false;
  std::vector<PageLines> pages_;  ///< by frame
  L2Spec spec_;
  L2AddressMap map_;
  Cycle tag_latency_;
  Cycle remote_tag_latency_;  ///< of other devices' requests
  Cycle data_latency_;
  std::uint32_t queue_;
  std::uint32_t mshr_limit_;
  std::uint32_t remote_mshr_limit_;
  std::uint64_t line_bytes_;
  ByteMask whole_line_;
  HandlerId hit_handler_;
  HandlerId fill_handler_;
  HandlerId forward_handler_;
  LineRequestQueue fetches_;  ///< leave behind the stores that have just acted
  Cycle last_forward_ = 0;    ///< requests leave for remote homes in order
  bool drops_flushed_ = false;
  bool room_ = false;
  DramClient* other_writer_ = nullptr;
  bool waking_ = false;
  std::uint32_t flushes_ = 0;  ///< asked for and not done; the first of them is under way
  std::size_t flush_bank_ = 0;
  TagArray::Slot flush_slot_ = 0;
  std::uint64_t flush_pending_ = 0;     ///< lines that the flush waits for
  std::vector<PhysLine> flush_filled_;  ///< those that have come since, and are to be written back
  L2Stats stats_;
  RemoteLineStats remote_stats_;
  RemoteWriteBackStats write_back_stats_;
  // Rounds of releases take turns: lines on their way home, by the round in which they left, and who waits.
  std::uint64_t changed_lines_ = 0;
  std::uint64_t released_to_host_ = 0;
  std::array<std::uint64_t, 2> on_the_way_home_{};
  std::uint8_t round_ = 0;        ///< of what leaves now
  bool releasing_ = false;        ///< the other round is awaited
  std::vector<Waiter> released_;  ///< by that
  std::vector<Waiter> to_release_;
  InvalidationStats invalidation_stats_;
  L2Lookups lookups_;
  LoadLatency latency_;
};

template <class Visit>
void L2Cache::for_each_remote_line(Visit visit) const {
  for (const Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (!bank.tags.valid(slot) || (bank.tags.state(slot) & kRemote) == 0) continue;
      visit(line_of(bank, slot), watch_ == nullptr ? nullptr : &bank.remote_images[slot].image);
    }
  }
}

}  // namespace nearfar
