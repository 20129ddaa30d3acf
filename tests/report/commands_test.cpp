// reproduce, report, compose and tune through the real command line, on runs that take no time worth mentioning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/process.h"

namespace nearfar::commands_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::kProgram;
using testing::nearfar;
using ::testing::Not;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;
using testing::ScratchFolder;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string kTiny = " --size small --param width=64 --quiet ";

constexpr const char* kStudy = R"(title: Walkers
description: More walkers than there are.
system: ats-4gpu
workloads: [MT]
param: {width: 64}
expects: not-built-yet
variants:
  baseline: {}
  one walker: {set: {iommu.walkers: 1}}
  unlimited: {design: ideal-walkers}
  tomorrow: {design: not-built-yet}
figures:
  speedup:
    title: Speedup
    value: speedup
    against: baseline
)";

/// A claim about one series of that study.
std::string claim(const std::string& id, const std::string& published, const std::string& series) {
  return "  made-up." + id + ":\n    {sentence: a speedup, figure: Fig 1, published: \"" + published +
         "\", unit: x, quality: speedup, study: walkers, plot: speedup, series: " + series +
         ", over: MT, take: each}\n";
}

/// A store, claims and studies of its own.
class Reproduction : public ::testing::Test {
 protected:
  Reproduction() {
    for (const char* folder : {"claims", "studies"}) std::filesystem::create_directory(scratch_.path() / folder);
    std::ofstream(scratch_.file("studies/walkers.yaml")) << kStudy;
    claims("  {}");
  }

  void claims(const std::string& lines) {
    std::ofstream(scratch_.file("claims/made-up.yaml")) << "title: Made up\nclaims:\n" + lines;
  }

  /// Makes the study one whose inputs differ by size.
  void by_size() const {
    run_shell("sed -i 's/^workloads.*/workloads: [BS]/; /^param/d' " + scratch_.file("studies/walkers.yaml"));
  }

  Outcome program(const std::string& arguments) const {
    const std::string folder = scratch_.path().string();
    return run_shell("cd " + folder + " && NEARFAR_CLAIMS=claims NEARFAR_STUDIES=studies " + kProgram + arguments);
  }

  ScratchFolder scratch_;
};

TEST_F(Reproduction, PutsPublishedBesideMeasured) {
  claims(claim("fast", ">0.5", "unlimited") + claim("missing", "2.0", "tomorrow"));
  const Outcome outcome = program("reproduce made-up --quiet --json claims.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("2 claims: 1 met, 0 within the band, 0 missed, 0 within noise, 0 opposite, 1 not measured"));
  EXPECT_THAT(outcome.out, HasSubstr("design not-built-yet does not exist yet"));
  const Json json = Json::parse(read_file(scratch_.file("claims.json")));
  EXPECT_EQ(json["claims"][0]["verdict"], "met");
  EXPECT_EQ(json["claims"][1]["verdict"], "not measured");
}

TEST_F(Reproduction, OnSmallInputsHasNoVerdict) {
  claims(claim("fast", ">0.5", "unlimited") + claim("slow", "2.0", "one walker") + claim("missing", "2.0", "tomorrow"));
  const Outcome outcome = program("reproduce made-up --quick --quiet --json claims.json");
  EXPECT_EQ(outcome.code, 0) << "nothing is called opposite: " << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("3 claims: 0 met, 0 within the band, 0 missed, 0 within noise, 0 opposite, 2 not judged, 1 not "
                        "measured"));
  const Json json = Json::parse(read_file(scratch_.file("claims.json")));
  EXPECT_EQ(json["claims"][0]["verdict"], "not judged");
  EXPECT_EQ(json["claims"][0]["note"], "small inputs");
}

TEST_F(Reproduction, NamesTheMechanismEvenWhenItIsCalledLikeThePaper) {
  std::string whole = claim("whole", ">0.5", "unlimited");
  whole.replace(whole.find(".whole"), 6, "");
  std::string part = claim("part", ">0.5", "unlimited");
  part.insert(part.rfind('}'), ", because: made-up");
  claims(whole + part);
  EXPECT_THAT(program("reproduce --quick --quiet").out, HasSubstr("by, published → measured: a speedup >0.5× → "));
}

