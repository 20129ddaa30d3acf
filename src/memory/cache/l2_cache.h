// The cache in front of a device's memory, where every line of that memory has its home: a GPU's L2, the host's
// last-level cache. Banked, write-back; it orders all reads and writes of its lines.
//
// Requests come as groups of lines of one page, and each line acts for itself: in the cycle in which the first of its
// group arrives, in order; the arrival of the others, the bank's port, the tags and the data then add their time
// arithmetically. What cannot act (no MSHR, no room for a dirty victim) waits at the bank. What is ready
// together leaves together. Requests of other devices have a queue and MSHRs of their own, so that a stalled
// local request never holds up what another device waits for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/cache/cache_spec.h"
#include "memory/cache/mshr.h"
#include "memory/cache/protocol_coverage.h"
#include "memory/cache/tag_array.h"
#include "memory/data_oracle.h"
#include "memory/dram/dram.h"
#include "sim/partition.h"
#include "sim/spacing.h"
#include "sim/transaction.h"
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

/// The device around an L2 cache.
class L2Client {
 public:
  virtual ~L2Client() = default;
  /// The lines `t->mask` of `t->line`'s page are there for the device's own `t->cu`; the client takes `t`.
  virtual void lines_served(Transaction* t) = 0;
  /// It will be so within this window: a chance to bring what it needs into the host's cache.
  virtual void prepare_served(const Transaction& t, PrefetchStep step) const = 0;
  /// `lines` stores of the device's own compute unit to `page` have been ordered.
  virtual void stores_ordered(unsigned cu, PhysPage page, unsigned lines) = 0;
  /// Answer another device's requests for the lines `t->mask`; the first leaves `after` cycles from now, the others at
  /// reply_spacing() behind it. The client takes `t`.
  virtual void answer(Transaction* t, Cycle after) = 0;
  virtual Spacing reply_spacing(const Transaction& t) const = 0;
  /// Requests of another device have left the banks' queues.
  virtual void requests_taken(DeviceId source, std::uint32_t count) = 0;
  /// A bank's queue that had waiters `waiter` has room.
  virtual void l2_has_room(std::uint16_t waiter) = 0;
  /// Every line for which a write had been ordered when flush() was called has been handed to memory; once a call.
  virtual void flushed() = 0;
};

class L2Cache final : public DramClient {
 public:
  L2Cache(Partition& partition, const L2Spec& spec, const DramSpec& dram, std::uint64_t line_bytes,
          std::uint64_t clock_hertz, L2Client& client, DataWatch* watch);

  /// Takes room at the bank of `line` for a request of the device's own, which then must come. Where there is none,
  /// `waiter` is told when there is.
  bool reserve(PhysLine line, std::uint16_t waiter) {
    Bank& bank = bank_of(line);
    if (bank.reserved >= queue_) {
      bank.waiters.push(waiter);
      return false;
    }
    ++bank.reserved;
    return true;
  }
  /// The same for a requester that is bounded by other means (a scalar cache by its MSHRs).
  void reserve_always(PhysLine line) { ++bank_of(line).reserved; }

  /// Brings what a request for `lines` of a page will touch into the host's cache.
  void prefetch(PhysPage page, std::uint64_t lines, PrefetchStep step) const {
    if (step == PrefetchStep::Third) return;  // there is nothing left
    for (; lines != 0; lines &= lines - 1) {
      const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
      const Bank& bank = bank_of(line);
      if (step == PrefetchStep::First) bank.tags.prefetch(key(line));
      bank.mshrs.prefetch(line, step);
    }
  }

  /// The device's own request for the lines `t->mask` of `t->line`'s page, each reserved before. Line i of the group
  /// arrives i cycles after the first.
  void own_request(Transaction* t) { serve(t, false, Spacing::every(1)); }
  /// Another device's requests for such lines, which arrive at `spacing`.
  void remote_request(Transaction* t, Spacing spacing);

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

  void dram_has_room() override;

  /// From now on counts which events meet which states of a line.
  void cover(L2Coverage* coverage) { coverage_ = coverage; }

  L2Stats& stats() { return stats_; }
  Dram& dram() { return *dram_; }
  const LoadLatency& latency() const { return latency_; }

  /// Requests taken and not yet answered.
  std::uint64_t pending() const;
  /// What waits here, for the watchdog; empty when nothing does.
  std::string describe_waiting() const;

 private:
  struct Pending {
    TransactionQueue waiting;  ///< requests behind the one that memory is asked for, in order
    bool remote = false;       ///< whose share of the registers it counts against
    bool writes = false;       ///< the line will be dirty: a store or an atomic is among those who wait
    bool flush = false;        ///< a flush waits for the line
    RecordId record = 0;       ///< of the request that memory is asked for, when the oracle is on
  };
  using Mshrs = MshrFile<Pending>;

  struct Bank {
    TagArray tags;
    Mshrs mshrs;
    TransactionQueue own;     ///< the device's own requests that could not act
    TransactionQueue remote;  ///< other devices' requests that could not act
    Cycle port_free = 0;
    std::uint32_t index = 0;
    std::uint32_t reserved = 0;
    std::uint32_t own_mshrs = 0;
    std::uint32_t remote_mshrs = 0;
    std::uint32_t dirty = 0;        ///< lines
    WaitList waiters;               ///< who found no room here
    std::vector<LineImage> images;  ///< by slot, when the oracle is on
  };

