// Timelines of data, memory, links and launches: hand-worked times of single accesses, what is selected of a run, and
// that everything the statistics count is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::data_timeline_test {
namespace {

using Kind = TimelineEvent::Kind;

constexpr unsigned kAll = (1U << kTimelineSubjects.size()) - 1;

RunRequest request_of(const SystemSpec& system, std::vector<std::shared_ptr<const Workload>> applications) {
  RunRequest request;
  request.system = system;
  request.applications = std::move(applications);
  request.timeline.on = true;
  request.timeline.subjects = kAll;
  return request;
}

const char* unit_name(TimelineUnit unit) {
  static constexpr const char* kNames[] = {"host",  "dma",       "kernel", "cu",  "l1", "scalar", "l2",
                                           "lines", "directory", "dram",   "out", "in", "walker"};
  return kNames[static_cast<std::size_t>(unit)];
}

/// "GPU 1 l2 3: read miss 223-334 0x100001000".
std::string text(const TimelineEvent& event) {
  std::string out = "GPU " + std::to_string(event.device) + " " + unit_name(event.unit) + " ";
  out += std::to_string(event.track) + ": " + event.name + " " + std::to_string(event.start);
  if (event.kind != Kind::Instant) out += "-" + std::to_string(event.end);
  if (event.lines.space == TimelineLines::Space::None) return out;
  const auto first = static_cast<unsigned>(event.lines.mask == 0 ? 0 : std::countr_zero(event.lines.mask));
  out += " +" + std::to_string((event.lines.address - kFirstBuffer.value) / 64 + first);
  return out;
}

std::vector<std::string> texts(const std::vector<TimelineEvent>& events) {
  std::vector<std::string> out;
  for (const TimelineEvent& event : events) out.push_back(text(event));
  std::ranges::sort(out);
  return out;
}

// ------------------------------------------------------------------------------------------------ hand-worked times

/// Two GPUs with one compute unit each; 16 bytes a cycle and 100 cycles over a link; page g of the buffer is on GPU g.
class Scene {
 public:
  explicit Scene(std::vector<std::string> more = {}) {
    std::vector<std::string> overrides = {"gpus=2",
                                          "gpu.shader_arrays=1",
                                          "gpu.cus_per_array=1",
                                          "translation.latency=1",
                                          "gpu.l1v.latency=20",
                                          "gpu.l2.tag_latency=10",
                                          "gpu.l2.data_latency=60",
                                          "gpu.l2.banks=1",
                                          "gpu.dram.model=fixed",
                                          "gpu.dram.latency=100",
                                          "gpu.dram.channels=1",
                                          "gpu.dram.channel_bandwidth=64GB/s",
                                          "link.latency=100",
                                          "link.bandwidth=16GB/s",
                                          "link.header=16",
                                          "link.reply_header=16",
                                          "remote_cache=l1",
                                          "dispatch.policy=blocks"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    system_ = test_system(overrides);
    base_ = script_->buffer(2 * kPageBytes, Placement::Interleave);
  }

  /// One wavefront on GPU 0 executes this.
  RunResult run(std::function<Stream(VirtAddr)> wave) {
    script_->launch(groups_of(1), [this, wave](const Script&, const Wave&) { return wave(base_); });
    RunRequest request = request_of(system_, {script_});
    request.check = true;
    return nearfar::run(request);
  }

 private:
  SystemSpec system_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  VirtAddr base_;
};

auto lane0(VirtAddr at) {
  return [at](unsigned lane) { return lane == 0 ? at : kIdle; };
}

const TimelineEvent& find(const RunResult& run, TimelineUnit unit, const std::string& name) {
  const auto found = std::ranges::find_if(
      run.timeline, [&](const TimelineEvent& event) { return event.unit == unit && event.name == name; });
  if (found != run.timeline.end()) return *found;
  ADD_FAILURE() << "there is no " << name;
  return run.timeline.front();
}

Stream load_remote(VirtAddr base) {
  co_yield load(4, lane0(base + kPageBytes + 3 * 64));
  co_yield wait(0);
}

TEST(DataTimeline, FollowsARemoteLoadToTheMemoryOfItsHomeAndBack) {
  const RunResult run = Scene().run(load_remote);
  // The launch takes one cycle to leave the host and 100 to arrive: the load is issued at 101, translated by 102 and
  // out of the L1 at 122. Its packet of 16 bytes leaves by 123 and arrives at 223. The home looks its tags up in 10
  // cycles, memory has the line 101 later, at 334. The reply of 80 bytes takes 5 cycles and the link: 439. Dirty lines
  // are written back when the host has heard of both GPUs' ends (540) and has said so (641, 642).
  EXPECT_EQ(texts(run.timeline), (std::vector<std::string>{
                                     "GPU 0 cu 0: load 101-439 +67",
                                     "GPU 0 in 0: launch 0-101",
                                     "GPU 0 in 0: read reply 334-439 +67",
                                     "GPU 0 in 0: release 540-641",
                                     "GPU 0 kernel 0: acquire 101",
                                     "GPU 0 kernel 0: kernel 101-641",
                                     "GPU 0 kernel 0: release: other GPUs 439-641",
                                     "GPU 0 kernel 0: workgroups 101-439",
                                     "GPU 0 l1 0: load miss 101-439 +67",
                                     "GPU 1 dram 0: read 233-334 +67",
                                     "GPU 1 in 0: launch 1-102",
                                     "GPU 1 in 0: read request 122-223 +67",
                                     "GPU 1 in 0: release 541-642",
                                     "GPU 1 kernel 0: acquire 102",
                                     "GPU 1 kernel 0: kernel 102-642",
                                     "GPU 1 kernel 0: release: other GPUs 102-642",
                                     "GPU 1 l2 0: read miss 223-334 +67",
                                     "GPU 1 lines 0: fill 334 +67",
                                     "GPU 2 host 0: kernel 0-743",
                                     "GPU 2 in 0: launch done 102-203",
                                     "GPU 2 in 0: launch done 439-540",
                                     "GPU 2 in 0: released 641-742",
                                     "GPU 2 in 0: released 642-743",
                                 }));
  const TimelineEvent& request = find(run, TimelineUnit::LinkInput, "read request");
  EXPECT_EQ(request.peer, 0U);
  EXPECT_EQ(request.hop.origin, 0U);
  EXPECT_EQ(request.hop.destination, 1U);
  EXPECT_EQ(request.hop.bytes, 16U);
  EXPECT_EQ(request.hop.sending, 1U);
  EXPECT_EQ(request.hop.receiving, 1U);
  EXPECT_STREQ(request.hop.traffic_class, "request");
  EXPECT_STREQ(request.hop.type, "lines");
  const TimelineEvent& reply = find(run, TimelineUnit::LinkInput, "read reply");
  EXPECT_EQ(reply.hop.bytes, 80U);
  EXPECT_EQ(reply.hop.sending, 5U);
  EXPECT_EQ(reply.hop.receiving, 5U);
  EXPECT_STREQ(reply.hop.traffic_class, "response");
  EXPECT_EQ(find(run, TimelineUnit::L2Bank, "read miss").peer, 0U) << "who asked";
}

Stream store_and_load(VirtAddr base) {
  co_yield store(4, [base](unsigned lane) { return lane < 16 ? base + kPageBytes + lane * 4 : kIdle; });
  co_yield salu(1000);
  co_yield load(4, lane0(base + kPageBytes));
  co_yield wait(0);
  co_yield load(4, lane0(base + kPageBytes));
  co_yield wait(0);
}

TEST(DataTimeline, FollowsAStoreUntilItIsOrderedAndHitsInBothCaches) {
  const RunResult run = Scene().run(store_and_load);
  // The store of a whole line is 80 bytes: it leaves the L1 at 122, the link by 127, and is at its home at 227. Its
  // acknowledgement leaves when the tags have been looked up, at 237, and comes at 338.
  EXPECT_EQ(text(find(run, TimelineUnit::ComputeUnit, "store")), "GPU 0 cu 0: store 101-338 +64");
  EXPECT_EQ(text(find(run, TimelineUnit::LinkInput, "write request")), "GPU 1 in 0: write request 122-227 +64");
  EXPECT_EQ(text(find(run, TimelineUnit::L2Bank, "write")), "GPU 1 l2 0: write 227-237 +64");
  EXPECT_EQ(text(find(run, TimelineUnit::LinkInput, "write acknowledgement")),
            "GPU 0 in 0: write acknowledgement 237-338 +64");
  // 1000 scalar instructions later a load finds the line in its home's L2, whose tags and data take 70 cycles.
  const TimelineEvent& first = find(run, TimelineUnit::ComputeUnit, "load");
  const Cycle at = first.start;
  EXPECT_EQ(first.end, at + 21 + 101 + 70 + 105);
  const TimelineEvent& hit = find(run, TimelineUnit::L2Bank, "read hit");
  EXPECT_EQ(hit.start, at + 21 + 101);
  EXPECT_EQ(hit.end, hit.start + 70);
  EXPECT_EQ(find(run, TimelineUnit::LinkInput, "read reply").start, hit.end) << "leaves when the data is there";
  // The second one finds it in the L1.
  EXPECT_EQ(std::ranges::count_if(run.timeline,
                                  [&](const TimelineEvent& event) {
                                    return event.unit == TimelineUnit::ComputeUnit && event.start == first.end &&
                                           event.end == first.end + 21;
                                  }),
            1);
  EXPECT_EQ(std::ranges::count(run.timeline, TimelineUnit::VectorL1, &TimelineEvent::unit), 1);
  // The line is dirty, and goes to memory at the end of the kernel.
  const TimelineEvent& back = find(run, TimelineUnit::L2Lines, "write-back");
  const TimelineEvent& write = find(run, TimelineUnit::DramChannel, "write");
  EXPECT_EQ(back.start, write.start);
  EXPECT_EQ(write.end, write.start + 1);
}

Stream two_lines(VirtAddr base) {
  co_yield load(4, [base](unsigned lane) { return lane < 2 ? base + lane * 64 : kIdle; });
  co_yield wait(0);
}

TEST(DataTimeline, ShowsWhatStallsForAnMshr) {
  const RunResult run = Scene({"gpu.l2.mshrs=1"}).run(two_lines);
  // Both lines are at the L2 at 122; the second acts when the first has been filled, 111 cycles later, and is filled
  // 111 cycles after that.
  const std::vector<std::string> all = texts(run.timeline);
  for (const char* expected :
       {"GPU 0 cu 0: load 101-344 +0", "GPU 0 l1 0: load miss 101-344 +0", "GPU 0 l2 0: read miss 122-233 +0",
        "GPU 0 l2 0: stall 122-233 +1", "GPU 0 l2 0: read miss 233-344 +1", "GPU 0 dram 0: read 132-233 +0",
        "GPU 0 dram 0: read 243-344 +1"}) {
    EXPECT_EQ(std::ranges::count(all, expected), 1) << expected;
  }
}

Stream evict(VirtAddr base) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    co_yield store(4, [=](unsigned lane) { return lane < 16 ? base + i * 64 + lane * 4 : kIdle; });
    co_yield salu(500);
  }
}

