// Translation in whole machines: what an unloaded access adds, that all systems run all workloads under the oracles,
// and that threads do not change a bit of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/error.h"
#include "machine/script.h"
#include "machine/system_check.h"
#include "workload/catalog.h"

namespace nearfar::translation_test {
namespace {

/// One wavefront reads one word of each of `pages` pages, one after the other.
Stream read_pages(VirtAddr base, std::uint64_t pages, std::uint64_t times) {
  for (std::uint64_t i = 0; i < pages * times; ++i) {
    const VirtAddr at = base + (i % pages) * kPageBytes + i / pages * 64;
    co_yield load(4, [at](unsigned lane) { return lane == 0 ? at : kIdle; });
    co_yield wait(0);
  }
}

Outcome read(const SystemSpec& system, std::uint64_t pages, std::uint64_t times = 1) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(64 * kPageBytes, Placement::Distribute);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return read_pages(base, pages, times); });
  return simulate(system, {script});
}

std::shared_ptr<const Workload> transpose(std::uint64_t width) {
  const std::vector<ParameterSetting> parameters = {{"width", width}};
  return make_workload("MT", SizeClass::Small, parameters, 1);
}

std::vector<std::string> without_message_time() { return {"translation.message=0B", "gpu.l2_tlb.lookups_per_cycle=0"}; }

TEST(UnloadedTranslation, OfTheIommuCostsItsSteps) {
  const Cycle ideal = read(test_system({"placement.initial=blocks"}), 1).result.cycles;
  const Cycle real = read(test_system(without_message_time(), "ats-4gpu"), 1).result.cycles;
  EXPECT_EQ(real - ideal, 1011U - 1U);
}

TEST(UnloadedTranslation, OfAHitCostsTheL1TlbAlone) {
  const auto second = [](const SystemSpec& system) {
    return read(system, 1, 2).result.cycles - read(system, 1, 1).result.cycles;
  };
  EXPECT_EQ(second(test_system(without_message_time(), "ats-4gpu")), second(test_system({"placement.initial=blocks"})));
}

TEST(UnloadedTranslation, OfAFarFaultCostsItsSteps) {
  // From cold: a far fault of a page on the host, the driver's 100 cycles for a batch, and one for the header of the
  // page's packet.
  auto overrides = without_message_time();
  const Outcome run = read(test_system(overrides, "mmu-4gpu"), 1);
  EXPECT_EQ(run.count("l2_miss.latency"), 1662U + 100U + 1U);
  EXPECT_EQ(run.count("uvm.migration.count"), 1U);
  const Cycle ideal =
      read(test_system({"placement.initial=blocks", "dispatch.policy=greedy", "link.host_port_per_gpu=true"}), 1)
          .result.cycles;
  EXPECT_EQ(run.result.cycles - ideal, 1673U + 100U);
}

TEST(UnloadedTranslation, OfAFixedTransferPutsNoPageOnTheLinks) {
  auto overrides = without_message_time();
  overrides.emplace_back("migration.transfer=fixed");
  overrides.emplace_back("migration.transfer_cycles=1000");
  const Outcome run = read(test_system(overrides, "mmu-4gpu"), 1);
  // In place of 128 cycles for the page and one for its header.
  EXPECT_EQ(run.count("l2_miss.latency"), 1662U + 100U - 128U + 1000U);
  EXPECT_EQ(run.count("uvm.migration.count"), 1U);
  EXPECT_EQ(run.count("host.link.page_bytes"), 0U);
}

/// Lane 0 reads a line again and again, or once all lines of a page are read together.
Stream read_remote(VirtAddr at, unsigned times, bool whole_page) {
  for (unsigned i = 0; i < times; ++i) {
    co_yield load(4, [=](unsigned lane) { return whole_page ? at + lane * 64 : lane == 0 ? at : kIdle; });
    co_yield wait(0);
  }
}

