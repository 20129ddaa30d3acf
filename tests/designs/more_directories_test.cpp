// Directories beyond the study of REC, step by step; and what every directory owes to the caches that it tracks, on
// random requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <pcg_random.hpp>
#include <set>
#include <string>

#include "coherence/block_directory.h"
#include "coherence/line_directory.h"
#include "designs/carve/sharing_bits.h"
#include "designs/dir_ideal/ideal_directory.h"
#include "designs/multi_grain/multi_grain_directory.h"
#include "designs/rec/rec_directory.h"

namespace nearfar::more_directories_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DirectoryHome kHome{.gpu = DeviceId{0}, .gpus = 4, .lines_per_page = 64};

DirectorySpec entries(std::uint32_t count, std::uint32_t ways) {
  DirectorySpec spec;
  spec.entries = count;
  spec.ways = ways;
  return spec;
}

PhysLine line(unsigned index, std::uint64_t frame = 1) { return {PhysPage(DeviceId{0}, frame), index}; }

/// Messages as "lines→GPU", by the lines' numbers in their page.
std::vector<std::string> text(const Invalidations& messages) {
  std::vector<std::string> out;
  for (const Invalidation& message : messages) {
    std::string lines;
    for (unsigned i = 0; i < 64; ++i) {
      if ((message.lines >> i & 1) != 0) lines += (lines.empty() ? "" : ",") + std::to_string(i);
    }
    out.push_back(lines + "→" + std::to_string(message.to.value));
  }
  return out;
}

/// Asks a directory, and answers what it sends.
struct Asked {
  explicit Asked(Directory& asked) : directory(asked) {}
  std::vector<std::string> read(unsigned index, unsigned gpu) {
    out.clear();
    directory.remote_read(line(index), DeviceId{static_cast<std::uint16_t>(gpu)}, out);
    return text(out);
  }
  std::vector<std::string> write(unsigned index, unsigned gpu) {
    out.clear();
    directory.remote_write(line(index), DeviceId{static_cast<std::uint16_t>(gpu)}, out);
    return text(out);
  }
  std::vector<std::string> write(unsigned index) {
    out.clear();
    directory.local_write(line(index), out);
    return text(out);
  }
  Directory& directory;
  Invalidations out;
};

TEST(Carve, BroadcastsWritesToSharedLines) {
  SharingBits bits(kHome);
  Asked asked(bits);
  EXPECT_THAT(asked.write(3), IsEmpty()) << "nobody has it";
  EXPECT_THAT(asked.read(3, 1), IsEmpty());
  EXPECT_THAT(asked.write(4), IsEmpty()) << "another line";
  EXPECT_THAT(asked.write(3, 2), ElementsAre("3→1", "3→3")) << "all but the writer and the home";
  EXPECT_THAT(asked.write(3), ElementsAre("3→1", "3→2", "3→3"));
  EXPECT_THAT(asked.write(3), IsEmpty()) << "nobody has it any more";
  EXPECT_THAT(asked.write(3, 1), IsEmpty());
  EXPECT_EQ(bits.used(), 1U);
  bits.drop_page(line(0).page());
  EXPECT_EQ(bits.used(), 0U);
  EXPECT_THAT(asked.write(3), IsEmpty());
  bits.check();
}

TEST(MultiGrain, TracksAPrivateRegionWithOneEntry) {
  MultiGrainDirectory directory(entries(8, 8), kHome, 16);
  Asked asked(directory);
  for (unsigned i = 0; i < 16; ++i) EXPECT_THAT(asked.read(i, 1), IsEmpty());
  EXPECT_EQ(directory.used(), 1U);
  EXPECT_EQ(directory.regions(), 1U);
  EXPECT_EQ(directory.sharers(line(7)), sharer(DeviceId{1}));
  // A second GPU: the line leaves the region.
  EXPECT_THAT(asked.read(7, 2), IsEmpty());
  EXPECT_EQ(directory.used(), 2U);
  EXPECT_EQ(directory.sharers(line(7)), sharer(DeviceId{1}) | sharer(DeviceId{2}));
  EXPECT_EQ(directory.sharers(line(8)), sharer(DeviceId{1}));
  // Its write of a line that the owner has; of one that has an entry of its own; and the home's.
  EXPECT_THAT(asked.write(8, 2), ElementsAre("8→1"));
  EXPECT_THAT(asked.write(7, 3), ElementsAre("7→1", "7→2"));
  EXPECT_THAT(asked.write(7), ElementsAre("7→3"));
  EXPECT_THAT(asked.write(0), ElementsAre("0→1"));
  EXPECT_THAT(asked.write(0), IsEmpty());
  directory.check();
}

