// The functional pass: scenes worked by hand, the counts of a run where time cannot matter, turns, residency, refusals.
#include "characterize/functional/functional_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "config/error.h"
#include "designs/design.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::functional_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr unsigned kGpus = 4;
constexpr unsigned kCus = 4;

SystemSpec system_with(std::vector<std::string> more, const std::vector<std::string>& designs = {}) {
  std::vector<std::string> overrides = {"gpu.shader_arrays=1", "gpu.cus_per_array=4", "dispatch.policy=blocks",
                                        "gpu.dram.capacity=64MiB", "host.dram.capacity=64MiB"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return load_system_with(designs, "rec-4gpu", overrides).spec;
}

std::uint64_t count(const FunctionalResult& result, const std::string& name) {
  return static_cast<std::uint64_t>(result.find(name).value_or(0));
}

/// One access by a compute unit of a GPU; `home` says on which GPU its page is. A wide store writes four lines, all
/// but the first half of the first.
struct Step {
  enum class Kind { Load, Store, StoreLine, StoreWide, Atomic, Scalar, FenceGpu, FenceSystem };
  unsigned gpu = 0;
  unsigned cu = 0;
  Kind kind = Kind::Load;
  unsigned line = 0;
  unsigned home = 0;
};
using Kind = Step::Kind;

VirtAddr address_of_step(VirtAddr base, const Step& step) { return base + step.home * kPageBytes + step.line * 64; }

/// Takes a turn and touches nothing.
Stream play(VirtAddr base, std::vector<Step> steps, unsigned gpu, unsigned cu) {
  const auto nobody = [](unsigned) { return kIdle; };
  for (const Step& step : steps) {
    const VirtAddr at = address_of_step(base, step);
    const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
    const auto words = [at](unsigned lane) { return lane < 16 ? at + lane * 4 : kIdle; };
    if (step.gpu != gpu || step.cu != cu) {
      co_yield load(4, nobody);
      continue;
    }
    switch (step.kind) {
      case Kind::Load: co_yield load(4, lane0); break;
      case Kind::Store: co_yield store(4, lane0); break;
      case Kind::StoreLine: co_yield store(4, words); break;
      case Kind::Atomic: co_yield atomic(4, lane0); break;
      default: break;
    }
  }
}

/// The four GPUs of rec-4gpu with four compute units each. A kernel is a list of steps, each in a round of its own;
/// page g of the buffer is on GPU g.
class Scene {
 public:
  explicit Scene(const std::vector<std::string>& more = {}, const std::vector<std::string>& designs = {})
      : system_(system_with(more, designs)), base_(script_->buffer(kGpus * kPageBytes, Placement::Interleave)) {}

  Scene& kernel(std::vector<Step> steps) {
    script_->launch(groups_of(kGpus * kCus, 64), [this, steps](const Script&, const Wave& wave) {
      return play(base_, steps, wave.group_x / kCus, wave.group_x % kCus);
    });
    return *this;
  }
  Scene& copy_in() {
    script_->add_copy_in(base_);
    return *this;
  }
  FunctionalResult pass() const { return functional_pass(system_, *script_); }

 private:
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  SystemSpec system_;
  VirtAddr base_;
};

const std::vector<std::string> kTwoEntries = {"directory.entries=2", "directory.ways=2"};

// ------------------------------------------------------------------------------------------------------ worked by hand

TEST(Functional, TwoEntriesForThreeLines) {
  const std::vector<Step> steps = {{1, 0}, {1, 1, Kind::Load, 1}, {1, 2, Kind::Load, 2}, {1, 3}};
  const FunctionalResult line = Scene(kTwoEntries).kernel(steps).pass();
  EXPECT_EQ(count(line, "gpus.link.read_requests"), 4U);
  EXPECT_EQ(count(line, "gpu1.invalidation.received"), 2U);
  EXPECT_EQ(count(line, "gpu1.invalidation.hit_eviction"), 2U);
  EXPECT_EQ(count(line, "gpu1.l2.lookup.misses_after_eviction_invalidation"), 1U);
  EXPECT_EQ(line.find("gpus.l2.lookup.warm_miss_rate"), 0.25);
  EXPECT_EQ(line.find("gpus.invalidation.eviction_share"), 1.0);
  EXPECT_EQ(line.find("gpus.directory.lines_at_eviction.mean"), 1.0);
  const FunctionalResult rec = Scene(kTwoEntries, {"rec"}).kernel(steps).pass();
  EXPECT_EQ(count(rec, "gpus.link.read_requests"), 3U);
  EXPECT_EQ(count(rec, "gpus.invalidation.received"), 0U);
  EXPECT_EQ(rec.find("gpus.l2.lookup.warm_miss_rate"), 0.0);
  EXPECT_EQ(rec.find("gpus.invalidation.eviction_share"), std::nullopt) << "a share of nothing";
}

TEST(Functional, FifoAndLruDirectories) {
  const std::vector<Step> steps = {{1, 0}, {1, 1, Kind::Load, 1}, {2, 0}, {1, 2, Kind::Load, 2}};
  const FunctionalResult fifo = Scene(kTwoEntries).kernel(steps).pass();
  EXPECT_EQ(count(fifo, "gpu1.invalidation.hit_eviction"), 1U);
  EXPECT_EQ(count(fifo, "gpu2.invalidation.hit_eviction"), 1U);
  std::vector<std::string> lru = kTwoEntries;
  lru.push_back("directory.replacement=lru");
  const FunctionalResult used = Scene(lru).kernel(steps).pass();
  EXPECT_EQ(count(used, "gpu1.invalidation.hit_eviction"), 1U);
  EXPECT_EQ(count(used, "gpu2.invalidation.received"), 0U);
}

TEST(Functional, HmgDropsLinesThatNobodyWrote) {
  const std::vector<Step> steps = {{1, 0}, {2, 0, Kind::Load, 1}, {0, 0, Kind::Store, 2}};
  const FunctionalResult hmg = Scene({}, {"hmg"}).kernel(steps).pass();
  EXPECT_EQ(count(hmg, "gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(count(hmg, "gpu1.invalidation.hit_collateral"), 1U);
  EXPECT_EQ(count(hmg, "gpu2.invalidation.hit_collateral"), 1U);
  EXPECT_EQ(count(hmg, "gpu1.invalidation.miss_collateral"), 2U);
  EXPECT_EQ(hmg.find("gpus.invalidation.eviction_share"), 0.0);
  EXPECT_EQ(count(Scene().kernel(steps).pass(), "gpus.invalidation.received"), 0U);
  EXPECT_EQ(count(Scene({}, {"rec"}).kernel(steps).pass(), "gpus.invalidation.received"), 0U);
}

TEST(Functional, TheWriterStaysTheOnlySharer) {
  const FunctionalResult result =
      Scene().kernel({{1, 0}, {2, 0}, {3, 0}, {1, 1, Kind::StoreLine}, {1, 2}, {0, 0, Kind::Store}, {1, 3}}).pass();
  EXPECT_EQ(count(result, "gpu0.invalidation.sent_write"), 3U) << "to 2 and 3, then to 1 exactly";
  EXPECT_EQ(count(result, "gpu1.l2.remote.read_hits"), 1U) << "it hits what it has written";
  EXPECT_EQ(count(result, "gpu1.l2.lookup.misses_after_write_invalidation"), 1U);
}

TEST(Functional, AStoreToPartOfARemoteLineMakesNoCopyUnlessItFetches) {
  const std::vector<Step> steps = {{1, 0, Kind::Store}, {1, 1}, {0, 0, Kind::Store}};
  const FunctionalResult none = Scene().kernel(steps).pass();
  EXPECT_EQ(count(none, "gpu1.l2.lookup.misses_not_kept"), 1U);
  EXPECT_EQ(count(none, "gpu1.link.request_bytes"), 12U + 8 + 4 + 12);
  EXPECT_EQ(count(none, "gpu0.link.reply_bytes"), 4U + 68);
  EXPECT_EQ(count(none, "gpu1.invalidation.hit_write"), 1U);
  const FunctionalResult fetched = Scene({"remote_write_miss=fetch"}).kernel(steps).pass();
  EXPECT_EQ(count(fetched, "gpu1.link.read_requests"), 1U);
  EXPECT_EQ(count(fetched, "gpu1.l2.remote.read_hits"), 1U);
}

TEST(Functional, AnAtomicActsAtTheHomeAndDropsTheCopy) {
  const FunctionalResult result = Scene().kernel({{1, 0}, {2, 0}, {1, 0, Kind::Atomic}, {1, 1}}).pass();
  EXPECT_EQ(count(result, "gpu1.link.atomic_requests"), 1U);
  EXPECT_EQ(count(result, "gpu0.l2.atomics"), 1U);
  EXPECT_EQ(count(result, "gpu2.invalidation.hit_write"), 1U);
  EXPECT_EQ(count(result, "gpu1.l2.lookup.misses_after_drop"), 1U);
}

TEST(Functional, RemoteCachingPolicies) {
  const std::vector<Step> steps = {{1, 0}, {1, 0}, {1, 1}};
  const auto reads = [&](const std::string& policy) {
    return count(Scene({"coherence=boundary", "remote_cache=" + policy}).kernel(steps).pass(),
                 "gpus.link.read_requests");
  };
  EXPECT_EQ(reads("none"), 3U);
  EXPECT_EQ(reads("l1"), 2U);
  EXPECT_EQ(reads("l1l2"), 1U);
  EXPECT_EQ(count(Scene().kernel(steps).pass(), "gpus.link.read_requests"), 1U);
}

TEST(Functional, BoundariesDropL1sAndWithoutDirectoriesRemoteLines) {
  const std::vector<Step> steps = {{1, 0}};
  const FunctionalResult tracked = Scene().kernel(steps).kernel(steps).pass();
  EXPECT_EQ(count(tracked, "gpus.l1v.load_hits"), 0U);
  EXPECT_EQ(count(tracked, "gpus.link.read_requests"), 1U);
  EXPECT_EQ(tracked.launches, 2U);
  const FunctionalResult dropped = Scene({"coherence=boundary"}).kernel(steps).kernel(steps).pass();
  EXPECT_EQ(count(dropped, "gpus.link.read_requests"), 2U);
  EXPECT_EQ(count(dropped, "gpus.l2.remote.dropped"), 1U);
  EXPECT_EQ(dropped.find("gpus.directory.allocations"), std::nullopt);
}

TEST(Functional, DirtyLinesAreWrittenBackAtTheEndOfAKernel) {
  const FunctionalResult kept = Scene().kernel({{0, 0, Kind::StoreLine}}).kernel({{0, 0}}).pass();
  EXPECT_EQ(count(kept, "gpu0.l2.flushed_lines"), 1U);
  EXPECT_EQ(count(kept, "gpu0.dram.writes"), 1U);
  EXPECT_EQ(count(kept, "gpu0.dram.reads"), 0U);
  const FunctionalResult gone =
      Scene({"boundary.l2=drop_written"}).kernel({{0, 0, Kind::StoreLine}}).kernel({{0, 0}}).pass();
  EXPECT_EQ(count(gone, "gpu0.dram.reads"), 1U);
}

TEST(Functional, CopiesInvalidateWhatTheyOverwrite) {
  const FunctionalResult result = Scene().kernel({{1, 0}}).copy_in().kernel({{1, 0}}).pass();
  EXPECT_EQ(count(result, "gpu1.invalidation.hit_write"), 1U);
  EXPECT_EQ(count(result, "gpu1.link.read_requests"), 2U);
  EXPECT_EQ(count(result, "gpu0.l2.lookup.misses"), 0U) << "copies look nothing up";
}

TEST(Functional, LinesOfTheHostAreNotKeptInL2s) {
  const FunctionalResult result = Scene({"placement.initial=host"}).kernel({{1, 0}, {1, 1}}).pass();
  EXPECT_EQ(count(result, "gpu1.link.read_requests"), 2U);
  EXPECT_EQ(count(result, "gpu1.l2.lookup.lookups"), 0U);
  EXPECT_EQ(count(result, "host.llc.reads"), 2U);
  EXPECT_EQ(count(result, "host.llc.read_hits"), 1U);
  EXPECT_EQ(count(result, "gpus.directory.allocations"), 0U);
}

// ------------------------------------------------------------------------------- as a run, where time cannot matter

/// Waits for each access, and for what it makes others send.
Stream play_slowly(VirtAddr base, std::vector<Step> steps) {
  for (const Step& step : steps) {
    const VirtAddr at = address_of_step(base, step);
    const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
    const auto words = [at](unsigned lane) { return lane < 16 ? at + lane * 4 : kIdle; };
    const auto wide = [at](unsigned lane) { return lane >= 8 ? at + lane * 4 : kIdle; };
    switch (step.kind) {
      case Kind::Load: co_yield load(4, lane0); break;
      case Kind::Store: co_yield store(4, lane0); break;
      case Kind::StoreLine: co_yield store(4, words); break;
      case Kind::StoreWide: co_yield store(4, wide); break;
      case Kind::Atomic: co_yield atomic(4, lane0); break;
      case Kind::Scalar: co_yield scalar_load(4, at); break;
      case Kind::FenceGpu: co_yield fence(Scope::Gpu); break;
      case Kind::FenceSystem: co_yield fence(Scope::System); break;
    }
    co_yield wait(0);
    co_yield fence(Scope::Workgroup);
    co_yield salu(200);
  }
}

constexpr unsigned kPages = 12;

/// Kernels in which one wavefront of one compute unit makes random accesses.
std::shared_ptr<Script> random_script(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPages * kPageBytes, Placement::Interleave);
  for (unsigned kernel = 0; kernel < 24; ++kernel) {
    const unsigned chosen = draw(kGpus * kCus);
    std::vector<Step> steps;
    for (unsigned i = 0; i < 40; ++i) {
      static constexpr Kind kKinds[] = {Kind::Load,      Kind::Load,      Kind::Load,   Kind::Load,   Kind::Store,
                                        Kind::StoreLine, Kind::StoreWide, Kind::Atomic, Kind::Scalar, Kind::FenceGpu};
      const Kind kind = draw(60) == 0 ? Kind::FenceSystem : kKinds[draw(10)];
      steps.push_back({.kind = kind, .line = draw(60), .home = draw(kPages)});
    }
    script->launch(groups_of(kGpus * kCus, 64), [base, steps, chosen](const Script&, const Wave& wave) {
      return play_slowly(base, wave.group_x == chosen ? steps : std::vector<Step>{});
    });
  }
  return script;
}

struct Machine {
  std::string name;
  std::vector<std::string> overrides;
  std::vector<std::string> designs;
};
std::ostream& operator<<(std::ostream& stream, const Machine& machine) { return stream << machine.name; }

class AsARun : public ::testing::TestWithParam<Machine> {};

TEST_P(AsARun, CountsTheSame) {
  std::vector<std::string> overrides = {"gpu.l2.size=32KiB", "gpu.l2.ways=2",        "gpu.l1v.size=1KiB",
                                        "gpu.l1s.size=512",  "directory.entries=32", "directory.ways=4"};
  overrides.insert(overrides.end(), GetParam().overrides.begin(), GetParam().overrides.end());
  const SystemSpec system = system_with(overrides, GetParam().designs);
  const auto script = random_script(7);
  const FunctionalResult pass = functional_pass(system, *script);
  const Outcome run = simulate(system, {script});
  std::map<std::string, StatValue> timed;
  for (const StatValue& value : run.result.statistics) timed[value.name] = value;
  unsigned compared = 0;
  for (const StatValue& value : pass.statistics) {
    const auto found = timed.find(value.name);
    if (found == timed.end()) continue;
    EXPECT_EQ(value.as_double(), found->second.as_double()) << value.name;
    compared += value.as_double() != 0;
  }
  EXPECT_GT(compared, 60U);
  EXPECT_EQ(pass.accesses, run.result.accesses);
  EXPECT_EQ(pass.instructions, run.result.instructions);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, AsARun,
    ::testing::Values(Machine{"baseline", {}, {}}, Machine{"rec", {}, {"rec"}}, Machine{"hmg", {}, {"hmg"}},
                      Machine{"ideal", {}, {"dir-ideal"}}, Machine{"lru", {"directory.replacement=lru"}, {}},
                      Machine{"hashed", {"gpu.l2.index=xor", "gpu.l2.bank_index=xor", "directory.index=xor"}, {}},
                      Machine{"interleaved", {"gpu.l2.interleave=2", "gpu.l2.bank_index=xor"}, {}},
                      Machine{"long_lines", {"gpu.line=128", "gpu.l2.size=64KiB"}, {}},
                      Machine{"without_directories", {"coherence=boundary"}, {}},
                      Machine{"l1", {"coherence=boundary", "remote_cache=l1"}, {}},
                      Machine{"none", {"coherence=boundary", "remote_cache=none"}, {}},
                      Machine{"host", {"placement.initial=host"}, {}}, Machine{"dropping", {"boundary.l2=drop"}, {}}),
    [](const auto& machine) { return machine.param.name; });

// ---------------------------------------------------------------------------------------------------- turns, residency

/// Two wavefronts of a workgroup: the first loads a line late, the second then makes an atomic of it, the first loads
/// it again. If the atomic came before the first load, the second load would hit.
TEST(Functional, BarriersAreHonoured) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Interleave);
  const auto kernel = [](VirtAddr at, std::uint32_t index) -> Stream {
    const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
    const auto nobody = [](unsigned) { return kIdle; };
    for (unsigned i = 0; index == 0 && i < 5; ++i) co_yield load(4, nobody);
    if (index == 0) co_yield load(4, lane0);
    co_yield barrier();
    if (index == 1) co_yield atomic(4, lane0);
    co_yield barrier();
    if (index == 0) co_yield load(4, lane0);
  };
  script->launch(groups_of(1, 128), [=](const Script&, const Wave& wave) { return kernel(base, wave.index); });
  const FunctionalResult result = functional_pass(system_with({}), *script);
  EXPECT_EQ(count(result, "gpus.l1v.load_hits"), 0U);
  EXPECT_EQ(count(result, "gpus.l1v.load_lines"), 2U);
  EXPECT_EQ(count(result, "gpus.cu.barriers"), 4U);
}