TEST_F(Reproduction, SaysByItsExitCodeThatSomethingIsOpposite) {
  claims(claim("slow", "2.0", "one walker"));
  const Outcome outcome = program("reproduce --quiet");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("1 claim is the opposite of what was published: a speedup (made-up.slow)"));
  EXPECT_THAT(outcome.out, HasSubstr("opposite")) << "the table is there all the same";
}

TEST_F(Reproduction, IsReportedWithoutAnotherRun) {
  claims(claim("fast", ">0.5", "unlimited"));
  EXPECT_EQ(program("reproduce --quiet").code, 0);
  const Outcome outcome = program("report --figures figures");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "report.html: 1 figures, 3 runs; 1 of 1 claims are measured\n");
  const std::string page = read_file(scratch_.file("report.html"));
  EXPECT_THAT(page, AllOf(StartsWith("<!doctype html>"), HasSubstr("made-up.fast"), HasSubstr("iommu.walkers"),
                          HasSubstr("1 not: design not-built-yet does not exist yet")));
  EXPECT_THAT(page, Not(AnyOf(HasSubstr("http:"), HasSubstr("https:"), HasSubstr(" src="))));
  EXPECT_THAT(read_file(scratch_.file("figures/walkers-speedup.csv")), HasSubstr("speedup,unlimited,MT,"));
  EXPECT_THAT(read_file(scratch_.file("figures/walkers-speedup.png")), StartsWith("\x89PNG"));
  EXPECT_THAT(read_file(scratch_.file("figures/walkers-speedup.svg")), StartsWith("<svg"));
  EXPECT_THAT(read_file(scratch_.file("figures/walkers-speedup-column.svg")), HasSubstr("width=\"420\""));
  const std::string pdf = read_file(scratch_.file("figures/walkers-speedup-column.pdf"));
  EXPECT_THAT(pdf, StartsWith("%PDF-"));
  EXPECT_EQ(program("report --figures again").code, 0);
  EXPECT_EQ(read_file(scratch_.file("again/walkers-speedup-column.pdf")), pdf)
      << "it depends on nothing but the figure";
}

TEST_F(Reproduction, IsReportedOfThePapersAndStudiesThatAreNamed) {
  claims(claim("fast", ">0.5", "unlimited"));
  std::ofstream(scratch_.file("claims/other.yaml")) << "title: Another paper\nclaims:\n  other.a:\n    {sentence: "
                                                       "nobody ran it, figure: Fig 1, published: 2.0, unit: x, "
                                                       "quality: speedup}\n";
  EXPECT_EQ(program("reproduce made-up --quiet").code, 0);
  EXPECT_THAT(program("report").out, HasSubstr("1 of 2 claims are measured"));
  EXPECT_THAT(read_file(scratch_.file("report.html")), Not(HasSubstr("Another paper")));
  for (const char* name : {"made-up", "walkers"}) {
    EXPECT_THAT(program("report " + std::string(name)).out, HasSubstr("1 figures, 3 runs; 1 of 1 claims are measured"));
    EXPECT_THAT(read_file(scratch_.file("report.html")), Not(HasSubstr("Another paper")));
  }
  EXPECT_EQ(program("report made-up other").code, 0);
  EXPECT_THAT(read_file(scratch_.file("report.html")), HasSubstr("Nothing is measured of Another paper (1 claim);"));
  const Outcome unknown = program("report made-pu");
  EXPECT_EQ(unknown.code, 2);
}

TEST_F(Reproduction, NamesWhoPublishedIt) {
  std::ofstream(scratch_.file("claims/made-up.yaml"))
      << "title: Made up\npaper: idyll\nfigures_of: translation-dissertation\nclaims:\n" +
             claim("fast", ">0.5", "unlimited");
  EXPECT_THAT(program("reproduce --quiet").out, StartsWith("Made up  Li et al., MICRO 2023\n"));
  EXPECT_EQ(program("report").code, 0);
  EXPECT_THAT(read_file(scratch_.file("report.html")),
              AllOf(HasSubstr("<li>Made up: B. Li, Y. Guo, Y. Wang, A. Jaleel, J. Yang and X. Tang, &quot;IDYLL: "),
                    HasSubstr("Figures and tables have the numbers of Li, dissertation 2024.")));
}

