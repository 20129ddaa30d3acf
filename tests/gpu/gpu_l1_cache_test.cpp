// How an L1 of a GPU is filled: which lines are kept, and who is notified.
#include "gpu/gpu_l1_cache.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace nearfar::gpu_l1_cache_test {
namespace {

const PhysPage kLocal{DeviceId{0}, 5};
const PhysPage kRemote{DeviceId{1}, 5};

class GpuL1CacheTest : public ::testing::TestWithParam<bool> {
 protected:
  using Notified = std::vector<std::pair<L1MshrFile::Target, std::uint64_t>>;

  /// Asks for lines 1 and 2 of a page.
  L1MshrFile::Group& ask(PhysPage page) {
    L1MshrFile::Group& group = l1_.pending().begin(PhysLine{page, 1}, 40, 0);
    l1_.pending().add(group, PhysLine{page, 2});
    return group;
  }
  Notified fill(PhysPage page, std::uint64_t lines) {
    L1MshrFile::Arrival arrival = l1_.fill(page, lines);
    Notified notified;
    l1_.notify_waiters(arrival, lines,
                       [&](L1MshrFile::Target target, std::uint64_t come) { notified.emplace_back(target, come); });
    return notified;
  }
  bool holds(PhysPage page, unsigned line) { return l1_.look_up(PhysLine{page, line}) != TagArray::kNone; }

  Partition partition_{DeviceId{0}, 2};
  GpuSpec spec_;
  GpuContext context_{partition_, spec_, 1, GetParam(), nullptr};
  GpuL1Cache l1_{context_, spec_.l1v, LoadUnit::of(DeviceId{0}, 0, false)};
};

INSTANTIATE_TEST_SUITE_P(KeepsRemoteLines, GpuL1CacheTest, ::testing::Bool());

TEST_P(GpuL1CacheTest, KeepsLocalLinesAndRemoteOnesWhereThatIsOn) {
  ask(kLocal);
  ask(kRemote);
  fill(kLocal, 0b110);
  fill(kRemote, 0b110);
  EXPECT_TRUE(holds(kLocal, 1) && holds(kLocal, 2));
  EXPECT_EQ(holds(kRemote, 1), GetParam());
  EXPECT_EQ(l1_.stats().fills, 4U);
  EXPECT_EQ(l1_.pending().used(), 0U);
}

TEST_P(GpuL1CacheTest, DoesNotKeepPoisonedLines) {
  ask(kLocal).poisoned |= 0b010;
  fill(kLocal, 0b110);
  EXPECT_FALSE(holds(kLocal, 1));
  EXPECT_TRUE(holds(kLocal, 2));
}

TEST_P(GpuL1CacheTest, DoesNotKeepWhatWasPendingAtAnAcquire) {
  ask(kLocal);
  l1_.acquire(L1Event::Fence, Scope::System);
  EXPECT_EQ(fill(kLocal, 0b110), (Notified{{40, 0b110}})) << "who waits is notified all the same";
  EXPECT_FALSE(holds(kLocal, 1) || holds(kLocal, 2));
}

TEST_P(GpuL1CacheTest, NotifiesWhoAskedAndThenWhoMerged) {
  L1MshrFile::Group& group = ask(kLocal);
  l1_.pending().merge(group, PhysLine{kLocal, 2}, 50);
  l1_.pending().merge(group, PhysLine{kLocal, 1}, 60);
  EXPECT_EQ(fill(kLocal, 0b010), (Notified{{40, 0b010}, {60, 0b010}}));
  EXPECT_EQ(fill(kLocal, 0b100), (Notified{{40, 0b100}, {50, 0b100}}));
}

}  // namespace
}  // namespace nearfar::gpu_l1_cache_test
