// The static splits: every workgroup has exactly one owner, and the owners are the ones the rules name.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

#include "program/split.h"

namespace nearfar::split_test {
namespace {

std::vector<std::uint64_t> groups_of(const Share& share) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < share.size(); ++i) ids.push_back(share[i]);
  return ids;
}

Launch grid(std::uint32_t x, std::uint32_t y, std::uint32_t z, Dim dim) {
  return {.kernel = "k", .groups_x = x, .groups_y = y, .groups_z = z, .split_dim = dim};
}

RC_GTEST_PROP(Split, EveryWorkgroupHasOneOwner, ()) {
  const Launch launch = grid(*rc::gen::inRange(1U, 20U), *rc::gen::inRange(1U, 20U), *rc::gen::inRange(1U, 5U),
                             *rc::gen::element(Dim::X, Dim::Y, Dim::Z));
  const Split split = *rc::gen::element(Split::Offset, Split::Blocks, Split::RoundRobin);
  const unsigned gpus = *rc::gen::inRange(1U, 20U);
  const unsigned cus = *rc::gen::inRange(1U, 70U);
  std::vector<int> owners(launch.groups());
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    for (const std::uint64_t id : groups_of(Share(launch, split, gpu, gpus, cus))) ++owners.at(id);
  }
  RC_ASSERT(owners == std::vector<int>(launch.groups(), 1));
}

RC_GTEST_PROP(Split, OffsetGivesEachGpuItsRunOfTheDimension, ()) {
  const std::uint32_t x = *rc::gen::inRange(1U, 20U), y = *rc::gen::inRange(1U, 20U), z = *rc::gen::inRange(1U, 5U);
  const Dim dim = *rc::gen::element(Dim::X, Dim::Y, Dim::Z);
  const unsigned gpus = *rc::gen::inRange(1U, 9U), gpu = *rc::gen::inRange(0U, gpus);
  const Launch launch = grid(x, y, z, dim);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t id = 0; id < launch.groups(); ++id) {
    const Wave wave = launch.wave(id, 0, 64);
    const std::uint64_t at = dim == Dim::X ? wave.group_x : dim == Dim::Y ? wave.group_y : wave.group_z;
    const std::uint64_t extent = dim == Dim::X ? x : dim == Dim::Y ? y : z;
    if (at >= gpu * extent / gpus && at < (gpu + 1) * extent / gpus) expected.push_back(id);
  }
  RC_ASSERT(groups_of(Share(launch, Split::Offset, gpu, gpus, 64)) == expected);
}

TEST(Split, BlocksFillTheFirstGpusWhenTheLaunchIsSmall) {
  const auto sizes = [](std::uint32_t groups) {
    std::vector<std::uint64_t> all;
    for (unsigned gpu = 0; gpu < 4; ++gpu)
      all.push_back(Share(grid(groups, 1, 1, Dim::X), Split::Blocks, gpu, 4, 64).size());
    return all;
  };
  EXPECT_EQ(sizes(256), (std::vector<std::uint64_t>{64, 64, 64, 64}));
  EXPECT_EQ(sizes(64), (std::vector<std::uint64_t>{64, 0, 0, 0}));
  EXPECT_EQ(sizes(257), (std::vector<std::uint64_t>{128, 128, 1, 0}));
  EXPECT_EQ(Share(grid(256, 1, 1, Dim::X), Split::Blocks, 2, 4, 64)[3], 131U);
}

TEST(Split, RoundRobinDealsThemOut) {
  EXPECT_EQ(groups_of(Share(grid(7, 1, 1, Dim::X), Split::RoundRobin, 1, 3, 64)), (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(groups_of(Share(grid(7, 1, 1, Dim::X), Split::RoundRobin, 0, 3, 64)),
            (std::vector<std::uint64_t>{0, 3, 6}));
  EXPECT_EQ(Share(grid(2, 1, 1, Dim::X), Split::RoundRobin, 2, 3, 64).size(), 0U);
}

RC_GTEST_PROP(Split, RoundRobinOfChunksGivesEachWorkgroupToTheGpuOfItsChunk, ()) {
  const Launch launch = grid(*rc::gen::inRange(1U, 200U), 1, 1, Dim::X);
  const unsigned gpus = *rc::gen::inRange(1U, 9U);
  const unsigned chunk = *rc::gen::inRange(1U, 40U);
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t id = 0; id < launch.groups(); ++id) {
      if (id / chunk % gpus == gpu) expected.push_back(id);
    }
    RC_ASSERT(groups_of(Share(launch, Split::RoundRobin, gpu, gpus, 64, chunk)) == expected);
  }
}

TEST(Launch, NumbersWorkgroupsXFastest) {
  const Launch launch{.kernel = "k", .groups_x = 3, .groups_y = 4, .groups_z = 2, .size_x = 8, .size_y = 12};
  EXPECT_EQ(launch.waves(64), 2U);
  EXPECT_EQ(launch.waves(32), 3U);
  const Wave wave = launch.wave(12 + 2 * 3 + 1, 1, 64);
  EXPECT_EQ(wave.group_x, 1U);
  EXPECT_EQ(wave.group_y, 2U);
  EXPECT_EQ(wave.group_z, 1U);
  EXPECT_EQ(wave.local(3), 67U);
  EXPECT_EQ(wave.local_x(3), 3U);
  EXPECT_EQ(wave.local_y(3), 8U);
  EXPECT_EQ(wave.global_x(3), 11U);
  EXPECT_EQ(wave.global_y(3), 32U);
}

}  // namespace
}  // namespace nearfar::split_test
