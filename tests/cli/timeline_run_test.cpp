// Timelines of real runs, as Perfetto reads them: slices of a track lie within or beside one another, arrows have both
// ends, tracks have names; and what their options promise holds for the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/process.h"

namespace nearfar::timeline_run_test {
namespace {

using ::testing::HasSubstr;
using testing::nearfar;
using testing::Outcome;
using testing::read_file;
using testing::ScratchFolder;
using Json = nlohmann::json;
using Track = std::pair<int, int>;

/// In nanoseconds.
std::int64_t time_of(const Json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

struct Slice {
  std::int64_t start, end;
};

void expect_nested(std::vector<Slice> slices, const std::string& track) {
  std::ranges::stable_sort(slices, {}, [](const Slice& slice) { return std::pair(slice.start, -slice.end); });
  std::vector<std::int64_t> open;
  for (const Slice& slice : slices) {
    while (!open.empty() && open.back() <= slice.start) open.pop_back();
    EXPECT_TRUE(open.empty() || slice.end <= open.back()) << track;
    open.push_back(slice.end);
  }
}

/// What the format and its viewers ask of a file.
class Trace {
 public:
  explicit Trace(const std::string& text) : trace_(Json::parse(text)) {
    for (const Json& event : trace_["traceEvents"]) {
      const std::string ph = event["ph"];
      if (event["name"] == "process_name") processes_.insert(event["pid"].get<int>());
      if (event["name"] == "thread_name") tracks_[track_of(event)] = event["args"]["name"];
      if (ph == "X") slices_[track_of(event)].push_back({time_of(event["ts"]), end_of(event)});
      if (ph == "X" && end_of(event) > time_of(event["ts"])) begun_[track_of(event)].insert(time_of(event["ts"]));
      if (ph == "s") starts_[event["id"]] = event;
      if (ph == "f") ends_[event["id"]] = event;
    }
  }

  void expect_well_formed() const {
    EXPECT_TRUE(trace_.contains("displayTimeUnit"));
    for (const Json& event : trace_["traceEvents"]) {
      const std::string ph = event["ph"];
      ASSERT_THAT((std::set<std::string>{"X", "i", "s", "f", "b", "e", "C", "M"}), ::testing::Contains(ph));
      EXPECT_TRUE(event.contains("pid") && event.contains("name")) << event;
      EXPECT_TRUE(processes_.contains(event["pid"].get<int>()) || event.value("s", "") == "g") << event;
      EXPECT_TRUE(ph == "M" || event["ts"].is_number()) << event;
      const bool on_a_track = ph == "X" || ph == "s" || ph == "f" || (ph == "i" && event["s"] == "t");
      EXPECT_TRUE(!on_a_track || tracks_.contains(track_of(event))) << event;
      EXPECT_TRUE(ph != "X" || event["dur"].get<double>() >= 0) << event;
    }
    for (const auto& [track, slices] : slices_) expect_nested(slices, tracks_.at(track));
    expect_arrows();
  }

  std::size_t count(const std::string& category) const {
    return static_cast<std::size_t>(std::ranges::count_if(trace_["traceEvents"], [&](const Json& event) {
      return event.value("cat", "") == category && event["ph"] != "s" && event["ph"] != "f";
    }));
  }
  const Json& json() const { return trace_; }

 private:
  static Track track_of(const Json& event) { return {event["pid"].get<int>(), event.value("tid", 0)}; }
  static std::int64_t end_of(const Json& slice) { return time_of(slice["ts"]) + time_of(slice["dur"]); }

  void expect_arrows() const {
    EXPECT_EQ(starts_.size(), ends_.size());
    for (const auto& [id, start] : starts_) {
      ASSERT_TRUE(ends_.contains(id)) << start;
      EXPECT_LE(time_of(start["ts"]), time_of(ends_.at(id)["ts"]));
      for (const Json* event : {&start, &ends_.at(id)}) {
        EXPECT_TRUE(begun_.at(track_of(*event)).contains(time_of((*event)["ts"]))) << *event << " binds to no slice";
      }
    }
  }

  Json trace_;
  std::set<int> processes_;
  std::map<Track, std::string> tracks_;
  std::map<Track, std::vector<Slice>> slices_;
  std::map<Track, std::set<std::int64_t>> begun_;  ///< when slices begin that take time
  std::map<std::uint64_t, Json> starts_, ends_;
};

struct Run {
  const char* name;
  const char* words;
};

class TimelineOfRun : public ::testing::TestWithParam<Run> {
 protected:
  /// The file that `run` writes with more options.
  std::string write(const std::string& options) {
    last_ = nearfar(std::string("run ") + GetParam().words + " --size small --quiet --timeline " +
                    scratch_.file("t.json") + " " + options);
    EXPECT_EQ(last_.code, 0) << last_.err;
    return read_file(scratch_.file("t.json"));
  }

  ScratchFolder scratch_;
  Outcome last_;
};
INSTANTIATE_TEST_SUITE_P(
    Runs, TimelineOfRun,
    ::testing::Values(Run{"Ideal", "MT --param width=64"}, Run{"Clock", "MT --param width=64 --system pcie-4gpu"},
                      Run{"Hbm", "FIR --param n=4096 --param copies=1 --system hbm-4gpu"},
                      Run{"RemoteCache",
                          "ST --param rows=66 --param columns=66 --param iterations=2 --set remote_cache=l1l2"},
                      Run{"Mmu", "MT --param width=64 --system mmu-4gpu"},
                      Run{"Mix", "MT+FIR --param width=64 --param n=2048 --system ats-4gpu --set link.topology=ring"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(TimelineOfRun, IsWhatAViewerExpects) {
  const Trace trace(write("--timeline-of all"));
  trace.expect_well_formed();
  for (const char* category : {"data", "links", "dram", "launches"}) EXPECT_GT(trace.count(category), 0U) << category;
  EXPECT_EQ(trace.json()["otherData"]["events_left_out"], 0);
}

TEST_P(TimelineOfRun, IsTheSameFileOnAnyNumberOfThreads) {
  const std::string one = write("--timeline-of all --threads 1");
  EXPECT_EQ(one, write("--timeline-of all --threads 3"));
}

TEST_P(TimelineOfRun, HasALimit) {
  const std::string whole = write("--timeline-of all");
  const Trace trace(write("--timeline-of all --timeline-limit 40kB"));
  EXPECT_LE(std::filesystem::file_size(scratch_.file("t.json")), 40'000U);
  EXPECT_GT(whole.size(), 40'000U);
  trace.expect_well_formed();
  EXPECT_GT(trace.json()["otherData"]["events_left_out"].get<int>(), 0);
  EXPECT_THAT(last_.err, HasSubstr("later ones were left out. --timeline-limit SIZE takes more"));
}

TEST(TimelineRun, ShowsOneBuffer) {
  const ScratchFolder scratch;
  const std::string command =
      "run MT --size small --param width=64 --quiet --timeline-of data,dram --timeline " + scratch.file("t.json");
  ASSERT_EQ(nearfar(command).code, 0);
  const Json all = Json::parse(read_file(scratch.file("t.json")));
  ASSERT_EQ(nearfar(command + " --timeline-address buffer:output").code, 0);
  const Json one = Json::parse(read_file(scratch.file("t.json")));
  std::size_t loads = 0, stores = 0;
  for (const Json& event : one["traceEvents"]) {
    loads += event["name"] == "load";
    stores += event["name"] == "store";
  }
  EXPECT_EQ(loads, 0U) << "MT loads its input and stores its output";
  EXPECT_GT(stores, 0U);
  EXPECT_LT(one["traceEvents"].size(), all["traceEvents"].size());
}

}  // namespace
}  // namespace nearfar::timeline_run_test
