#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace nearfar::progress_test {
namespace {

Progress at(std::uint64_t done, std::uint64_t total, std::uint64_t accesses) {
  return {.groups_done = done, .groups_total = total, .accesses = accesses, .cycle = 0};
}

TEST(Progress, SaysShareSpeedAndTimeLeft) {
  EXPECT_EQ(progress_text("MT", at(25, 100, 30'000'000), 10, 0), "MT   25 %  3.00 M accesses/s  30 s left");
  EXPECT_EQ(progress_text("MT", at(99, 100, 1'000), 10, 0), "MT   99 %  100 accesses/s  less than 1 s left");
  EXPECT_EQ(progress_text("MT", at(1, 100, 1'000), 10, 0), "MT    1 %  100 accesses/s  16 min 30 s left");
  EXPECT_EQ(progress_text("MT", at(1, 1000, 1'000), 100, 0), "MT    0 %  10 accesses/s  27 h 45 min left");
}

TEST(Progress, PromisesNothingBeforeTheFirstWorkgroupIsDone) {
  EXPECT_EQ(progress_text("MT", at(0, 100, 500), 1, 0), "MT    0 %  500 accesses/s");
  EXPECT_EQ(progress_text("MT", at(0, 0, 0), 0, 0), "MT    0 %");
}

TEST(Progress, FitsTheTerminal) {
  const std::string text = progress_text("MT", at(25, 100, 30'000'000), 10, 20);
  EXPECT_EQ(text, "MT   25 %  3.00 M a");
}

TEST(Progress, EndsItsLineWhenASignalEndsTheProgram) {
  const auto interrupted = [] {
    ProgressLine line("MT", Terminal{.interactive = true});
    std::this_thread::sleep_for(std::chrono::milliseconds(600));  // longer than it waits to be shown
    line.update(at(1, 2, 3));
    std::raise(SIGINT);
  };
  EXPECT_EXIT(interrupted(), ::testing::KilledBySignal(SIGINT), "MT   50 %.* left\n");
}

TEST(Progress, LeavesSignalsAsTheyWere) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    ProgressLine line("MT", Terminal{.interactive = true});
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    ::testing::internal::CaptureStderr();
    line.update(at(1, 2, 3));
    std::raise(SIGHUP);
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::Not(::testing::HasSubstr("\n")));
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
  const auto interrupt = std::signal(SIGINT, SIG_DFL);
  EXPECT_EQ(interrupt, SIG_DFL);
}

TEST(Progress, IsSilentWhenNobodyLooks) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line("MT", Terminal{});
    line.update(at(1, 2, 3));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace nearfar::progress_test
