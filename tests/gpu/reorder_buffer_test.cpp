// The reorder buffer: how much it holds, in which order instructions leave it, and what it does to a machine.
#include "gpu/reorder_buffer.h"

#include <gtest/gtest.h>

#include <vector>

#include "machine/script.h"

namespace nearfar::reorder_buffer_test {
namespace {

class ReorderBufferTest : public ::testing::Test {
 protected:
  /// Slots of loads that leave, with when their data is there.
  std::vector<std::pair<unsigned, Cycle>> retire(Cycle now) {
    std::vector<std::pair<unsigned, Cycle>> left;
    while (buffer_.retire(now, [&](Wavefront&, unsigned load, Cycle ready) { left.emplace_back(load, ready); })) {
    }
    return left;
  }

  Wavefront wave_;
  ReorderBuffer buffer_{4};
};

TEST_F(ReorderBufferTest, ALoadThatIsDoneWaitsForOlderOnes) {
  wave_.lines_left[0] = wave_.lines_left[1] = 1;  // a line each is missing
  buffer_.enter_load(wave_, 0, 1);
  buffer_.enter_load(wave_, 1, 2);
  wave_.lines_left[1] -= 1;
  wave_.ready[1] = 100;
  EXPECT_TRUE(retire(100).empty());
  wave_.lines_left[0] -= 1;
  wave_.ready[0] = 130;
  const std::vector<std::pair<unsigned, Cycle>> both = {{0, 130}, {1, 130}};
  EXPECT_EQ(retire(120), both) << "the younger one's data is not there before the older one's";
  EXPECT_TRUE(buffer_.empty());
}

TEST_F(ReorderBufferTest, HasAPlaceForEachLine) {
  EXPECT_TRUE(buffer_.has_room(64)) << "an instruction alone enters";
  buffer_.enter_load(wave_, 0, 3);
  EXPECT_TRUE(buffer_.has_room(1));
  EXPECT_FALSE(buffer_.has_room(2));
  retire(0);
  EXPECT_TRUE(buffer_.has_room(2));
}

TEST_F(ReorderBufferTest, StoresAreDoneInOrder) {
  buffer_.enter_store(2);
  buffer_.enter_store(1);
  buffer_.stores_ordered(1);
  retire(0);
  EXPECT_FALSE(buffer_.has_room(2));
  buffer_.stores_ordered(1);
  retire(0);
  EXPECT_TRUE(buffer_.has_room(3));
  EXPECT_FALSE(buffer_.empty());
}

/// One wavefront loads a word of each of so many lines, all at once or one after the other.
Cycle cycles(const std::string& reorder_buffer, unsigned lines, bool together) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Distribute);
  const auto kernel = [](VirtAddr at, unsigned count, bool all) -> Stream {
    for (unsigned i = 0; i < count; ++i) {
      co_yield load(4, [=](unsigned lane) { return lane == 0 ? at + i * 64 : kIdle; });
      if (!all) co_yield wait(0);
    }
    co_yield wait(0);
  };
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return kernel(base, lines, together); });
  return simulate(test_system({"gpu.cu.reorder_buffer=" + reorder_buffer}), {script}).result.cycles;
}

TEST(ReorderBuffer, OfOneLineLeavesOneLoadUnderWay) {
  const Cycle one = cycles("0", 1, true);
  // The next instruction stands in the unit already when a load is done, and begins a cycle sooner than one behind a
  // wait.
  EXPECT_EQ(cycles("1", 8, true) - one, cycles("0", 8, false) - one - 7);
  EXPECT_LT(cycles("8", 8, true) - one, (cycles("1", 8, true) - one) / 4);
  EXPECT_EQ(cycles("8", 8, true), cycles("0", 8, true)) << "loads of one wavefront that come back in order";
}

}  // namespace
}  // namespace nearfar::reorder_buffer_test
