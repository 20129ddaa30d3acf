// NMOESI under random programs: tiny caches, few blocks, granules of several agents in one line, and messages that take
// any time, in order only by source, destination and class. Every store has a version of its own; each granule is
// stored to non-coherently by one core between two boundaries, so that versions of a granule only grow, and
//   - a load returns nothing older than its core's own stores and the last boundary, and nothing that is not written;
//   - a coherent store, also one of no bytes, finds the newest version of every granule of its line;
//   - whenever nothing is under way, memory and all copies come to the newest versions together, and the invariants
//     of states and directories hold.
#include <fmt/format.h>

#include <bit>
#include <cstdlib>

#include "coherence/nmoesi_bench.h"
#include "coherence/nmoesi_expected_pairs.h"

namespace nearfar::nmoesi_random_test {
namespace {

using namespace nmoesi;
using nmoesi::Event;

/// So many meet every pair of a state or phase and an event that there is.
constexpr unsigned kCovering = 400;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kEpisodes = 60;
#else
constexpr unsigned kEpisodes = kCovering;
#endif
constexpr unsigned kBlocks = 3;
constexpr unsigned kGranules = 16;  ///< of a line

class Episode {
 public:
  Episode(const BenchOptions& options, std::uint64_t seed)
      : bench(options),
        random_(seed),
        cores_(options.l1s == 0 ? options.gpus : options.gpus * options.l1s),
        lines_(kBlocks * options.block_lines),
        newest_(lines_ * kGranules, 0),
        under_way_(cores_ + 1, 0),
        floor_(cores_ + 1, std::vector<LineVersion>(lines_ * kGranules, 0)) {
    bench.on_performed = [this](Operation& operation) { performed(operation); };
  }

  void run(unsigned steps) {
    for (unsigned step = 0; step < steps && !failed(); ++step) {
      const unsigned choice = pick(100);
      if (choice < 45) {
        issue(pick(6) == 0);
      } else if (choice < 52) {
        evict();
      } else if (choice < 53) {
        settle();
        check_quiet();
        if (pick(2) == 0) boundary();
      } else {
        bench.deliver_any(random_);
      }
    }
    settle();
    check_quiet();
    boundary();
    check_quiet();
  }

  Bench bench;

 private:
  unsigned pick(std::size_t count) { return static_cast<unsigned>(random_() % count); }
  static bool failed() { return ::testing::Test::HasFailure(); }
  std::size_t at(Line line, unsigned granule) const { return line * kGranules + granule; }
  std::size_t index_of(unsigned core) const { return core == Bench::kHostCore ? cores_ : core; }
  LineVersion version(const LineImage& image, unsigned granule) const {
    return image.at(granule * bench.geometry().granule);
  }

  void issue(bool host) {
    Operation operation;
    operation.core = host ? Bench::kHostCore : pick(cores_);
    if (under_way_[index_of(operation.core)] >= 3) return;
    operation.line = pick(lines_);
    const unsigned what = pick(10);
    operation.event = what < 5 ? Event::Load : what < 8 && !host ? Event::NStore : Event::Store;
    Mask mask = 0;
    for (unsigned g = 0; g < kGranules; ++g) {
      const bool own = operation.event == Event::Store || (at(operation.line, g) + epoch_) % cores_ == operation.core;
      if (operation.event != Event::Load && own && pick(3) == 0) mask |= Mask{1} << g;
    }
    if (operation.event == Event::NStore && mask == 0) operation.event = Event::Load;
    operation.bytes = bench.geometry().bytes_of(mask);
    ++under_way_[index_of(operation.core)];
    operations_.push_back(operation);
    bench.begin(operations_.back());
  }

  void evict() {
    const Line line = pick(lines_);
    const unsigned gpu = pick(bench.options().gpus);
    switch (pick(4)) {
      case 0:
        if (bench.options().l1s != 0) bench.l1s[pick(cores_)]->evict(line);
        break;
      case 1: bench.l2s[gpu]->evict(line); break;
      case 2: bench.smds[gpu]->evict(bench.geometry().block_of(line)); break;
      default: bench.llc->evict(line);
    }
  }

