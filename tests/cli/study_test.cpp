// `nearfar study` as a person sees it: tables, progress, and the command itself with real runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "cli/process.h"
#include "cli/study_table.h"
#include "cli/study_view.h"

namespace nearfar::study_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kProgram;
using ::testing::Not;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;
using testing::ScratchFolder;

FigureData figure() {
  FigureData data;
  data.id = "f";
  data.title = "Speedup";
  data.unit = "x";
  data.categories = {"MT", "mean"};
  data.series = {{"a, \"b\"", {1.25, 1234.5}}, {"c", {std::nullopt, 12345678.0}}};
  data.notes = {"not measured: design c does not exist yet"};
  return data;
}

TEST(StudyTable, HasALineForEachCategoryAndSaysWhatIsNotMeasured) {
  EXPECT_EQ(figure_table(figure(), Terminal{}),
            "f  Speedup  [x]\n"
            "        a, \"b\"          c\n"
            "  MT     1.250          -\n"
            "  mean    1234  1.235e+07\n"
            "  not measured: design c does not exist yet\n");
}

TEST(StudyTable, CsvLeavesOutWhatIsNotMeasured) {
  EXPECT_EQ(figures_csv({figure()}),
            "figure,series,category,value,unit,repeats,low,high\n"
            "f,\"a, \"\"b\"\"\",MT,1.25,x,,,\n"
            "f,\"a, \"\"b\"\"\",mean,1234.5,x,,,\n"
            "f,c,MT,,x,,,\n"
            "f,c,mean,12345678,x,,,\n");
}

TEST(StudyTable, ShowsIntervalsAndWhatIsWithinNoise) {
  FigureData data = figure();
  data.neutral = 1;
  data.notes.clear();
  data.series = {{"a", {1.25, 1.01}, {{3, 1.25, 1.2, 1.31}, {3, 1.01, 0.98, 1.04}}}};
  EXPECT_EQ(figure_table(data, Terminal{}),
            "f  Speedup  [x]\n"
            "                     a\n"
            "  MT    1.250 ±0.060\n"
            "  mean  1.010 ±0.030 ~\n"
            "  ~ within noise: the 95 % interval holds 1\n");
  EXPECT_THAT(figures_csv({data}), HasSubstr("f,a,mean,1.01,x,3,0.98,1.04\n"));
}

TEST(StudyView, ShowsTheWholeAndEachRun) {
  StudyProgress progress;
  progress.total = 4;
  progress.done = 1;
  progress.failed = 1;
  progress.active = {{"MT", 0.5, 1}, {"PR", 0.25, 1}, {"ST", 0, 1}};
  progress.seconds_left = 200;
  const auto lines = study_lines(progress, Terminal{}, 2);
  EXPECT_THAT(lines, ElementsAre(HasSubstr("1/4 done, 3 running, 1 failed, 3 min 20 s left"), "   50 %  MT",
                                 "   25 %  PR", "  and 1 more"));
  Terminal narrow;
  narrow.width = 12;
  for (const std::string& line : study_lines(progress, narrow, 9)) EXPECT_LT(display_width(line), 12U);
}

class StudyCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(scratch_.file("s.yaml")) << "title: Links\nsystem: ideal-4gpu\nsize: small\nworkloads: [MT, FIR]\n"
                                              "param: {width: 64, n: 1024}\n"
                                              "expects: to-be-made\n"
                                              "variants: {two: {set: {gpus: 2}}, four: {}, new: {design: to-be-made}}\n"
                                              "figures: {speed: {value: speedup, against: two}}\n";
  }
  std::string command() const {
    return "study " + scratch_.file("s.yaml") + " --database " + scratch_.file("a.db") + " ";
  }

  ScratchFolder scratch_;
};

TEST_F(StudyCommand, RunsPrintsAndGoesOn) {
  const Outcome plan = testing::nearfar(command() + "--dry-run");
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("MT small ideal-4gpu baseline gpus=2 width=64  missing"),
                              HasSubstr("not measured: design to-be-made does not exist yet (2 runs)"),
                              HasSubstr("4 of 4 runs are missing")));
  const Outcome first = testing::nearfar(command() + "--csv " + scratch_.file("a.csv"));
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, AllOf(HasSubstr("[4/4] "), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(first.out, AllOf(HasSubstr("speed  Links  [x]"), HasSubstr("geometric mean"),
                               HasSubstr("not measured: design to-be-made does not exist yet\n"),
                               HasSubstr("s: 4 runs, 4 of them new; 2 not measurable yet\n")));
  EXPECT_THAT(read_file(scratch_.file("a.csv")), AllOf(HasSubstr("speed,four,MT,"), HasSubstr("speed,new,MT,,x,,,\n")));
  const Outcome second = testing::nearfar(command() + "--quiet");
  EXPECT_EQ(second.err, "");
  EXPECT_THAT(second.out, HasSubstr("4 runs, 0 of them new"));
  EXPECT_THAT(testing::nearfar(command() + "--dry-run").out, HasSubstr("0 of 4 runs are missing"));
}

