// A whole hierarchy under NMOESI without a machine around it: GPUs of write-back L1s (or none), an L2 and a stacked
// memory each, one home and the host's last-level cache. Messages lie in channels, in order by source, destination and
// class (what acknowledges a Put of the last-level cache goes with the probes), until somebody delivers them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "coherence/nmoesi/coverage.h"
#include "coherence/nmoesi/home_directory.h"
#include "coherence/nmoesi/line_cache.h"
#include "coherence/nmoesi/stack_directory.h"

namespace nearfar::nmoesi {

struct BenchOptions {
  unsigned gpus = 2;
  unsigned l1s = 2;  ///< of each GPU; 0: cores reach the L2 itself, as through write-through L1s
  AfterRead after_read = AfterRead::Owned;
  bool peer = true;
  Supplier supplier = Supplier::Owner;
  bool whole_blocks = false;
  bool notifies_clean = false;
  unsigned block_lines = 64;
  unsigned granule = 4;
  std::uint64_t l1_sets = 16, l2_sets = 64, llc_sets = 64, smd_sets = 16;
  std::uint32_t l1_ways = 4, l2_ways = 16, llc_ways = 16, smd_ways = 1;
  std::uint32_t smd_transactions = 64, put_buffer = 4, home_transactions = 64;
};

/// What a core, or the host's, has asked for.
struct Operation {
  unsigned core = 0;
  Event event = Event::Load;
  Line line = 0;
  ByteMask bytes;           ///< of stores
  LineVersion version = 0;  ///< that they write
  bool done = false;
  LineImage before;  ///< the line as it was when it was performed
};

class Bench final : public Fabric, public CacheClient {
 public:
  static constexpr Agent kHome = 60;
  static constexpr Agent kLlc = 61;
  static constexpr Agent kL2 = 64;
  static constexpr Agent kL1 = 128;
  static constexpr unsigned kHostCore = 1000;

  explicit Bench(const BenchOptions& options) : options_(options) {
    geometry_.block_lines = options.block_lines;
    geometry_.granule = options.granule;
    geometry_.follows_data = true;
    const Table* table = &nmoesi::table(options.after_read);
    for (unsigned g = 0; g < options.gpus; ++g) {
      StackDirectoryOptions smd;
      smd.self = static_cast<Agent>(g);
      smd.child = static_cast<Agent>(kL2 + g);
      smd.sets = options.smd_sets;
      smd.ways = options.smd_ways;
      smd.transactions = options.smd_transactions;
      smd.put_buffer = options.put_buffer;
      smd.supplies_shared = options.supplier == Supplier::AnySharer;
      smd.notifies_clean = options.notifies_clean;
      smd.table = table;
      smd.geometry = geometry_;
      smds.push_back(std::make_unique<StackDirectory>(smd, kHome, 1, *this, nullptr));
      smds.back()->cover(&smd_coverage);
      LineCacheOptions l2;
      l2.self = static_cast<Agent>(kL2 + g);
      l2.parent = static_cast<Agent>(g);
      l2.first_child = static_cast<Agent>(kL1 + g * 8);
      l2.children = options.l1s;
      l2.sets = options.l2_sets;
      l2.ways = options.l2_ways;
      l2.notifies_clean = options.notifies_clean;
      l2.table = table;
      l2.geometry = geometry_;
      l2s.push_back(std::make_unique<LineCache>(l2, *this, this));
      l2s.back()->cover(&l2_coverage);
      for (unsigned c = 0; c < options.l1s; ++c) {
        LineCacheOptions l1 = l2;
        l1.self = static_cast<Agent>(kL1 + g * 8 + c);
        l1.parent = static_cast<Agent>(kL2 + g);
        l1.children = 0;
        l1.sets = options.l1_sets;
        l1.ways = options.l1_ways;
        l1s.push_back(std::make_unique<LineCache>(l1, *this, this));
        l1s.back()->cover(&l1_coverage);
      }
    }
    LineCacheOptions last;
    last.self = kLlc;
    last.parent = kHome;
    last.sets = options.llc_sets;
    last.ways = options.llc_ways;
    last.table = table;
    last.geometry = geometry_;
    llc = std::make_unique<LineCache>(last, *this, this);
    llc->cover(&llc_coverage);
    HomeDirectoryOptions at_home;
    at_home.self = kHome;
    at_home.children = options.gpus;
    at_home.llc = kLlc;
    at_home.peer_transfer = options.peer;
    at_home.supplier = options.supplier;
    at_home.whole_blocks = options.whole_blocks;
    at_home.transactions = options.home_transactions;
    at_home.geometry = geometry_;
    home = std::make_unique<HomeDirectory>(at_home, *this);
    home->cover(&hmd_coverage, &hmd_llc_coverage);
  }

  // ----------------------------------------------------------------------------------------------------- operations
  /// Begins an access; what it has come to is in the operation, which must stay where it is.
  void begin(Operation& operation) {
    CoreAccess access;
    access.event = operation.event;
    access.line = operation.line;
    access.mask = geometry_.granules_of(operation.bytes);
    access.token = &operation;
    LineCache& cache = cache_of(operation.core);
    LineImage* image = nullptr;
    if (cache.access(access, image)) {
      performed(access, image);
    } else {
      cache.wait(access);
    }
  }
  LineCache& cache_of(unsigned core) {
    if (core == kHostCore) return *llc;
    return options_.l1s == 0 ? *l2s[core] : *l1s[core];
  }
  unsigned core(unsigned gpu, unsigned cu) const { return options_.l1s == 0 ? gpu : gpu * options_.l1s + cu; }