TEST_F(Reproduction, OfRepeatsHasIntervalsInTableFiguresAndPage) {
  claims(claim("fast", ">0.5", "unlimited") + claim("slow", "2.0", "one walker"));
  const Outcome once = program("reproduce --quiet");
  EXPECT_THAT(once.out, HasSubstr("2 claims are measured without repeats"));
  const Outcome outcome = program("reproduce --quiet --repeat 3 --json claims.json");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("× ±"), Not(HasSubstr("without repeats"))));
  const Json json = Json::parse(read_file(scratch_.file("claims.json")));
  EXPECT_EQ(json["claims"][0]["intervals"][0]["n"], 3);
  EXPECT_EQ(json["claims"][0]["intervals"][0]["mean"], json["claims"][0]["measured"][0]);
  EXPECT_LE(json["claims"][0]["intervals"][0]["low"], json["claims"][0]["measured"][0]);
  EXPECT_EQ(json["claims"][1]["verdict"], "opposite");
  EXPECT_THAT(program("report --repeat 3 --figures figures").out, HasSubstr("1 figures, 9 runs"));
  const std::string page = read_file(scratch_.file("report.html"));
  EXPECT_THAT(page, AllOf(HasSubstr("class=\"error\""), HasSubstr("95 % interval of the mean"), HasSubstr(" ±"),
                          HasSubstr("9 of 12 runs measured")));
  EXPECT_THAT(read_file(scratch_.file("figures/walkers-speedup.svg")), HasSubstr("class=\"error\""));
  EXPECT_THAT(read_file(scratch_.file("figures/walkers-speedup.csv")), HasSubstr(",made-up.slow,3,0."));
  // One machine for all its draws.
  EXPECT_EQ(page.find("perturb.draw=1"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("MT medium ats-4gpu baseline width=64 draw=2"));
}

TEST_F(Reproduction, AReportShowsWhatAQuickStudyMeasured) {
  std::ofstream(scratch_.file("studies/never.yaml")) << kStudy;
  by_size();
  std::string never = claim("never", "2.0", "unlimited");
  never.replace(never.find("study: walkers"), 14, "study: never");
  std::string fast = claim("fast", ">0.5", "unlimited");
  fast.replace(fast.find("over: MT"), 8, "over: BS");
  claims(fast + never);
  std::ofstream(scratch_.file("claims/other.yaml"))
      << "title: Another paper\nclaims:\n  other.a:\n    {sentence: nobody "
         "ran it, figure: Fig 1, published: 2.0, unit: x, quality: "
         "speedup}\n";
  EXPECT_EQ(program("study walkers --quick --quiet").code, 0);
  const Outcome outcome = program("report");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.out,
      "report.html: 1 figures, 3 runs; 1 of 3 claims are measured, 1 of them on other inputs than the study's and "
      "without a verdict\n");
  const std::string page = read_file(scratch_.file("report.html"));
  EXPECT_THAT(page, AllOf(HasSubstr("made-up.fast"), HasSubstr("data-verdict=\"not-judged\""),
                          HasSubstr("small inputs, not those of the study"),
                          HasSubstr("Not measured: 1 of 2 claims of Made up.")));
  EXPECT_EQ(program("report made-up").code, 0);
  EXPECT_THAT(read_file(scratch_.file("report.html")), HasSubstr("Studies of which nothing can be shown yet: never."));
  EXPECT_THAT(page, Not(AnyOf(HasSubstr("data-verdict=\"met\""), HasSubstr("made-up.never"), HasSubstr("other.a"),
                              HasSubstr("id=\"study-never\""))));
}

TEST_F(Reproduction, AReportOfNothingIsAMistake) {
  by_size();
  EXPECT_EQ(program("study walkers --quick --quiet").code, 0);
  const Outcome outcome = program("report --size medium");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("The store `nearfar.db` has no result of any study on medium inputs"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("report.html")));
}

TEST_F(Reproduction, AFigureThatCannotBeWrittenIsFoundBeforeThePage) {
  EXPECT_EQ(program("study walkers --quick --quiet").code, 0);
  std::filesystem::create_directories(scratch_.path() / "figures" / "walkers-speedup.svg");
  const Outcome outcome = program("report --figures figures");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("figures/walkers-speedup.svg` is a folder"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("report.html")));
  std::string path = kStudy;
  path.replace(path.find("  speedup:"), 10, "  ../../x:");
  std::ofstream(scratch_.file("studies/walkers.yaml")) << path;
  const Outcome bad = program("report --figures other");
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("studies/walkers.yaml:13:3: a figure's name becomes part of a file's name"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("report.html")));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.file("other")));
}