/// A wavefront that ends does not keep the others at a barrier.
TEST(Functional, WhoHasEndedIsNotWaitedFor) {
  auto script = std::make_shared<Script>();
  script->buffer(kPageBytes, Placement::Interleave);
  const auto kernel = [](std::uint32_t index) -> Stream {
    const auto nobody = [](unsigned) { return kIdle; };
    for (unsigned i = 0; index == 0 && i < 3; ++i) co_yield load(4, nobody);
    if (index == 0) co_return;
    co_yield barrier();
    co_yield load(4, nobody);
  };
  script->launch(groups_of(1, 192), [=](const Script&, const Wave& wave) { return kernel(wave.index); });
  EXPECT_EQ(count(functional_pass(system_with({}), *script), "gpus.cu.vector_loads"), 3U + 2);
}

/// Two workgroups of a compute unit whose L1 holds one line: each loads its own line twice.
std::uint64_t hits_of_two_groups(const std::vector<std::string>& more, std::uint64_t local_bytes = 0) {
  std::vector<std::string> overrides = {"gpus=1", "gpu.cus_per_array=1", "gpu.l1v.size=64", "gpu.l1v.ways=1"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Interleave);
  const auto kernel = [](VirtAddr at) -> Stream {
    const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
    co_yield load(4, lane0);
    co_yield load(4, lane0);
  };
  Launch launch = groups_of(2);
  launch.local_bytes = local_bytes;
  script->launch(launch, [=](const Script&, const Wave& wave) { return kernel(base + 64 * wave.group_x); });
  return count(functional_pass(system_with(overrides), *script), "gpus.l1v.load_hits");
}

