// What the caches and directories of NMOESI tell one another, and all that they know of what is around them.
//
// Requests go from a child to its parent, probes from a parent to its children, responses both ways. Messages of one
// class from one agent to another keep their order; nothing else is assumed of the way they travel, but that a home's
// acknowledgements of Puts and its probes reach the last-level cache beside it in order: the home has no bits for that
// cache, so a probe must not pass the acknowledgement of what was put.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "coherence/nmoesi/protocol_table.h"
#include "memory/line_image.h"
#include "sim/types.h"

namespace nearfar::nmoesi {

/// Lines and blocks by their number in the host's memory.
using Line = std::uint64_t;
using Block = std::uint64_t;
/// One bit for each granule of a line: this copy has changed these bytes, and its parent does not have them yet.
using Mask = std::uint64_t;

/// A cache or directory, by a number that means something to who carries the messages.
using Agent = std::uint16_t;
inline constexpr Agent kNobody = 0xffff;

inline constexpr unsigned kMaxBlockLines = 256;

/// Lines of a block.
class LineSet {
 public:
  static LineSet all(unsigned lines) {
    LineSet set;
    for (unsigned i = 0; i < lines; i += 64) {
      set.words_[i / 64] = lines - i >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (lines - i)) - 1;
    }
    return set;
  }
  bool contains(unsigned line) const { return (words_[line / 64] >> line % 64 & 1) != 0; }
  void insert(unsigned line) { words_[line / 64] |= std::uint64_t{1} << line % 64; }
  void erase(unsigned line) { words_[line / 64] &= ~(std::uint64_t{1} << line % 64); }
  void clear() { words_ = {}; }
  bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  unsigned size() const {
    unsigned count = 0;
    for (const std::uint64_t word : words_) count += static_cast<unsigned>(std::popcount(word));
    return count;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (unsigned word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        visit(word * 64 + static_cast<unsigned>(std::countr_zero(rest)));
      }
    }
  }

 private:
  std::array<std::uint64_t, kMaxBlockLines / 64> words_{};
};

enum class Kind : std::uint8_t {
  // requests
  Read,     ///< a copy, please
  ReadN,    ///< the same for a non-coherent store
  Write,    ///< the only copy, please
  Put,      ///< a changed copy leaves; or the owner's, unchanged
  Publish,  ///< a changed copy stays, and others are to see it
  // probes
  ProbeRead,
  ProbeInv,
  FwdRead,  ///< a read request that the child answers to `requester` itself
  // responses
  DataS,
  DataE,
  DataX,      ///< the only copy, to a write request
  PeerData,   ///< as DataS, from another child of the parent
  ProbeAck,   ///< the answer to a probe, with the changed bytes if there are any
  DirUpdate,  ///< the answer to a FwdRead
  PutAck,     ///< to a Put or a Publish
  Listen,     ///< another child will send the data
  Done,       ///< the data is in its place
};
inline constexpr std::size_t kKinds = 17;

enum class MessageClass : std::uint8_t { Request, Probe, Response };
constexpr MessageClass class_of(Kind kind) {
  if (kind <= Kind::Publish) return MessageClass::Request;
  return kind <= Kind::FwdRead ? MessageClass::Probe : MessageClass::Response;
}

/// What became of a copy that was put or published.
enum class Ack : std::uint8_t { Keep, Gone, Stale };

/// Bytes of a line: those under the mask are what a child has changed; of whole lines the mask says nothing.
struct LineBytes {
  std::uint16_t line = 0;  ///< of its block
  State state = State::I;  ///< of the child's copy from now on
  bool put = false;        ///< a Put with the same bytes is on its way
  Mask mask = 0;
  LineImage image;
};
using LineBytesList = std::vector<LineBytes>;

struct Message {
  static constexpr std::uint16_t kWholeBlock = 0xffff;

  Kind kind = Kind::Read;
  State state = State::I;     ///< of the sender's copy: before a Put, after a probe
  Ack ack = Ack::Keep;        ///< PutAck
  bool n_store = false;       ///< Read: what it is for, for the counters
  bool sent = false;          ///< DirUpdate: PeerData has been sent
  bool reads_memory = false;  ///< Data*, PeerData, Put: it leaves when memory has been read
  Agent from = kNobody;
  Agent to = kNobody;
  Agent requester = kNobody;         ///< FwdRead, Listen
  std::uint16_t line = kWholeBlock;  ///< of its block
  std::uint16_t changed = 0;         ///< lines with changed bytes
  std::uint16_t held = 0;            ///< ProbeAck of lines: copies that are still there
  Block block = 0;
  Mask mask = 0;                         ///< of a line that is put
  Cycle ready = 0;                       ///< it leaves no earlier
  LineSet lines;                         ///< probes of lines: which
  std::unique_ptr<LineBytesList> bytes;  ///< none where nobody follows data and none of it is needed

  bool whole_block() const { return line == kWholeBlock; }
};

/// What is around a cache or directory: the way that its messages take, and the memory behind it.
class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual void send(Message&& message) = 0;
  /// Memory of `agent` reads or writes `lines` lines of a block from one on. When the read will be complete.
  virtual Cycle read_memory(Agent agent, Block block, unsigned line, unsigned lines) = 0;
  virtual void write_memory(Agent agent, Block block, unsigned line, unsigned lines) = 0;
};

/// What the agents of one hierarchy have in common.
struct Geometry {
  unsigned line_bytes = 64;
  unsigned block_lines = 64;
  unsigned granule = 4;
  bool follows_data = false;  ///< images of lines are kept: tests, and runs that are checked

  Block block_of(Line line) const { return line / block_lines; }
  std::uint16_t index_of(Line line) const { return static_cast<std::uint16_t>(line % block_lines); }
  Line line_of(Block block, unsigned index) const { return block * block_lines + index; }
  ByteMask bytes_of(Mask mask) const;
  /// The granules of these bytes, all of which they must cover.
  Mask granules_of(const ByteMask& bytes) const;
  bool covers_granules(const ByteMask& bytes) const;
  /// Lays the bytes of `from` under the mask over `to`.
  void overlay(LineImage& to, const LineImage& from, Mask mask) const;
};

}  // namespace nearfar::nmoesi