/// Requests of a GPU's counter, of a threshold of 8, for a page of another GPU.
std::uint64_t requests(const std::string& count_at, unsigned times, bool whole_page) {
  const SystemSpec system =
      test_system({"gpus=2", "placement.initial=first", "placement.access_counter.threshold=8",
                   "placement.access_counter.count_at=" + count_at, "dispatch.policy=round-robin"},
                  "mmu-4gpu-counters");
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(2), [=](const Script&, const Wave& wave) {
    return read_remote(base, wave.group_x == 1 ? times : 0, whole_page);
  });
  return simulate(system, {script}).count("gpus.gmmu.migration_requests");
}

TEST(AccessCounters, CountWhereTheySay) {
  // A line that stays in the L1: one leaves the GPU, and every instruction looks it and its page up.
  EXPECT_EQ(requests("egress", 10, false), 0U);
  EXPECT_EQ(requests("l1", 10, false), 1U);
  EXPECT_EQ(requests("l1-tlb", 10, false), 1U);
  EXPECT_EQ(requests("l1", 7, false), 0U);
  EXPECT_EQ(requests("l1-tlb", 7, false), 0U);
  // All lines of a page in one instruction: 64 lines, one lookup of the TLB.
  EXPECT_EQ(requests("egress", 1, true), 1U);
  EXPECT_EQ(requests("l1", 1, true), 1U);
  EXPECT_EQ(requests("l1-tlb", 1, true), 0U);
}

/// GPUs take pages from each other for the ranks that they gather, over slow links.
std::shared_ptr<const Workload> page_rank() {
  const std::vector<ParameterSetting> parameters = {{"n", 2048}, {"m", 8192}, {"iterations", 2}};
  return make_workload("PR", SizeClass::Small, parameters, 1);
}

// Accesses that stand in line for links with their translation hold up a page; where they are translated again they do
// not, and where nobody waits for accesses, only walks are left.
TEST(Migration, WaitsForLessWhereAccessesAreTranslatedAgain) {
  const auto run = [](const std::string& waits_for) {
    return simulate(
        test_system({"placement.access_counter.threshold=16", "link.bandwidth=4GB/s", "placement.initial=first",
                     "dispatch.policy=blocks", "migration.waits_for=" + waits_for},
                    "mmu-4gpu-counters"),
        {page_rank()});
  };
  const auto wait = [](const Outcome& of) { return of.count("uvm.migration.wait") / of.count("uvm.migration.count"); };
  const Outcome translated = run("translated");
  const Outcome issued = run("issued");
  const Outcome none = run("none");
  EXPECT_LT(wait(issued), wait(translated) / 2);
  EXPECT_LT(wait(none), wait(issued) / 4);
  EXPECT_GT(issued.count("gpus.l1_tlb.lookups"), translated.count("gpus.l1_tlb.lookups"));
}

/// The components of a place's L2 TLB misses, summed.
std::uint64_t components(const Outcome& run, const std::string& place) {
  std::uint64_t sum = 0;
  for (const StatValue& value : run.result.statistics) {
    if (value.name.starts_with(place + "l2_miss.component.")) sum += value.count;
  }
  return sum;
}

class TranslationLatency : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Systems, TranslationLatency,
                         ::testing::Values("ats-4gpu", "ats-4gpu-first-touch", "mmu-4gpu", "mmu-4gpu-counters",
                                           "svm-1gpu"));

TEST_P(TranslationLatency, ComponentsAddUpToTheTotalOfEveryGpu) {
  const SystemSpec system = test_system({}, GetParam());
  const Outcome run = simulate(system, {transpose(256)});
  std::vector<std::string> places = {"", "gpus."};
  for (unsigned g = 0; g < system.gpus; ++g) places.push_back("gpu" + std::to_string(g) + ".");
  for (const std::string& place : places) {
    EXPECT_EQ(components(run, place), run.count(place + "l2_miss.latency")) << place;
  }
  EXPECT_GT(components(run, ""), 0U);
}

