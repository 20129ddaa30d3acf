// FinePack's remote write queue, the partition of one peer: lines of which stores have written bytes, with an enable
// for each byte. Stores to a line that is held merge with it. All that is held lies in one window of addresses and fits
// one packet: runs of bytes, each behind a sub-header with its offset from the window's base and its length. What does
// not fit flushes the partition first. No time: the egress asks.
#pragma once

#include <cstdint>
#include <vector>

#include "interconnect/packet_format.h"
#include "interconnect/store_queue.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

class Section;

/// What a load of a line that is held flushes.
enum class LoadFlush : std::uint8_t { Partition, Entry, Queue };

struct RemoteWriteQueueSpec {
  std::uint32_t entries = 64;   // lines, of each peer
  std::uint32_t subheader = 5;  // bytes: 10 bits of length, the others of offset
  Bytes max_payload = 4096;     // of a packet
  LoadFlush load_flush = LoadFlush::Partition;
  std::uint32_t banks = 2;
  std::uint32_t stores_per_cycle = 1;
  Cycle timeout = 0;
  std::uint32_t unpack_entries = 64;
  std::uint32_t unpack_per_cycle = 16;

  static constexpr unsigned kLengthBits = 10;
  unsigned offset_bits() const { return 8 * subheader - kLengthBits; }
  /// The payload that the packets of a format have room for.
  std::uint32_t payload_of(const PacketFormat& format) const;

  void describe(Section& section);
};

struct RemoteWriteQueueStats {
  std::uint64_t packets = 0;
  std::uint64_t stores = 0;
  std::uint64_t subpackets = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t merged_stores = 0;
  std::uint64_t merged_bytes = 0;
  std::uint64_t flushes_window = 0;
  std::uint64_t flushes_payload = 0;
  std::uint64_t flushes_entries = 0;
  std::uint64_t flushes_load = 0;
  std::uint64_t flushes_atomic = 0;
  std::uint64_t flushes_release = 0;
  std::uint64_t flushes_kernel = 0;
  std::uint64_t flushes_timeout = 0;
  std::uint64_t flushes_bypass = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t configurations = 0;

  void count_flush(FlushCause cause);
  void describe(StatVisitor& visitor);
};

class RemoteWriteQueue : public StoreQueue {
 public:
  /// The base register while nothing is held.
  static constexpr std::uint64_t kNoBase = ~std::uint64_t{0};

  RemoteWriteQueue(const RemoteWriteQueueSpec& spec, const PacketFormat& format, std::uint64_t line_bytes,
                   RemoteWriteQueueStats& stats);

  void store(const LineStore& store, StoreBatches& out) override;
  bool before_load(PhysLine line, StoreBatches& out) override;
  void before_atomic(PhysLine line, StoreBatches& out) override;
  void flush(FlushCause cause, StoreBatches& out) override;
  bool empty() const override { return entries_.empty(); }

  /// Bytes of payload that are still free; the window that all entries lie in.
  std::uint32_t available() const { return available_; }
  std::uint64_t base() const { return base_; }
  std::size_t entries() const { return entries_.size(); }

 protected:
  /// What a batch, of which lines and pieces are known, takes on the wire. `base` is its window.
  virtual WireSize packetize(const StoreBatch& batch, std::uint64_t base);

  const PacketFormat& format() const { return format_; }
  RemoteWriteQueueStats& stats() { return stats_; }
  std::uint32_t subheader() const { return spec_.subheader; }

 private:
  struct Entry {
    LineStore held;
    std::uint32_t stores = 0;
  };

  std::uint32_t cost(const ByteMask& mask) const { return mask.count() + spec_.subheader * mask.runs(); }
  std::uint64_t window_of(const LineStore& store) const;
  void insert(const LineStore& store, StoreBatches& out);
  void make_room(const LineStore& store, std::uint64_t window, StoreBatches& out);
  void write(Entry& entry, const LineStore& store);
  void bypass(const LineStore& store, StoreBatches& out);
  void add_to(StoreBatch& batch, const Entry& entry);
  void send(StoreBatch& batch, std::uint64_t base);
  void flush_entry(std::size_t index, FlushCause cause, StoreBatches& out);
  std::size_t find(PhysLine line) const;

  RemoteWriteQueueSpec spec_;
  const PacketFormat& format_;
  std::uint64_t line_bytes_;
  RemoteWriteQueueStats& stats_;
  std::uint32_t max_payload_;
  std::vector<Entry> entries_;  ///< in order of allocation
  std::uint64_t base_ = kNoBase;
  std::uint32_t available_;
};

}  // namespace nearfar
