// Timelines as a viewer of the Chrome trace-event format reads them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
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
  return Json::parse(timeline_json(std::as_const(report)));
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
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["args"]["name"], "host");
  EXPECT_EQ(events[1]["args"]["sort_index"], 2);
  EXPECT_EQ(events[2]["args"]["name"], "page walker 3");
  EXPECT_EQ(events[2]["tid"], events[4]["tid"]);
  EXPECT_DOUBLE_EQ(events[4]["ts"], 1.0);
  EXPECT_DOUBLE_EQ(events[4]["dur"], 0.1);
  EXPECT_EQ(events[4]["cat"], "translation");
  EXPECT_EQ(events[4]["args"]["address"], "0x42000");  // of 4 KiB pages
}

TimelineEvent span(TimelineUnit unit, const char* name, Cycle start, Cycle end, std::uint16_t track = 0) {
  return {.track = track, .name = name, .start = start, .end = end, .unit = unit};
}

/// "track: name" of all slices and instants, in the order of the file.
std::vector<std::string> placed(const Json& trace) {
  std::map<std::pair<int, int>, std::string> tracks;
  std::vector<std::string> found;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") tracks[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["ph"] != "X" && event["ph"] != "i") continue;
    found.push_back(tracks[{event["pid"], event["tid"]}] + ": " + event["name"].get<std::string>());
  }
  return found;
}

TEST(TimelineJson, WhatAUnitDoesAtOnceLiesOnTracksBesideOneAnother) {
  const auto bank = TimelineUnit::L2Bank;
  const Json trace = trace_of({span(bank, "a", 0, 10), span(bank, "b", 5, 20), span(bank, "c", 10, 12),
                               span(bank, "d", 11, 30), span(bank, "e", 20, 21), span(bank, "other", 0, 9, 1)});
  EXPECT_EQ(placed(trace), (std::vector<std::string>{"L2 bank 0: a", "L2 bank 0 #2: b", "L2 bank 0: c",
                                                     "L2 bank 0 #3: d", "L2 bank 0: e", "L2 bank 1: other"}));
}

TEST(TimelineJson, WhatTakesNoTimeIsNotWithinAnother) {
  const auto unit = TimelineUnit::ComputeUnit;
  const Json trace = trace_of({span(unit, "a", 3, 3), span(unit, "b", 3, 3), span(unit, "c", 4, 5)});
  EXPECT_EQ(placed(trace), (std::vector<std::string>{"CU 0 requests: a", "CU 0 requests #2: b", "CU 0 requests: c"}));
}

TEST(TimelineJson, PhasesLieWithinTheirKernel) {
  const auto unit = TimelineUnit::Kernel;
  TimelineEvent acquire = span(unit, "acquire", 10, 10);
  acquire.kind = TimelineEvent::Kind::Instant;
  const Json trace = trace_of({acquire, span(unit, "workgroups", 10, 20), span(unit, "kernel", 10, 30)});
  EXPECT_EQ(placed(trace), (std::vector<std::string>{"kernels: kernel", "kernels: workgroups", "kernels: acquire"}));
}

TEST(TimelineJson, AMessageIsASliceAtEachEndAndAnArrow) {
  TimelineEvent message;
  message.kind = TimelineEvent::Kind::Message;
  message.device = 1;
  message.name = "read reply";
  message.start = 1000;
  message.end = 1105;
  message.unit = TimelineUnit::LinkInput;
  message.peer = 0;
  message.lines = {0x4000, 0b110, 0, TimelineLines::Space::Virtual};
  message.hop = {0, 1, 0, 160, 10, 12, "response", "lines"};
  const Json trace = trace_of({message});
  std::map<std::string, Json> found;
  for (const Json& event : trace["traceEvents"]) {
    found[event["ph"].get<std::string>() + event["pid"].dump()] = event;
  }
  EXPECT_EQ(placed(trace), (std::vector<std::string>{"link output 0: read reply", "link input 0: read reply"}));
  EXPECT_DOUBLE_EQ(found["X0"]["ts"], 1.0);
  EXPECT_DOUBLE_EQ(found["X0"]["dur"], 0.01);
  EXPECT_DOUBLE_EQ(found["X1"]["ts"], 1.093);
  EXPECT_DOUBLE_EQ(found["X1"]["dur"], 0.012);
  EXPECT_EQ(found["s0"]["id"], found["f1"]["id"]);
  EXPECT_EQ(found["s0"]["ts"], found["X0"]["ts"]);
  EXPECT_EQ(found["f1"]["ts"], found["X1"]["ts"]);
  EXPECT_EQ(found["f1"]["bp"], "e") << "the slice around it, not the next one";
  EXPECT_EQ(found["X0"]["args"],
            Json::parse(R"({"address":"0x4040","lines":2,"mask":"0x6","source":"GPU 0","destination":"GPU 1",)"
                        R"("bytes":160,"class":"response","type":"lines","leaves":1000,"arrives":1105,)"
                        R"("cycle":1000,"cycles":10})"));
}