TEST_F(StudyCommand, AMisspeltDesignIsAMistake) {
  run_shell("sed -i 's/^expects.*$/expects: else/' " + scratch_.file("s.yaml"));
  run_shell("sed -i 's/to-be-made/ideal-translatoin/' " + scratch_.file("s.yaml"));
  const Outcome outcome = testing::nearfar(command());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("s.yaml:7:59: there is no design `ideal-translatoin`. Did you mean "
                                     "`ideal-translation`?"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("a.db")));
}

TEST_F(StudyCommand, TakesItsNumbersFromTheRuns) {
  const Outcome outcome = testing::nearfar(command() + "--csv - --quiet");
  const auto cycles = [](const std::string& gpus) {
    const std::string out =
        testing::nearfar("run MT --size small --param width=64 --quiet --csv - --set gpus=" + gpus).out;
    return std::stod(out.substr(out.find("\ncycles,") + 8));
  };
  const std::string line = "speed,four,MT,";
  const double speedup = std::stod(outcome.out.substr(outcome.out.find(line) + line.size()));
  EXPECT_DOUBLE_EQ(speedup, cycles("2") / cycles("4"));
}

TEST_F(StudyCommand, RepeatsAreMoreRunsAndGiveIntervals) {
  const Outcome once = testing::nearfar(command() + "--quiet --csv -");
  const Outcome plan = testing::nearfar(command() + "--dry-run --repeat 3");
  EXPECT_THAT(plan.out, HasSubstr("8 of 12 runs are missing")) << "the first repeat is the plain run";
  EXPECT_THAT(plan.out, HasSubstr("MT small ideal-4gpu baseline gpus=2 width=64 draw=2  missing"));
  const Outcome outcome = testing::nearfar(command() + "--quiet --repeat 3 --csv " + scratch_.file("a.csv"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" ±"), HasSubstr("s: 12 runs, 8 of them new")));
  const std::string csv = read_file(scratch_.file("a.csv"));
  const auto cycles = [](const std::string& settings) {
    const std::string out =
        testing::nearfar("run MT --size small --param width=64 --quiet --csv - --set gpus=" + settings).out;
    return std::stod(out.substr(out.find("\ncycles,") + 8));
  };
  double product = 1;
  for (const std::string draw : {"0", "1", "2"}) {
    product *= cycles("2 --set perturb.draw=" + draw) / cycles("4 --set perturb.draw=" + draw);
  }
  const std::string line = "speed,four,MT,";
  ASSERT_THAT(csv, HasSubstr(line));
  EXPECT_NEAR(std::stod(csv.substr(csv.find(line) + line.size())), std::cbrt(product), 1e-9) << "paired by draw";
  EXPECT_THAT(csv, HasSubstr(",x,3,"));
  EXPECT_EQ(testing::nearfar(command() + "--quiet --repeat 1 --csv -").out, once.out);
}

TEST_F(StudyCommand, QuickIsOnceWhateverTheStudySays) {
  run_shell("sed -i 's/^size/repeat: 4\\nsize/' " + scratch_.file("s.yaml"));
  EXPECT_THAT(testing::nearfar(command() + "--dry-run").out, HasSubstr("16 of 16 runs are missing"));
  EXPECT_THAT(testing::nearfar(command() + "--dry-run --quick").out, HasSubstr("4 of 4 runs are missing"));
  EXPECT_THAT(testing::nearfar(command() + "--dry-run --quick --repeat 2").out, HasSubstr("8 of 8 runs are missing"));
}

TEST_F(StudyCommand, AFailedRunIsToldAndTheRestIsShown) {
  run_shell("sed -i 's/, FIR/, BS/; s/n: 1024/BS.n: 3072/' " +
            scratch_.file("s.yaml"));  // only when it is made is it seen
  const Outcome outcome = testing::nearfar(command());
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("BS small ideal-4gpu baseline gpus=2 BS.n=3072: failed: The parameter `n` of BS"),
                    HasSubstr("nearfar: error: 2 of 4 runs failed")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 failed"), HasSubstr("not measured: BS small"), HasSubstr("\n  MT ")));
}

TEST_F(StudyCommand, CtrlCKeepsWhatIsDone) {
  run_shell("sed -i 's/width: 64/width: 16384/' " + scratch_.file("s.yaml"));
  const Outcome outcome = run_shell("timeout --preserve-status -s INT 1 env " + kProgram + command());
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("ended early"));
  EXPECT_THAT(outcome.err, HasSubstr("the same command goes on from there"));
}

TEST(Studies, AreListed) { EXPECT_THAT(testing::nearfar("list studies").out, HasSubstr("least-tlb-fig4")); }

}  // namespace
}  // namespace nearfar::study_test
