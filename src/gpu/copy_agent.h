// A device's part in the copies of the host's DMA: reads chunks out of its memory and writes them into it. A chunk lies
// in one frame at each of its ends, and goes straight from one device to the other.
//
// At the source the dirty lines of the chunk are written back, stay, and all are read from memory. At the destination
// cached copies leave, and memory is written; who asked is told at once, as of any write that memory has accepted.
// Where useful bytes are followed, a chunk takes along which of its bytes had changed, at no cost on the link.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interconnect/network_interface.h"
#include "interconnect/useful_bytes.h"
#include "memory/cache/l2_cache.h"
#include "memory/data_oracle.h"

namespace nearfar {

/// Lines of one frame on their way to another. A side that is missing is memory of the host outside the address space:
/// nothing of it is cached, and its time is not modelled.
struct CopyChunk {
  std::uint32_t id = 0;
  std::optional<PhysLine> from;
  std::optional<PhysLine> to;
  std::uint32_t lines = 0;
};

/// What devices tell one another about a chunk.
enum class CopyMessageKind : std::uint8_t {
  Read,  ///< host → device: read the chunk and send it
  Data,  ///< device → device: its data
  Done,  ///< device → host: it has been written
};

/// By line of a chunk: the bytes that had changed at the source since they were copied to the same device last.
using ChangedBytes = std::array<ByteMask, 64>;

struct CopyMessage : Packet {
  PhysLine from;  ///< a line of no device where the chunk has no such side
  PhysLine to;
  const ChangedBytes* changed = nullptr;  ///< the source's; none: all of them
  std::uint32_t id = 0;
  std::uint16_t lines = 0;
  CopyMessageKind kind = CopyMessageKind::Read;
};
static_assert(EventType<CopyMessage>);

/// The chunk of a message; the lines of a frame that a chunk has, by its first.
CopyChunk chunk_of(const CopyMessage& message);
std::uint64_t lines_of_chunk(PhysLine first, std::uint32_t lines);

struct CopyBytesStats {
  std::uint64_t data_bytes = 0;
  std::uint64_t protocol_bytes = 0;
  std::uint64_t host_bytes = 0;

  void describe(StatVisitor& visitor);
};

/// The DMA, in the host.
class CopyListener {
 public:
  virtual ~CopyListener() = default;
  virtual void chunk_done(std::uint32_t id) = 0;
};

class CopyAgent : public DramClient {
 public:
  CopyAgent(Partition& partition, L2Cache& cache, NetworkInterface& network, DataWatch* watch, DeviceId host,
            std::uint64_t header, std::uint64_t line);
  /// In the host: who is told when a chunk has come.
  void set_listener(CopyListener& listener) { listener_ = &listener; }
  /// In a GPU: where the bytes that come are followed, and which have changed is known.
  void set_useful(UsefulBytes* useful) { useful_ = useful; }

  /// Sends a chunk on its way, from the host.
  void start(const CopyChunk& chunk);
  void on_message(CopyMessage* message);
  /// Chunks that wait for room in the host's memory are written as far as there is some.
  void dram_has_room() override;

  CopyBytesStats& stats() { return stats_; }
  bool idle() const { return busy_ == 0; }
  std::string describe_waiting() const;

 private:
  struct Reading {
    CopyChunk chunk;
    std::uint32_t lines_left = 0;
  };

  DeviceId device() const { return partition_.device(); }
  CopyMessage* make(CopyMessageKind kind, const CopyChunk& chunk);
  void send(DeviceId to, CopyMessageKind kind, const CopyChunk& chunk, std::uint64_t bytes);
  void take_turn(CopyMessageKind kind, const CopyChunk& chunk);
  void on_turn(CopyMessage* message);
  bool finds_lines_pending(CopyMessage* message);
  bool finds_room(const CopyChunk& chunk);
  void proceed(CopyMessage* message);
  void read(const CopyChunk& chunk);
  void on_line(IndexEvent* event);
  void deliver(const CopyChunk& chunk);
  void note_changes(const CopyChunk& chunk);
  void write(const CopyChunk& chunk, const ChangedBytes* changed);
  void note_arrival(const CopyChunk& chunk, const ChangedBytes* changed);
  void done(const CopyChunk& chunk);

  Partition& partition_;
  L2Cache& cache_;
  NetworkInterface& network_;
  DataWatch* watch_;
  DeviceId host_;
  std::uint64_t header_;
  std::uint64_t line_;
  CopyListener* listener_ = nullptr;
  UsefulBytes* useful_ = nullptr;
  /// By the number of a chunk. The receiver reads them; they are filled anew when the host has used the number again,
  /// after it had heard that the chunk was written.
  std::vector<std::unique_ptr<ChangedBytes>> changed_;
  CopyBytesStats stats_;
  HandlerId turn_handler_;
  HandlerId line_handler_;
  std::vector<Reading> readings_;
  std::vector<std::uint32_t> free_;   ///< among them
  std::deque<CopyMessage*> waiting_;  ///< in the host: chunks that have come and find no room in memory, in order
  std::uint64_t busy_ = 0;            ///< chunks that are read or written here
};

}  // namespace nearfar