TEST(Functional, AsManyWavefrontsAreResidentAsTheMachineHolds) {
  EXPECT_EQ(hits_of_two_groups({"gpu.cu.simds=2", "gpu.cu.waves_per_simd=1"}), 0U) << "they take turns";
  EXPECT_EQ(hits_of_two_groups({"gpu.cu.simds=1", "gpu.cu.waves_per_simd=1"}), 2U) << "one after the other";
  EXPECT_EQ(hits_of_two_groups({}, 20 << 10), 0U);
  EXPECT_EQ(hits_of_two_groups({}, 40 << 10), 2U) << "local memory holds one of them";
}

TEST(Functional, WorkgroupsAreSplitAsTheSystemSays) {
  auto script = std::make_shared<Script>();
  script->buffer(kPageBytes, Placement::Interleave);
  const auto kernel = []() -> Stream { co_yield valu(1); };
  script->launch(groups_of(18), [=](const Script&, const Wave&) { return kernel(); });
  const auto groups = [&](const std::string& policy) {
    const FunctionalResult result = functional_pass(system_with({"dispatch.policy=" + policy}), *script);
    std::vector<std::uint64_t> each;
    for (unsigned g = 0; g < kGpus; ++g) each.push_back(count(result, "gpu" + std::to_string(g) + ".cu.groups"));
    return each;
  };
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(groups("blocks"), (Counts{8, 8, 2, 0}));
  EXPECT_EQ(groups("round-robin"), (Counts{5, 5, 4, 4}));
  EXPECT_EQ(groups("greedy"), (Counts{18, 0, 0, 0})) << "the first GPU has room for all";
}