// With several applications a GPU's statistics are those of its first execution, wherever its misses were served.
TEST_P(TranslationLatency, ComponentsOfAFirstExecutionAddUp) {
  // TLBs so small that an execution that is repeated misses again.
  const SystemSpec system = test_system(
      {"gpu.l1_tlb.entries=1", "gpu.l1_tlb.ways=1", "gpu.l2_tlb.entries=2", "gpu.l2_tlb.ways=1"}, GetParam());
  if (system.gpus == 1) GTEST_SKIP() << "one GPU runs one application";
  const Outcome run = simulate(system, {transpose(128), transpose(256)});
  for (const std::string place : {"", "gpus.", "gpu0.", "gpu1."}) {
    EXPECT_GT(components(run, place), 0U) << place;
    EXPECT_EQ(components(run, place), run.count(place + "l2_miss.latency")) << place;
  }
  EXPECT_GT(run.count("l2_miss.latency"), run.count("gpus.l2_miss.latency"));
}

TEST(TranslationStatistics, OfTlbsAddUp) {
  const auto workload = transpose(512);
  const Outcome run =
      simulate(test_system({"translation.observe=true", "translation.snapshot=1000"}, "ats-4gpu"), {workload});
  for (const char* level : {"gpus.l1_tlb", "gpus.l2_tlb"}) {
    const std::string name = level;
    EXPECT_EQ(run.count(name + ".lookups"), run.count(name + ".hits") + run.count(name + ".misses")) << level;
  }
  EXPECT_EQ(run.count("gpus.l2_tlb.lookups"), run.count("gpus.l1_tlb.misses") - run.count("gpus.l1_tlb.merges"));
  EXPECT_EQ(run.count("iommu.tlb.lookups"), run.count("l2_miss.count"));
  std::uint64_t reused = 0;
  for (const StatValue& value : run.result.statistics) {
    if (value.name.starts_with("iommu.tlb.reuse_distance.below_")) reused += value.count;
  }
  EXPECT_EQ(run.count("iommu.tlb.lookups"), run.count("iommu.tlb.reuse_first") + reused);
}

/// Every workgroup of every GPU reads page 0; each writes a page of its own.
TEST(TranslationStatistics, OfSharingCountPagesAndAccesses) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(5 * kPageBytes, Placement::Distribute);
  script->launch(groups_of(4), [=](const Script&, const Wave& wave) -> Stream {
    return [](VirtAddr first, VirtAddr own) -> Stream {
      co_yield load(4, [=](unsigned lane) { return lane == 0 ? first : kIdle; });
      co_yield store(4, [=](unsigned lane) { return lane == 0 ? own : kIdle; });
    }(base, base + (wave.group_x + 1) * kPageBytes);
  });
  const Outcome run =
      simulate(test_system({"translation.observe=true", "dispatch.policy=round-robin"}, "mmu-4gpu-counters"), {script});
  EXPECT_EQ(run.count("pages.shared_by.4"), 1U);
  EXPECT_EQ(run.count("pages.shared_by.1"), 4U);
  EXPECT_EQ(run.count("accesses.to_pages_shared_by.1"), 4U);
  EXPECT_EQ(run.count("accesses.writes_to_shared"), 0U);
  EXPECT_EQ(run.count("accesses.reads_to_shared"), 4U);
  // All pages are under one leaf table: a GPU's walk cache has the entry above it once it has walked.
  const std::uint64_t at_leaf_table = run.count("host.mmu.remote_pw_cache_hits.L2");
  EXPECT_GT(at_leaf_table, 0U);
  EXPECT_EQ(at_leaf_table + run.count("host.mmu.remote_pw_cache_hits.none"), run.count("uvm.faults"));
}

TEST(SystemRemark, NamesMissRegistersThatCannotFillTheQueue) {
  EXPECT_EQ(system_remark(test_system({}, "svm-1gpu")), "");
  EXPECT_EQ(system_remark(test_system({"gpu.l2_tlb.mshrs=16"}, "svm-1gpu")).substr(0, 50),
            "`gpu.l2_tlb.mshrs` lets 16 misses be under way, an");
  EXPECT_EQ(system_remark(test_system({"gpu.l1_tlb.mshrs=2"}, "svm-1gpu")).substr(0, 18), "`gpu.l1_tlb.mshrs`");
  EXPECT_EQ(system_remark(test_system({"gpu.l2_tlb.mshrs=16"}, "ats-4gpu")), "");
}