  /// A store gets its version when it is performed: that is the order of versions.
  void performed(Operation& operation) {
    --under_way_[index_of(operation.core)];
    std::vector<LineVersion>& floor = floor_[index_of(operation.core)];
    const Mask mask = bench.geometry().granules_of(operation.bytes);
    const LineVersion made = mask == 0 ? 0 : ++version_;
    LineImage* image = const_cast<LineImage*>(bench.cache_of(operation.core).image_of_line(operation.line));
    for (unsigned g = 0; g < kGranules; ++g) {
      const std::size_t x = at(operation.line, g);
      const LineVersion found = version(operation.before, g);
      EXPECT_LE(found, newest_[x]) << where(operation, g) << " returned what was not written there";
      EXPECT_GE(found, floor[x]) << where(operation, g) << " returned what is too old";
      if (operation.event == Event::Store) {
        EXPECT_EQ(found, newest_[x]) << where(operation, g) << " is coherent and missed a store";
      }
      if ((mask >> g & 1) != 0) {
        newest_[x] = floor[x] = made;
      } else if (operation.event == Event::Store) {
        floor[x] = newest_[x];
      }
    }
    if (mask != 0) image->write(operation.bytes, made, bench.geometry().line_bytes);
    if (operation.core == Bench::kHostCore && operation.event == Event::Store) synchronized(operation.line);
  }
  /// A store of the host brings home what GPUs have changed of the whole block. (What they change afterwards, the host
  /// need not see.)
  void synchronized(Line line) {
    const Block block = bench.geometry().block_of(line);
    std::vector<LineVersion>& floor = floor_[cores_];
    for (unsigned i = 0; i < bench.options().block_lines; ++i) {
      const Line other = bench.geometry().line_of(block, i);
      for (unsigned g = 0; g < kGranules; ++g) floor[at(other, g)] = newest_[at(other, g)];
    }
  }

  std::string where(const Operation& operation, unsigned granule) const {
    return fmt::format("core {}, event {}, line {}, granule {}:", operation.core, static_cast<int>(operation.event),
                       operation.line, granule);
  }

  void settle() {
    for (std::uint64_t i = 0; bench.deliver_any(random_); ++i) {
      if (i < 1'000'000) continue;
      ADD_FAILURE() << "messages go on for ever";
      return;
    }
    EXPECT_TRUE(bench.idle()) << "something waits, and nothing is under way";
    for (const unsigned count : under_way_) EXPECT_EQ(count, 0U);
    operations_.clear();
  }

  /// A kernel ends: its stores are published, or everything leaves, or everything that is changed.
  void boundary() {
    enum { Publish, FlushAll, FlushChanged };
    const unsigned how = pick(3);
    for (const auto& l1 : bench.l1s) l1->evict_all();
    settle();
    for (const auto& l2 : bench.l2s) {
      if (how == FlushAll) {
        l2->evict_all();
      } else {
        l2->publish_all();
      }
    }
    settle();
    // The host goes on.
    for (unsigned i = pick(4); i != 0; --i) issue(true);
    for (unsigned i = pick(10); i != 0; --i) bench.deliver_any(random_);
    for (const auto& smd : bench.smds) {
      if (how == Publish) {
        smd->publish_all();
      } else {
        smd->evict_all(how == FlushAll);
      }
    }
    settle();
    bench.home->settle_marks();
    settle();
    for (std::vector<LineVersion>& floor : floor_) floor = newest_;
    ++epoch_;
  }