TEST(Functional, CountsEveryInstructionAndAccessOfAWorkload) {
  const auto tiny = [](const char* name, std::vector<ParameterSetting> settings) {
    return make_workload(name, SizeClass::Small, settings, 1);
  };
  const SystemSpec system = load_system("rec-4gpu", {}).spec;
  for (const auto& workload : {tiny("PR", {{"n", 1024}, {"m", 8192}}), tiny("ST", {{"rows", 130}, {"columns", 258}}),
                               tiny("FIR", {{"n", 1 << 14}, {"copies", 1}})}) {
    const FunctionalResult pass = functional_pass(system, *workload);
    const Outcome run = simulate(system, {workload}, false);
    const std::string& kernel = workload->launches().front().kernel;
    EXPECT_EQ(pass.accesses, run.result.accesses) << kernel;
    EXPECT_EQ(pass.instructions, run.result.instructions) << kernel;
    EXPECT_EQ(count(pass, "gpus.l1v.store_lines"), run.count("gpus.l1v.store_lines")) << kernel;
  }
}

TEST(Functional, IsTheSameEveryTime) {
  const auto workload = make_workload("PR", SizeClass::Small, std::vector<ParameterSetting>{{"n", 4096}}, 1);
  const SystemSpec system = load_system("rec-4gpu", std::vector<std::string>{"directory.entries=512"}).spec;
  const FunctionalResult one = functional_pass(system, *workload);
  const FunctionalResult other = functional_pass(system, *workload);
  ASSERT_EQ(one.statistics.size(), other.statistics.size());
  EXPECT_GT(count(one, "gpus.directory.evictions"), 0U);
  for (std::size_t i = 0; i < one.statistics.size(); ++i) {
    EXPECT_EQ(one.statistics[i].as_double(), other.statistics[i].as_double()) << one.statistics[i].name;
  }
}