TEST(DataTimeline, ShowsWhatLeavesTheL2) {
  // Two ways, one set: the third line takes the place of the first.
  const RunResult run = Scene({"gpu.l2.size=128", "gpu.l2.ways=2"}).run(evict);
  const TimelineEvent& eviction = find(run, TimelineUnit::L2Lines, "dirty eviction");
  EXPECT_EQ(eviction.lines.mask, 1U);
  EXPECT_EQ(eviction.start, 122 + 2 * 500 * 4U) << "a scalar instruction takes four cycles";
  EXPECT_EQ(std::ranges::count_if(run.timeline,
                                  [](const TimelineEvent& event) { return event.name == std::string("write-back"); }),
            2)
      << "at the end of the kernel";
}

Stream remote_twice(VirtAddr base) {
  co_yield load(4, lane0(base + kPageBytes));
  co_yield salu(30);
  co_yield store(4, lane0(base + kPageBytes));
  co_yield wait(0);
}

TEST(DataTimeline, ShowsThatAFillHasBeenPoisoned) {
  const RunResult run = Scene({"remote_cache=l1l2"}).run(remote_twice);
  // The own L2's tags come first, at 122; the store passes them while the load is on its way.
  EXPECT_EQ(text(find(run, TimelineUnit::L2Bank, "remote line read miss")),
            "GPU 0 l2 0: remote line read miss 122-449 +64");
  EXPECT_EQ(text(find(run, TimelineUnit::L2Lines, "poisoned fill")), "GPU 0 lines 0: poisoned fill 449 +64");
  EXPECT_EQ(find(run, TimelineUnit::L2Bank, "remote line write").end,
            find(run, TimelineUnit::L2Bank, "remote line write").start + 10);
}