TEST(TimelineJson, SaysWhoseALineIs) {
  TimelineEvent table = span(TimelineUnit::L2Bank, "page table hit", 0, 10);
  table.peer = 2;
  table.lines = {PhysPage{DeviceId{1}, 0x12}.value, 0b1000, 0, TimelineLines::Space::Physical};
  TimelineEvent invalidation = span(TimelineUnit::L2Lines, "invalidation", 5, 5);
  invalidation.kind = TimelineEvent::Kind::Instant;
  invalidation.peer = 1;
  const Json trace = trace_of({table, invalidation});
  Json arguments;
  for (const Json& event : trace["traceEvents"]) arguments[event["name"].get<std::string>()] = event["args"];
  EXPECT_EQ(arguments["page table hit"]["physical address"], "GPU 1 0x120c0");
  EXPECT_EQ(arguments["page table hit"]["requester"], "host") << "behind two GPUs";
  EXPECT_EQ(arguments["invalidation"]["from"], "GPU 1");
}

TEST(TimelineJson, RoundsTimesSoThatSlicesStayBesideOneAnother) {
  Report report;
  report.machine.loaded.spec.gpu.clock.hertz = 1'400'000'000;
  for (Cycle i = 0; i < 1000; ++i) report.result.timeline.push_back(span(TimelineUnit::DramChannel, "read", i, i + 1));
  const Json trace = Json::parse(timeline_json(std::as_const(report)));
  double end = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_EQ(event["tid"], 1);
    EXPECT_GE(event["ts"].get<double>() + 1e-9, end);
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_NEAR(end, 1000 / 1400.0, 1e-3);
}

TEST(TimelineJson, EscapesTheNamesOfKernels) {
  class Named final : public Workload {
   public:
    Named() { add_launch({.kernel = "a \"b\" \\ c"}); }
    Stream wavefront(std::size_t, const Wave&) const override { co_return; }
  };
  Report report;
  report.applications = {{"N", {}, std::make_shared<Named>()}};
  report.result.timeline = {span(TimelineUnit::Kernel, "kernel", 0, 5)};
  EXPECT_EQ(placed(Json::parse(timeline_json(std::as_const(report)))),
            (std::vector<std::string>{"kernels: a \"b\" \\ c"}));
}

TEST(TimelineJson, FitsInAFileOfALimitedSize) {
  Report report;
  report.machine.loaded.spec.gpus = 2;
  for (Cycle i = 0; i < 2000; ++i) {
    report.result.timeline.push_back(span(TimelineUnit::L2Bank, i % 3 == 0 ? "read hit" : "write", i, i + 70));
  }
  const std::string whole = timeline_json(report, 10'000'000);
  EXPECT_EQ(report.result.timeline_lost, 0U);
  EXPECT_EQ(Json::parse(whole)["otherData"]["events_left_out"], 0);
  const std::uint64_t limit = whole.size() / 3;
  const std::string part = timeline_json(report, limit);
  EXPECT_LE(part.size(), limit);
  EXPECT_GT(part.size(), limit * 9 / 10) << "room is used";
  EXPECT_GT(report.result.timeline_lost, 1000U);
  EXPECT_EQ(report.result.timeline.size() + report.result.timeline_lost, 2000U);
  const Json trace = Json::parse(part);
  EXPECT_EQ(trace["otherData"]["events_left_out"], report.result.timeline_lost);
  EXPECT_EQ(trace["otherData"]["complete_until_cycle"], report.result.timeline.back().end);
}

TimelineFilter filter_of(TimelineArguments arguments) {
  SystemSpec system;
  system.gpus = 4;
  arguments.file = "t.json";
  return timeline_filter(arguments, system);
}