TEST_F(Reproduction, WithoutStudiesIsAMistake) {
  claims(claim("fast", ">0.5", "unlimited"));
  std::filesystem::remove(scratch_.file("studies/walkers.yaml"));
  for (const char* command : {"reproduce --dry-run", "reproduce", "list studies"}) {
    const Outcome outcome = program(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("The folder studies has no studies: a study is a file that ends in .yaml."));
    EXPECT_FALSE(std::filesystem::exists(scratch_.file("nearfar.db")));
  }
  std::ofstream(scratch_.file("studies/walkers.yaml")) << kStudy;
  claims("  {}");
  EXPECT_EQ(program("reproduce --dry-run").out, "No study measures any of these claims yet.\n");
}

TEST_F(Reproduction, OfAnUnknownPaperOrStoreIsAMistake) {
  const Outcome paper = program("reproduce made-upp");
  EXPECT_EQ(paper.code, 2);
  EXPECT_THAT(paper.err, HasSubstr("Did you mean `made-up`?"));
  const Outcome store = program("report --database nowhere.db");
  EXPECT_EQ(store.code, 2);
  EXPECT_THAT(store.err, HasSubstr("There is no store `nowhere.db`"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("nowhere.db")));
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("report.html")));
}

TEST_F(Reproduction, CanBePlannedWithoutAStore) {
  claims(claim("fast", ">0.5", "unlimited"));
  for (const char* command : {"study walkers --quick --dry-run", "reproduce made-up --quick --dry-run"}) {
    const Outcome outcome = program(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("3 of 3 runs are missing"));
    EXPECT_FALSE(std::filesystem::exists(scratch_.file("nearfar.db")));
  }
}

TEST_F(Reproduction, AMistakeInANumberLeavesNoStore) {
  for (const char* command :
       {"study walkers --jobs -1", "study walkers --timeout -1", "study walkers --chunk x", "reproduce --jobs x",
        "tune MT --vary gpus=1,2 --jobs x", "compose MT --system mmu-4gpu --designs first-touch --jobs x"}) {
    const Outcome outcome = program(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("must be a whole number from 0 to"));
    EXPECT_FALSE(std::filesystem::exists(scratch_.file("nearfar.db"))) << command;
  }
}

TEST_F(Reproduction, ComposesDesigns) {
  const Outcome outcome =
      program("compose MT --system mmu-4gpu --designs ideal-walkers,ideal-migration,first-touch,on-touch" + kTiny +
              "--json c.json --html c.html");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("ideal-walkers + ideal-migration"), HasSubstr("refused")));
  const Json json = Json::parse(read_file(scratch_.file("c.json")));
  EXPECT_EQ(json["combinations"].size(), 16U);
  EXPECT_EQ(json["interactions"].size(), 6U);
  EXPECT_THAT(json["combinations"][12]["refused"].get<std::string>(), HasSubstr("both decide the seam `placement`"));
  // What is said of a pair follows from the cycles beside it.
  const auto cycles = [&](int members) { return json["combinations"][members]["cycles"]["MT"].get<double>(); };
  const double interaction = cycles(1) * cycles(2) / (cycles(0) * cycles(3));
  EXPECT_NEAR(json["interactions"][0]["interaction"].get<double>(), interaction, 1e-9);
  EXPECT_THAT(read_file(scratch_.file("c.html")), HasSubstr("data-kind=\"heat\""));
}

TEST_F(Reproduction, TunesOneAndTwoParameters) {
  const std::string walkers = "tune MT --system ats-4gpu --vary iommu.walkers=1,2,4";
  const Outcome one = program(walkers + kTiny + "--json t.json --svg t.svg --png t.png");
  EXPECT_EQ(one.code, 0) << one.err;
  const Json json = Json::parse(read_file(scratch_.file("t.json")));
  ASSERT_EQ(json["points"].size(), 3U);
  EXPECT_EQ(json["points"][1]["settings"][0], "iommu.walkers=2");
  EXPECT_DOUBLE_EQ(json["points"][0]["speedups"]["MT"].get<double>(), 1);
  EXPECT_EQ(json["knees"][0]["of"], "MT");
  EXPECT_THAT(read_file(scratch_.file("t.svg")), HasSubstr("iommu.walkers"));
  const Outcome two = program(walkers + " --vary gpu.l2_tlb.entries=512,1024" + kTiny + "--html t.html");
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("iommu.walkers \\ gpu.l2_tlb.entries"));
  EXPECT_THAT(read_file(scratch_.file("t.html")), HasSubstr("data-kind=\"heat\""));
}

