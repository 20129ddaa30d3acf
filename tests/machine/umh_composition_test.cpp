// What a unified memory hierarchy goes together with: every design, and every choice of the baseline that decides where
// lines are, is refused in one sentence that names it, or runs clean under the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/design.h"
#include "machine/script.h"

namespace nearfar::umh_composition_test {
namespace {

using ::testing::HasSubstr;
using Names = std::vector<std::string>;

Stream wavefront(VirtAddr from, VirtAddr to, VirtAddr counter, std::uint64_t group, std::uint64_t groups) {
  co_yield load(4, [=](unsigned lane) { return from + 4 * (lane * groups + group); });
  co_yield wait(0);
  co_yield store(4, [=](unsigned lane) { return to + 4 * (lane * groups + group); });
  co_yield atomic(4, [=](unsigned lane) { return lane == 0 ? counter : kIdle; });
  co_yield wait(0);
}

/// GPUs write side by side into lines, read what others wrote, and the host reads the results.
std::shared_ptr<Script> program() {
  constexpr std::uint32_t kGroups = 16;
  constexpr std::uint64_t kBytes = kGroups * 64 * 4;
  auto script = std::make_shared<Script>();
  const VirtAddr a = script->buffer(kBytes, Placement::Distribute);
  const VirtAddr b = script->buffer(kBytes, Placement::Distribute);
  const VirtAddr counter = script->buffer(kPageBytes, Placement::Distribute);
  script->add_host_access({a, kBytes, true});
  for (const bool forth : {true, false}) {
    script->launch(groups_of(kGroups), [=](const Script&, const Wave& wave) {
      const std::uint64_t group = forth ? wave.group_x : kGroups - 1 - wave.group_x;
      return wavefront(forth ? a : b, forth ? b : a, counter, group, kGroups);
    });
  }
  script->add_host_access({a, kBytes, false});
  return script;
}

/// Runs clean, or is refused in one sentence that has one of `names`.
void expect_clean_or_refused(const Names& designs, const std::string& system, const Names& overrides,
                             const Names& names) {
  try {
    const SystemSpec spec = load_system_with(designs, system, overrides).spec;
    ASSERT_TRUE(spec.is_unified());
    EXPECT_GT(simulate(spec, {program()}).count("gpus.umh.smd.misses"), 0U);
  } catch (const InputError& error) {
    const std::string text = error.what();
    const auto has = [&](const std::string& name) { return text.find(name) != std::string::npos; };
    EXPECT_TRUE(std::ranges::any_of(names, has)) << text;
    EXPECT_EQ(text.find(". "), std::string::npos) << text;
    EXPECT_EQ(text.find("is none of them"), std::string::npos) << text;
  }
}

/// A part may stand for its whole.
Names names_of(const Design& design) {
  Names names{"`" + design.name + "`"};
  for (const std::string& part : design.parts) names.push_back("`" + part + "`");
  return names;
}

TEST(UmhComposition, EveryDesignHasItsPlaceOrIsRefusedByName) {
  for (const Design& design : all_designs()) {
    SCOPED_TRACE(design.name);
    expect_clean_or_refused({design.name}, "umh-4gpu", {}, names_of(design));
    if (design.name == "umh") continue;
    expect_clean_or_refused({"umh", design.name}, "zero-copy-4gpu", {}, names_of(design));
    expect_clean_or_refused({design.name}, "umh-4gpu", {"umh.l1_write_policy=write_back"}, names_of(design));
  }
}

TEST(UmhComposition, DesignsThatGoWithItAreThoseOfTheL1) {
  Names clean;
  for (const Design& design : all_designs()) {
    try {
      load_system_with(Names{design.name}, "umh-4gpu", {});
      clean.push_back(design.name);
    } catch (const InputError&) {
    }
  }
  EXPECT_THAT(clean, ::testing::IsSupersetOf({"umh"}));
  for (const std::string& name : clean) {
    const auto design = std::ranges::find(all_designs(), name, &Design::name);
    const bool of_l1 = std::ranges::find(design->seams, "L1 cache replacement") != design->seams.end();
    EXPECT_TRUE(of_l1 || name == "umh" || design->seams.empty()) << name;
  }
}

TEST(UmhComposition, EveryChoiceOfTheBaselineRunsOrIsRefusedByName) {
  const Names choices[] = {
      {"translation.kind=ats"},
      {"translation.kind=mmu"},
      {"translation.kind=svm"},
      {"remote_cache=none"},
      {"remote_cache=l1l2"},
      {"remote_host_lines=true"},
      {"remote_write_miss=fetch"},
      {"coherence=directory"},
      {"boundary.write_back=false"},
      {"boundary.l1=keep"},
      {"boundary.l2=drop"},
      {"boundary.l2=drop_written"},
      {"placement.policy=first-touch"},
      {"placement.policy=on-touch"},
      {"placement.policy=access-counter"},
      {"placement.policy=replication"},
      {"page.size=2M"},
      {"gpu.line=128"},
      {"gpu.l2.replacement=fifo"},
      {"gpu.l2.victim=at_miss"},
      {"gpu.l1v.replacement=random"},
      {"gpu.l1v.victim=at_miss"},
      {"gpu.l1v.replacement=random", "umh.l1_write_policy=write_back"},
      {"gpu.l1s.victim=at_miss", "umh.l1_write_policy=write_back"},
      {"gpu.shader_arrays=16", "umh.l1_write_policy=write_back"},
      {"link.format=pcie4"},
      {"link.format=nvlink"},
      {"link.topology=ring"},
      {"link.topology=switch"},
      {"dispatch.chunk=16"},
  };
  for (const Names& choice : choices) {
    SCOPED_TRACE(choice.front());
    expect_clean_or_refused({}, "umh-4gpu", choice, {choice.front().substr(0, choice.front().find('='))});
  }
}

/// A GPU stores, and what another one loads comes later, with fences between.
Outcome run_with_fences(Scope scope, const char* l1s) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Host);
  script->launch(groups_of(3), [=](const Script&, const Wave& wave) -> Stream {
    return [](VirtAddr at, unsigned group, Scope among) -> Stream {
      const auto lane0 = [=](unsigned lane) { return lane == 0 ? at : kIdle; };
      if (group != 0) {
        co_yield load(4, lane0);
        for (unsigned i = 0; i < 8; ++i) co_yield salu(1000);
        co_yield fence(among);
        co_yield load(4, lane0);
        co_yield wait(0);
      } else {
        for (unsigned i = 0; i < 4; ++i) co_yield salu(1000);
        co_yield store(4, lane0);
        co_yield fence(among);
      }
    }(base, wave.group_x, scope);
  });
  return simulate(test_system({l1s}, "umh-2gpu"), {script});
}