  void check_quiet() {
    const Geometry& geometry = bench.geometry();
    for (Line line = 0; line < lines_ && !failed(); ++line) {
      const Block block = geometry.block_of(line);
      LineImage contents = bench.home->memory(line);
      unsigned alone = 0;
      unsigned holders = 0;
      for (unsigned g = 0; g < bench.options().gpus; ++g) {
        const auto* entry = bench.smds[g]->entry_of(block);
        const State smd = bench.smds[g]->state_of(block);
        const State l2 = bench.l2s[g]->state_of(line);
        if (smd != State::I) {
          ++holders;
          alone += is_exclusive(smd) ? 1 : 0;
          EXPECT_NE(bench.home->sharers_of(block) >> g & 1, 0U) << "a block is held that its home does not know of";
          if (is_exclusive(smd)) {
            EXPECT_EQ(bench.home->owner_of(block), g);
          }
          check_mask(smd, entry->masks[geometry.index_of(line)]);
          geometry.overlay(contents, entry->images[geometry.index_of(line)], entry->masks[geometry.index_of(line)]);
        }
        if (l2 != State::I) {
          ASSERT_NE(smd, State::I) << "a line is held without its block";
          EXPECT_TRUE(entry->present.contains(geometry.index_of(line)));
          if (is_exclusive(l2)) {
            EXPECT_TRUE(is_exclusive(smd));
          }
          check_mask(l2, bench.l2s[g]->mask_of(line));
          geometry.overlay(contents, *bench.l2s[g]->image_of_line(line), bench.l2s[g]->mask_of(line));
        }
        check_l1s(g, line, l2, contents);
      }
      const State llc = bench.llc->state_of(line);
      if (llc != State::I) {
        check_mask(llc, bench.llc->mask_of(line));
        geometry.overlay(contents, *bench.llc->image_of_line(line), bench.llc->mask_of(line));
        if (is_exclusive(llc)) {
          EXPECT_EQ(holders, 0U) << "the host has a line alone that GPUs hold";
        }
        EXPECT_EQ(alone, 0U) << "a GPU has a block alone of which the host holds a line";
      }
      if (alone != 0) {
        EXPECT_EQ(holders, 1U) << "a block that one GPU has alone is held by another";
      }
      for (unsigned g = 0; g < kGranules; ++g) {
        EXPECT_EQ(version(contents, g), newest_[at(line, g)]) << "line " << line << ", granule " << g << " was lost";
      }
    }
  }
  void check_l1s(unsigned gpu, Line line, State l2, LineImage& contents) {
    unsigned valid = 0;
    unsigned alone = 0;
    for (unsigned c = 0; c < bench.options().l1s; ++c) {
      const LineCache& l1 = *bench.l1s[gpu * bench.options().l1s + c];
      const State state = l1.state_of(line);
      if (state == State::I) continue;
      ++valid;
      alone += is_exclusive(state) ? 1 : 0;
      ASSERT_NE(l2, State::I);
      EXPECT_NE(bench.l2s[gpu]->sharers_of(line) >> c & 1, 0U);
      if (is_exclusive(state)) {
        EXPECT_TRUE(is_exclusive(l2));
      }
      check_mask(state, l1.mask_of(line));
      bench.geometry().overlay(contents, *l1.image_of_line(line), l1.mask_of(line));
    }
    if (alone != 0) {
      EXPECT_EQ(valid, 1U);
    }
  }
  static void check_mask(State state, Mask mask) {
    if (mask != 0) {
      EXPECT_TRUE(may_be_changed(state)) << "changed bytes in state " << name_of(state);
    }
  }

