// Scenarios worked by hand, step by step: who shares a line at its home, and who is sent an invalidation, in order.
// Four GPUs, GPU 0 is the home, lines of 64 bytes, unless stated. A name with a number plays that scenario of
// docs/coherence.md; tests/machine/coherence_scenarios_test.cpp plays them on whole machines.
#include "coherence/home.h"

namespace nearfar::scenarios_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Bits = std::vector<std::size_t>;

constexpr std::uint64_t kX = 0x1000;
constexpr DirectoryReplacement kLru = DirectoryReplacement::Lru;

DirectorySpec roomy() { return directory_of(8192, 8); }

/// A line of which the GPUs have read.
Home shared_by(std::initializer_list<unsigned> gpus) {
  Home home = line_home(roomy());
  for (const unsigned gpu : gpus) EXPECT_THAT(home.read(gpu, kX), IsEmpty());
  return home;
}

/// The bits of the coalesced part of a REC entry that are set.
Bits coalesced_bits(Home& home, std::uint64_t address, std::size_t size = 64) {
  const auto image = static_cast<const RecDirectory&>(home.directory()).entry_image(home.line(address));
  Bits bits;
  for (std::size_t i = 0; i < std::min(size, image.size()); ++i) {
    if (image[i]) bits.push_back(i);
  }
  return bits;
}

// ----------------------------------------------------------------------------------------------------------- baseline

TEST(LineScenarios, S03ReadersJoinAndReadAgain) {
  Home home = shared_by({1});
  EXPECT_THAT(home.sharers(kX), ElementsAre(1));
  EXPECT_THAT(home.read(2, kX), IsEmpty());
  EXPECT_THAT(home.sharers(kX), ElementsAre(1, 2));
  EXPECT_THAT(home.read(2, kX), IsEmpty()) << "its copy was evicted silently";
  EXPECT_THAT(home.sharers(kX), ElementsAre(1, 2));
  EXPECT_EQ(home.stats().remote_reads, 3U);
  EXPECT_EQ(home.stats().remote_read_hits, 2U);
  EXPECT_EQ(home.stats().allocations, 1U);
}

TEST(LineScenarios, S04ALocalWriteInvalidatesEverySharer) {
  Home home = shared_by({1, 2});
  EXPECT_THAT(home.write(0, kX), ElementsAre("0x1000 to 1", "0x1000 to 2"));
  EXPECT_THAT(home.sharers(kX), IsEmpty());
  EXPECT_EQ(home.directory().used(), 0U);
  EXPECT_THAT(home.write(0, kX), IsEmpty());
  EXPECT_EQ(home.stats().local_writes, 2U);
  EXPECT_EQ(home.stats().local_write_hits, 1U);
}

TEST(LineScenarios, S06LocalReadsChangeNothing) {
  Home home = shared_by({1, 2});
  EXPECT_THAT(home.read(0, kX), IsEmpty());
  EXPECT_THAT(home.sharers(kX), ElementsAre(1, 2));
  EXPECT_EQ(home.stats().remote_reads, 2U);
}

TEST(LineScenarios, S07ALocalWriteOfAnUntrackedLineIsNobodysBusiness) {
  Home home = line_home(roomy());
  EXPECT_THAT(home.write(0, kX), IsEmpty());
  EXPECT_EQ(home.directory().used(), 0U);
}

TEST(LineScenarios, S08ASharerThatWritesStaysTheOnlyOne) {
  Home home = shared_by({1});
  EXPECT_THAT(home.write(1, kX), IsEmpty());
  EXPECT_THAT(home.sharers(kX), ElementsAre(1));
}

/// If the writer were not recorded, the last invalidation would be lost and its copy stale for ever.
TEST(LineScenarios, S09TheWriterIsTheOnlySharerAndIsInvalidatedLater) {
  Home home = shared_by({1, 2, 3});
  EXPECT_THAT(home.write(1, kX), ElementsAre("0x1000 to 2", "0x1000 to 3"));
  EXPECT_THAT(home.sharers(kX), ElementsAre(1));
  EXPECT_THAT(home.write(0, kX), ElementsAre("0x1000 to 1"));
}