  void performed(const CoreAccess& access, LineImage* image) override {
    auto& operation = *static_cast<Operation*>(access.token);
    operation.before = *image;
    operation.done = true;
    if (access.event != Event::Load && !operation.bytes.empty()) {
      image->write(operation.bytes, operation.version, geometry_.line_bytes);
    }
    if (on_performed) on_performed(operation);
  }
  std::function<void(Operation&)> on_performed;

  // ------------------------------------------------------------------------------------------------------- messages
  void send(Message&& message) override {
    const bool at_home = message.from == kHome || message.to == kHome;
    const bool with_llc = message.from == kLlc || message.to == kLlc;
    if ((at_home && !with_llc) || message.kind == Kind::PeerData) {
      ++counts[message.kind];
      if (message.changed != 0) changed.push_back({message.kind, message.changed});
    }
    const bool ordered = message.from == kHome && message.to == kLlc && message.kind == Kind::PutAck;
    const MessageClass channel = ordered ? MessageClass::Probe : class_of(message.kind);
    channels_[{message.from, message.to, channel}].push_back({next_++, std::move(message)});
  }
  Cycle read_memory(Agent agent, Block, unsigned, unsigned) override {
    if (agent == kHome) ++home_reads;
    return 0;
  }
  void write_memory(Agent, Block, unsigned, unsigned) override {}

  using Channel = std::tuple<Agent, Agent, MessageClass>;
  /// Delivers all messages in the order in which they were sent, but for those of channels that are held.
  void drain() {
    for (;;) {
      const std::deque<Sent>* first = nullptr;
      Channel channel;
      for (const auto& [name, queue] : channels_) {
        if (queue.empty() || held(name)) continue;
        if (first == nullptr || queue.front().number < first->front().number) {
          first = &queue;
          channel = name;
        }
      }
      if (first == nullptr) return;
      deliver(channel);
    }
  }
  /// Delivers the first of a channel picked at random; false where there is none.
  bool deliver_any(std::mt19937_64& random) {
    std::vector<Channel> ready;
    for (const auto& [name, queue] : channels_) {
      if (!queue.empty()) ready.push_back(name);
    }
    if (ready.empty()) return false;
    deliver(ready[random() % ready.size()]);
    return true;
  }
  std::function<bool(const Channel&)> held = [](const Channel&) { return false; };

  bool idle() const {
    for (const auto& [name, queue] : channels_) {
      if (!queue.empty()) return false;
    }
    for (const auto& l1 : l1s) {
      if (!l1->idle()) return false;
    }
    for (unsigned g = 0; g < options_.gpus; ++g) {
      if (!l2s[g]->idle() || !smds[g]->idle()) return false;
    }
    return llc->idle() && home->idle();
  }

  // --------------------------------------------------------------------------------------------------- what there is
  const Geometry& geometry() const { return geometry_; }
  const BenchOptions& options() const { return options_; }
  /// "N I/E/E": the L1s of a GPU, its L2 and its stacked memory; without L1s "N/E".
  std::string states(unsigned gpu, Line line) const {
    std::string text;
    for (unsigned c = 0; c < options_.l1s; ++c) {
      if (c != 0) text += ' ';
      text += name_of(l1s[gpu * options_.l1s + c]->state_of(line));
    }
    if (options_.l1s != 0) text += '/';
    text += name_of(l2s[gpu]->state_of(line));
    text += '/';
    text += name_of(smds[gpu]->state_of(geometry_.block_of(line)));
    return text;
  }
  std::array<LineVersion, 4> granules(const LineImage& image) const {
    return {image.at(0), image.at(geometry_.granule), image.at(2 * geometry_.granule), image.at(3 * geometry_.granule)};
  }
  std::array<LineVersion, 4> memory(Line line) const { return granules(home->memory(line)); }

  std::vector<std::unique_ptr<LineCache>> l1s;
  std::vector<std::unique_ptr<LineCache>> l2s;
  std::vector<std::unique_ptr<StackDirectory>> smds;
  std::unique_ptr<LineCache> llc;
  std::unique_ptr<HomeDirectory> home;
  std::map<Kind, unsigned> counts;                 ///< of messages between stacks and home, and between stacks
  std::vector<std::pair<Kind, unsigned>> changed;  ///< those of them with changed lines, and how many
  unsigned home_reads = 0;
  Coverage l1_coverage, l2_coverage, smd_coverage, hmd_coverage, hmd_llc_coverage, llc_coverage;

 private:
  struct Sent {
    std::uint64_t number;
    Message message;
  };

  void deliver(const Channel& channel) {
    Message message = std::move(channels_[channel].front().message);
    channels_[channel].pop_front();
    const Agent to = message.to;
    if (to == kHome) {
      home->receive(std::move(message));
    } else if (to == kLlc) {
      llc->receive(std::move(message));
    } else if (to >= kL1) {
      l1s[(to - kL1) / 8 * options_.l1s + (to - kL1) % 8]->receive(std::move(message));
    } else if (to >= kL2) {
      l2s[to - kL2]->receive(std::move(message));
    } else {
      smds[to]->receive(std::move(message));
    }
  }

  BenchOptions options_;
  Geometry geometry_;
  std::map<Channel, std::deque<Sent>> channels_;
  std::uint64_t next_ = 0;
};

}  // namespace nearfar::nmoesi
