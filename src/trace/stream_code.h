// The operations of one wavefront as bytes (docs/traces.md, "Streams"): how they are written, checked, and read.
//
// Bytes are checked once, as a whole, when their frame is read. Whoever replays them then reads without looking.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "program/stream.h"
#include "trace/buffer_map.h"
#include "trace/bytes.h"

namespace nearfar {

/// What an operation is: the low four bits of its first byte. The high four are its form, or a small count.
enum class OpCode : std::uint8_t {
  VectorAlu = 1,
  ScalarAlu = 2,
  Local = 3,
  Barrier = 4,
  Wait = 5,
  Fence = 6,
  ScalarLoad = 7,
  Load = 8,
  Store = 9,
  Atomic = 10,
  Time = 11,
};

/// How the lanes of a memory operation are written.
enum class LaneForm : std::uint8_t {
  Row = 0,            ///< all lanes side by side
  Rows = 1,           ///< rows as a tile has them, in full
  PartOfRow = 2,      ///< some lanes side by side
  Strided = 3,        ///< all lanes, equally far apart
  MaskedStrided = 4,  ///< some of them
  Listed = 5,         ///< all lanes, each by its distance from the one before
  MaskedListed = 6,   ///< some of them
  Idle = 7,           ///< no lane takes part
};

/// By first byte: an operation that it says in full, or nothing.
inline constexpr std::array<Plain, 256> kWholeOperations = [] {
  std::array<Plain, 256> all{};
  for (unsigned count = 0; count < 15; ++count) {
    const auto set = [&](OpCode code, Plain op) { all[static_cast<unsigned>(code) | (count + 1) << 4] = op; };
    set(OpCode::VectorAlu, plain(OpKind::VectorAlu, count));
    set(OpCode::ScalarAlu, plain(OpKind::ScalarAlu, count));
    set(OpCode::Local, plain(OpKind::Local, count));
    set(OpCode::Wait, plain(OpKind::Wait, count));
    set(OpCode::Fence, plain(OpKind::Fence, count));
    set(OpCode::Barrier, barrier());
  }
  return all;
}();

/// Writes the operations of one wavefront after another.
class StreamEncoder {
 public:
  explicit StreamEncoder(unsigned lanes) : all_(~std::uint64_t{0} >> (kMaxLanes - lanes)), lanes_(lanes) {}

  void begin() {
    bytes_.clear();
    last_ = 0;
    time_ = 0;
  }
  const ByteVector& bytes() const { return bytes_; }
  ByteVector take() { return std::move(bytes_); }

  /// Any operation but those with lanes.
  void add(Plain op);
  /// A load, a store or an atomic.
  void add(OpKind kind, unsigned bytes, const LaneAddresses& lanes);
  /// When the next operation was issued, in cycles since the wavefront began; never before the one in front of it.
  void time(std::uint64_t cycles);

 private:
  void put_counted(OpCode code, std::uint64_t count);
  void begin_memory(OpCode code, LaneForm form, unsigned bytes, std::uint64_t first);
  void add_rows(OpCode code, unsigned bytes, const Rows& rows);
  void add_lanes(OpCode code, unsigned bytes, const LaneAddresses& lanes);
  void put_mask(std::uint64_t mask);
  void put_distances(const LaneAddresses& lanes);

  ByteVector bytes_;
  ByteVector distances_;
  std::uint64_t all_;
  unsigned lanes_;
  std::uint64_t last_ = 0;  ///< address of the memory operation before
  std::uint64_t time_ = 0;
};

/// Checks the bytes of one wavefront: every operation is whole and possible, every address lies in a buffer. Throws
/// MalformedBytes, with the offset in `bytes`.
void check_stream(std::span<const std::uint8_t> bytes, unsigned lanes, const BufferMap& buffers);

/// The lanes of the memory operation at which a decoder stands.
struct RecordedLanes {
  std::uint64_t first = 0;
  std::uint64_t mask = 0;
  std::uint64_t distance = 0;               ///< from lane to lane, or from row to row
  const std::uint8_t* distances = nullptr;  ///< of listed lanes
  std::uint32_t step = 0;
  std::uint16_t width = 0;
  std::uint8_t lanes = 0, rows = 0, lane = 0;  ///< of rows; `lane` is the first that takes part
  std::uint8_t unit = 0;                       ///< of listed lanes: distances are shifted by this
  LaneForm form = LaneForm::Idle;

  void fill(LaneAddresses& out) const;
};

/// Reads the operations of a stream that has been checked.
class StreamDecoder {
 public:
  StreamDecoder(const std::uint8_t* begin, const std::uint8_t* end, unsigned lanes)
      : at_(begin), end_(end), lanes_(static_cast<std::uint8_t>(lanes)) {}

  bool at_end() const { return at_ == end_; }
  /// Reads the next operation; of a memory operation also what its lanes are. A Time comes as Pause, and `pause_cycles`
  /// is how much later the next operation was.
  Plain next(RecordedLanes& lanes) {
    const Plain whole = kWholeOperations[*at_];
    if (whole == Plain{}) return next_in_parts(lanes);
    ++at_;
    return whole;
  }
  std::uint64_t pause_cycles() const { return pause_; }

 private:
  Plain next_in_parts(RecordedLanes& lanes);
  void read_lanes(LaneForm form, unsigned bytes, RecordedLanes& lanes);

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint64_t last_ = 0;
  std::uint64_t pause_ = 0;
  std::uint8_t lanes_;
};

}  // namespace nearfar