TEST(LineScenarios, S10AWriterWithoutACopyIsRecordedToo) {
  Home home = shared_by({2});
  EXPECT_THAT(home.write(1, kX), ElementsAre("0x1000 to 2"));
  EXPECT_THAT(home.sharers(kX), ElementsAre(1));
}

TEST(LineScenarios, S11AWriteAllocates) {
  Home home = line_home(roomy());
  EXPECT_THAT(home.write(3, kX), IsEmpty());
  EXPECT_THAT(home.sharers(kX), ElementsAre(3));
  EXPECT_EQ(home.stats().allocations, 1U);
  EXPECT_EQ(home.stats().remote_write_hits, 0U);
}

/// An atomic is a write to the directory.
TEST(LineScenarios, S37AnAtomicLeavesItsGpuAsTheOnlySharer) {
  Home home = shared_by({1, 2});
  EXPECT_THAT(home.write(1, kX), ElementsAre("0x1000 to 2"));
  EXPECT_THAT(home.sharers(kX), ElementsAre(1));
}

// -------------------------------------------------------------------------------------------------------- replacement

TEST(ReplacementScenarios, S13TwoEntriesForThreeLines) {
  Home line = line_home(directory_of(2, 2));
  EXPECT_THAT(line.read(1, 0x1000), IsEmpty());
  EXPECT_THAT(line.read(1, 0x1040), IsEmpty());
  EXPECT_THAT(line.read(1, 0x1080), ElementsAre("0x1000 to 1, evicted"));
  EXPECT_THAT(line.read(1, 0x1000), ElementsAre("0x1040 to 1, evicted"));
  EXPECT_EQ(line.stats().evictions, 2U);

  Home rec = rec_home(directory_of(2, 2, kLru));
  for (const std::uint64_t address : {0x1000, 0x1040, 0x1080}) EXPECT_THAT(rec.read(1, address), IsEmpty());
  EXPECT_EQ(coalesced_bits(rec, kX), (Bits{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(rec.directory().used(), 1U);
}

TEST(ReplacementScenarios, S14FifoAndLru) {
  const std::uint64_t a = 0x1000, b = 0x1040, c = 0x1080;
  for (const bool lru : {false, true}) {
    Home home = line_home(directory_of(2, 2, lru ? kLru : DirectoryReplacement::Fifo));
    home.read(1, a);
    home.read(1, b);
    home.read(2, a);
    if (lru) {
      EXPECT_THAT(home.read(1, c), ElementsAre("0x1040 to 1, evicted"));
    } else {
      EXPECT_THAT(home.read(1, c), ElementsAre("0x1000 to 1, evicted", "0x1000 to 2, evicted"));
    }
  }
}

TEST(ReplacementScenarios, RemoteWritesAreUsesAndLocalWritesAreNot) {
  Home written = line_home(directory_of(2, 2, kLru));
  written.read(1, 0x1000);
  written.read(1, 0x1040);
  written.write(1, 0x1000);
  EXPECT_THAT(written.read(1, 0x1080), ElementsAre("0x1040 to 1, evicted"));

  // A local write that leaves the entry behind: of one line of a range.
  Home local = rec_home(directory_of(2, 2, kLru));
  local.read(1, 0x1000);
  local.read(1, 0x1040);
  local.read(1, 0x2000);
  EXPECT_THAT(local.write(0, 0x1000), ElementsAre("0x1000 to 1"));
  EXPECT_THAT(local.read(1, 0x3000), ElementsAre("0x1040 to 1, evicted")) << "still the oldest";
}

TEST(ReplacementScenarios, S15AHoleIsFilledFirst) {
  Home home = line_home(directory_of(2, 2));
  home.read(1, 0x1000);
  home.read(1, 0x1040);
  EXPECT_THAT(home.write(0, 0x1000), ElementsAre("0x1000 to 1"));
  EXPECT_THAT(home.read(1, 0x1080), IsEmpty());
  EXPECT_THAT(home.read(1, 0x10c0), ElementsAre("0x1040 to 1, evicted"));
  EXPECT_THAT(home.read(1, 0x1100), ElementsAre("0x1080 to 1, evicted")) << "a way that is allocated again is young";
}

TEST(ReplacementScenarios, AWriteThatAllocatesInvalidatesTheVictim) {
  Home home = line_home(directory_of(1, 1));
  home.read(1, 0x1000);
  home.read(3, 0x1000);
  EXPECT_THAT(home.write(2, 0x1040), ElementsAre("0x1000 to 1, evicted", "0x1000 to 3, evicted"));
  EXPECT_THAT(home.sharers(0x1040), ElementsAre(2));
  EXPECT_THAT(home.sharers(0x1000), IsEmpty());
}

// ---------------------------------------------------------------------------------------------------------------- REC

TEST(RecScenarios, S16BitsOfAnEntry) {
  Home home = rec_home(roomy());
  home.read(1, kX + 0x340);
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{52, 53}));
  home.read(3, kX + 0x340);
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{52, 53, 55}));
  home.read(1, kX + 0x380);
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{52, 53, 55, 56, 57}));

  const auto image = static_cast<RecDirectory&>(home.directory()).entry_image(home.line(kX));
  ASSERT_EQ(image.size(), 103U);
  for (std::size_t bit = 64; bit < 102; ++bit) EXPECT_EQ(image[bit], bit == 66) << "base 4: bit " << bit;
  EXPECT_TRUE(image[102]) << "valid";
  EXPECT_THAT(static_cast<RecDirectory&>(home.directory()).entry_image(home.line(kX + 0x400)), IsEmpty());
}

