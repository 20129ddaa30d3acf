#include "study/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/error.h"

namespace nearfar::experiment_test {
namespace {

std::uint64_t value(const Application& application, const std::string& name) {
  for (const ParameterSetting& setting : application.parameters) {
    if (setting.name == name) return setting.value;
  }
  return 0;
}

Experiment with(std::vector<std::string> parameters) {
  Experiment experiment;
  experiment.size = SizeClass::Small;
  experiment.parameters = std::move(parameters);
  return experiment;
}

TEST(Applications, HaveTheParametersOfTheirSize) {
  const auto small = make_applications("MT", with({}), {"MT"});
  ASSERT_EQ(small.size(), 1U);
  const auto info = std::ranges::find(catalog(), "MT", &WorkloadInfo::name);
  ASSERT_EQ(info->parameters[0].name, "width");
  EXPECT_EQ(value(small[0], "width"), info->parameters[0].small);
}

TEST(Applications, AParameterGoesToAllThatHaveIt) {
  const auto both = make_applications("MT+FIR+MT", with({"width=64", "n=1024"}), {"MT+FIR+MT"});
  ASSERT_EQ(both.size(), 3U);
  EXPECT_EQ(value(both[0], "width"), 64U);
  EXPECT_EQ(value(both[1], "n"), 1024U);
  EXPECT_EQ(value(both[2], "width"), 64U);
}

TEST(Applications, AParameterMayNameItsWorkload) {
  const auto both = make_applications("FIR+MM", with({"FIR.n=2048", "MM.n=64"}), {"FIR+MM"});
  EXPECT_EQ(value(both[0], "n"), 2048U);
  EXPECT_EQ(value(both[1], "n"), 64U);
}

TEST(Applications, TheLastOfSeveralSettingsCounts) {
  EXPECT_EQ(value(make_applications("MT", with({"width=64", "MT.width=128"}), {"MT"})[0], "width"), 128U);
}

TEST(Applications, OneOfACommandsWorkloadsMustHaveTheParameter) {
  EXPECT_NO_THROW(make_applications("FIR", with({"width=64"}), {"FIR", "MT"}));
  EXPECT_THROW(make_applications("FIR", with({"width=64"}), {"FIR"}), InputError);
  EXPECT_THROW(make_applications("FIR", with({"MT.width=64"}), {"FIR"}), InputError);
}

TEST(Applications, AMixIsItsWorkloadsInItsSizes) {
  auto names = [](const std::vector<Application>& applications) {
    std::vector<std::string> out;
    for (const Application& application : applications) out.push_back(application.name);
    return out;
  };
  const auto small = make_applications("W6", with({}), {"W6"});
  EXPECT_THAT(names(small), ::testing::ElementsAre("FIR", "AES", "MT", "ST"));
  Experiment medium = with({"ST.iterations=2"});
  medium.size = SizeClass::Medium;
  const auto sized = make_applications("W6", medium, {"W6"});
  EXPECT_EQ(value(sized[2], "width"), 2048U);
  EXPECT_EQ(value(sized[3], "rows"), 4098U);
  EXPECT_EQ(value(sized[3], "iterations"), 2U) << "the user's own setting goes before the mix's";
}

TEST(Applications, NeedAGpuEach) {
  NamedSystem machine;
  machine.loaded.spec.gpus = 2;
  const auto three = make_applications("MT+MT+MT", with({"width=64"}), {"MT+MT+MT"});
  EXPECT_THROW(check_fits("MT+MT+MT", three, machine), InputError);
  machine.loaded.spec.gpus = 3;
  EXPECT_NO_THROW(check_fits("MT+MT+MT", three, machine));
}

}  // namespace
}  // namespace nearfar::experiment_test