TEST(DataTimeline, ShowsWhatTheHostDoesBetweenLaunches) {
  auto script = std::make_shared<Script>();
  const VirtAddr data = script->buffer(kPageBytes, Placement::Interleave);
  script->add_copy_in(data);
  script->add_host_phase(500);
  script->launch(groups_of(1), [](const Script&, const Wave&) -> Stream { co_yield salu(1); });
  const RunResult run = nearfar::run(request_of(test_system(), {script}));
  const TimelineEvent& copy = find(run, TimelineUnit::Dma, "copy in");
  const TimelineEvent& phase = find(run, TimelineUnit::Application, "host phase");
  const TimelineEvent& kernel = find(run, TimelineUnit::Application, "kernel");
  EXPECT_EQ(copy.start, 0U);
  EXPECT_EQ(copy.value, kPageBytes);
  EXPECT_EQ(phase.start, copy.end);
  EXPECT_EQ(phase.end, phase.start + 500);
  EXPECT_EQ(kernel.start, phase.end);
  EXPECT_EQ(kernel.end, run.cycles);
}

// -------------------------------------------------------------------------------------------------- whole machines

std::shared_ptr<const Workload> tiny(const std::string& name) {
  static const std::map<std::string, std::vector<ParameterSetting>> kSizes = {
      {"MT", {{"width", 128}}},
      {"ST", {{"rows", 130}, {"columns", 130}, {"iterations", 2}}},
      {"PR", {{"n", 512}, {"m", 4096}, {"iterations", 1}}},
  };
  return make_workload(name, SizeClass::Small, kSizes.at(name), 3);
}