TEST(SystemRemark, NamesCreditsThatCannotFillALink) {
  EXPECT_EQ(system_remark(test_system({})), "");
  EXPECT_EQ(system_remark(test_system({"link.credits=128"})), "");
  EXPECT_EQ(system_remark(test_system({"link.credits=32"})),
            "`link.credits` = 32 lets one device use at most 25 % of its link to another for whole lines; 128 are "
            "enough.");
  EXPECT_EQ(system_remark(test_system({"link.credits=128", "link.bandwidth=300GB/s"})).substr(0, 51),
            "`link.credits` = 128 lets one device use at most 10");
}

/// `auto` is a number once the system is read: the more, the longer and the wider the link.
TEST(LinkCredits, AreEnoughForTheLink) {
  const auto credits = [](const std::vector<std::string>& overrides) { return test_system(overrides).link.credits; };
  const std::uint32_t usual = credits({});
  EXPECT_GE(usual, 32U * 300 / 28);  // a store of four bytes is a packet of 16 + 4 + 8 bytes
  EXPECT_LE(usual, 32U * 600 / 28);
  EXPECT_GT(credits({"link.bandwidth=300GB/s"}), 9 * usual);
  EXPECT_GT(credits({"link.latency=600"}), 2 * usual);
  EXPECT_GT(credits({"link.topology=ring", "gpus=8"}), 2 * usual);
  EXPECT_EQ(credits({"link.credits=77"}), 77U);
  EXPECT_EQ(test_system({"link.credits=77"}).link.queue, 77U);
  EXPECT_EQ(test_system({"link.queue=5"}).link.queue, 5U);
}

class TimelineOf : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Systems, TimelineOf,
                         ::testing::Values("ats-4gpu", "ats-4gpu-first-touch", "svm-1gpu", "mmu-4gpu",
                                           "mmu-4gpu-counters"));

TEST_P(TimelineOf, PutsEveryCycleOfAMissIntoAPart) {
  RunRequest request;
  request.system = test_system({"gpu.shader_arrays=1", "gpu.cus_per_array=4"}, GetParam());
  request.applications = {transpose(256)};
  request.timeline.on = true;
  const RunResult run = nearfar::run(request);
  ASSERT_EQ(run.timeline_lost, 0U);
  std::map<std::pair<unsigned, std::uint64_t>, std::int64_t> open;  // cycles of a page's misses less their parts
  std::size_t misses = 0;
  std::size_t walks = 0;
  for (const TimelineEvent& event : run.timeline) {
    EXPECT_LE(event.start, event.end);
    walks += event.kind == TimelineEvent::Kind::Span && event.unit == TimelineUnit::Walker;
    if (event.kind != TimelineEvent::Kind::Request || event.device == request.system.gpus) continue;
    const bool whole = std::string_view(event.name) == "L2 TLB miss";
    misses += whole;
    open[{event.device, event.id}] += static_cast<std::int64_t>(event.end - event.start) * (whole ? 1 : -1);
  }
  EXPECT_GT(misses, 100U);
  EXPECT_GT(walks, 0U);
  for (const auto& [page, cycles] : open) EXPECT_EQ(cycles, 0) << "GPU " << page.first << ", page " << page.second;
}

