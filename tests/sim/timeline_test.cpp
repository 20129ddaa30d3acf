// A timeline that is too long: what is left of it is whole.
#include "sim/timeline_end.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nearfar::timeline_shortening_test {
namespace {

using Kind = TimelineEvent::Kind;

constexpr unsigned kHost = 1;

TimelineEvent event(Kind kind, const char* name, Cycle start, Cycle end, std::uint8_t device = 0) {
  return {.kind = kind, .device = device, .name = name, .start = start, .end = end, .id = 1};
}
TimelineEvent part(const char* name, Cycle start, Cycle end) { return event(Kind::Request, name, start, end); }
TimelineEvent miss(const char* name, Cycle start, Cycle end) {
  TimelineEvent out = part(name, start, end);
  out.value = 1;
  return out;
}

/// Names of what is left.
std::string left(std::vector<TimelineEvent> events, std::size_t most, Cycle lost_from = kNever) {
  shorten_timeline(events, most, lost_from, kHost);
  std::string names;
  for (const TimelineEvent& each : events) names += std::string(names.empty() ? "" : " ") + each.name;
  return names;
}

/// Two misses of one page, a walk of the host between them, a queue's length, and a page that moves.
const std::vector<TimelineEvent> kEvents = {part("a1", 10, 14),
                                            part("a2", 14, 30),
                                            miss("a", 10, 30),
                                            event(Kind::Span, "walk", 12, 28, kHost),
                                            event(Kind::Level, "queue", 13, 13),
                                            part("b1", 30, 35),
                                            part("b2", 35, 50),
                                            miss("b", 30, 50),
                                            event(Kind::Request, "move", 5, 60, kHost)};

TEST(TimelineShortening, LeavesAloneWhatFits) { EXPECT_EQ(left(kEvents, 9), "a1 a2 a walk queue b1 b2 b move"); }

TEST(TimelineShortening, KeepsWhatEndedByOneCycle) { EXPECT_EQ(left(kEvents, 8), "a1 a2 a walk queue b1 b2 b"); }

TEST(TimelineShortening, KeepsARequestWithAllItsPartsOrNoneOfIt) {
  EXPECT_EQ(left(kEvents, 7), "a1 a2 a walk queue");
  EXPECT_EQ(left(kEvents, 5), "a1 a2 a walk queue");
  EXPECT_EQ(left(kEvents, 4), "walk queue");
  EXPECT_EQ(left(kEvents, 1), "queue");
}

TEST(TimelineShortening, AnEventThatWasLostEndsIt) {
  EXPECT_EQ(left(kEvents, 100, 50), "a1 a2 a walk queue") << "something that ended at 50 is missing";
  EXPECT_EQ(left(kEvents, 100, 13), "");
}

TEST(TimelineShortening, PartsOfALostRequestGoWithIt) {
  std::vector<TimelineEvent> events = kEvents;
  std::erase_if(events, [](const TimelineEvent& each) { return std::string(each.name) == "b"; });
  EXPECT_EQ(left(events, 100, 70), "a1 a2 a walk queue move");
}

TEST(TimelineShortening, PathsThatRaceForARequestBelongToIt) {
  const std::vector<TimelineEvent> events = {part("host", 12, 20), part("remote", 15, 33), miss("miss", 10, 30),
                                             event(Kind::Level, "queue", 31, 31)};
  EXPECT_EQ(left(events, 3), "queue");
}

}  // namespace
}  // namespace nearfar::timeline_shortening_test