struct Machine {
  const char* name;
  const char* system;
  const char* workload;
  std::vector<std::string> overrides{};
};

const std::vector<Machine> kMachines = {
    {"Ideal", "ideal-4gpu", "PR", {"gpu.l2.mshrs=2", "gpu.l2.remote_mshrs=2", "gpu.l1v.mshrs=4"}},
    {"Hbm", "hbm-4gpu", "MT"},
    {"RemoteCache", "rec-4gpu", "ST", {"remote_cache=l1l2", "gpu.l2.size=16KiB"}},
    {"Ring", "ideal-4gpu", "ST", {"link.topology=ring"}},
    {"Tree", "ideal-4gpu", "PR", {"link.topology=pcie-tree", "link.gpus_per_switch=2"}},
    {"Mmu", "mmu-4gpu", "PR"},
    {"Counters", "mmu-4gpu-counters", "MT", {"placement.access_counter.threshold=8"}},
    {"Ats", "ats-4gpu-first-touch", "ST"},
};

SystemSpec system_of(const Machine& machine) {
  std::vector<std::string> overrides = {"gpu.shader_arrays=1", "gpu.cus_per_array=4"};
  overrides.insert(overrides.end(), machine.overrides.begin(), machine.overrides.end());
  return test_system(overrides, machine.system);
}

class DataTimelineOf : public ::testing::TestWithParam<Machine> {
 protected:
  RunRequest request_ = request_of(system_of(GetParam()), {tiny(GetParam().workload)});
};
INSTANTIATE_TEST_SUITE_P(Machines, DataTimelineOf, ::testing::ValuesIn(kMachines),
                         [](const auto& instance) { return std::string(instance.param.name); });

