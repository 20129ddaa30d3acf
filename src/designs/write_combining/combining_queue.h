// A write-combining buffer at the egress, the part of one peer: lines of which stores have written bytes. Stores to a
// line that is held merge with it; when all entries are in use, the oldest leaves. A line leaves as plain writes of its
// runs of bytes, or whole with a mask of the bytes that count.
#pragma once

#include <cstdint>
#include <vector>

#include "interconnect/packet_format.h"
#include "interconnect/store_queue.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

class Section;

enum class CombinedPayload : std::uint8_t { Runs, MaskedLine };

struct CombiningSpec {
  std::uint32_t entries = 64;  // lines, of each peer
  CombinedPayload payload = CombinedPayload::Runs;
  std::uint32_t banks = 64;  // lines that may wait for the link
  std::uint32_t stores_per_cycle = 1;
  Cycle timeout = 0;

  /// With or without a choice of what a line leaves as.
  void describe(Section& section, bool with_payload);
  void describe(Section& section) { describe(section, true); }
};

struct CombiningStats {
  std::uint64_t lines = 0;
  std::uint64_t stores = 0;
  std::uint64_t merged_stores = 0;
  std::uint64_t merged_bytes = 0;
  std::uint64_t evictions = 0;
  std::uint64_t load_evictions = 0;
  std::uint64_t atomic_evictions = 0;
  std::uint64_t flushes = 0;

  void describe(StatVisitor& visitor);
};

class CombiningQueue final : public StoreQueue {
 public:
  CombiningQueue(const CombiningSpec& spec, const PacketFormat& format, std::uint64_t line_bytes,
                 CombiningStats& stats);

  void store(const LineStore& store, StoreBatches& out) override;
  bool before_load(PhysLine line, StoreBatches& out) override;
  void before_atomic(PhysLine line, StoreBatches& out) override;
  void flush(FlushCause cause, StoreBatches& out) override;
  bool empty() const override { return entries_.empty(); }
  std::size_t entries() const { return entries_.size(); }

 private:
  struct Entry {
    LineStore held;
    std::uint32_t stores = 0;
  };

  std::size_t find(PhysLine line) const;
  void send(const Entry& entry, FlushCause cause, StoreBatches& out);
  bool evict(PhysLine line, FlushCause cause, StoreBatches& out);

  CombiningSpec spec_;
  const PacketFormat& format_;
  std::uint32_t masked_line_;  ///< bytes of a line and its mask
  CombiningStats& stats_;
  std::vector<Entry> entries_;  ///< the oldest first
};

}  // namespace nearfar
