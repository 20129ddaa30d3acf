// `nearfar calibrate` as a person sees it, with real runs that take no time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/process.h"

namespace nearfar::calibrate_command_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kProgram;
using ::testing::Not;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;
using testing::ScratchFolder;

constexpr const char* kTiny = R"(title: Tiny
system: mmu-4gpu
size: small
workloads: [MT]
windows: {MT: {width: 64}}
repeat: 2
reference_designs: {ideal-migration: Fig 1}
facts:
  migration:
    sentence: Speedup of pages that move for free.
    value: speedup
    design: ideal-migration
    published: {mean: 1.5}
    sigma: 0.2
  faults:
    sentence: Far faults.
    value: uvm.faults
    published: {mean: ">1"}
    sigma: 1
open:
  link.bandwidth:
    values: {16GB/s: there, 32GB/s: here, 300GB/s: elsewhere}
  gpu.l2_tlb.mshrs:
    values: {64: there, 256: here}
  a mechanism:
    missing: nobody has made it
)";

class CalibrateCommand : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(scratch_.file("tiny.yaml")) << kTiny; }

  Outcome calibrate(const std::string& words) const {
    return run_shell("cd " + scratch_.path().string() + " && " + kProgram + "calibrate " + words);
  }

  ScratchFolder scratch_;
};

TEST_F(CalibrateCommand, RunsTheBaselineJudgesItAndGoesOnWhereItEnded) {
  const Outcome first = calibrate("tiny.yaml --quiet --html page.html --csv all.csv");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("Tiny"), HasSubstr("6 readings in 1 wave"), HasSubstr("migration"),
                               HasSubstr("chosen"), HasSubstr("link.bandwidth"),
                               HasSubstr("Open, and not drawn: a mechanism: nobody has made it"), HasSubstr("own")));
  EXPECT_THAT(read_file(scratch_.file("page.html")), HasSubstr("Calibration of Tiny"));
  EXPECT_THAT(read_file(scratch_.file("all.csv")), HasSubstr("own,1,as it is,migration,1.5,"));
  const Outcome again = calibrate("tiny.yaml --quiet");
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr(", 0 of them new"));
  // What it says is the same but for that.
  EXPECT_EQ(again.out.substr(0, again.out.rfind("\ntiny:")), first.out.substr(0, first.out.rfind("\ntiny:")));
  const Outcome dry = calibrate("tiny.yaml --dry-run --wave 2");
  EXPECT_THAT(dry.out,
              AllOf(HasSubstr("wave 1: 6 readings, 12 runs of the baseline, 0 missing"), HasSubstr("wave 2:")));
}

TEST_F(CalibrateCommand, FreezesOnceWithItsProvenance) {
  const Outcome frozen = calibrate("tiny.yaml --quiet --freeze -o f.yaml");
  EXPECT_EQ(frozen.code, 0) << frozen.err;
  EXPECT_THAT(frozen.out, HasSubstr("is frozen"));
  EXPECT_THAT(read_file(scratch_.file("f.yaml")),
              AllOf(HasSubstr("base: mmu-4gpu"), HasSubstr("provenance:"), HasSubstr("tried: 6"), HasSubstr("hash: "),
                    HasSubstr("not_ruled_out:")));
  const Outcome run =
      run_shell("cd " + scratch_.path().string() + " && " + kProgram + "explain --system f.yaml --changed");
  EXPECT_EQ(run.code, 0) << run.err;
  const Outcome again = calibrate("tiny.yaml --quiet --freeze -o f.yaml");
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("a reading is frozen once"));
}

TEST_F(CalibrateCommand, SaysWhatIsWrong) {
  EXPECT_EQ(calibrate("").code, 2);
  const Outcome unknown = calibrate("tranz-fw");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Did you mean `trans-fw`?"));
  std::ofstream(scratch_.file("bad.yaml"))
      << std::string(kTiny).replace(std::string(kTiny).find("ideal-migration: Fig"), 15, "ideal-walkers");
  const Outcome bad = calibrate("bad.yaml");
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("bad.yaml:12:13"), HasSubstr("runs the baseline only")));
  EXPECT_EQ(calibrate("tiny.yaml --quick --freeze").code, 2);
  EXPECT_EQ(calibrate("tiny.yaml --executor moon").code, 2);
  EXPECT_EQ(calibrate("tiny.yaml --readings 0").code, 2);
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("nearfar.db")));
}

}  // namespace
}  // namespace nearfar::calibrate_command_test