struct Totals {
  std::map<std::string, std::uint64_t> events;  ///< by unit and name
  std::map<std::string, std::uint64_t> lines;   ///< the same in lines
  std::uint64_t bytes = 0;                      ///< of messages at their destinations
};

/// Of the GPUs.
Totals totals_of(const RunResult& run, unsigned gpus) {
  Totals sum;
  for (const TimelineEvent& event : run.timeline) {
    EXPECT_LE(event.start, event.end) << text(event);
    if (event.device >= gpus) continue;
    const std::string name = std::string(unit_name(event.unit)) + " " + event.name;
    ++sum.events[name];
    sum.lines[name] += static_cast<std::uint64_t>(std::popcount(event.lines.mask));
    if (event.kind == Kind::Message && event.hop.destination == event.device) sum.bytes += event.hop.bytes;
  }
  return sum;
}

TEST_P(DataTimelineOf, HasWhatTheStatisticsCount) {
  const Outcome run(nearfar::run(request_));
  ASSERT_EQ(run.result.timeline_lost, 0U);
  Totals sum = totals_of(run.result, request_.system.gpus);
  const auto count = [&](const char* name) { return run.count(name); };
  EXPECT_GT(count("gpus.cu.page_groups"), 0U);
  EXPECT_EQ(sum.events["cu load"] + sum.events["cu store"] + sum.events["cu atomic"], count("gpus.cu.page_groups"));
  EXPECT_EQ(sum.lines["cu load"] + sum.lines["cu store"] + sum.lines["cu atomic"], count("gpus.cu.accesses"));
  EXPECT_EQ(sum.lines["l1 load miss"] + sum.lines["l1 atomic at the home"], count("gpus.l1v.fills"));
  EXPECT_EQ(sum.lines["scalar scalar load miss"], count("gpus.l1s.fills"));
  EXPECT_EQ(sum.events["l2 read hit"] + sum.events["l2 page table hit"], count("gpus.l2.read_hits"));
  EXPECT_EQ(sum.events["l2 read merge"] + sum.events["l2 write merge"] + sum.events["l2 atomic merge"] +
                sum.events["l2 page table merge"],
            count("gpus.l2.merges"));
  EXPECT_EQ(sum.events["l2 remote line read hit"], count("gpus.l2.remote.read_hits"));
  EXPECT_EQ(sum.events["l2 remote line read merge"], count("gpus.l2.remote.merges"));
  EXPECT_EQ(sum.events["l2 remote line write"], count("gpus.l2.remote.writes"));
  EXPECT_EQ(sum.events["lines poisoned fill"], count("gpus.l2.remote.poisoned_fills"));
  EXPECT_EQ(sum.events["lines copy dropped"], count("gpus.l2.remote.dropped"));
  EXPECT_EQ(sum.events["lines eviction"] + sum.events["lines dirty eviction"],
            count("gpus.l2.evictions") + count("gpus.l2.remote.evictions"));
  EXPECT_EQ(sum.events["lines write-back"] + sum.events["lines dirty eviction"],
            count("gpus.l2.write_backs") + count("gpus.l2.flushed_lines"));
  std::uint64_t reads = 0, writes = 0;
  for (const auto& [name, events] : sum.events) {
    if (name.starts_with("dram read")) reads += events;
    if (name.starts_with("dram write")) writes += events;
  }
  EXPECT_EQ(reads, count("gpus.dram.reads"));
  EXPECT_EQ(writes, count("gpus.dram.writes"));
  EXPECT_EQ(sum.bytes, count("gpus.link.received_bytes"));
}

TEST_P(DataTimelineOf, ChangesNothingInTheRun) {
  RunRequest without = request_;
  without.timeline.on = false;
  const RunResult plain = nearfar::run(without), recorded = nearfar::run(request_);
  EXPECT_TRUE(plain.timeline.empty());
  ASSERT_EQ(plain.statistics.size(), recorded.statistics.size());
  for (std::size_t i = 0; i < plain.statistics.size(); ++i) {
    ASSERT_EQ(plain.statistics[i].count, recorded.statistics[i].count) << plain.statistics[i].name;
  }
}

