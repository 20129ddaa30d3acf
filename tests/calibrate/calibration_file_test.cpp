// Calibration files: what they mean, and how their mistakes are said.
#include "calibrate/calibration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/made_up_calibration.h"
#include "calibrate/reading.h"
#include "calibrate/under_test.h"
#include "config/error.h"

namespace nearfar::calibration_file_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::kMadeUpText;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  try {
    read_calibration_text(text, "c.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CalibrationFile, SaysWhatIsOpenAndWhatIsPublished) {
  const Calibration calibration = testing::made_up_calibration();
  EXPECT_EQ(calibration.system, "ideal-4gpu");
  EXPECT_EQ(calibration.cutoff, 3);
  ASSERT_EQ(calibration.open.size(), 3u);
  EXPECT_THAT(calibration.open[0].values[0].settings.overrides, ElementsAre("link.bandwidth=16GB/s"));
  EXPECT_EQ(calibration.open[0].values[0].source, "there");
  ASSERT_TRUE(calibration.open[2].range);
  EXPECT_TRUE(calibration.open[2].range->logarithmic);
  EXPECT_TRUE(calibration.open[2].range->whole);
  ASSERT_EQ(calibration.targets().size(), 2u);
  EXPECT_EQ(calibration.facts[0].targets[0].of, Target::Of::Mean);
  EXPECT_EQ(calibration.hash.size(), 64u);
}

TEST(CalibrationFile, TheSystemAsItIsIsAReading) {
  const Calibration calibration = testing::made_up_calibration();
  const Reading own = own_reading(calibration);
  EXPECT_EQ(own.at[0], 1);  // ideal-4gpu has 32 GB/s
  EXPECT_EQ(own.at[1], 1);
  EXPECT_FALSE(own.is_placed());  // nothing is said of where in a range it lies
  EXPECT_EQ(settings_of(calibration, own), Settings{});
}

TEST(CalibrationFile, ValuesMaySaySettingsAndSeveralKeysTakeOneValue) {
  const std::string text = replaced(kMadeUpText, R"(  gpu.l1v.mshrs:
    values: {16: there, 64: here}
)",
                                    R"(  gpu.l1v.mshrs and gpu.l1s.mshrs:
    values: {16: there, 64: here}
  shape:
    values: {"narrow, long": there, as it is: here}
    settings: {"narrow, long": {param: {MT.width: 64}, set: {gpus: 2}}, as it is: {}}
  a mechanism:
    missing: nobody has made it
)");
  const Calibration calibration = read_calibration_text(text, "c.yaml");
  EXPECT_THAT(calibration.open[1].values[0].settings.overrides, ElementsAre("gpu.l1v.mshrs=16", "gpu.l1s.mshrs=16"));
  EXPECT_THAT(calibration.open[2].values[0].settings.parameters, ElementsAre("MT.width=64"));
  EXPECT_THAT(calibration.open[2].values[0].settings.overrides, ElementsAre("gpus=2"));
  EXPECT_THAT(calibration.open_left_out, ElementsAre(Field(&LeftOut::name, "a mechanism")));
}

TEST(CalibrationFile, SaysWhereAMistakeIs) {
  EXPECT_THAT(complaint(replaced(kMadeUpText, "link.bandwidth", "link.bandwith")),
              AllOf(HasSubstr("c.yaml:18:3"), HasSubstr("Did you mean `link.bandwidth`?")));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "16GB/s", "16GiB/s")), HasSubstr("c.yaml:19:14"));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "run.cycles", "run.cicles")),
              AllOf(HasSubstr("c.yaml:9:12"), HasSubstr("Did you mean `run.cycles`?")));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "published: {mean: 10}", "published: {MQ: 10}")),
              AllOf(HasSubstr("c.yaml:10:17"), HasSubstr("no workload of this fact `MQ`")));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "    sigma: 1\n", "    sigma: 0\n")), HasSubstr("c.yaml:11:12"));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "    sigma: 1\n", "")), HasSubstr("lacks `sigma`"));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "repeat: 3", "repaet: 3")), HasSubstr("Did you mean `repeat`?"));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "range: 32..512", "range: 512..32")), HasSubstr("stands first"));
  EXPECT_THAT(complaint(replaced(kMadeUpText, "    source: anything between\n", "")), HasSubstr("lacks its `source`"));
}

TEST(CalibrationFile, RunsTheBaselineOnly) {
  const std::string with_design =
      replaced(kMadeUpText, "    value: run.cycles\n", "    value: run.cycles\n    design: idyll\n");
  EXPECT_THAT(complaint(with_design),
              AllOf(HasSubstr("c.yaml:10:13"), HasSubstr("runs the baseline only"), HasSubstr("reference_designs")));
  const std::string declared = replaced(with_design, "facts:\n", "reference_designs: {idyll: Fig 1}\nfacts:\n");
  EXPECT_THAT(complaint(replaced(declared, "system: ideal-4gpu", "system: mmu-4gpu-counters")), "");
}

TEST(CalibrationFile, WhatIsToBeShownIsNoMachineOfTheBaseline) {
  Calibration calibration = read_calibration("idyll");
  EXPECT_NO_THROW(refuse_designs_under_test(calibration));
  calibration.reference_designs.push_back("idyll-lazy");
  EXPECT_THROW(refuse_designs_under_test(calibration), InputError);
}

/// Each fact that names a claim says what the claim does, and is a fact there.
TEST(CalibrationFile, AllOfThemCanBeRead) {
  EXPECT_THAT(calibration_names(), AllOf(Contains("rec"), Contains("finepack"), Contains("trans-fw"), Contains("idyll"),
                                         Contains("least-tlb"), Contains("neighborhood")));
  for (const std::string& name : calibration_names()) {
    const Calibration calibration = read_calibration(name);
    EXPECT_FALSE(calibration.facts.empty()) << name;
    EXPECT_FALSE(calibration.open.empty()) << name;
    EXPECT_NO_THROW(refuse_designs_under_test(calibration)) << name;
    EXPECT_NO_THROW(own_reading(calibration)) << name;
  }
}

}  // namespace
}  // namespace nearfar::calibration_file_test