TEST(MultiGrain, ReplacedRegionInvalidatesTheLinesOfItsOwner) {
  MultiGrainDirectory directory(entries(1, 1), kHome, 16);
  Asked asked(directory);
  asked.read(2, 3);
  asked.read(5, 3);
  EXPECT_THAT(asked.read(20, 1), ElementsAre("2→3", "5→3"));
  EXPECT_EQ(directory.stats().lines_at_eviction.sum, 2U);
  EXPECT_EQ(directory.sharers(line(2)), 0U);
}

TEST(MultiGrain, RegionIsFreedWithItsLastLine) {
  MultiGrainDirectory directory(entries(4, 4), kHome, 16);
  Asked asked(directory);
  asked.read(2, 3);
  asked.write(2);
  EXPECT_EQ(directory.used(), 0U);
  EXPECT_EQ(directory.regions(), 0U);
  asked.read(2, 3);
  asked.read(2, 1);
  EXPECT_EQ(directory.regions(), 0U) << "the only line of the region has left it";
  EXPECT_EQ(directory.used(), 1U);
}

TEST(MultiGrain, EntryIsAsWideAsTheWiderKind) {
  EXPECT_EQ(MultiGrainDirectory::entry_bits(4, 16, 64), 58U);
  EXPECT_EQ(MultiGrainDirectory::entry_bits(4, 2, 64), 53U);
  EXPECT_EQ(MultiGrainDirectory::entry_bits(16, 16, 64), 65U);
}

using Make = std::function<std::unique_ptr<Directory>(const DirectorySpec&)>;
struct Organization {
  std::string name;
  Make make;
};

class EveryDirectory : public testing::TestWithParam<Organization> {};

/// Whoever may hold a copy is on record; a write reaches everybody else who may; and who is removed is told.
TEST_P(EveryDirectory, KnowsASupersetOfTheHolders) {
  for (unsigned machine = 0; machine < 60; ++machine) {
    pcg32 random(machine);
    const std::uint32_t ways = 1 + random(3);
    const auto directory = GetParam().make(entries(ways * (1 + random(4)), ways));
    std::map<std::uint64_t, Sharers> holders;
    for (unsigned i = 0; i < 2000; ++i) {
      const PhysLine at = line(random(40), 1 + random(2));
      const auto gpu = DeviceId{static_cast<std::uint16_t>(1 + random(3))};
      const unsigned kind = random(10);
      Invalidations out;
      if (kind < 5) {
        directory->remote_read(at, gpu, out);
      } else if (kind < 7) {
        directory->remote_write(at, gpu, out);
      } else if (kind < 9) {
        directory->local_write(at, out);
      } else {
        holders[at.value] &= ~sharer(gpu);  // a silent eviction
      }
      for (const Invalidation& message : out) {
        for (unsigned l = 0; l < 64; ++l) {
          if ((message.lines >> l & 1) != 0) holders[PhysLine(message.page, l).value] &= ~sharer(message.to);
        }
      }
      if (kind < 7) holders[at.value] |= sharer(gpu);
      if (kind >= 5 && kind < 7) {
        ASSERT_EQ(holders[at.value], sharer(gpu)) << "the others still hold what was written";
      }
      if (kind >= 7 && kind < 9) {
        ASSERT_EQ(holders[at.value], 0U);
      }
      for (const auto& [held, by] : holders) ASSERT_EQ(by & ~directory->sharers(PhysLine{held}), 0U);
    }
    directory->check();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryDirectory,
    testing::Values(
        Organization{"line", [](const DirectorySpec& s) { return std::make_unique<LineDirectory>(s, kHome); }},
        Organization{"hmg", [](const DirectorySpec& s) { return std::make_unique<BlockDirectory>(s, kHome, 4); }},
        Organization{"rec", [](const DirectorySpec& s) { return std::make_unique<RecDirectory>(s, kHome, 16); }},
        Organization{"ideal", [](const DirectorySpec&) { return std::make_unique<IdealDirectory>(kHome); }},
        Organization{"carve", [](const DirectorySpec&) { return std::make_unique<SharingBits>(kHome); }},
        Organization{"multi_grain",
                     [](const DirectorySpec& s) { return std::make_unique<MultiGrainDirectory>(s, kHome, 16); }}),
    [](const testing::TestParamInfo<Organization>& made) { return made.param.name; });

}  // namespace
}  // namespace nearfar::more_directories_test
