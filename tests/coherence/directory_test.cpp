// Every organization of the coherence directory against a plain model of it, on random requests; what organizations
// have in common; and that a broken entry is found.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <pcg_random.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "coherence/home.h"
#include "coherence/plain_directory.h"
#include "sim/error.h"

namespace nearfar::directory_test {
namespace {

using ::testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kMachines = 60;
#else
constexpr unsigned kMachines = 600;
#endif
constexpr unsigned kRequests = 1000;  // to each of four organizations

enum class Kind : std::uint8_t { Line, Hmg, Rec, Ideal };

std::uint32_t power_of_two(pcg32& random, unsigned least_log, unsigned most_log) {
  return 1U << (least_log + random(most_log - least_log + 1));
}

/// A directory of random shape and its plain model, which get the same requests.
class Pair {
 public:
  Pair(Kind kind, std::uint64_t seed) : random_(seed) {
    const std::uint32_t line = random_(2) == 0 ? 64 : 128;
    const unsigned gpus = 2 + random_(15);
    home_ = home_at(random_(gpus), gpus, line);
    const std::uint32_t ways = 1 + random_(4);
    const std::uint32_t sets = 1 + random_(16 / ways);
    const bool lru = random_(2) == 0;
    const DirectorySpec spec =
        directory_of(sets * ways, ways, lru ? DirectoryReplacement::Lru : DirectoryReplacement::Fifo);
    PlainDirectory::Shape shape{sets, ways, lru, 1, 1, home_.lines_per_page};
    switch (kind) {
      case Kind::Line: real_ = std::make_unique<LineDirectory>(spec, home_); break;
      case Kind::Hmg:
        shape.lines_per_entry = shape.lines_per_vector = power_of_two(random_, 0, line == 64 ? 6 : 5);
        real_ = std::make_unique<BlockDirectory>(spec, home_, shape.lines_per_entry);
        break;
      case Kind::Rec:
        shape.lines_per_entry = power_of_two(random_, 0, line == 64 ? 6 : 5);
        real_ = std::make_unique<RecDirectory>(spec, home_, shape.lines_per_entry);
        break;
      case Kind::Ideal:
        shape.sets = 1;
        shape.ways = ~std::uint64_t{0};
        real_ = std::make_unique<IdealDirectory>(home_);
        break;
    }
    plain_.emplace(shape);
    // Neighbouring frames, and one far away.
    frames_ = {random_(1000), 0, 0xffff'fff0U - random_(100)};
    frames_[1] = frames_[0] + 1;
    lines_ = 1 + random_(home_.lines_per_page);
  }

  void request() {
    const std::uint64_t frame = frames_[random_(3)];
    const unsigned index = random_(lines_);
    const std::uint64_t number = frame * home_.lines_per_page + index;
    const PhysLine line(PhysPage(home_.gpu, frame), index);
    unsigned gpu = random_(home_.gpus - 1);
    if (gpu >= home_.gpu.value) ++gpu;
    const DeviceId device{static_cast<std::uint16_t>(gpu)};
    Invalidations out;
    PlainMessages expected;
    const unsigned kind = random_(100);
    if (kind < 55) {
      real_->remote_read(line, device, out);
      expected = plain_->remote_read(number, gpu);
      ++reads_;
    } else if (kind < 75) {
      real_->remote_write(line, device, out);
      expected = plain_->remote_write(number, gpu);
      ++writes_;
    } else if (kind < 98) {
      real_->local_write(line, out);
      expected = plain_->local_write(number);
      ++local_writes_;
    } else {
      real_->drop_page(line.page());
      plain_->drop_page(frame);
    }
    ASSERT_EQ(plain(out), expected);
    ASSERT_EQ(sharers(line), plain_->sharers(number));
    ASSERT_EQ(real_->used(), plain_->used());
  }

  void compare_all() {
    for (const std::uint64_t frame : frames_) {
      for (unsigned index = 0; index < home_.lines_per_page; ++index) {
        ASSERT_EQ(sharers(PhysLine(PhysPage(home_.gpu, frame), index)),
                  plain_->sharers(frame * home_.lines_per_page + index));
      }
    }
    const DirectoryStats& stats = real_->stats();
    EXPECT_EQ(std::tuple(stats.remote_reads, stats.remote_writes, stats.local_writes),
              std::tuple(reads_, writes_, local_writes_));
    EXPECT_EQ((PlainCounts{stats.remote_read_hits, stats.remote_write_hits, stats.local_write_hits, stats.allocations,
                           stats.evictions, stats.lines_at_eviction.sum}),
              plain_->counts());
    EXPECT_EQ(stats.lines_at_eviction.count, stats.evictions);
    ASSERT_NO_THROW(real_->check());
  }

 private:
  PlainMessages plain(const Invalidations& messages) const {
    PlainMessages out;
    for (const Invalidation& message : messages) {
      EXPECT_EQ(message.page.device(), home_.gpu);
      EXPECT_EQ(message.cause == InvalidationCause::Eviction, message.written == 0);
      const std::uint64_t first = message.page.frame() * home_.lines_per_page;
      PlainMessage& made = out.emplace_back();
      for (unsigned i = 0; i < 64; ++i) {
        if ((message.lines >> i & 1) != 0) made.lines.push_back(first + i);
      }
      made.written = message.written == 0 ? -1 : static_cast<std::int64_t>(first) + std::countr_zero(message.written);
      made.to = message.to.value;
    }
    return out;
  }
  std::set<unsigned> sharers(PhysLine line) const {
    std::set<unsigned> gpus;
    for_each_sharer(real_->sharers(line), [&](DeviceId gpu) { gpus.insert(gpu.value); });
    return gpus;
  }

  pcg32 random_;
  DirectoryHome home_;
  std::unique_ptr<Directory> real_;
  std::optional<PlainDirectory> plain_;
  std::vector<std::uint64_t> frames_;
  unsigned lines_ = 1;  ///< of a page that are asked for
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t local_writes_ = 0;
};

class EveryDirectory : public ::testing::TestWithParam<Kind> {};
std::string name_of(const ::testing::TestParamInfo<Kind>& kind) {
  constexpr const char* kNames[] = {"line", "hmg", "rec", "ideal"};
  return kNames[static_cast<std::size_t>(kind.param)];
}
INSTANTIATE_TEST_SUITE_P(All, EveryDirectory, ::testing::Values(Kind::Line, Kind::Hmg, Kind::Rec, Kind::Ideal),
                         name_of);

TEST_P(EveryDirectory, DoesWhatItsPlainModelDoes) {
  for (unsigned machine = 0; machine < kMachines; ++machine) {
    SCOPED_TRACE("machine " + std::to_string(machine));
    Pair pair(GetParam(), machine);
    for (unsigned i = 0; i < kRequests && !HasFatalFailure(); ++i) pair.request();
    pair.compare_all();
    if (HasFatalFailure()) return;
  }
}

// --------------------------------------------------------------------------------------- what organizations have alike

bool same(const Invalidation& one, const Invalidation& other) {
  return one.page == other.page && one.lines == other.lines && one.written == other.written && one.to == other.to &&
         one.cause == other.cause;
}

std::vector<std::uint64_t> counters(DirectoryStats& stats) {
  return {stats.remote_reads,     stats.remote_writes,     stats.local_writes,
          stats.remote_read_hits, stats.remote_write_hits, stats.local_write_hits,
          stats.allocations,      stats.evictions,         stats.lines_at_eviction.sum};
}

/// Directories that must not be told apart: the same requests to all.
void expect_alike(const DirectoryHome& home, const std::vector<Directory*>& all, std::uint64_t seed) {
  pcg32 random(seed);
  for (unsigned i = 0; i < 4000; ++i) {
    const PhysLine line(PhysPage(home.gpu, random(4)), random(16));
    const DeviceId gpu{static_cast<std::uint16_t>((home.gpu.value + 1 + random(home.gpus - 1)) % home.gpus)};
    const unsigned kind = random(8);
    std::vector<Invalidations> sent(all.size());
    for (std::size_t d = 0; d < all.size(); ++d) {
      if (kind < 4) {
        all[d]->remote_read(line, gpu, sent[d]);
      } else if (kind < 6) {
        all[d]->remote_write(line, gpu, sent[d]);
      } else if (kind < 7 || i % 20 != 0) {
        all[d]->local_write(line, sent[d]);
      } else {
        all[d]->drop_page(line.page());
      }
      ASSERT_TRUE(std::ranges::equal(sent[d], sent[0], same)) << "request " << i << ", directory " << d;
      ASSERT_EQ(all[d]->sharers(line), all[0]->sharers(line));
    }
  }
}

TEST(Organizations, OfOneLineAnEntryAreTheBaseline) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const DirectoryHome home = home_at(seed % 4);
    const std::uint32_t ways = 1 + seed % 4;
    const DirectorySpec spec = directory_of(ways * (1 + seed % 5), ways);
    LineDirectory line(spec, home);
    BlockDirectory hmg(spec, home, 1);
    RecDirectory rec(spec, home, 1);
    expect_alike(home, {&line, &hmg, &rec}, seed);
    EXPECT_GT(line.stats().evictions, 0U);
    EXPECT_EQ(counters(hmg.stats()), counters(line.stats()));
    EXPECT_EQ(counters(rec.stats()), counters(line.stats()));
  }
}

TEST(Organizations, WithRoomForAllSendTheSame) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const DirectoryHome home = home_at(seed % 4);
    LineDirectory line(directory_of(256, 8), home);
    RecDirectory rec(directory_of(256, 8, DirectoryReplacement::Lru), home, 1U << seed % 7);
    IdealDirectory ideal(home);
    expect_alike(home, {&line, &rec, &ideal}, seed);
    EXPECT_EQ(line.stats().evictions + rec.stats().evictions, 0U);
    EXPECT_EQ(counters(ideal.stats()), counters(line.stats()));
  }
}

