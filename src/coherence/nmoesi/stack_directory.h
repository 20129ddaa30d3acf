// The stacked memory directory (SMD): makes a stacked DRAM a cache of blocks of the host's memory. Its parent is the
// directory of the block's home, its one child the L2 slice in front of it, which asks for lines.
//
// A block has one state, and for each of its lines a presence bit (the L2 may hold it) and a mask of changed bytes.
// W and P, the probes of the parent and the recall of lines (C) are the block's, and G is a line's: lines are granted
// side by side (L), and whatever is about the whole block waits until none is.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coherence/nmoesi/coverage.h"
#include "coherence/nmoesi/message.h"

namespace nearfar::nmoesi {

enum class WriteBack : std::uint8_t { WholeBlock, DirtyLines };

struct StackDirectoryOptions {
  Agent self = kNobody;
  Agent child = kNobody;
  std::uint64_t sets = 1;
  std::uint32_t ways = 1;
  std::uint64_t set_stride = 1;     ///< neighbouring blocks of this stack are so many blocks apart
  std::uint32_t transactions = 64;  ///< blocks asked for at once
  std::uint32_t put_buffer = 4;     ///< blocks put and not acknowledged
  bool supplies_shared = false;     ///< S copies answer FwdRead too
  bool notifies_clean = false;      ///< the home is told of unchanged copies that leave
  const Table* table = &kOwnedTable;
  Geometry geometry;
};

struct StackDirectoryStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t upgrades = 0;
  std::uint64_t evictions = 0;
  std::uint64_t recalls = 0;
  std::uint64_t lines_recalled = 0;
  std::uint64_t stale_puts = 0;
  std::uint64_t peer_supplies = 0;
  std::uint64_t published = 0;
  std::uint64_t changed_puts = 0;  ///< blocks put or published with changed bytes
  std::uint64_t put_lines = 0;     ///< lines with changed bytes in them
  std::uint64_t bits_merged = 0;   ///< of masks, from the L2
};

/// Who is told of a directory's blocks.
class StackListener {
 public:
  virtual ~StackListener() = default;
  /// A block leaves, of which so many lines had been asked for.
  virtual void block_left(unsigned lines_used) = 0;
  /// A request for a line had to wait for its block from `since` on, and goes on.
  virtual void waited(Cycle since) = 0;
  virtual Cycle now() const = 0;
};

class StackDirectory {
 public:
  /// The home of a block is `first_home` + block mod `homes`.
  StackDirectory(const StackDirectoryOptions& options, Agent first_home, unsigned homes, Fabric& fabric,
                 StackListener* listener);
  StackDirectory(const StackDirectory&) = delete;
  StackDirectory& operator=(const StackDirectory&) = delete;

  void receive(Message&& message);

  /// The copy of a block leaves, in its turn.
  void evict(Block block);
  /// Every copy that is changed leaves, or every one.
  void evict_all(bool clean_too);
  /// Kernel boundary: what may differ from other copies (N, and O with changed bytes) goes to the home.
  void publish_all();

  bool idle() const { return transactions_.empty() && to_sweep_.empty(); }
  std::string describe_waiting() const;
  void cover(Coverage* coverage) { coverage_ = coverage; }
  const StackDirectoryStats& stats() const { return stats_; }
  std::size_t blocks() const { return entries_.size() - free_entries_.size(); }

