// Coherence directories as plainly as they can be written, from the tables of what they do: maps and sets, and times
// for the order of replacement. Tests compare the real ones with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace nearfar {

/// A message: its lines by their numbers in the home's memory, the one that was written (or -1), and to whom.
struct PlainMessage {
  std::vector<std::uint64_t> lines;
  std::int64_t written;
  unsigned to;

  bool operator==(const PlainMessage&) const = default;
};
using PlainMessages = std::vector<PlainMessage>;

struct PlainCounts {
  std::uint64_t read_hits = 0;
  std::uint64_t write_hits = 0;
  std::uint64_t local_hits = 0;
  std::uint64_t allocations = 0;
  std::uint64_t evictions = 0;
  std::uint64_t lines_evicted = 0;

  auto operator<=>(const PlainCounts&) const = default;
};

/// Which lines an entry has one set of sharers for, and when the entry was allocated and used.
struct PlainEntry {
  std::map<std::uint64_t, std::set<unsigned>> sharers;  ///< by block (HMG) or by line (REC)
  std::uint64_t allocated = 0;
  std::uint64_t used = 0;
};

class PlainDirectory {
 public:
  struct Shape {
    std::uint64_t sets = 1;
    std::uint64_t ways = ~std::uint64_t{0};  ///< without limit
    bool lru = false;
    std::uint64_t lines_per_entry = 1;
    std::uint64_t lines_per_vector = 1;  ///< of sharers: the block of HMG, a line of REC
    std::uint64_t lines_per_page = 64;
  };

  explicit PlainDirectory(const Shape& shape) : shape_(shape) {}

  PlainMessages remote_read(std::uint64_t line, unsigned reader) {
    PlainMessages out;
    std::set<unsigned>& sharers = track(line, out);
    if (!sharers.empty()) ++counts_.read_hits;
    sharers.insert(reader);
    return out;
  }

  PlainMessages remote_write(std::uint64_t line, unsigned writer) {
    PlainMessages out;
    std::set<unsigned>& sharers = track(line, out);
    if (!sharers.empty()) ++counts_.write_hits;
    for (const unsigned gpu : sharers) {
      if (gpu != writer) out.push_back({lines_of(vector_of(line)), static_cast<std::int64_t>(line), gpu});
    }
    sharers = {writer};
    return out;
  }

  PlainMessages local_write(std::uint64_t line) {
    PlainMessages out;
    const auto found = entries_.find(line / shape_.lines_per_entry);
    if (found == entries_.end() || !found->second.sharers.contains(vector_of(line))) return out;
    ++counts_.local_hits;
    for (const unsigned gpu : found->second.sharers.at(vector_of(line))) {
      out.push_back({lines_of(vector_of(line)), static_cast<std::int64_t>(line), gpu});
    }
    found->second.sharers.erase(vector_of(line));
    if (found->second.sharers.empty()) entries_.erase(found);
    return out;
  }

  void drop_page(std::uint64_t page) {
    std::erase_if(entries_, [&](const auto& each) {
      return each.first * shape_.lines_per_entry / shape_.lines_per_page == page;
    });
  }

  std::set<unsigned> sharers(std::uint64_t line) const {
    const auto entry = entries_.find(line / shape_.lines_per_entry);
    if (entry == entries_.end()) return {};
    const auto found = entry->second.sharers.find(vector_of(line));
    return found == entry->second.sharers.end() ? std::set<unsigned>{} : found->second;
  }
  std::uint64_t used() const { return entries_.size(); }
  const PlainCounts& counts() const { return counts_; }

 private:
  std::uint64_t vector_of(std::uint64_t line) const { return line / shape_.lines_per_vector; }
  std::vector<std::uint64_t> lines_of(std::uint64_t vector) const {
    std::vector<std::uint64_t> lines;
    for (std::uint64_t i = 0; i < shape_.lines_per_vector; ++i) lines.push_back(vector * shape_.lines_per_vector + i);
    return lines;
  }

  /// The sharers of a line in an entry that may have to be made.
  std::set<unsigned>& track(std::uint64_t line, PlainMessages& out) {
    const std::uint64_t block = line / shape_.lines_per_entry;
    ++now_;
    if (!entries_.contains(block)) {
      make_room(block % shape_.sets, out);
      entries_[block].allocated = now_;
      ++counts_.allocations;
    }
    entries_[block].used = now_;
    return entries_[block].sharers[vector_of(line)];
  }

  void make_room(std::uint64_t set, PlainMessages& out) {
    if (entries_.size() < shape_.ways) return;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ages;  // and blocks
    for (const auto& [block, entry] : entries_) {
      if (block % shape_.sets == set) ages.emplace_back(shape_.lru ? entry.used : entry.allocated, block);
    }
    if (ages.size() < shape_.ways) return;
    const std::uint64_t victim = std::ranges::min(ages).second;
    for (const auto& [vector, sharers] : entries_[victim].sharers) {
      for (const unsigned gpu : sharers) out.push_back({lines_of(vector), -1, gpu});
      counts_.lines_evicted += shape_.lines_per_vector;
    }
    ++counts_.evictions;
    entries_.erase(victim);
  }

  Shape shape_;
  std::map<std::uint64_t, PlainEntry> entries_;  ///< by block
  std::uint64_t now_ = 0;
  PlainCounts counts_;
};

}  // namespace nearfar
