// Programs that several GPUs run together on replicated data: each rank, a GPU, has a copy of every shared structure in
// its own memory, loads from that copy alone, and publishes what it has written to the copies of the ranks that read
// it. A program declares its structures, its parts and who reads what; from that follow both ways to publish: stores
// to the peers' copies inside the kernel, or copies by the DMA after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/catalog/entries.h"

namespace nearfar::replicated {

enum class Exchange : std::uint64_t { Stores, Copies };

/// A structure of which each rank has a copy in pages of its own.
struct Replicas {
  VirtAddr first{};
  std::uint64_t apart = 0;  ///< bytes from a rank's copy to the next one's

  VirtAddr on(std::uint64_t rank) const { return first + apart * rank; }
};

struct Interval {
  std::uint64_t begin = 0, end = 0;

  constexpr bool has(std::uint64_t i) const { return i >= begin && i < end; }
  constexpr std::uint64_t length() const { return end > begin ? end - begin : 0; }
};
constexpr Interval overlap(const Interval& a, const Interval& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Elements dealt out to the ranks in contiguous parts, each of whole wavefronts of 32; the last may be shorter.
struct Parts {
  std::uint64_t total = 0, ranks = 1;

  std::uint64_t length() const { return ((total + ranks - 1) / ranks + 31) / 32 * 32; }
  Interval of(std::uint64_t rank) const {
    return {std::min(rank * length(), total), std::min((rank + 1) * length(), total)};
  }
  std::uint64_t owner(std::uint64_t element) const { return element / length(); }
};

/// A block for each pair of ranks: what `from` writes there, `to` reads. With stores it lies in the reader's memory;
/// with copies the writer fills a block of its own, and the copy takes that to the reader's.
struct Mailbox {
  Replicas in, out;
  std::uint64_t block = 0;  ///< bytes, in whole lines
  Exchange exchange = Exchange::Stores;

  /// Where the writer stores.
  VirtAddr slot(std::uint64_t from, std::uint64_t to) const {
    const bool own = from == to || exchange == Exchange::Stores;
    return own ? received(to, from) : out.on(from) + to * block;
  }
  /// Where the reader loads.
  VirtAddr received(std::uint64_t to, std::uint64_t from) const { return in.on(to) + from * block; }
};

class Program : public Workload {
 public:
  /// A rank is a GPU.
  std::uint64_t gpus() const override { return ranks_; }

 protected:
  explicit Program(const Parameters& parameters);

  std::uint64_t ranks() const { return ranks_; }
  bool copies() const { return exchange_ == Exchange::Copies; }
  /// How many peers a kernel stores to: all others, or none where copies follow it.
  std::uint64_t stored_peers() const { return copies() ? 0 : ranks_ - 1; }
  /// The k-th rank after a rank, from 1 on: the order in which it stores to its peers.
  std::uint64_t peer(std::uint64_t rank, std::uint64_t k) const { return (rank + k) % ranks_; }

  Replicas replicate(const std::string& name, std::uint64_t bytes);
  Mailbox mailbox(const std::string& name, std::uint64_t block_bytes);

  /// A launch of which every rank runs the grid given here: rank r has groups_z·r to groups_z·(r+1) along z. It begins
  /// when all copies have ended.
  void add_on_each(Launch launch);

  /// What a rank has written of a structure is now in the copies of those who read it: `bytes_of(from, to)` is an
  /// Interval of bytes.
  template <class BytesOf>
  void publish(const Replicas& structure, const BytesOf& bytes_of) {
    for_each_pair([&](std::uint64_t from, std::uint64_t to) {
      const Interval bytes = bytes_of(from, to);
      if (bytes.length() == 0) return;
      bring({.from = structure.on(from) + bytes.begin, .to = structure.on(to) + bytes.begin, .bytes = bytes.length()});
    });
  }
  /// The blocks of a mailbox are with their readers: `bytes_of(from, to)` bytes of each.
  template <class BytesOf>
  void deliver(const Mailbox& box, const BytesOf& bytes_of) {
    for_each_pair([&](std::uint64_t from, std::uint64_t to) {
      const std::uint64_t bytes = bytes_of(from, to);
      if (bytes != 0) bring({.from = box.slot(from, to), .to = box.received(to, from), .bytes = bytes});
    });
  }
  /// The DMA brings something to its reader; only where copies are the way to publish.
  void bring(Copy copy);
  /// Calls `visit(from, to)` for all pairs of ranks, if copies are the way to publish.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    if (!copies()) return;
    for (std::uint64_t k = 1; k < ranks_; ++k) {
      for (std::uint64_t from = 0; from < ranks_; ++from) visit(from, peer(from, k));
    }
  }

 private:
  std::uint64_t ranks_;
  Exchange exchange_;
  bool copying_ = false;  // nobody has waited for the copies added last
};

}  // namespace nearfar::replicated
