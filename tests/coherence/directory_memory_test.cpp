// The memory behind a directory, against the closed form of its bank and its bus.
#include <gtest/gtest.h>

#include "coherence/umh/directory_memory.h"

namespace nearfar::directory_memory_test {
namespace {

constexpr std::uint64_t kRow = 2048;
constexpr Cycle kRowCycle = 34;

/// 38.4 GB/s at 800 MHz: 48 bytes a cycle.
DirectoryMemory stack(unsigned banks = 8) {
  return DirectoryMemory(38'400'000'000, 800'000'000, kRowCycle, banks, kRow);
}

TEST(DirectoryMemory, AnAccessTakesARowCycleAndItsBytes) {
  EXPECT_EQ(stack().read(100, 0, 64), 100 + kRowCycle + 2);
  EXPECT_EQ(stack().read(100, 0, 4096), 100 + kRowCycle + 86);
}

TEST(DirectoryMemory, ABankIsBusyUntilItsAccessEnds) {
  DirectoryMemory memory = stack();
  const Cycle first = memory.read(0, 0, 64);
  EXPECT_EQ(memory.read(0, 64, 64), first + kRowCycle + 2);
  EXPECT_EQ(memory.read(0, 8 * kRow, 64), first + 2 * (kRowCycle + 2));
}

/// What waits for its bank has not taken the bus yet: others pass it.
TEST(DirectoryMemory, ABusyBankDelaysNoOther) {
  DirectoryMemory memory = stack();
  for (unsigned i = 0; i < 100; ++i) memory.read(0, 0, 64);
  EXPECT_EQ(memory.read(0, kRow, 64), kRowCycle + 3);  // behind the first of them on the bus
  EXPECT_EQ(memory.read(0, 2 * kRow, 64), kRowCycle + 4);
}

/// Banks side by side pass as many bytes as the bus does, however they are asked for.
TEST(DirectoryMemory, TheBusBoundsAllBanksTogether) {
  DirectoryMemory memory = stack();
  constexpr unsigned kAccesses = 400;
  Cycle end = 0;
  for (unsigned i = 0; i < kAccesses; ++i) end = std::max(end, memory.read(0, i % 8 * kRow, 2048));
  const Cycle bytes = kAccesses * 2048 / 48 + 1;
  EXPECT_GE(end, bytes);
  EXPECT_LE(end, bytes + 2 * kRowCycle + 2048 / 48);
  EXPECT_EQ(memory.stats().busy_cycles, kAccesses * 2048 / 48);
}

TEST(DirectoryMemory, WithoutBanksOnlyTheBusBoundsIt) {
  DirectoryMemory module(19'200'000'000, 800'000'000, 36, 0, 1);
  EXPECT_EQ(module.read(0, 0, 4096), 36U + 171U);
  EXPECT_EQ(module.read(0, 0, 4096), 36U + 342U);
  module.write(0, 0, 4096);
  EXPECT_EQ(module.read(0, 0, 64), 36U + 512U + 3U);
}

}  // namespace
}  // namespace nearfar::directory_memory_test
