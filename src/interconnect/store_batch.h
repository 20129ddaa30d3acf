// Posted stores on their way from a GPU to another device: what leaves together, and the packet that stands for it on
// the links. The sender keeps a batch until it hears that all of it has been written; until then the receiver reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "interconnect/packet_format.h"
#include "memory/byte_masks.h"
#include "memory/line_request.h"
#include "memory/packet.h"
#include "sim/types.h"

namespace nearfar {

/// A store as it leaves an L1: some bytes of one line at home elsewhere.
struct LineStore {
  PhysLine line;
  ByteMask mask;
  std::uint32_t record = 0;  ///< the data oracle's
};

/// Where a line lies in the memory of its device, in bytes.
inline std::uint64_t address_of(PhysLine line, std::uint64_t line_bytes) {
  return line.page().frame() * kPageBytes + line.index() * line_bytes;
}

/// Why stores that were held back leave.
enum class FlushCause : std::uint8_t {
  None,     ///< they were not
  Window,   ///< one lies outside the addresses that a packet covers
  Payload,  ///< a packet is full
  Entries,  ///< all entries are in use
  Bypass,   ///< one is too large for a packet, and goes alone
  Load,     ///< a load asks for the line
  Atomic,   ///< an atomic does
  Release,  ///< a fence of system scope
  Kernel,   ///< the end of a kernel
  Timeout,  ///< nothing has come for a while
};

struct StoreBatch {
  StoreBatch* next = nullptr;    ///< in a queue
  std::vector<LineStore> lines;  ///< what the receiver writes, in order
  WireSize wire;
  std::uint32_t stores = 0;  ///< of the program; several may have become one line
  std::uint32_t data_bytes = 0;
  std::uint32_t pieces = 0;  ///< that the receiver takes out of a packet; 0: it is plain writes
  FlushCause cause = FlushCause::None;

  void clear() {
    lines.clear();
    wire = {};
    stores = data_bytes = pieces = 0;
    cause = FlushCause::None;
  }
  void add(const LineStore& store) {
    lines.push_back(store);
    data_bytes += store.mask.count();
  }
};

/// Batches that are free, and those that a queue has just filled.
class StoreBatches {
 public:
  /// An empty one behind those that are ready.
  StoreBatch& add(FlushCause cause) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<StoreBatch>());
      free_.push_back(all_.back().get());
    }
    StoreBatch& batch = *free_.back();
    free_.pop_back();
    batch.clear();
    batch.cause = cause;
    ready_.push_back(&batch);
    return batch;
  }
  std::vector<StoreBatch*>& ready() { return ready_; }
  void recycle(StoreBatch& batch) { free_.push_back(&batch); }

 private:
  std::vector<std::unique_ptr<StoreBatch>> all_;
  std::vector<StoreBatch*> free_;
  std::vector<StoreBatch*> ready_;
};

struct StorePacket : Packet {
  const StoreBatch* batch = nullptr;
  std::uint32_t packets = 0;
  std::uint32_t headers = 0;  ///< credits that it holds: for packets, and for their payload
  std::uint32_t data = 0;
};
static_assert(EventType<StorePacket>);

/// Requests and replies are for lines of a page and take a packet each; stores know how many they are; other messages
/// are one packet.
inline std::uint32_t packets_of(const Packet& packet) {
  if (packet.type == PacketType::Lines) return static_cast<const LineRequest&>(packet).lines();
  return packet.type == PacketType::Stores ? static_cast<const StorePacket&>(packet).packets : 1;
}

}  // namespace nearfar
