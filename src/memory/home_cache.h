// The cache in front of a device's memory, where every line of that memory has its home: a GPU's L2, the host's
// last-level cache. Banked, write-back; it orders all reads and writes of its lines.
//
// A request acts in the cycle in which it reaches its bank, in order of arrival; the bank's port, the tags and the
// data then add their time arithmetically. What cannot act (no miss register, no room for a dirty victim) waits at
// the bank. Requests of other devices have a queue and miss registers of their own, so that a stalled local request
// never holds up what another device waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/cache_spec.h"
#include "memory/dram.h"
#include "memory/mshr.h"
#include "memory/oracle.h"
#include "memory/tag_array.h"
#include "sim/partition.h"
#include "sim/transaction.h"
#include "sim/wait_list.h"
#include "stats/latency.h"
#include "stats/stat.h"

namespace nearfar {

struct HomeCacheStats {
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

/// The device around a home cache.
class HomeClient {
 public:
  virtual ~HomeClient() = default;
  /// The lines `t->mask` of `t->line`'s page are there for the device's own `t->cu`; the client takes `t`.
  virtual void lines_served(Transaction* t) = 0;
  /// `lines` stores of the device's own compute unit to `page` have been ordered.
  virtual void stores_ordered(unsigned cu, PhysPage page, unsigned lines) = 0;
  /// Answer another device's request; it leaves `after` cycles from now. The client takes `t`.
  virtual void answer(Transaction* t, Cycle after) = 0;
  /// A request of another device has left the bank's queue.
  virtual void request_taken(DeviceId source) = 0;
  /// A bank's queue that had refused `waiter` has room.
  virtual void home_has_room(std::uint16_t waiter) = 0;
  /// Every line that was dirty when flush() was called has been handed to memory.
  virtual void flushed() = 0;
};

class HomeCache final : public DramClient {
 public:
  HomeCache(Partition& partition, const HomeCacheSpec& spec, const DramSpec& dram, std::uint64_t line_bytes,
            std::uint64_t clock_hertz, HomeClient& client, Oracle* oracle);

  /// Takes room at the bank of `line` for a request of the device's own, which then must come. Where there is none,
  /// `waiter` is told when there is.
  bool reserve(PhysLine line, std::uint16_t waiter) {
    Bank& bank = bank_of(line);
    if (bank.reserved >= queue_) {
      bank.refused.push(waiter);
      return false;
    }
    ++bank.reserved;
    return true;
  }
  /// The same for a requester that is bounded by other means (a scalar cache by its miss registers).
  void reserve_always(PhysLine line) { ++bank_of(line).reserved; }

  /// Brings what a request for `line` will touch into the host's cache.
  void prefetch(PhysLine line) {
    Bank& bank = bank_of(line);
    bank.tags.prefetch(key(line));
  }

  /// The device's own request for the lines `t->mask` of `t->line`'s page, each reserved before. Line i of the group
  /// arrives i cycles after the first.
  void own_request(Transaction* t);
  /// Another device's request for `t->line`.
  void remote_request(Transaction* t);

  /// Writes all dirty lines back; they stay, clean.
  void flush();

  /// Whether a line of a page is on its way from memory.
  bool page_pending(PhysPage page);
  /// Writes the dirty lines of a page back, of which none is pending, and drops all of them if it `leaves`.
  void write_back_page(PhysPage page, bool leaves);

  void dram_has_room() override;

  HomeCacheStats& stats() { return stats_; }
  Dram& dram() { return *dram_; }
  const LoadLatency& latency() const { return latency_; }
  std::uint64_t key_limit() const { return banks_.front().tags.key_limit() << bank_bits_; }

  /// Requests taken and not yet answered.
  std::uint64_t pending() const;
  /// What waits here, for the watchdog; empty when nothing does.
  std::string describe_waiting() const;

 private:
  struct Pending {
    TransactionQueue waiting;  ///< requests behind the one that memory is asked for, in order
    bool remote = false;       ///< whose share of the registers it counts against
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
    std::uint32_t dirty = 0;              ///< lines
    WaitList refused;                     ///< who found no room here
    std::vector<std::uint32_t> versions;  ///< by slot, when the oracle is on
  };

  enum class Outcome : std::uint8_t { Hit, Done, Kept, Stall };
  static constexpr std::uint8_t kDirty = 1;

  unsigned bank_index(std::uint64_t number) const;
  Bank& bank_of(PhysLine line) { return banks_[bank_index(line.number_in_device())]; }
  PhysLine line_of(const Bank& bank, TagArray::Slot slot) const;
  std::uint64_t key(PhysLine line) const { return line.number_in_device() >> bank_bits_; }

  Cycle pass_port(Bank& bank, Cycle arrival);
  Outcome act(Bank& bank, Transaction* t, bool remote, Cycle extra);
  Outcome write(Bank& bank, Transaction* t, bool remote, Cycle extra);
  Outcome miss(Bank& bank, Transaction* t, bool remote, Cycle extra);
  void install(Bank& bank, TagArray::Slot slot, PhysLine line);
  void write_hit(Bank& bank, TagArray::Slot slot, const Transaction& t);
  void read_hit(Bank& bank, TagArray::Slot slot, const Transaction& t);
  void finish(Bank& bank, Transaction* t, bool remote, Outcome outcome, Cycle extra);
  void acknowledge(const Transaction& t, bool remote, Cycle after);
  void on_hit(Transaction* t);
  void on_fill(Transaction* t);
  void apply_after_fill(Bank& bank, TagArray::Slot slot, Transaction* t);
  void wake(Bank& bank);
  bool wake_one(Bank& bank, TransactionQueue& queue, bool remote);
  void continue_flush();
  void release(Bank& bank);

  Partition& partition_;
  HomeClient& client_;
  Oracle* oracle_;
  std::unique_ptr<Dram> dram_;
  std::vector<Bank> banks_;
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
  bool room_ = false;
  bool waking_ = false;
  bool flushing_ = false;
  std::size_t flush_bank_ = 0;
  TagArray::Slot flush_slot_ = 0;
  HomeCacheStats stats_;
  LoadLatency latency_;
};

}  // namespace nearfar