  std::mt19937_64 random_;
  unsigned cores_;
  unsigned lines_;
  unsigned epoch_ = 0;
  LineVersion version_ = 0;
  std::vector<LineVersion> newest_;
  std::vector<unsigned> under_way_;              ///< by core, the host's last
  std::vector<std::vector<LineVersion>> floor_;  ///< the same: what it may not find older
  std::deque<Operation> operations_;
};

BenchOptions any_options(std::mt19937_64& random) {
  const auto pick = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
  BenchOptions options;
  options.gpus = 1 + pick(4);
  options.l1s = pick(3);
  options.after_read = static_cast<AfterRead>(pick(3));
  options.peer = pick(3) != 0;
  options.supplier = pick(2) == 0 ? Supplier::Owner : Supplier::AnySharer;
  options.block_lines = 1U << pick(4);
  options.l1_sets = 1;
  options.l1_ways = 1 + pick(3);
  options.l2_sets = 1;
  options.l2_ways = 2 + pick(4);
  options.llc_sets = 1;
  options.llc_ways = 1 + pick(3);
  options.smd_sets = 1 + pick(2);
  options.smd_ways = 1 + pick(2);
  options.smd_transactions = 1 + pick(3);
  options.put_buffer = 1 + pick(2);
  options.home_transactions = 1 + pick(3);
  options.whole_blocks = pick(2) == 0;
  options.notifies_clean = pick(4) == 0;
  return options;
}

std::string name_of(const BenchOptions& options, std::uint64_t seed) {
  return fmt::format(
      "seed {}: {} GPUs of {} L1s, after a read {}, peer {}, supplier {}, notices {}, blocks of {} "
      "lines",
      seed, options.gpus, options.l1s, static_cast<int>(options.after_read), options.peer,
      static_cast<int>(options.supplier), options.notifies_clean, options.block_lines);
}

using Coverages = std::array<Coverage, kLevels>;

void add(Coverages& sum, const Bench& bench) {
  const std::array<const Coverage*, kLevels> of_bench = {&bench.l1_coverage,      &bench.l2_coverage,
                                                         &bench.smd_coverage,     &bench.hmd_coverage,
                                                         &bench.hmd_llc_coverage, &bench.llc_coverage};
  for (std::size_t level = 0; level < kLevels; ++level) {
    for (std::size_t s = 0; s < kStates; ++s) {
      for (std::size_t e = 0; e < kEvents; ++e) sum[level].events[s][e] += of_bench[level]->events[s][e];
    }
    for (std::size_t p = 0; p < kPhases; ++p) {
      for (std::size_t k = 0; k < kKinds; ++k) sum[level].messages[p][k] += of_bench[level]->messages[p][k];
    }
  }
}

void expect_pair(const char* reason, std::uint64_t count, const std::string& pair) {
  if (reason == nullptr) {
    EXPECT_GT(count, 0U) << pair << " never met";
  } else {
    EXPECT_EQ(count, 0U) << pair << " met, although " << reason;
  }
}

void expect_covered(const Coverages& coverages) {
  for (std::size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    for (std::size_t s = 0; s < kStates; ++s) {
      for (std::size_t e = 0; e < kEvents; ++e) {
        expect_pair(
            impossible(level, static_cast<State>(s), static_cast<Event>(e)), coverages[l].events[s][e],
            fmt::format("{}: {} and state {}", kLevelNames[l], kEventNames[e], nmoesi::name_of(static_cast<State>(s))));
      }
    }
    for (std::size_t p = 0; p < kPhases; ++p) {
      for (std::size_t k = 0; k < kKinds; ++k) {
        expect_pair(impossible(level, static_cast<Phase>(p), static_cast<Kind>(k)), coverages[l].messages[p][k],
                    fmt::format("{}: {} and phase {}", kLevelNames[l], kKindNames[k], kPhaseNames[p]));
      }
    }
  }
}

TEST(NmoesiRandom, ProgramsFindWhatTheyMay) {
  Coverages coverages;
  const char* only = std::getenv("NEARFAR_NMOESI_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  const char* count = std::getenv("NEARFAR_NMOESI_EPISODES");
  const std::uint64_t episodes = count != nullptr ? std::strtoull(count, nullptr, 10) : only == nullptr ? kEpisodes : 1;
  const std::uint64_t last = first + episodes - 1;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    std::mt19937_64 random(seed);
    const BenchOptions options = any_options(random);
    SCOPED_TRACE(name_of(options, seed));
    Episode episode(options, seed);
    episode.run(2000);
    if (::testing::Test::HasFailure()) return;
    add(coverages, episode.bench);
  }
  if (episodes >= kCovering) expect_covered(coverages);
}

}  // namespace
}  // namespace nearfar::nmoesi_random_test