TEST(RecScenarios, S16BitsOfSharersLeaveTheHomeOut) {
  const DirectoryHome second = home_at(2);
  Home by_three = rec_home(roomy(), second);
  by_three.read(3, kX);
  EXPECT_EQ(coalesced_bits(by_three, kX), (Bits{0, 3}));
  Home by_one = rec_home(roomy(), second);
  by_one.read(1, kX);
  EXPECT_EQ(coalesced_bits(by_one, kX), (Bits{0, 2}));
}

/// Steps of one entry: a local write that leaves another position, a remote write, the last position.
TEST(RecScenarios, S17S18S19PositionsAreWrittenOneByOne) {
  Home home = rec_home(directory_of(1, 1, kLru));
  home.read(1, kX);
  home.read(3, kX + 0x380);
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{0, 1, 56, 59}));
  EXPECT_THAT(home.write(0, kX), ElementsAre("0x1000 to 1"));
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{56, 59}));
  EXPECT_EQ(home.directory().used(), 1U);
  EXPECT_THAT(home.write(2, kX + 0x380), ElementsAre("0x1380 to 3"));
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{56, 58}));
  EXPECT_THAT(home.write(0, kX + 0x380), ElementsAre("0x1380 to 2"));
  EXPECT_EQ(home.directory().used(), 0U);
  EXPECT_THAT(home.read(1, 0x8000), IsEmpty()) << "its way is free: nothing is evicted";
}

TEST(RecScenarios, S20AClearPosition) {
  Home home = rec_home(roomy());
  home.read(1, kX);
  EXPECT_THAT(home.write(2, kX + 0x40), IsEmpty());
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{0, 1, 4, 6}));
  EXPECT_THAT(home.write(0, kX + 0x80), IsEmpty());
  EXPECT_EQ(coalesced_bits(home, kX), (Bits{0, 1, 4, 6}));
  EXPECT_EQ(home.stats().remote_write_hits, 0U) << "the entry was there, the line was not tracked";
}

TEST(RecScenarios, S21AnEvictionInvalidatesEveryLineAndSharerApart) {
  Home home = rec_home(directory_of(1, 1, kLru));
  home.read(1, kX);
  home.read(2, kX);
  home.read(3, kX + 0x40);
  EXPECT_THAT(home.read(1, 0x2000),
              ElementsAre("0x1000 to 1, evicted", "0x1000 to 2, evicted", "0x1040 to 3, evicted"));
  EXPECT_EQ(home.stats().lines_at_eviction.count, 1U);
  EXPECT_EQ(home.stats().lines_at_eviction.sum, 2U);
  EXPECT_THAT(home.sharers(kX), IsEmpty());
}