  /// What has become of a line's request. Hit: the data is here. Done: a write has been performed. Missed: a miss
  /// register has been taken and memory is to be asked. Merged: it waits in the register of another. In a register a
  /// write counts as ordered. Stall: nothing; it has to try again.
  enum class Outcome : std::uint8_t { Hit, Done, Missed, Merged, Stall };

  /// The lines of one page.
  struct PageLines {
    std::uint64_t held = 0;
    std::uint64_t pending = 0;
  };
  PageLines& in_page(PhysPage page) {
    if (page.frame() >= pages_.size()) pages_.resize(page.frame() + page.frame() / 2 + 64);
    return pages_[page.frame()];
  }
  static constexpr std::uint8_t kDirty = 1;

  /// Lines of a group that leave together, as soon as none of them would leave before it is ready.
  struct Batch {
    std::uint64_t mask = 0;
    std::uint32_t count = 0;
    Cycle due = 0;  ///< when the first of them leaves

    static Cycle due_of(Cycle ready, Cycle behind) { return ready - std::min(ready, behind); }
    void add(std::uint64_t line, Cycle ready, Spacing spacing) {
      due = std::max(due, due_of(ready, spacing.at(count)));
      mask |= line;
      ++count;
    }
  };
  /// What a group has come to so far.
  struct Results {
    Spacing spacing;  ///< of the replies
    Batch hits;       ///< due in cycles from now
    Batch performed;  ///< writes; the same
    Batch missing;    ///< asked of memory; due in cycles of the clock
    Cycle missing_extra = 0;
  };
  /// Lines that memory has ready within so many cycles of one another come as one group.
  static constexpr Cycle kTogether = 16;

  unsigned bank_index(std::uint64_t number) const {
    const std::uint64_t upper = number >> bank_bits_;
    // Two folds spread strides of a row and of a page over the banks.
    const std::uint64_t low = bank_hash_ == IndexHash::Xor ? number ^ upper ^ upper >> 6 ^ upper >> 11 : number;
    return static_cast<unsigned>(low & (banks_.size() - 1));
  }
  Bank& bank_of(PhysLine line) { return banks_[bank_index(line.number_in_device())]; }
  const Bank& bank_of(PhysLine line) const { return banks_[bank_index(line.number_in_device())]; }
  PhysLine line_of(const Bank& bank, TagArray::Slot slot) const;
  std::uint64_t key(PhysLine line) const { return line.number_in_device() >> bank_bits_; }

  Cycle pass_port(Bank& bank, Cycle arrival);
  void serve(Transaction* group, bool remote, Spacing arrivals);
  Outcome act(Bank& bank, const Transaction& t, bool remote);
  Outcome write(Bank& bank, const Transaction& t, bool remote);
  Outcome miss(Bank& bank, const Transaction& t, bool remote);
  void install(Bank& bank, TagArray::Slot slot, PhysLine line);
  void make_dirty(Bank& bank, TagArray::Slot slot);
  void tell_ordered(const Transaction& t);
  void tell_performed(Bank& bank, TagArray::Slot slot, const Transaction& t);
  void note(const Transaction& t, Outcome outcome, Cycle extra, Results& results);
  void ask_memory(const Transaction& t, Cycle extra, Results& results);
  void send_missing(const Transaction& t, Results& results);
  void settle(Transaction* group, bool remote, Results& results);
  Transaction* part(const Transaction& t, std::uint64_t mask);
  void prepare_hit(const Transaction& t, PrefetchStep step) const;
  void prepare_fill(const Transaction& t, PrefetchStep step) const;
  void on_hit(Transaction* t);
  void on_fill(Transaction* t);
  void fill(Bank& bank, Transaction& t);
  void apply(Bank& bank, TagArray::Slot slot, const Transaction& t);
  void hand_over(Transaction* t);
  void wake(Bank& bank);
  bool wake_one(Bank& bank, TransactionQueue& queue, bool remote);
  void start_flush();
  void continue_flush();
  bool flush_dirty();
  bool flush_filled();
  void flush_line(Bank& bank, TagArray::Slot slot, PhysLine line);
  void drop_line(Bank& bank, TagArray::Slot slot, PhysLine line);
  void release(Bank& bank);
  L2State state_of(Bank& bank, PhysLine line) const;
  void cover_request(Bank& bank, const Transaction& t, bool remote);
  void cover_wait(Bank& bank, const Transaction& t, bool remote);
  void cover_flush();
  void cover_page(PhysPage page, bool leaves);

  Partition& partition_;
  L2Client& client_;
  DataWatch* watch_;
  std::unique_ptr<Dram> dram_;
  std::vector<Bank> banks_;
  L2Coverage* coverage_ = nullptr;
  bool follows_pages_ = false;
  std::vector<PageLines> pages_;  ///< by frame
  unsigned bank_bits_;
  IndexHash bank_hash_;
  Cycle tag_latency_;
  Cycle data_latency_;
  std::uint32_t queue_;
  std::uint32_t mshr_limit_;
  std::uint32_t remote_mshr_limit_;
  std::uint64_t line_bytes_;
  HandlerId hit_handler_;
  HandlerId fill_handler_;
  bool drops_flushed_ = false;
  bool room_ = false;
  bool waking_ = false;
  std::uint32_t flushes_ = 0;  ///< asked for and not done; the first of them is under way
  std::size_t flush_bank_ = 0;
  TagArray::Slot flush_slot_ = 0;
  std::uint64_t flush_pending_ = 0;     ///< lines that the flush waits for
  std::vector<PhysLine> flush_filled_;  ///< those that have come since, and are to be written back
  L2Stats stats_;
  LoadLatency latency_;
};

}  // namespace nearfar