/// REC may be larger, too: it never invalidates a line that was not written, but on replacement.
TEST(Organizations, OnlyHmgInvalidatesWhatWasNotWritten) {
  pcg32 random(5);
  RecDirectory rec(directory_of(8, 2), home_at(0), 16);
  Invalidations out;
  for (unsigned i = 0; i < 20'000; ++i) {
    const PhysLine line(PhysPage(DeviceId{0}, random(8)), random(64));
    const DeviceId gpu{static_cast<std::uint16_t>(1 + random(3))};
    random(2) == 0 ? rec.remote_read(line, gpu, out) : rec.remote_write(line, gpu, out);
    if (random(3) == 0) rec.local_write(line, out);
  }
  unsigned written = 0;
  for (const Invalidation& message : out) {
    EXPECT_EQ(std::popcount(message.lines), 1);
    EXPECT_TRUE(message.written == message.lines || message.cause == InvalidationCause::Eviction);
    written += message.cause == InvalidationCause::Write;
  }
  EXPECT_GT(written, 1000U);
}

// ------------------------------------------------------------------------------------------------------ broken entries

/// Directories whose entries a test can break.
struct OpenBlocks : BlockDirectory {
  using BlockDirectory::array_;
  using BlockDirectory::BlockDirectory;
  using BlockDirectory::sharers_;
};
struct OpenRanges : RecDirectory {
  using RecDirectory::array_;
  using RecDirectory::RecDirectory;
  using RecDirectory::sharers_;
};
struct OpenIdeal : IdealDirectory {
  using IdealDirectory::IdealDirectory;
  using IdealDirectory::lines_;
};