  // What tests and checks look at.
  struct Entry {
    Block block = 0;
    State state = State::I;
    bool used = false;  ///< the entry holds a block
    bool busy = false;  ///< it has a transaction
    std::uint32_t next_in_set = kNoEntry;
    std::uint64_t age = 0;
    LineSet present;  ///< lines that the L2 may hold
    LineSet touched;  ///< lines that have been asked for
    std::vector<Mask> masks;
    std::vector<LineImage> images;
  };
  const Entry* entry_of(Block block) const;
  State state_of(Block block) const;
  Phase phase_of(Block block) const;
  template <class Visit>
  void for_each_block(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.used && entry.state != State::I) visit(entry);
    }
  }
  /// Bytes that have been put and that nobody has taken yet: visit(block, LineBytes).
  template <class Visit>
  void for_each_put(Visit visit) const {
    for (const auto& [block, transaction] : transactions_) {
      if (transaction->phase != Phase::P || !transaction->put_full) continue;
      for (const LineBytes& bytes : transaction->put) visit(block, bytes);
    }
  }

 private:
  static constexpr std::uint32_t kNoEntry = 0xffffffff;
  enum class Recall : std::uint8_t { Purge, Eviction, Parent, Gone };

  struct Request {
    enum class What : std::uint8_t { Message, Evict, Publish };
    What what = What::Message;
    Message message;
    Cycle since = 0;
  };
  struct Transaction {
    Block block = 0;
    Phase phase = Phase::Q;
    Recall recall = Recall::Purge;
    bool recalling = false;  ///< the L2 has been probed and has not answered
    unsigned granted = 0;    ///< lines in G
    LineSet granted_lines;
    Request current;
    std::deque<Request> queue;
    bool has_probe = false;
    Message probe;  ///< of the parent, which waits or is being served
    bool published = false;
    bool put_full = false;
    bool acknowledged = false;  ///< what was put, while a probe takes it: that goes first
    LineBytesList put;
  };

  Transaction* find(Block block);
  Transaction& open(Block block);
  void close(Transaction& transaction);
  Entry* find_entry(Block block);
  std::uint64_t set_of(Block block) const { return block / options_.set_stride % options_.sets; }
  bool make_room(Block block);
  void remove(Entry& entry);
  void retry_room();
  void sweep();

  void on_child_request(Message&& message);
  void go_on(Transaction& transaction);
  bool may_begin(const Transaction& transaction, const Request& request);
  void begin(Transaction& transaction);
  void begin_access(Transaction& transaction);
  void ask(Transaction& transaction, Kind kind);
  void on_data(Message&& message);
  void purge(Transaction& transaction);
  void grant(Transaction& transaction, Entry& entry, const Message& request, bool reads_memory);
  void put_by_child(const Message& message);
  void merge(Entry& entry, const LineBytes& bytes);

  void recall_lines(Transaction& transaction, const LineSet& lines, bool invalidate, Recall why);
  void on_recalled(Message&& message);
  void begin_eviction(Transaction& transaction);
  void leave(Transaction& transaction);
  void begin_publishing(Transaction& transaction);
  void put(Transaction& transaction, Entry& entry, Kind kind);
  void on_put_ack(const Message& message);

  void on_probe(Message&& message);
  void serve_probe(Transaction& transaction);
  void answer_probe(Transaction& transaction);
  void answer_from_put(Transaction& transaction);
  bool must_invalidate(const Entry& entry, const Message& probe) const;
  void collect(Entry& entry, LineBytesList& bytes) const;
  Message answer_to(const Message& probe) const;

  void send_home(Message&& message, Block block);
  void send_child(Message&& message, Block block);

  StackDirectoryOptions options_;
  Geometry geometry_;
  Agent first_home_;
  unsigned homes_;
  Fabric& fabric_;
  StackListener* listener_;
  Coverage* coverage_ = nullptr;
  std::deque<Entry> entries_;  ///< as many as blocks have ever been here at once
  std::vector<std::uint32_t> free_entries_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> sets_;  ///< the first entry of a set
  boost::unordered_flat_map<Block, Transaction*> transactions_;
  std::vector<std::unique_ptr<Transaction>> made_;
  std::vector<Transaction*> free_;
  std::vector<Block> room_;  ///< blocks that wait for a way, a transaction or the put buffer, in order
  Request::What sweep_ = Request::What::Evict;
  std::deque<Block> to_sweep_;  ///< blocks that are still to be put or published
  std::uint32_t under_way_ = 0;
  std::uint32_t puts_ = 0;
  std::uint64_t clock_ = 0;  ///< ages
  StackDirectoryStats stats_;
};

}  // namespace nearfar::nmoesi
