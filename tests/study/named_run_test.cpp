#include "study/named_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/process.h"
#include "config/error.h"
#include "config/words.h"

namespace nearfar::named_run_test {
namespace {

using testing::ScratchFolder;

NamedRun small(const std::string& workload) {
  NamedRun run;
  run.workload = workload;
  run.size = SizeClass::Small;
  run.system = "ideal-4gpu";
  return run;
}

std::string key_of(const NamedRun& run) { return Planner().plan(run).key; }

TEST(RunKey, IsOfTheContentNotOfTheNames) {
  const NamedRun run = small("MT");
  NamedRun same = run;
  same.overrides = {"gpus=4"};
  EXPECT_EQ(key_of(same), key_of(run)) << "four is what the system has";
  NamedRun small_width = run, medium = run;
  small_width.parameters = {"width=512"};
  medium.parameters = {"width=512"};
  medium.size = SizeClass::Medium;
  EXPECT_EQ(key_of(small_width), key_of(medium)) << "the width is all that the size says";
}

TEST(RunKey, ChangesWithEverythingThatCounts) {
  const NamedRun run = small("PR");
  std::vector<NamedRun> others(6, run);
  others[0].workload = "MT";
  others[1].parameters = {"iterations=3"};
  others[2].overrides = {"gpu.l2.size=4MiB"};
  others[3].seed = 2;
  others[4].system = "ats-4gpu";
  others[5].size = SizeClass::Medium;
  std::set<std::string> keys = {key_of(run)};
  for (const NamedRun& other : others) EXPECT_TRUE(keys.insert(key_of(other)).second) << run_label(other);
  NamedRun design = run;
  design.system = "ats-4gpu";
  design.designs = "infinite-iommu-tlb";
  EXPECT_TRUE(keys.insert(key_of(design)).second);
}

TEST(RunKey, ChangesWithTheContentOfTheInput) {
  const ScratchFolder scratch;
  NamedRun run = small("PR");
  run.input = scratch.file("graph.txt");
  std::ofstream(run.input) << "0 1\n1 2\n2 0\n";
  const std::string before = key_of(run);
  EXPECT_EQ(key_of(run), before);
  std::ofstream(run.input) << "0 1\n1 2\n2 1\n";
  EXPECT_NE(key_of(run), before);
  run.input = scratch.file("missing.txt");
  EXPECT_THROW(key_of(run), InputError);
}

TEST(RunKey, IsTheOneThatTheRunItselfReports) {
  NamedRun run = small("FIR+MT");
  run.parameters = {"width=64", "FIR.n=1024"};
  run.overrides = {"gpus=2"};
  run.seed = 9;
  const testing::Outcome outcome = testing::nearfar(join(run_words(run), " ") + " --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["key"], key_of(run));
}

TEST(Planner, RefusesWhatCanNeverRun) {
  NamedRun run = small("MT");
  run.parameters = {"width=63"};
  EXPECT_THROW(Planner().plan(run), InputError);
  run = small("MT+MT");
  run.overrides = {"gpus=1"};
  EXPECT_THROW(Planner().plan(run), InputError);
  run = small("MTT");
  EXPECT_THROW(Planner().plan(run), InputError);
}

TEST(NamedRun, LabelsSayWhatIsUnusual) {
  NamedRun run = small("MT");
  EXPECT_EQ(run_label(run), "MT small ideal-4gpu baseline");
  run.overrides = {"gpus=2"};
  run.parameters = {"width=64"};
  run.seed = 3;
  EXPECT_EQ(run_label(run), "MT small ideal-4gpu baseline gpus=2 width=64 seed=3");
}

TEST(NamedRun, KnowsWhichDesignsAreMissing) {
  EXPECT_TRUE(missing_designs("baseline").empty());
  EXPECT_TRUE(missing_designs("ideal-walkers+ideal-pw-cache").empty());
  EXPECT_EQ(missing_designs("ideal-walkers+no-such-thing"), std::vector<std::string>{"no-such-thing"});
}

TEST(RunKey, OfTheFirstDrawIsThatOfThePlainRun) {
  NamedRun run = small("MT"), first = run, second = run;
  first.draw = 0;
  second.draw = 1;
  EXPECT_EQ(key_of(first), key_of(run)) << "what was measured before is a repeat already";
  EXPECT_NE(key_of(second), key_of(run));
  EXPECT_EQ(run_label(first), run_label(run));
  EXPECT_EQ(run_label(second), run_label(run) + " draw=1");
  EXPECT_THAT(run_words(second), ::testing::Contains("perturb.draw=1"));
}

}  // namespace
}  // namespace nearfar::named_run_test