/// Non-coherent stores are seen by others when the kernel has ended. What orders them earlier is refused.
TEST(UmhComposition, FencesBeyondWhatSharesACacheAreRefused) {
  const char* through = "umh.l1_write_policy=write_through";
  const char* back = "umh.l1_write_policy=write_back";
  EXPECT_NO_THROW(run_with_fences(Scope::Workgroup, through));
  EXPECT_NO_THROW(run_with_fences(Scope::Workgroup, back));
  EXPECT_NO_THROW(run_with_fences(Scope::Gpu, through));
  for (const auto& [scope, l1s] :
       {std::pair(Scope::System, through), std::pair(Scope::System, back), std::pair(Scope::Gpu, back)}) {
    try {
      run_with_fences(scope, l1s);
      ADD_FAILURE() << "not refused";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("memory.management=umh"));
    }
  }
}

TEST(UmhComposition, WriteBackL1sCostDirectoriesAndMasks) {
  const auto bits_of = [](const std::string& structure, const Names& overrides) {
    const std::vector<DesignCost> costs = cost_of(Names{"umh"}, "umh-4gpu", overrides);
    for (const StorageItem& item : costs.front().items) {
      if (item.structure == structure) return item.bits;
    }
    return std::uint64_t{0};
  };
  const Names back{"umh.l1_write_policy=write_back"};
  EXPECT_EQ(bits_of("directories of L1s in the L2", back), 8192U * (20 + 5));
  EXPECT_EQ(bits_of("masks in the L1s", back), 20U * 256 * (16 + 3));
  EXPECT_EQ(bits_of("masks in the L1s", {}), 0U);
}

TEST(UmhComposition, RunsOneApplication) {
  try {
    simulate(test_system({}, "umh-4gpu"), {program(), program()});
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("runs one application"));
  }
}

}  // namespace
}  // namespace nearfar::umh_composition_test