std::string refusal(const TimelineArguments& arguments) {
  try {
    filter_of(arguments);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TimelineOptions, TakeDecimalAndHexadecimalNumbers) {
  const TimelineFilter filter = filter_of({.gpu = "03", .cycles = "01000-02000"});
  EXPECT_TRUE(filter.on);
  EXPECT_EQ(filter.device, 3U);
  EXPECT_EQ(filter.from, 1000U) << "not octal";
  EXPECT_EQ(filter.to, 2000U);
  EXPECT_EQ(filter_of({.cycles = "0x10:0x20"}).to, 0x20U);
}

TEST(TimelineOptions, TakeSubjects) {
  const auto bit = TimelineFilter::bit;
  EXPECT_EQ(filter_of({}).subjects, bit(TimelineSubject::Translation) | bit(TimelineSubject::Launches));
  EXPECT_EQ(filter_of({.of = "data"}).subjects, bit(TimelineSubject::Data));
  EXPECT_EQ(filter_of({.of = "dram,links"}).subjects, bit(TimelineSubject::Dram) | bit(TimelineSubject::Links));
  EXPECT_EQ(filter_of({.of = "all"}).subjects, 31U);
  EXPECT_EQ(refusal({.of = "data,dran"}),
            "--timeline-of takes one or several of translation, data, links, dram, launches, all; `dran` is none of "
            "them. Did you mean `dram`?");
  EXPECT_EQ(refusal({.of = "data,data"}), "The subject `data` is named twice.");
  EXPECT_NE(refusal({.of = "data,"}), "");
}

TEST(TimelineOptions, TakeALimit) {
  EXPECT_EQ(timeline_limit({}), 100'000'000U);
  EXPECT_EQ(timeline_limit({.limit = "20kB"}), 20'000U);
  EXPECT_EQ(timeline_limit({.limit = "2GB"}), 2'000'000'000U);
  EXPECT_EQ(timeline_limit({.limit = "1MiB"}), 1U << 20);
  EXPECT_LT(filter_of({.limit = "1MB"}).most, filter_of({.limit = "2MB"}).most);
  EXPECT_EQ(refusal({.limit = "1kB"}), "--timeline-limit 1kB is too small for a timeline: it must be at least 10kB.");
  EXPECT_EQ(refusal({.limit = "many"}),
            "--timeline-limit takes the size of a file, such as 100MB, 1GB or 64MiB; `many` is not a number.");
  for (const char* limit : {"0MB", "-1MB", "MB", "1.5MB", "5", "10000000GB"})
    EXPECT_NE(refusal({.limit = limit}), "") << limit;
  EXPECT_THROW(timeline_filter({.limit = "20kB"}, SystemSpec{}), InputError) << "without a file";
  EXPECT_THROW(timeline_filter({.of = "data"}, SystemSpec{}), InputError) << "without a file";
}

TEST(TimelineOptions, RefuseAnythingElse) {
  for (const char* range : {"1000--5", "-5", "5-", "5", "-", "2-1", "1-2-3", "+1-2", " 1-2", "1-2 ", "0x-0x1", "1-1f",
                            "0-18446744073709551616", "1:2:3", ":5"}) {
    EXPECT_THROW(filter_of({.cycles = range}), InputError) << range;
    EXPECT_THROW(filter_of({.address = range}), InputError) << range;
  }
  for (const char* gpu : {"-1", "4", "1-2", "x", "0x", "1 "}) {
    EXPECT_EQ(refusal({.gpu = gpu}),
              "--timeline-gpu takes the number of a GPU of the system, 0 to 3; `" + std::string(gpu) + "` is not one.");
  }
  EXPECT_EQ(refusal({.address = "0x10-0x20,bufer:A"}),
            "--timeline-address takes a range FROM-TO in decimal or hexadecimal, such as 0x1000-0x1fff, or a buffer, "
            "such as buffer:NAME or buffer:NAME+OFFSET:LENGTH, or several with commas; `bufer:A` is neither.");
  for (const char* address :
       {"buffer:", "buffer:A:5", "buffer:A+", "buffer:A+x", "buffer:A+1:", "buffer:A+1:2:3", ","}) {
    EXPECT_NE(refusal({.address = address}), "") << address;
  }
}

/// Two buffers of one page each, with a third in the second application.
class Buffers final : public Workload {
 public:
  explicit Buffers(bool third) {
    allocate("input", 1000, Placement::Distribute);
    allocate("output", 0x2000, Placement::Distribute);
    if (third) allocate("centroids", 64, Placement::Distribute);
  }
  Stream wavefront(std::size_t, const Wave&) const override { co_return; }
};

const std::vector<Application>& two_applications() {
  static const std::vector<Application> kBoth = {{"MT", {}, std::make_shared<Buffers>(false)},
                                                 {"KM", {}, std::make_shared<Buffers>(true)}};
  return kBoth;
}

/// "first-last" and, if it is one's alone, "@process".
std::string ranges(const std::string& address) {
  std::string out;
  for (const TimelineRange& range : timeline_ranges({.address = address}, two_applications())) {
    out += (out.empty() ? "" : " ") + fmt::format("{:#x}-{:#x}", range.first, range.last);
    if (range.process != TimelineRange::kEveryProcess) out += "@" + std::to_string(range.process);
  }
  return out;
}

TEST(TimelineAddresses, AreRangesAndBuffers) {
  EXPECT_EQ(ranges(""), "");
  EXPECT_EQ(ranges("0x1000-0x1fff,16:17"), "0x1000-0x1fff 0x10-0x11");
  EXPECT_EQ(ranges("buffer:centroids"), "0x100003000-0x10000303f@1");
  EXPECT_EQ(ranges("buffer:input"), "0x100000000-0x1000003e7@0 0x100000000-0x1000003e7@1") << "each that has it";
  EXPECT_EQ(ranges("buffer:centroids+0x10"), "0x100003010-0x10000303f@1");
  EXPECT_EQ(ranges("buffer:centroids+16:32,1-2"), "0x100003010-0x10000302f@1 0x1-0x2");
  EXPECT_EQ(ranges("buffer:output+4KiB:1KiB"), "0x100002000-0x1000023ff@0 0x100002000-0x1000023ff@1");
}

std::string address_refusal(const std::string& address, bool one = false) {
  std::vector<Application> applications = two_applications();
  if (one) applications.pop_back();
  try {
    timeline_ranges({.address = address}, applications);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TimelineAddresses, OfBuffersThatAreNotThereAreRefused) {
  EXPECT_EQ(address_refusal("buffer:inptu"),
            "--timeline-address buffer:inptu: MT, KM have no buffer `inptu`. Did you mean `input`?");
  EXPECT_EQ(address_refusal("buffer:centroids", true),
            "--timeline-address buffer:centroids: MT has no buffer `centroids`; there are input, output.");
  EXPECT_EQ(address_refusal("buffer:input+1000"),
            "--timeline-address buffer:input+1000: the buffer `input` has 1000 bytes, and these are not among them.");
  EXPECT_EQ(address_refusal("buffer:input+999"), "");
  EXPECT_NE(address_refusal("buffer:input+999:2"), "");
  EXPECT_NE(address_refusal("buffer:input+0:0"), "");
  EXPECT_NE(address_refusal("buffer:input+1:18446744073709551615"), "");
}

TEST(TimelineNote, SaysWhyThereIsLessThanWasAskedFor) {
  Report report;
  report.machine.system = "some-system";
  EXPECT_EQ(timeline_note(report), "") << "nobody asked";
  report.experiment.timeline.on = true;
  report.machine.loaded.spec.translation.kind = TranslationKind::Ideal;
  report.result.timeline = {span(TimelineUnit::Kernel, "kernel", 0, 5)};
  EXPECT_EQ(timeline_note(report),
            "The timeline has nothing of translation: the system `some-system` translates addresses without requests "
            "(translation.kind is ideal). --timeline-of data,links,dram shows where its accesses go.");
  report.experiment.timeline.subjects |= TimelineFilter::bit(TimelineSubject::Data);
  EXPECT_EQ(timeline_note(report), "");
  report.machine.loaded.spec.translation.kind = TranslationKind::Mmu;
  report.result.timeline.clear();
  EXPECT_EQ(timeline_note(report), "The timeline is empty: nothing happened in what the --timeline-… options select.");
  report.result.timeline = {request("miss", 10, 20)};
  EXPECT_EQ(timeline_note(report), "");
  report.result.cycles = 5000;
  report.result.timeline_lost = 1234;
  EXPECT_EQ(timeline_note(report),
            "The timeline ends at cycle 20 of 5,000 with 1 events; 1,234 later ones were left out. --timeline-limit "
            "SIZE takes more; --timeline-of, --timeline-address, --timeline-cycles and --timeline-gpu select others.");
}

TEST(TimelineJson, SaysWhereItEndsAndWhatWasLeftOut) {
  Report report;
  report.machine.loaded.spec.gpus = 2;
  report.result.timeline = {request("miss", 10, 1000)};
  report.result.timeline_lost = 7;
  const Json trace = Json::parse(timeline_json(std::as_const(report)));
  EXPECT_EQ(trace["otherData"]["events_left_out"], 7);
  EXPECT_EQ(trace["otherData"]["complete_until_cycle"], 1000);
  const Json& last = trace["traceEvents"].back();
  EXPECT_EQ(last["ph"], "i");
  EXPECT_EQ(last["name"], "the timeline ends here, 7 later events were left out");
  EXPECT_DOUBLE_EQ(last["ts"], 1.0);
  report.result.timeline_lost = 0;
  EXPECT_FALSE(Json::parse(timeline_json(std::as_const(report)))["otherData"].contains("complete_until_cycle"));
}

}  // namespace
}  // namespace nearfar::timeline_test
