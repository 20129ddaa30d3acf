// Storms on walkers with designs at both of their seams: as few walkers, places and entries as can be, pages that move
// and are written. Each request is answered once, with a mapping that the oracle allows, and nothing is left.
#include <gtest/gtest.h>

#include <random>

#include "designs/asap/asap.h"
#include "designs/design.h"
#include "designs/neighborhood/walk_coalescer.h"
#include "designs/pte_cache/pte_cache.h"
#include "machine/script.h"
#include "translation/storm.h"
#include "workload/catalog.h"

namespace nearfar::walk_storm_test {
namespace {

/// The designs of one pool of walkers.
struct Plugs {
  std::unique_ptr<WalkCoalescer> coalescer;
  std::unique_ptr<PteCache> cache;
  std::unique_ptr<WalkPrefetcher> asap;

  void plug(std::uint64_t seed, Partition& partition, WalkUnit& unit) {
    NeighborhoodSpec spec;
    spec.leaf_only = seed % 3 == 1;
    spec.rule = seed % 5 == 0 ? WaitRule::Literal : WaitRule::Useful;
    spec.wait_limit = 1 + static_cast<std::uint32_t>(seed % 4);
    spec.wait_considers_pwc = seed % 7 == 0;
    if (seed % 4 != 0) {
      coalescer = std::make_unique<WalkCoalescer>(partition, unit, spec, true);
      unit.set_order(*coalescer);
    }
    if (seed / 4 % 3 == 1) {
      cache =
          std::make_unique<PteCache>(partition, unit, PteCacheSpec{1 + static_cast<std::uint32_t>(seed % 5), 4, {}});
      unit.set_access(*cache);
    } else if (seed / 4 % 3 == 2) {
      asap = std::make_unique<WalkPrefetcher>(partition, unit, AsapSpec{AsapLevels::Auto, 1, 70});
      unit.set_access(*asap);
    }
  }
  bool idle() const { return !asap || asap->idle(); }
};

class WalkDesignStorm : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, WalkDesignStorm, ::testing::Range<std::uint64_t>(0, 96));

TEST_P(WalkDesignStorm, AnswersEveryRequestOnce) {
  const std::uint64_t seed = GetParam();
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  const PagePolicy policies[] = {PagePolicy::OnTouch, PagePolicy::FirstTouch, PagePolicy::AccessCounter,
                                 PagePolicy::Replication};
  RigOptions o = RigOptions::mmu(one_of({2, 3}), policies[random() % 4]);
  o.l2_tlb = {{{one_of({1, 2, 8}), 1, 10}, 0}, one_of({2, 8, 32})};
  o.gmmu.gmmu.walkers = one_of({1, 2, 3});
  o.gmmu.gmmu.queue = one_of({1, 2, 16});
  o.gmmu.gmmu.cache.entries = one_of({0, 2, 128});
  o.gmmu.table.upper = one_of({0, 1}) == 0 ? UpperLevels::Prebuilt : UpperLevels::OnDemand;
  o.host.mmu.walkers = one_of({1, 2});
  o.host.mmu.queue = one_of({1, 2, 16});
  o.host.mmu.tlb = {one_of({1, 2}), 1, 20};
  o.gmmu.size.bits = one_of({0, 0, kLargePageBits});

  Rig rig(o, 0, 64);
  std::vector<Plugs> plugs(o.gpus + 1);
  for (unsigned g = 0; g < o.gpus; ++g) plugs[g].plug(seed, rig.partition(g), rig.gmmu(g).walkers());
  plugs[o.gpus].plug(seed, rig.partition(o.gpus), rig.host().walkers());

  const unsigned requests = 300;
  const unsigned pages = one_of({4, 24, 60});
  const Cycle spread = one_of({2'000, 60'000});
  for (unsigned i = 0; i < requests; ++i) {
    rig.ask(static_cast<unsigned>(random() % o.gpus), random() % pages, random() % spread, random() % 3 == 0, i);
  }
  use_answers(rig, random);
  rig.run();
  EXPECT_EQ(rig.answers.size(), requests);
  EXPECT_TRUE(rig.idle());
  EXPECT_EQ(rig.all_parts(), rig.latency());
  for (const Plugs& p : plugs) EXPECT_TRUE(p.idle());
  for (unsigned p = 0; p < pages; ++p) {
    const PageRecord& record = rig.host().driver().record({0, p});
    EXPECT_FALSE(record.moving);
    for (unsigned g = 0; g < o.gpus; ++g) {
      const Pte entry = rig.gmmu(g).table(0).read(p);
      EXPECT_EQ(entry.valid(), record.holders.test(g)) << "page " << p << " GPU " << g;
    }
  }
}

struct Case {
  const char* system;
  std::vector<std::string> designs;
  std::vector<std::string> overrides;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.system;
  for (const std::string& design : c.designs) *out << " " << design;
}

const Case kCases[] = {
    {"svm-1gpu", {"neighborhood"}, {}},
    {"svm-1gpu", {"neighborhood-leaf"}, {"iommu.pw_queue.entries=4", "iommu.walkers=2"}},
    {"svm-1gpu", {"pte-cache"}, {}},
    {"svm-1gpu", {"neighborhood", "pte-cache"}, {"iommu.pw_queue.entries=16"}},
    {"ats-4gpu", {"neighborhood", "infinite-iommu-tlb"}, {"walk.timing=memory"}},
    {"mmu-4gpu", {"neighborhood", "asap"}, {}},
    {"mmu-4gpu", {"asap", "replication"}, {"walk.timing=memory"}},
    {"mmu-4gpu-counters", {"neighborhood", "pte-cache"}, {"walk.timing=memory", "gpu.gmmu.walkers=2"}},
};

class WalkDesignRuns : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, WalkDesignRuns, ::testing::ValuesIn(kCases));