TEST_P(TimelineOf, IsWholeWhereItIsTooLong) {
  RunRequest request;
  request.system = test_system({"gpu.shader_arrays=1", "gpu.cus_per_array=4"}, GetParam());
  request.applications = {transpose(256)};
  request.timeline.on = true;
  const RunResult all = nearfar::run(request);
  ASSERT_GT(all.timeline.size(), 1000U);
  request.timeline.most = all.timeline.size() / 2;
  const RunResult run = nearfar::run(request);
  EXPECT_LE(run.timeline.size(), request.timeline.most);
  EXPECT_GT(run.timeline.size(), request.timeline.most / 2) << "room is used";
  EXPECT_EQ(run.timeline_lost + run.timeline.size(), all.timeline.size());
  std::map<std::pair<unsigned, std::uint64_t>, std::int64_t> open;
  Cycle end = 0;
  for (const TimelineEvent& event : run.timeline) {
    end = std::max(end, event.settled());
    if (event.kind != TimelineEvent::Kind::Request || event.device == request.system.gpus) continue;
    const bool whole = std::string_view(event.name) == "L2 TLB miss";
    open[{event.device, event.id}] += static_cast<std::int64_t>(event.end - event.start) * (whole ? 1 : -1);
  }
  for (const auto& [page, cycles] : open) EXPECT_EQ(cycles, 0) << "GPU " << page.first << ", page " << page.second;
  const auto is_walk = [&](const TimelineEvent& event) {
    return event.kind == TimelineEvent::Kind::Span && event.settled() <= end;
  };
  EXPECT_EQ(std::ranges::count_if(run.timeline, is_walk), std::ranges::count_if(all.timeline, is_walk))
      << "everything that ended by then is there, on all devices";
}

TEST(Timeline, HoldsWhatItsFilterLetsThrough) {
  RunRequest request;
  request.system = test_system({}, "mmu-4gpu");
  request.applications = {transpose(128)};
  request.timeline.on = true;
  request.timeline.device = 0;
  request.timeline.from = 1000;
  request.timeline.to = 5000;
  request.timeline.most = 100;
  const RunResult run = nearfar::run(request);
  EXPECT_FALSE(run.timeline.empty());
  EXPECT_GT(run.timeline_lost, 0U);
  for (const TimelineEvent& event : run.timeline) {
    EXPECT_EQ(event.device, 0U);
    EXPECT_LE(event.start, 5000U);
    EXPECT_GE(event.end, 1000U);
  }
}

TEST(SharedVirtualMemory, UnloadedWalkReadsMemoryLevelByLevel) {
  // Two hops to the IOMMU, both its TLBs, the walk cache, and four reads: the first of a closed row costs 146 cycles,
  // those of the same or another row of its bank 118 to 174.
  const Outcome run = read(test_system({}, "svm-1gpu"), 1);
  EXPECT_EQ(run.count("l2_miss.component.iommu.link"), 200U);
  EXPECT_EQ(run.count("l2_miss.component.iommu.tlb"), 20U);
  EXPECT_EQ(run.count("iommu.accesses.demand"), 4U);
  const std::uint64_t walk = run.count("l2_miss.component.iommu.walk") - 2;
  EXPECT_GE(walk, 146U + 3 * 118U);
  EXPECT_LE(walk, 146U + 3 * 174U);
}

TEST(SharedVirtualMemory, ReadsOfClosedRowsCostTheirSum) {
  // Rows so short that each level of the table has a bank of its own.
  const Outcome run = read(test_system({"gpu.dram.row=1KiB", "gpu.dram.refresh=false"}, "svm-1gpu"), 1);
  EXPECT_EQ(run.count("l2_miss.component.iommu.walk"), 2U + 4 * 146U);
  for (unsigned level = 1; level <= 4; ++level) EXPECT_EQ(run.count("iommu.reads.L" + std::to_string(level)), 1U);
}

struct Case {
  const char* system;
  std::vector<std::string> overrides;
};