TEST_F(Reproduction, SweepsMayBeRepeated) {
  const Outcome tuned =
      program("tune MT --system ats-4gpu --vary iommu.walkers=1,4 --repeat 3" + kTiny + "--json t.json --svg t.svg");
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("mean and 95 % interval of 3 repeats"), HasSubstr(" ±")));
  const Json tuning = Json::parse(read_file(scratch_.file("t.json")));
  EXPECT_EQ(tuning["points"][1]["speedup_intervals"]["MT"]["n"], 3);
  EXPECT_EQ(tuning["points"][1]["speedup_intervals"]["MT"]["mean"], tuning["points"][1]["speedups"]["MT"]);
  EXPECT_THAT(read_file(scratch_.file("t.svg")), HasSubstr("class=\"error\""));
  const Outcome composed = program("compose MT --system mmu-4gpu --designs ideal-walkers,first-touch --repeat 2" +
                                   kTiny + "--json c.json --html c.html");
  EXPECT_EQ(composed.code, 0) << composed.err;
  EXPECT_THAT(composed.out, AllOf(HasSubstr("mean and 95 % interval of 2 repeats"), HasSubstr(" ±")));
  const Json composition = Json::parse(read_file(scratch_.file("c.json")));
  EXPECT_EQ(composition["interactions"][0]["interaction_interval"]["n"], 2);
  EXPECT_EQ(composition["combinations"][1]["mean_interval"]["n"], 2);
  EXPECT_THAT(read_file(scratch_.file("c.html")), HasSubstr("class=\"error\""));
}

struct Mistake {
  const char* arguments;
  const char* message;
};

class SweepMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(SweepMistakes, AreExplained) {
  const Outcome outcome = nearfar(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Commands, SweepMistakes,
    ::testing::Values(
        Mistake{"compose MT --system mmu-4gpu --designs ideal-walkers --repeat 0", "--repeat must be a whole number"},
        Mistake{"tune MT --vary perturb.draw=0,1 --repeat 2", "both decide `perturb.draw`"},
        Mistake{"tune MT --vary gpus=1,2 --repeat 2 --set perturb.draw=1", "both decide `perturb.draw`"},
        Mistake{"compose MT", "`nearfar compose` needs WORKLOADS and --designs"},
        Mistake{"compose MT --designs ideal-walker", "Did you mean `ideal-walkers`?"},
        Mistake{"compose MT --designs ideal-walkers,ideal-walkers", "is named twice"},
        Mistake{"compose MT --designs ideal-walkers+first-touch", "takes single designs"},
        Mistake{"compose MT --designs ideal-walkers", "`ideal-4gpu` has ideal"},
        Mistake{"tune MT", "`nearfar tune` needs WORKLOADS and one or two of --vary"},
        Mistake{"tune MT --vary gpus=1", "--vary wants key=v1,v2,…"},
        Mistake{"tune MT --vary gpus=1,1", "names the setting `1` twice"},
        Mistake{"tune MT --vary gpus=1,2 --vary gpus=1,2", "--vary gpus is given twice"},
        Mistake{"tune MT --vary gpus=1,2 --set gpus=4",
                "--vary gpus=1,2 and --set gpus=4 both decide `gpus`; give one of them."},
        Mistake{"tune MT --vary gpus=1,x --database /dev/null/x", "nearfar: error: --vary: `gpus` takes"},
        Mistake{"tune MT MT --vary gpus=1,2", "The workload `MT` is named twice."},
        Mistake{"compose MT MT --designs idyll --system mmu-4gpu", "The workload `MT` is named twice."},
        Mistake{"report X X", "The paper or study `X` is named twice."},
        Mistake{"reproduce idyll idyll --dry-run", "The paper `idyll` is named twice."},
        Mistake{"reproduce idyll --report x --json x --database /dev/null/x", "Two results cannot go to one file"},
        Mistake{"tune MT --vary gpuss=1,2 --database /dev/null/x", "Did you mean `gpus`?"},
        Mistake{"tune MT --vary gpus=1,2 --json - --svg -", "Only one file can go to standard output."},
        Mistake{"tune MTT --vary gpus=1,2", "Did you mean `MT`?"},
        Mistake{"report --output /no/such/folder/r.html", "there is no folder"}));

}  // namespace
}  // namespace nearfar::commands_test