SystemSpec system_of(const Case& c) {
  std::vector<std::string> overrides = {"gpu.l2_tlb.entries=16", "gpu.shader_arrays=2", "gpu.cus_per_array=2"};
  overrides.insert(overrides.end(), c.overrides.begin(), c.overrides.end());
  return load_system_with(c.designs, c.system, overrides).spec;
}

std::shared_ptr<const Workload> walking() {
  const std::vector<ParameterSetting> size = {{"width", 256}};
  return make_workload("MT", SizeClass::Small, size, 3);
}

TEST_P(WalkDesignRuns, PassTheOraclesAndTouchTheSameLines) {
  const Outcome plain =
      simulate(test_system({"gpu.l2_tlb.entries=16", "gpu.shader_arrays=2", "gpu.cus_per_array=2"}, GetParam().system),
               {walking()});
  const Outcome changed = simulate(system_of(GetParam()), {walking()});
  EXPECT_EQ(changed.count("run.accesses"), plain.count("run.accesses"));
  EXPECT_EQ(changed.count("run.instructions"), plain.count("run.instructions"));
}

// Where what the walk cache holds decides who waits, an entry that was fetched ahead may let a request go on.
TEST(WalkDesigns, SeeWhatIsFetchedAheadIntoTheWalkCache) {
  const std::vector<std::string> designs = {"neighborhood", "asap", "first-touch"};
  const std::vector<std::string> overrides = {"gpus=1",
                                              "gpu.l2_tlb.entries=16",
                                              "gpu.shader_arrays=2",
                                              "gpu.cus_per_array=2",
                                              "gpu.gmmu.walkers=4",
                                              "gpu.gmmu.pw_cache.entries=1",
                                              "walk.timing=memory",
                                              "neighborhood.wait_considers_pwc=true"};
  const std::vector<ParameterSetting> size = {{"n", 512}};
  const Outcome outcome = simulate(load_system_with(designs, "mmu-4gpu", overrides).spec,
                                   {make_workload("GESUMMV", SizeClass::Small, size, 1)});
  EXPECT_GT(outcome.count("gpus.neighborhood.coalesced_full"), 0U);
}

class ThreadsOnWalkDesigns : public WalkDesignRuns {};
INSTANTIATE_TEST_SUITE_P(All, ThreadsOnWalkDesigns, ::testing::Values(kCases[4], kCases[5], kCases[7]));

TEST_P(ThreadsOnWalkDesigns, GiveTheSameStatistics) {
  const SystemSpec system = system_of(GetParam());
  const Outcome one = simulate(system, {walking()}, false, 1);
  for (const unsigned threads : {2U, 4U}) {
    const Outcome many = simulate(system, {walking()}, false, threads);
    ASSERT_EQ(one.result.statistics.size(), many.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, many.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

}  // namespace
}  // namespace nearfar::walk_storm_test