/// Everything of an event that a file shows.
auto contents(const TimelineEvent& event) {
  return std::tuple(event.kind, event.unit, event.device, event.track, std::string(event.name), event.start, event.end,
                    event.id, event.value, event.peer, event.lines.address, event.lines.mask, event.lines.space,
                    event.hop.origin, event.hop.destination, event.hop.bytes, event.hop.sending, event.hop.receiving);
}

void expect_same(const std::vector<TimelineEvent>& a, const std::vector<TimelineEvent>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(contents(a[i]), contents(b[i])) << text(a[i]);
}

TEST_P(DataTimelineOf, IsTheSameOnAnyNumberOfThreads) {
  const RunResult one = nearfar::run(request_);
  for (const unsigned threads : {2U, 4U}) {
    request_.threads = threads;
    expect_same(one.timeline, nearfar::run(request_).timeline);
  }
}

bool is_of_lines(const TimelineEvent& event) { return event.lines.space != TimelineLines::Space::None; }

/// Some lines in the middle of the first buffer, and the last byte of it.
TEST_P(DataTimelineOf, OfAddressesHasTheirEventsAndNoOthers) {
  const RunResult all = nearfar::run(request_);
  const Buffer& buffer = request_.applications.front()->buffers().front();
  const std::uint64_t middle = buffer.base.value + buffer.bytes / 2;
  const std::uint64_t last = buffer.base.value + buffer.bytes - 1;
  request_.timeline.ranges = {{middle, middle + 200}, {last, last}};
  request_.timeline.subjects &= ~TimelineFilter::bit(TimelineSubject::Translation);
  const std::uint64_t line = request_.system.gpu.line;
  const auto is_selected = [&](const TimelineEvent& event) {
    if (subject_of(event.unit) == TimelineSubject::Translation) return false;
    if (!is_of_lines(event)) return subject_of(event.unit) == TimelineSubject::Launches;
    if (event.lines.space == TimelineLines::Space::Physical) return false;
    for (const TimelineRange& range : request_.timeline.ranges) {
      const std::uint64_t page = event.lines.address;
      if (event.lines.mask == 0 && page <= range.last && page + request_.system.page.size.bytes() > range.first) {
        return true;
      }
      for (std::uint64_t rest = event.lines.mask; rest != 0; rest &= rest - 1) {
        const std::uint64_t first = page + static_cast<unsigned>(std::countr_zero(rest)) * line;
        if (first <= range.last && first + line > range.first) return true;
      }
    }
    return false;
  };
  std::vector<TimelineEvent> expected;
  std::ranges::copy_if(all.timeline, std::back_inserter(expected), is_selected);
  const RunResult selected = nearfar::run(request_);
  EXPECT_GT(std::ranges::count_if(selected.timeline, is_of_lines), 10);
  EXPECT_LT(selected.timeline.size(), all.timeline.size() / 2);
  expect_same(expected, selected.timeline);
}

TEST_P(DataTimelineOf, OfAWindowHasWhatHappensInIt) {
  const RunResult all = nearfar::run(request_);
  request_.timeline.from = all.cycles / 3;
  request_.timeline.to = all.cycles / 2;
  std::vector<TimelineEvent> expected;
  std::ranges::copy_if(all.timeline, std::back_inserter(expected), [&](const TimelineEvent& event) {
    return event.end >= request_.timeline.from && event.start <= request_.timeline.to;
  });
  const RunResult window = nearfar::run(request_);
  EXPECT_GT(window.timeline.size(), 10U);
  EXPECT_LT(window.timeline.size(), all.timeline.size());
  expect_same(expected, window.timeline);
}

TEST_P(DataTimelineOf, OfEachSubjectHasThatAlone) {
  const RunResult all = nearfar::run(request_);
  for (std::size_t s = 0; s < kTimelineSubjects.size(); ++s) {
    request_.timeline.subjects = 1U << s;
    std::vector<TimelineEvent> expected;
    std::ranges::copy_if(all.timeline, std::back_inserter(expected), [&](const TimelineEvent& event) {
      return subject_of(event.unit) == static_cast<TimelineSubject>(s);
    });
    expect_same(expected, nearfar::run(request_).timeline);
  }
}