// ------------------------------------------------------------------------------------------------------------ refusals

TEST(Functional, RefusesWhatItHasNoModelOf) {
  const auto refusal = [](const SystemSpec& system, std::vector<std::string> designs) {
    return [system, designs] { check_functional(system, designs); };
  };
  EXPECT_THAT(refusal(load_system("mmu-4gpu", {}).spec, {}), ThrowsMessage<InputError>(HasSubstr("pages could move")));
  EXPECT_THAT(refusal(load_system("ats-4gpu", {}).spec, {}), ThrowsMessage<InputError>(HasSubstr("neither TLBs nor")));
  EXPECT_THAT(refusal(load_system("memcpy-4gpu", {}).spec, {}),
              ThrowsMessage<InputError>(HasSubstr("remote_write=through")));
  EXPECT_THAT(refusal(load_system("rec-4gpu", {}).spec, {"trans-fw"}),
              ThrowsMessage<InputError>(HasSubstr("has the seam `directory` alone")));
  for (const char* design : {"rec", "hmg", "dir-2x", "dir-ideal"}) {
    EXPECT_NO_THROW(check_functional(load_system("rec-4gpu", {}).spec, std::vector<std::string>{design})) << design;
  }
}

TEST(Functional, RefusesWorkloadsThatDoNotFit) {
  auto script = std::make_shared<Script>();
  script->buffer(kGpus * kPageBytes, Placement::Interleave);
  const auto kernel = []() -> Stream { co_yield valu(1); };
  script->launch(groups_of(1, 1024), [=](const Script&, const Wave&) { return kernel(); });
  EXPECT_THROW(functional_pass(system_with({"gpu.cu.simds=1"}), *script), InputError);
}

}  // namespace
}  // namespace nearfar::functional_test
