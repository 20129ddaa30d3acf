// Timelines as a viewer of the Chrome trace-event format reads them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/timeline_json.h"
#include "cli/timeline_options.h"
#include "config/error.h"

namespace nearfar::timeline_test {
namespace {

using Json = nlohmann::json;

TimelineEvent request(const char* name, Cycle start, Cycle end, std::uint64_t id = 0x100) {
  return {.kind = TimelineEvent::Kind::Request, .name = name, .start = start, .end = end, .id = id};
}

Json trace_of(std::vector<TimelineEvent> events) {
  Report report;
  report.machine.loaded.spec.gpus = 2;
  report.result.timeline = std::move(events);
  return Json::parse(timeline_json(report));
}

/// What a viewer makes of nested events: those of one id, whatever their process, by time, in the order of the file
/// where it is the same; each end closes what was begun last. "outer/inner" for each event, with its cycles.
std::vector<std::string> seen(const Json& trace) {
  std::map<std::string, std::vector<Json>> by_id;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "b" || event["ph"] == "e") by_id[event["id"]].push_back(event);
  }
  std::vector<std::string> found;
  for (auto& [id, events] : by_id) {
    std::ranges::stable_sort(events, {}, [](const Json& event) { return event["ts"].get<double>(); });
    std::vector<Json> open;
    std::string path;
    for (const Json& event : events) {
      if (event["ph"] == "b") {
        path += "/" + event["name"].get<std::string>();
        open.push_back(event);
        continue;
      }
      if (open.empty() || open.back()["name"] != event["name"]) {
        ADD_FAILURE() << event << " ends what is not the last one begun";
        return found;
      }
      found.push_back(path + " " + open.back()["args"]["cycles"].dump());
      path.resize(path.rfind('/'));
      open.pop_back();
    }
    EXPECT_TRUE(open.empty());
  }
  return found;
}

TEST(TimelineJson, ARequestHoldsItsParts) {
  // As they are noted: parts first. The first part and the whole begin together, as the last part and the whole end.
  const Json trace = trace_of({request("walk", 10, 14), request("link", 14, 30), request("miss", 10, 30)});
  EXPECT_EQ(seen(trace), (std::vector<std::string>{"/miss/walk 4", "/miss/link 16", "/miss 20"}));
}

TEST(TimelineJson, APartAsLongAsItsRequestIsWithinIt) {
  const Json trace = trace_of({request("walk", 10, 14), request("miss", 10, 14)});
  EXPECT_EQ(seen(trace), (std::vector<std::string>{"/miss/walk 4", "/miss 4"}));
}

TEST(TimelineJson, ARequestThatFollowsAtOnceIsNotWithinTheOneBefore) {
  const Json trace = trace_of({request("miss", 10, 14), request("miss", 14, 20), request("miss", 14, 15, 0x200)});
  EXPECT_EQ(seen(trace), (std::vector<std::string>{"/miss 4", "/miss 6", "/miss 1"}));
}

TEST(TimelineJson, RequestsOfTwoDevicesForAPageAreTwo) {
  TimelineEvent other = request("miss", 12, 30);
  other.device = 1;
  EXPECT_EQ(seen(trace_of({request("miss", 10, 20), other})), (std::vector<std::string>{"/miss 10", "/miss 18"}));
}

TEST(TimelineJson, PathsThatRaceHaveLanesOfTheirOwn) {
  const Json trace = trace_of({request("host", 12, 20), request("remote", 15, 25), request("miss", 10, 30)});
  EXPECT_EQ(seen(trace), (std::vector<std::string>{"/miss/host 8", "/miss 20", "/remote 10"}));
}

TEST(TimelineJson, WalkersAreThreadsOfTheirDevice) {
  const Json trace = trace_of({{.kind = TimelineEvent::Kind::Span,
                                .device = 2,
                                .track = 3,
                                .name = "walk",
                                .start = 1000,
                                .end = 1100,
                                .id = 0x4200}});
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0]["args"]["name"], "host");
  EXPECT_EQ(events[1]["args"]["name"], "page walker 3");
  EXPECT_EQ(events[1]["tid"], events[2]["tid"]);
  EXPECT_DOUBLE_EQ(events[2]["ts"], 1.0);
  EXPECT_DOUBLE_EQ(events[2]["dur"], 0.1);
  EXPECT_EQ(events[2]["args"]["address"], "0x42000");  // of 4 KiB pages
}