TEST_P(DataTimelineOf, ThatIsTooLongHasAllUpToOneCycle) {
  const RunResult all = nearfar::run(request_);
  for (const std::size_t most : {all.timeline.size() / 2, all.timeline.size() / 20}) {
    request_.timeline.most = most;
    const RunResult run = nearfar::run(request_);
    EXPECT_LE(run.timeline.size(), most);
    EXPECT_GT(run.timeline.size(), most / 3) << "room is used";
    EXPECT_EQ(run.timeline.size() + run.timeline_lost, all.timeline.size());
    Cycle end = 0;
    for (const TimelineEvent& event : run.timeline) end = std::max(end, event.settled());
    // Parts of requests of translation that go on behind it are left out with them.
    const auto by_then = [&](const TimelineEvent& event) {
      return event.settled() <= end && event.kind != Kind::Request;
    };
    EXPECT_EQ(std::ranges::count_if(run.timeline, by_then), std::ranges::count_if(all.timeline, by_then));
  }
}

TEST_P(DataTimelineOf, OfOneGpuHasWhatItDoesAndItsMessages) {
  const RunResult all = nearfar::run(request_);
  request_.timeline.device = 1;
  std::vector<TimelineEvent> expected;
  std::ranges::copy_if(all.timeline, std::back_inserter(expected), [&](const TimelineEvent& event) {
    return event.device == 1 || (event.kind == Kind::Message && event.peer == 1);
  });
  const RunResult one = nearfar::run(request_);
  EXPECT_FALSE(one.timeline.empty());
  expect_same(expected, one.timeline);
}

TEST_P(DataTimelineOf, NestsAKernelsPhases) {
  const RunResult run = nearfar::run(request_);
  for (const TimelineEvent& phase : run.timeline) {
    if (phase.unit != TimelineUnit::Kernel || std::string_view(phase.name) == "kernel") continue;
    const auto holds = [&](const TimelineEvent& kernel) {
      return kernel.unit == TimelineUnit::Kernel && std::string_view(kernel.name) == "kernel" &&
             kernel.device == phase.device && kernel.value == phase.value && kernel.start <= phase.start &&
             phase.end <= kernel.end;
    };
    EXPECT_EQ(std::ranges::count_if(run.timeline, holds), 1) << text(phase);
  }
}

TEST(DataTimeline, TellsAddressesOfApplicationsApart) {
  RunRequest request =
      request_of(test_system({"gpu.shader_arrays=1", "gpu.cus_per_array=4"}), {tiny("MT"), tiny("MT")});
  const RunResult all = nearfar::run(request);
  const auto loads_of = [](const RunResult& run, unsigned gpu) {
    return std::ranges::count_if(run.timeline, [&](const TimelineEvent& event) {
      return event.unit == TimelineUnit::ComputeUnit && event.device == gpu;
    });
  };
  EXPECT_GT(loads_of(all, 0), 0);
  request.timeline.ranges = {{kFirstBuffer.value, ~std::uint64_t{0}, 1}};
  const RunResult second = nearfar::run(request);
  EXPECT_EQ(loads_of(second, 0), 0);
  EXPECT_EQ(loads_of(second, 1), loads_of(all, 1));
}

TEST(DataTimeline, IsOfTranslationAndLaunchesUnlessAskedForMore) {
  RunRequest request = request_of(test_system({}, "mmu-4gpu"), {tiny("MT")});
  request.timeline.subjects = TimelineFilter{}.subjects;
  std::set<TimelineSubject> seen;
  for (const TimelineEvent& event : nearfar::run(request).timeline) seen.insert(subject_of(event.unit));
  EXPECT_EQ(seen, (std::set{TimelineSubject::Translation, TimelineSubject::Launches}));
}

}  // namespace
}  // namespace nearfar::data_timeline_test