std::string complaint(const Directory& directory) {
  try {
    directory.check();
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

constexpr std::uint64_t kSecond = 1;  ///< entry: way 1 of set 0, of block 4; way 0 has block 0

template <class Open>
Open broken(unsigned lines, void (*breaks)(Open&)) {
  Open directory(directory_of(8, 2), home_at(2), lines);
  Invalidations out;
  directory.remote_read(PhysLine(PhysPage(DeviceId{2}, 0), 0), DeviceId{1}, out);
  directory.remote_read(PhysLine(PhysPage(DeviceId{2}, 4 * lines / 64), 4 * lines % 64), DeviceId{3}, out);
  EXPECT_EQ(complaint(directory), "");
  breaks(directory);
  return directory;
}

TEST(Check, FindsSharersThatCannotBe) {
  const std::string who = "the coherence directory of GPU 2 is broken: ";
  EXPECT_EQ(complaint(broken<OpenBlocks>(1, [](auto& d) { d.sharers_.set(kSecond, sharer(DeviceId{2})); })),
            who + "the home is a sharer of its own line");
  EXPECT_EQ(complaint(broken<OpenBlocks>(4, [](auto& d) { d.sharers_.set(kSecond, 0); })),
            who + "the entry of block 0x4 has no sharers");
  EXPECT_EQ(complaint(broken<OpenBlocks>(1, [](auto& d) { d.sharers_.set(7, sharer(DeviceId{1})); })),
            who + "entry 7 is free and has sharers");
  EXPECT_EQ(complaint(broken<OpenRanges>(16, [](auto& d) { d.sharers_.set(kSecond * 16 + 5, sharer(DeviceId{2})); })),
            who + "the home is a sharer of its own line");
  EXPECT_EQ(complaint(broken<OpenRanges>(16, [](auto& d) { d.sharers_.clear(kSecond * 16, 16); })),
            who + "the entry of block 0x4 has no sharers");
}

TEST(Check, FindsGpusThatDoNotExist) {
  OpenBlocks directory(directory_of(8, 2), home_at(0, 3), 1);
  Invalidations out;
  directory.remote_read(PhysLine(PhysPage(DeviceId{0}, 0), 0), DeviceId{1}, out);
  directory.sharers_.set(0, sharer(DeviceId{3}));
  EXPECT_THAT(complaint(directory), HasSubstr("a GPU is a sharer that does not exist"));
}

TEST(Check, FindsBlocksThatAreTwiceOrInTheWrongSet) {
  EXPECT_THAT(complaint(broken<OpenBlocks>(1,
                                           [](auto& d) {
                                             d.array_.free(kSecond);
                                             d.array_.allocate(kSecond, d.array_.block(0));
                                           })),
              HasSubstr("block 0x0 has two entries"));
  EXPECT_THAT(complaint(broken<OpenBlocks>(1,
                                           [](auto& d) {
                                             d.array_.free(kSecond);
                                             d.array_.allocate(kSecond, 7);
                                           })),
              HasSubstr("block 0x7 is in set 0, which is not its own"));
}

TEST(Check, FindsBrokenEntriesOfTheIdealDirectory) {
  const auto complaint_of = [](Sharers sharers) {
    OpenIdeal directory(home_at(2));
    Invalidations out;
    const PhysLine line(PhysPage(DeviceId{2}, 0), 0);
    directory.remote_read(line, DeviceId{1}, out);
    EXPECT_EQ(complaint(directory), "");
    directory.lines_[line.value] = sharers;
    return complaint(directory);
  };
  EXPECT_THAT(complaint_of(0), HasSubstr("has no sharers"));
  EXPECT_THAT(complaint_of(sharer(DeviceId{2})), HasSubstr("the home is a sharer of its own line"));
  EXPECT_THAT(complaint_of(sharer(DeviceId{4})), HasSubstr("a GPU is a sharer that does not exist"));
}

// -------------------------------------------------------------------------------------------------------------- limits

/// 64 GPUs are as many as a word has bits.
TEST(Limits, SixtyFourGpusAndOne) {
  Home most = rec_home(directory_of(2, 1), home_at(63, 64));
  for (unsigned gpu = 0; gpu < 63; ++gpu) most.read(gpu, 0x1040);
  EXPECT_EQ(most.sharers(0x1040).size(), 63U);
  EXPECT_EQ(most.write(5, 0x1040).size(), 62U);
  most.directory().check();
  Home alone = line_home(directory_of(2, 1), home_at(0, 1));
  EXPECT_TRUE(alone.write(0, 0x1000).empty());
  alone.directory().check();
}

/// Lines that lie as far apart as there are sets are in one set, unless upper bits are folded in.
TEST(DirectoryIndex, SpreadsLinesThatLieAMultipleOfTheSetsApart) {
  for (const std::uint32_t sets : {64U, 48U}) {
    for (const IndexHash index : {IndexHash::Modulo, IndexHash::Xor}) {
      DirectorySpec spec = directory_of(sets * 2, 2);
      spec.index = index;
      Home home = line_home(spec);
      for (std::uint64_t i = 0; i < 32; ++i) home.read(1, i * sets * 64);
      home.directory().check();
      if (index == IndexHash::Modulo) {
        EXPECT_EQ(home.directory().used(), 2U);
      } else {
        EXPECT_GT(home.directory().used(), 24U);
      }
      // Neighbours are never in one another's way.
      Home row = line_home(spec);
      for (std::uint64_t i = 0; i < sets; ++i) row.read(1, i * 64);
      EXPECT_EQ(row.stats().evictions, 0U);
    }
  }
}

}  // namespace
}  // namespace nearfar::directory_test