class TranslationSystem : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    All, TranslationSystem,
    ::testing::Values(
        Case{"ats-4gpu", {}}, Case{"ats-4gpu", {"gpus=16"}}, Case{"ats-4gpu", {"page.size=2M"}},
        Case{"ats-4gpu", {"walk.timing=memory"}}, Case{"mmu-4gpu", {}}, Case{"mmu-4gpu", {"gpus=16"}},
        Case{"mmu-4gpu", {"gpus=1"}}, Case{"mmu-4gpu", {"placement.policy=first-touch"}},
        Case{"mmu-4gpu", {"placement.policy=replication"}}, Case{"mmu-4gpu", {"placement.policy=no-fault"}},
        Case{"mmu-4gpu", {"page.size=2M"}}, Case{"mmu-4gpu", {"migration.ideal=true"}},
        Case{"mmu-4gpu", {"invalidate.how=zero-latency"}}, Case{"mmu-4gpu-counters", {}},
        Case{"mmu-4gpu-counters", {"placement.access_counter.threshold=16"}},
        Case{"mmu-4gpu-counters", {"walk.timing=memory"}}, Case{"svm-1gpu", {}},
        Case{"mmu-4gpu",
             {"dispatch.policy=blocks", "migration.waits_for=issued", "gpu.l1_tlb.mshrs=1", "link.bandwidth=4GB/s"}},
        Case{"mmu-4gpu", {"dispatch.policy=blocks", "migration.waits_for=none", "gpu.gmmu.update=zero-latency"}},
        Case{"mmu-4gpu", {"dispatch.policy=blocks", "migration.retention_cycles=5000", "migration.transfer=fixed"}},
        Case{"mmu-4gpu", {"dispatch.policy=blocks", "gpu.cu.reorder_buffer=16", "gpu.gmmu.pw_cache.level_bits=3"}},
        Case{"mmu-4gpu-counters",
             {"dispatch.policy=blocks", "placement.initial=first", "link.bandwidth=4GB/s", "migration.waits_for=issued",
              "placement.access_counter.threshold=8", "placement.access_counter.count_at=l1-tlb",
              "gpu.cu.reorder_buffer=128", "gpu.l1_tlb.mshrs=1", "gpu.l1_tlb.entries=2", "gpu.l1_tlb.ways=2"}},
        Case{"ats-4gpu", {"gpu.cu.reorder_buffer=1"}}));

TEST_P(TranslationSystem, RunsWorkloadsUnderTheOracles) {
  const SystemSpec system = test_system(GetParam().overrides, GetParam().system);
  const std::vector<std::pair<std::string, std::vector<ParameterSetting>>> workloads = {
      {"MT", {{"width", 256}}},
      {"ST", {{"rows", 130}, {"columns", 258}, {"iterations", 2}}},
      {"PR", {{"n", 2048}, {"m", 8192}, {"iterations", 2}}},
      {"KM", {{"points", 2048}, {"iterations", 2}}}};
  for (const auto& [name, parameters] : workloads) {
    SCOPED_TRACE(name);
    const Outcome run = simulate(system, {make_workload(name, SizeClass::Small, parameters, 1)});
    EXPECT_GT(run.result.accesses, 0U);
  }
}

class ThreadsOnTranslation : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ThreadsOnTranslation, ::testing::Values("ats-4gpu", "mmu-4gpu", "mmu-4gpu-counters"));