TimelineFilter filter_of(TimelineArguments arguments) {
  SystemSpec system;
  system.gpus = 4;
  arguments.file = "t.json";
  return timeline_filter(arguments, system);
}

TEST(TimelineOptions, TakeDecimalAndHexadecimalNumbers) {
  const TimelineFilter filter = filter_of({.gpu = "03", .bytes = "0x1000-0x1fff", .cycles = "01000-02000"});
  EXPECT_TRUE(filter.on);
  EXPECT_EQ(filter.device, 3U);
  EXPECT_EQ(filter.first_byte, 0x1000U);
  EXPECT_EQ(filter.last_byte, 0x1fffU);
  EXPECT_EQ(filter.from, 1000U) << "not octal";
  EXPECT_EQ(filter.to, 2000U);
}

TEST(TimelineOptions, TakeTheMostEvents) {
  EXPECT_EQ(filter_of({}).most, 200'000U);
  EXPECT_EQ(filter_of({.events = "5000"}).most, 5000U);
  for (const char* events : {"0", "-1", "many", "10000000001"}) {
    EXPECT_THROW(filter_of({.events = events}), InputError) << events;
  }
  EXPECT_THROW(timeline_filter({.events = "5"}, SystemSpec{}), InputError) << "without a file";
}

TEST(TimelineOptions, RefuseAnythingElse) {
  for (const char* range : {"1000--5", "-5", "5-", "5", "-", "2-1", "1-2-3", "+1-2", " 1-2", "1-2 ", "0x-0x1", "1-1f",
                            "0-18446744073709551616"}) {
    EXPECT_THROW(filter_of({.cycles = range}), InputError) << range;
    EXPECT_THROW(filter_of({.bytes = range}), InputError) << range;
  }
  for (const char* gpu : {"-1", "4", "1-2", "x", "0x", "1 "}) {
    try {
      filter_of({.gpu = gpu});
      FAIL() << gpu;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), "--timeline-gpu takes the number of a GPU of the system, 0 to 3; `" + std::string(gpu) +
                                  "` is not one.");
    }
  }
}

TEST(TimelineNote, SaysWhyThereIsLessThanWasAskedFor) {
  Report report;
  report.machine.system = "some-system";
  EXPECT_EQ(timeline_note(report), "") << "nobody asked";
  report.experiment.timeline.on = true;
  report.machine.loaded.spec.translation.kind = TranslationKind::Ideal;
  EXPECT_EQ(timeline_note(report),
            "The timeline is empty: the system `some-system` translates addresses without requests (translation.kind "
            "is ideal).");
  report.machine.loaded.spec.translation.kind = TranslationKind::Mmu;
  EXPECT_EQ(timeline_note(report), "The timeline is empty: nothing happened in what the --timeline-… options select.");
  report.result.timeline = {request("miss", 10, 20)};
  EXPECT_EQ(timeline_note(report), "");
  report.result.cycles = 5000;
  report.result.timeline_lost = 1234;
  EXPECT_EQ(timeline_note(report),
            "The timeline ends at cycle 20 of 5,000 with 1 events; 1,234 later ones were left out. "
            "--timeline-events N takes more; --timeline-cycles, --timeline-gpu and --timeline-addresses select "
            "others.");
}

TEST(TimelineJson, SaysWhereItEndsAndWhatWasLeftOut) {
  Report report;
  report.machine.loaded.spec.gpus = 2;
  report.result.timeline = {request("miss", 10, 1000)};
  report.result.timeline_lost = 7;
  const Json trace = Json::parse(timeline_json(report));
  EXPECT_EQ(trace["otherData"]["events_left_out"], 7);
  EXPECT_EQ(trace["otherData"]["complete_until_cycle"], 1000);
  const Json& last = trace["traceEvents"].back();
  EXPECT_EQ(last["ph"], "i");
  EXPECT_EQ(last["name"], "the timeline ends here, 7 later events were left out");
  EXPECT_DOUBLE_EQ(last["ts"], 1.0);
  report.result.timeline_lost = 0;
  EXPECT_FALSE(Json::parse(timeline_json(report))["otherData"].contains("complete_until_cycle"));
}

}  // namespace
}  // namespace nearfar::timeline_test