TEST(RecScenarios, AFullRangeLeavesIn48Messages) {
  Home home = rec_home(directory_of(1, 1, kLru));
  for (std::uint64_t offset = 0; offset < 0x400; offset += 64) {
    for (const unsigned gpu : {1, 2, 3}) EXPECT_THAT(home.read(gpu, kX + offset), IsEmpty());
  }
  EXPECT_EQ(home.read(1, 0x2000).size(), 48U);
}

// ---------------------------------------------------------------------------------------------------------------- HMG

TEST(HmgScenarios, S22AWriteInvalidatesTheWholeBlock) {
  Home hmg = hmg_home(roomy());
  Home line = line_home(roomy());
  Home rec = rec_home(roomy());
  for (Home* home : {&hmg, &line, &rec}) {
    home->read(1, 0x1000);
    home->read(2, 0x1040);
  }
  EXPECT_THAT(hmg.sharers(0x10c0), ElementsAre(1, 2));
  EXPECT_EQ(hmg.directory().used(), 1U);
  EXPECT_THAT(hmg.write(0, 0x1080), ElementsAre("0x1000..0x10c0 to 1", "0x1000..0x10c0 to 2"));
  EXPECT_EQ(hmg.directory().used(), 0U);
  EXPECT_THAT(line.write(0, 0x1080), IsEmpty());
  EXPECT_THAT(rec.write(0, 0x1080), IsEmpty());
}

TEST(HmgScenarios, CollateralLinesAreToldFromTheWritten) {
  const DirectoryHome home = home_at(0);
  BlockDirectory directory(roomy(), home, 4);
  Invalidations out;
  directory.remote_read(PhysLine(PhysPage(home.gpu, 1), 9), DeviceId{1}, out);
  directory.local_write(PhysLine(PhysPage(home.gpu, 1), 10), out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].lines, 0xf00U);
  EXPECT_EQ(out[0].written, 0x400U);
}

TEST(HmgScenarios, S23ARemoteWriteKeepsTheWriterForAllLines) {
  Home home = hmg_home(roomy());
  home.read(1, 0x1000);
  home.read(2, 0x1040);
  EXPECT_THAT(home.write(1, 0x1000), ElementsAre("0x1000..0x10c0 to 2"));
  EXPECT_THAT(home.sharers(0x1040), ElementsAre(1));
  EXPECT_THAT(home.write(0, 0x1040), ElementsAre("0x1000..0x10c0 to 1"));
}

TEST(HmgScenarios, AnEvictionInvalidatesTheBlockAtOnce) {
  Home home = hmg_home(directory_of(1, 1));
  home.read(1, 0x1040);
  home.read(3, 0x10c0);
  EXPECT_THAT(home.read(2, 0x1100), ElementsAre("0x1000..0x10c0 to 1, evicted", "0x1000..0x10c0 to 3, evicted"));
  EXPECT_EQ(home.stats().lines_at_eviction.sum, 4U);
}

// -------------------------------------------------------------------------------------------- sets, pages, no limit

TEST(SetScenarios, S35NeedNotBeAPowerOfTwo) {
  const std::uint64_t sets = 24 * 1024 / 8;
  Home home = line_home(directory_of(24 * 1024, 8));
  for (std::uint64_t line = 0; line <= sets; ++line) EXPECT_THAT(home.read(1, line * 64), IsEmpty());
  // Line 0 and line 3072 are in set 0; six more fill it, and the eighth newcomer replaces line 0.
  for (std::uint64_t i = 2; i < 8; ++i) EXPECT_THAT(home.read(1, i * sets * 64), IsEmpty());
  EXPECT_THAT(home.read(1, (8 * sets + 1) * 64), IsEmpty()) << "another set";
  EXPECT_THAT(home.read(1, 8 * sets * 64), ElementsAre("0x0 to 1, evicted"));
  EXPECT_THAT(home.read(1, 9 * sets * 64), ElementsAre("0x30000 to 1, evicted")) << "line 3072";
}

