// What a timeline keeps, and, where it is too long, that what is left of it is whole.
#include "sim/timeline_end.h"

#include <gtest/gtest.h>

#include <memory>
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

TEST(TimelineShortening, KeepsLaunchesThatHaveBegun) {
  TimelineEvent launch = event(Kind::Span, "launch", 6, 100);
  launch.unit = TimelineUnit::Kernel;
  TimelineEvent later = launch;
  later.start = 40;
  std::vector<TimelineEvent> events = kEvents;
  events.push_back(launch);
  events.push_back(later);
  EXPECT_EQ(left(events, 6), "a1 a2 a walk queue launch");
}

/// Spans of one cycle each, from `first` on.
std::unique_ptr<Timeline> noted(const TimelineFilter& filter, Cycle first, std::size_t count) {
  auto timeline = std::make_unique<Timeline>(filter, kPageShift, 64);
  for (Cycle i = 0; i < count; ++i) timeline->note(event(Kind::Span, "walk", first + i, first + i + 1));
  return timeline;
}

TEST(TimelineBound, DropsWhatIsCertainToBeBeyondTheEnd) {
  const std::unique_ptr<Timeline> early = noted({}, 0, 5000), late = noted({}, 4000, 5000);
  Timeline* const both[] = {early.get(), late.get()};
  bound_timelines(both, 5000);
  EXPECT_EQ(early->events().size() + late->events().size(), 10'000U) << "twice as many may be there";
  bound_timelines(both, 2000);
  // 3000 have ended by 3000: what ends at 3001 is beyond any end that leaves 2000.
  EXPECT_EQ(early->events().size(), 3000U);
  EXPECT_EQ(early->lost(), 2000U);
  EXPECT_EQ(late->events().size(), 0U);
  EXPECT_EQ(late->lost(), 5000U);
  EXPECT_EQ(late->complete_before(), 3001U);
  late->note(event(Kind::Span, "walk", 3000, 3001));
  EXPECT_EQ(late->lost(), 5001U) << "from now on too";
  late->note(event(Kind::Span, "walk", 2000, 2001));
  EXPECT_EQ(late->events().size(), 1U);
}

TimelineLines lines_at(std::uint64_t address, std::uint64_t mask, std::uint8_t process = 0) {
  return {address, mask, process, TimelineLines::Space::Virtual};
}

TEST(TimelineSelection, IsOfLinesThatMeetARange) {
  TimelineFilter filter;
  filter.ranges = {{0x1080, 0x10c0}, {0x8000, 0x8fff, 2}};
  const Timeline timeline(filter, kPageShift, 64);
  EXPECT_FALSE(timeline.selects(lines_at(0x1000, 0b0011)));
  EXPECT_TRUE(timeline.selects(lines_at(0x1000, 0b0100)));
  EXPECT_TRUE(timeline.selects(lines_at(0x1000, 0b1001))) << "one byte of the last line";
  EXPECT_FALSE(timeline.selects(lines_at(0x1000, 0b10000)));
  EXPECT_TRUE(timeline.selects(lines_at(0x1000, 0))) << "the whole page";
  EXPECT_FALSE(timeline.selects(lines_at(0x2000, 0)));
  EXPECT_FALSE(timeline.selects(lines_at(0x8000, 1)));
  EXPECT_TRUE(timeline.selects(lines_at(0x8000, 1, 2)));
  EXPECT_FALSE(timeline.selects({})) << "has no address";
  EXPECT_TRUE(Timeline({}, kPageShift, 64).selects({})) << "nothing was selected";
}

TEST(TimelineFrames, KnowsWhatADeviceCanKnow) {
  const DeviceId own{1}, other{0};
  const PageSize size;
  auto before = std::make_shared<TimelineFrames::Pages>();
  (*before)[TimelineFrames::key(PhysPage{own, 7}, size)] = TimelineFrames::page_id(3, 0x100);
  (*before)[TimelineFrames::key(PhysPage{other, 7}, size)] = TimelineFrames::page_id(3, 0x200);
  TimelineFrames fixed(before, own, size, false), moving(before, own, size, true);
  EXPECT_EQ(fixed.find(PhysPage{own, 7})->address, 0x100000U);
  EXPECT_EQ(fixed.find(PhysPage{own, 7})->process, 3U);
  EXPECT_EQ(fixed.find(PhysPage{other, 7})->address, 0x200000U);
  EXPECT_FALSE(fixed.find(PhysPage{own, 8}));
  EXPECT_FALSE(moving.find(PhysPage{other, 7})) << "may hold another page by now";
  moving.set(PhysPage{other, 7}, TimelineFrames::page_id(0, 0x300));
  moving.set(PhysPage{own, 7}, TimelineFrames::page_id(0, 0x400));
  EXPECT_EQ(moving.find(PhysPage{other, 7})->address, 0x300000U);
  EXPECT_EQ(moving.find(PhysPage{own, 7})->address, 0x400000U);
}

TEST(TimelineFrames, KnowsThePiecesOfALargePage) {
  const PageSize large{kLargePageBits};
  TimelineFrames frames(std::make_shared<TimelineFrames::Pages>(), DeviceId{0}, large, true);
  frames.set(PhysPage{DeviceId{0}, 512}, TimelineFrames::page_id(0, 5));
  EXPECT_EQ(frames.find(PhysPage{DeviceId{0}, 512 + 3})->address, 5 * large.bytes() + 3 * kPageBytes);
  EXPECT_FALSE(frames.find(PhysPage{DeviceId{0}, 511}));
}

}  // namespace
}  // namespace nearfar::timeline_shortening_test
