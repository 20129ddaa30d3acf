// Placement of pages, as each policy says.
#include "translation/address_space.h"

#include <gtest/gtest.h>

#include <set>

#include "machine/script.h"
#include "sim/error.h"

namespace nearfar::address_space_test {
namespace {

constexpr DeviceId kHost{4};

DeviceId gpu(unsigned g) { return DeviceId{static_cast<std::uint16_t>(g)}; }

struct Placed {
  Script script;
  VirtAddr base;
  FrameAllocator frames{5};
  std::unique_ptr<AddressSpace> space;

  Placed(std::uint64_t pages, Placement placement, InitialPlacement policy = InitialPlacement::Workload) {
    base = script.buffer(pages * kPageBytes, placement);
    space = std::make_unique<AddressSpace>(script, policy, 0, 4, kHost, frames);
  }
  PhysPage page(std::uint64_t p, unsigned from = 0) const {
    return space->translate(gpu(from), page_of(base + p * kPageBytes));
  }
};

TEST(Placement, DistributeGivesEqualRunsAndTheRestToTheLast) {
  const Placed placed(10, Placement::Distribute);
  const unsigned expected[] = {0, 0, 1, 1, 2, 2, 3, 3, 3, 3};
  for (std::uint64_t p = 0; p < 10; ++p) EXPECT_EQ(placed.page(p).device(), gpu(expected[p]));
}

TEST(Placement, AllMayStartOnTheFirstGpu) {
  const Placed placed(10, Placement::Interleave, InitialPlacement::First);
  for (std::uint64_t p = 0; p < 10; ++p) EXPECT_EQ(placed.page(p).device(), gpu(0));
  const Placed tables(2, Placement::Private, InitialPlacement::First);
  for (unsigned g = 0; g < 4; ++g) EXPECT_EQ(tables.page(1, g).device(), gpu(g));
}

TEST(Placement, TooFewPagesToDistributeStayOnTheFirst) {
  const Placed placed(3, Placement::Distribute);
  for (std::uint64_t p = 0; p < 3; ++p) EXPECT_EQ(placed.page(p).device(), gpu(0));
}

TEST(Placement, InterleaveCountsThroughAllBuffers) {
  Script script;
  const VirtAddr first = script.buffer(3 * kPageBytes, Placement::Interleave);
  const VirtAddr second = script.buffer(2 * kPageBytes, Placement::Interleave);
  FrameAllocator frames(5);
  const AddressSpace space(script, InitialPlacement::Workload, 0, 4, kHost, frames);
  EXPECT_EQ(space.translate(gpu(0), page_of(first + 2 * kPageBytes)).device(), gpu(2));
  EXPECT_EQ(space.translate(gpu(0), page_of(second)).device(), gpu(3));
  EXPECT_EQ(space.translate(gpu(0), page_of(second + kPageBytes)).device(), gpu(0));
}

TEST(Placement, PrivatePagesAreLocalToWhoeverAsks) {
  const Placed placed(2, Placement::Private, InitialPlacement::Host);
  for (unsigned g = 0; g < 4; ++g) EXPECT_EQ(placed.page(1, g).device(), gpu(g));
}

TEST(Placement, PolicyOverrulesTheWorkload) {
  EXPECT_EQ(Placed(8, Placement::Distribute, InitialPlacement::Host).page(5).device(), kHost);
  EXPECT_EQ(Placed(8, Placement::Distribute, InitialPlacement::Interleave).page(5).device(), gpu(1));
  EXPECT_EQ(Placed(8, Placement::Interleave, InitialPlacement::Distribute).page(5).device(), gpu(2));
}

TEST(Placement, FramesAreNeverSharedAndStrayAddressesAreCaught) {
  const Placed placed(64, Placement::Interleave);
  std::set<std::uint64_t> seen;
  for (std::uint64_t p = 0; p < 64; ++p) EXPECT_TRUE(seen.insert(placed.page(p).value).second);
  EXPECT_THROW(placed.page(64), SimulationError);
}

}  // namespace
}  // namespace nearfar::address_space_test