TEST_P(ThreadsOnTranslation, GiveTheSameStatistics) {
  const SystemSpec system = test_system({"placement.access_counter.threshold=16"}, GetParam());
  const auto workload = transpose(256);
  const Outcome one = simulate(system, {workload}, false, 1);
  for (const Outcome& other : {simulate(system, {workload}, false, 2), simulate(system, {workload}, false, 4),
                               simulate(system, {workload}, false, 1, 37), simulate(system, {workload}, true, 1)}) {
    ASSERT_EQ(one.result.statistics.size(), other.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, other.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

TEST(ThreadsOnReadings, GiveTheSameStatistics) {
  const SystemSpec system = test_system(
      {"placement.access_counter.threshold=8", "placement.access_counter.count_at=l1", "migration.waits_for=issued",
       "migration.transfer=fixed", "migration.retention_cycles=3000", "gpu.gmmu.update=zero-latency",
       "gpu.cu.reorder_buffer=64", "placement.initial=first", "dispatch.policy=blocks", "link.bandwidth=8GB/s"},
      "mmu-4gpu-counters");
  const auto workload = page_rank();
  const Outcome one = simulate(system, {workload}, true, 1);
  for (const unsigned threads : {2U, 4U}) {
    const Outcome other = simulate(system, {workload}, false, threads);
    ASSERT_EQ(one.result.statistics.size(), other.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, other.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

// Nodes that a GPU's table gets while it runs take frames of its own memory, of which the driver, in another partition,
// hands out others meanwhile.
TEST(ThreadsOnTables, MadeOnDemandTakeTheSameFrames) {
  const SystemSpec system = test_system({"page_table.upper_levels=on-demand", "walk.timing=memory",
                                         "gpu.l2_tlb.entries=4", "gpu.l2_tlb.ways=1", "dispatch.policy=round-robin"},
                                        "mmu-4gpu");
  const auto workload = transpose(512);
  const Outcome one = simulate(system, {workload}, false, 1);
  for (const Outcome& other : {simulate(system, {workload}, false, 1, 13), simulate(system, {workload}, false, 2)}) {
    ASSERT_EQ(one.result.statistics.size(), other.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, other.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

TEST(OversubscribedMemory, RunsAndEvicts) {
  const SystemSpec system = test_system(
      {"gpu.dram.capacity=1MiB", "gpu.dram.channels=1", "gpu.dram.ranks=1", "gpu.dram.banks=2", "migration.evict=true"},
      "mmu-4gpu");
  const Outcome run = simulate(system, {transpose(1024)});
  EXPECT_GT(run.count("uvm.migration.evictions"), 0U);
}

TEST(OversubscribedMemory, RunsAndEvictsUnderIdealMigration) {
  for (const char* keep : {"migration.keep_invalidation=false", "migration.keep_invalidation=true"}) {
    SCOPED_TRACE(keep);
    const SystemSpec system = test_system({"gpu.dram.capacity=1MiB", "gpu.dram.channels=1", "migration.evict=true",
                                           "migration.ideal=true", "gpus=2", keep},
                                          "mmu-4gpu");
    const Outcome run = simulate(system, {transpose(512)});
    EXPECT_GT(run.count("uvm.migration.evictions"), 0U);
  }
}

/// GPUs write parts of lines of pages that they have mapped on the host, until counters with this threshold take the
/// pages away. The host's cache is small and its memory slow.
Outcome write_to_host(const char* threshold) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(8 * kPageBytes, Placement::Distribute);
  script->launch(groups_of(16, 256, Split::RoundRobin), [=](const Script&, const Wave& wave) -> Stream {
    return [](VirtAddr at, unsigned first) -> Stream {
      for (unsigned i = 0; i < 32; ++i) {
        const VirtAddr line = at + (first * 37 + i * 29) % 512 * 64;
        co_yield store(4, [=](unsigned lane) { return lane < 4 ? line + lane * 4 : kIdle; });
      }
    }(base, wave.group_x * 4 + wave.index);
  });
  const SystemSpec system = test_system({"dispatch.policy=round-robin", "placement.host_first_touch=map",
                                         std::string("placement.access_counter.threshold=") + threshold,
                                         "host.llc.ways=1", "host.llc.size=1KiB", "host.dram.controller_latency=2000"},
                                        "mmu-4gpu-counters");
  return simulate(system, {script});
}

// The oracle says whether every store that was ordered is in a page that leaves.
TEST(HostMemory, PageThatLeavesHasEveryStoreInIt) {
  const Outcome run = write_to_host("2");
  EXPECT_GT(run.count("uvm.migration.first_touches"), 0U);
}

// A kernel's end writes the GPUs' caches back, not the host's.
TEST(HostMemory, MayEndARunWithDirtyLinesInItsCache) {
  const Outcome run = write_to_host("1000000");
  EXPECT_EQ(run.count("uvm.migration.first_touches"), 0U);
  EXPECT_GT(run.count("host.llc.writes"), run.count("host.dram.writes"));
}

TEST(FullGpuMemory, EndsTheRunWithWhatToDo) {
  const SystemSpec system = test_system(
      {"gpu.dram.capacity=1MiB", "gpu.dram.channels=1", "gpu.dram.ranks=1", "gpu.dram.banks=2"}, "mmu-4gpu");
  try {
    simulate(system, {transpose(1024)});
    FAIL() << "it ran";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("migration.evict"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace nearfar::translation_test