TEST(SetScenarios, OfBlocksAndRangesGoByTheirNumbers) {
  Home hmg = hmg_home(directory_of(3, 1));
  hmg.read(1, 0);
  hmg.read(1, 2 * 256);
  EXPECT_THAT(hmg.read(1, 3 * 256), ElementsAre("0x0..0xc0 to 1, evicted"));
  Home rec = rec_home(directory_of(3, 1));
  rec.read(1, 0x40);
  rec.read(1, 2 * 1024);
  EXPECT_THAT(rec.read(1, 3 * 1024), ElementsAre("0x40 to 1, evicted"));
}

/// Lines of 128 bytes are 32 in a page: their numbers follow on one another all the same.
TEST(SetScenarios, OfLongLinesFollowOnOneAnother) {
  Home home = line_home(directory_of(32, 1), home_at(0, 4, 128));
  for (std::uint64_t line = 0; line < 32; ++line) EXPECT_THAT(home.read(1, 0x1000 + line * 128), IsEmpty());
  EXPECT_THAT(home.read(1, 0x2000), ElementsAre("0x1000 to 1, evicted"));
  EXPECT_THAT(home.read(1, 0x2f80), ElementsAre("0x1f80 to 1, evicted"));
}

TEST(PageScenarios, S36LeaveWithoutInvalidations) {
  Home home = rec_home(roomy());
  for (const unsigned gpu : {1, 2}) home.read(gpu, 0x1000);
  home.read(3, 0x1040);
  home.read(1, 0x1400);
  home.read(2, 0x1c00);
  home.read(2, 0x2000);
  EXPECT_EQ(home.directory().used(), 4U);
  home.drop_page(0x1000);
  EXPECT_EQ(home.directory().used(), 1U) << "three entries are freed";
  EXPECT_THAT(home.sharers(0x1000), IsEmpty());
  EXPECT_THAT(home.sharers(0x2000), ElementsAre(2));
  EXPECT_THAT(home.write(0, 0x1000), IsEmpty());
  EXPECT_EQ(home.stats().evictions, 0U);
  home.directory().check();
}

TEST(IdealScenarios, S38NeverEvicts) {
  Home home = ideal_home();
  for (std::uint64_t line = 0; line < 100'000; ++line) EXPECT_TRUE(home.read(1, line * 64).empty());
  EXPECT_EQ(home.directory().used(), 100'000U);
  EXPECT_EQ(home.stats().evictions, 0U);
  std::size_t sent = 0;
  for (std::uint64_t line = 0; line < 100'000; ++line) sent += home.write(0, line * 64).size();
  EXPECT_EQ(sent, 100'000U);
  EXPECT_EQ(home.directory().used(), 0U);
}

// ------------------------------------------------------------------------------------------------------------ storage

TEST(Storage, S34BitsOfAnEntryAreThePublishedOnes) {
  EXPECT_EQ(BlockDirectory::entry_bits(4), 52U);
  EXPECT_EQ(BlockDirectory::entry_bits(8), 56U);
  EXPECT_EQ(BlockDirectory::entry_bits(16), 64U);
  const auto rec = [](unsigned range, unsigned gpus) { return RecDirectory::entry_bits(gpus, range / 64, 64); };
  EXPECT_EQ(rec(128, 4), 50U);
  EXPECT_EQ(rec(256, 4), 57U);
  EXPECT_EQ(rec(512, 4), 72U);
  EXPECT_EQ(rec(1024, 4), 103U);
  EXPECT_EQ(rec(2048, 4), 166U);
  EXPECT_EQ(rec(4096, 4), 293U);
  EXPECT_EQ(rec(1024, 8), 167U);
  EXPECT_EQ(rec(1024, 16), 295U);
  EXPECT_EQ(RecDirectory::entry_bits(4, 2048 / 128, 128), 102U) << "lines of 128 bytes, ranges of 2 KiB";
}

}  // namespace
}  // namespace nearfar::scenarios_test
