// The host memory directory (HMD): the home of every block of a module of the host's memory. Its children are the
// stacked memories of the GPUs, which ask for blocks, and the host's last-level cache, which asks for lines.
//
// It handles one transaction a block, from the first probe to the last Done, and keeps what comes meanwhile in order.
// Only lines that the last-level cache asks for, and for which nobody is probed, are granted side by side, as a stacked
// memory grants lines to its L2; what is about the whole block waits until the cache has said Done for all of them.
// It needs no tag and no state of a block: the data is in memory. It remembers who may hold a copy, who of them was
// granted the only one or answers readers (the owner), and whether bytes were merged into memory that a holder's copy
// lacks (the stale mark), which the next kernel boundary settles.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coherence/nmoesi/coverage.h"
#include "coherence/nmoesi/message.h"

namespace nearfar::nmoesi {

enum class Supplier : std::uint8_t { Owner, AnySharer };

struct HomeDirectoryOptions {
  Agent self = kNobody;
  Agent first_child = 0;  ///< stacks have consecutive numbers
  unsigned children = 0;  ///< at most 64
  Agent llc = kNobody;
  bool peer_transfer = true;
  Supplier supplier = Supplier::Owner;
  bool whole_blocks = false;  ///< changed blocks are written whole
  std::uint32_t transactions = 64;
  Geometry geometry;
};

struct HomeDirectoryStats {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t puts = 0;
  std::uint64_t publishes = 0;
  std::uint64_t probes = 0;
  std::uint64_t peer_transfers = 0;
  std::uint64_t merges = 0;
  std::uint64_t merged_lines = 0;
  std::uint64_t synchronized_lines = 0;  ///< sent home because the host's core asked
  std::uint64_t stale_puts = 0;
  std::uint64_t marks = 0;
  std::uint64_t memory_reads = 0;
  std::uint64_t bits_merged = 0;   ///< of masks, where data is followed
  std::uint64_t bits_dropped = 0;  ///< the same of stale puts
};

class HomeDirectory {
 public:
  HomeDirectory(const HomeDirectoryOptions& options, Fabric& fabric);
  HomeDirectory(const HomeDirectory&) = delete;
  HomeDirectory& operator=(const HomeDirectory&) = delete;

  void receive(Message&& message);
  /// Kernel boundary: holders of blocks with a stale mark lose their copies. It is over when the directory is idle.
  void settle_marks();

  bool idle() const { return transactions_.empty(); }
  std::string describe_waiting() const;
  /// Of messages of the stacked memories, and of the LLC.
  void cover(Coverage* stacks, Coverage* llc) {
    coverage_ = stacks;
    llc_coverage_ = llc;
  }
  const HomeDirectoryStats& stats() const { return stats_; }

  // What tests and checks look at.
  std::uint64_t sharers_of(Block block) const { return entry_of(block).sharers; }
  Agent owner_of(Block block) const { return entry_of(block).owner; }
  bool is_marked(Block block) const { return entry_of(block).stale; }
  LineImage memory(Line line) const;
  void set_memory(Line line, const LineImage& image) { memory_[line] = image; }

 private:
  struct Entry {
    std::uint64_t sharers = 0;
    Agent owner = kNobody;
    bool stale = false;
    bool in_llc = false;  ///< the LLC may hold lines: a filter of what it would be asked in vain
  };
  struct Transaction {
    Block block = 0;
    bool active = false;
    bool serving = false;   ///< a request; else nothing but lines in G keeps the transaction
    LineSet granted_lines;  ///< that the LLC has been sent and has not said Done for: they are in G
    unsigned granted = 0;   ///< as many
    unsigned answers = 0;   ///< to probes that have not come
    bool done = false;      ///< has come, or is not to come
    bool updated = false;   ///< the same of DirUpdate
    bool answered = false;
    bool shared = false;  ///< there were other holders when it began
    Cycle ready = 0;      ///< when memory has been read
    Message request;
    std::deque<Message> queue;

    /// A stale mark, at a kernel boundary: nobody has asked.
    bool settles() const { return request.from == kNobody; }
  };

  const Entry& entry_of(Block block) const;
  Phase phase_of(Block block) const;
  std::uint64_t bit(Agent child) const { return std::uint64_t{1} << (child - options_.first_child); }
  bool is_llc(Agent agent) const { return agent == options_.llc; }

  Transaction* find(Block block);
  void enqueue(Message&& message);
  void activate(Transaction& transaction);
  void go_on(Transaction& transaction);
  void close(Transaction& transaction);
  bool may_begin(const Transaction& transaction, const Message& request) const;
  void begin(Transaction& transaction);
  void begin_read(Transaction& transaction, Entry& entry);
  void begin_write(Transaction& transaction, Entry& entry);
  void begin_put(Transaction& transaction, Entry& entry);
  void begin_publish(Transaction& transaction, Entry& entry);
  void probe_stacks(Transaction& transaction, std::uint64_t children);
  void probe_llc(Transaction& transaction, bool invalidate, std::uint16_t except);
  void read_memory(Transaction& transaction);
  Agent choose_supplier(const Entry& entry, Agent requester) const;

  void on_probe_ack(Message&& message);
  void on_dir_update(Message&& message);
  void on_done(const Message& message);
  void answers_are_in(Transaction& transaction);
  void send_data(Transaction& transaction, Kind kind);
  void send_ack(const Message& request, Ack ack);
  void finish_if_over(Transaction& transaction);
  void merge(Block block, const Message& message);
  void mark(Block block, Entry& entry);
  void send(Message&& message, Agent to, Block block);

  HomeDirectoryOptions options_;
  Geometry geometry_;
  Fabric& fabric_;
  Coverage* coverage_ = nullptr;
  Coverage* llc_coverage_ = nullptr;
  boost::unordered_flat_map<Block, Entry> entries_;
  boost::unordered_flat_map<Block, Transaction*> transactions_;
  std::vector<std::unique_ptr<Transaction>> made_;
  std::vector<Transaction*> free_;
  std::deque<Block> waiting_;  ///< blocks that wait for one of the transactions that may be under way
  std::uint32_t active_ = 0;
  std::vector<Block> marked_;              ///< in the order in which they were
  boost::unordered_flat_set<Line> spent_;  ///< lines whose Put by the LLC is on its way, and whose bytes have come
  boost::unordered_flat_map<Line, LineImage> memory_;  ///< where data is followed
  HomeDirectoryStats stats_;
};

}  // namespace nearfar::nmoesi
