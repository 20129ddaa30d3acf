// The program as a whole, through its real command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/process.h"
#include "study/store.h"

namespace nearfar::program_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kProgram;
using testing::kTinyRun;
using testing::nearfar;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;
using testing::ScratchFolder;
using ::testing::StartsWith;
using Json = nlohmann::json;

struct Mistake {
  const char* arguments;
  const char* message;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreExplainedAndExitWithTwo) {
  const Outcome outcome = nearfar(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("nearfar: error: "), HasSubstr(GetParam().message)));
}

/// The words typed, as far as the name of a test may have them.
std::string name_of(const ::testing::TestParamInfo<Mistake>& info) {
  std::string name = std::to_string(info.index);
  for (const char c : std::string("_") + info.param.arguments) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || name.back() != '_') name += plain ? c : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Program, Mistakes,
    ::testing::Values(
        Mistake{"rnu MT", "There is no command `rnu`. Did you mean `run`?"},
        Mistake{"zzzzzz", "There is no command `zzzzzz`. `nearfar --help` shows them all."},
        Mistake{"--vresion", "`nearfar` has no option `--vresion`. Did you mean `--version`?"},
        Mistake{"--threads 2 run MT", "options stand after the command"},
        Mistake{"run", "`nearfar run` needs a WORKLOAD"},
        Mistake{"run MT PR", "`PR` is one argument too many for `nearfar run`"},
        Mistake{"run MT list", "`list` is one argument too many for `nearfar run`"},
        Mistake{"run MT --sise small", "`nearfar run` has no option `--sise`. Did you mean `--size`?"},
        Mistake{"run MT --chek=1", "`nearfar run` has no option `--chek`. Did you mean `--check`?"},
        Mistake{"run MTT", "Did you mean `MT`?"}, Mistake{"run MT --size smal", "Did you mean `small`?"},
        Mistake{"run MT --seed -1", "--seed must be a whole number from 0 to 18446744073709551615; `-1` is not."},
        Mistake{"run MT --seed 1 --seed 2", "`nearfar run` wants one value for `--seed`, given once."},
        Mistake{"run MT --threads 0", "--threads must be a whole number from 1 to 1024; `0` is not."},
        Mistake{"run MT --json", "`nearfar run` wants one value for `--json`"},
        Mistake{"run MT --json /no/such/folder/result.json", "there is no folder `/no/such/folder`"},
        Mistake{"run MT --json /", "`/` is a folder"},
        Mistake{"run MT --json - --csv -", "Only one file can go to standard output."},
        Mistake{"run MT --design basline", "There is no design `basline`. Did you mean `baseline`?"},
        Mistake{"run MT --system ideal-4gpus", "Did you mean `ideal-4gpu`?"},
        Mistake{"run MT --set gpu.l2.sise=4MiB", "Did you mean `size`?"},
        Mistake{"run MT --param widht=64", "Did you mean `width`?"},
        Mistake{"run MT --param width", "--param wants name=value"},
        Mistake{"run MT --param width=1e3", "The parameter `width` must be a whole number"},
        Mistake{"run MT --param FIR.n=1024", "is for the workload `FIR`, which does not run here"},
        Mistake{"run MT+MT+MT --set gpus=2", "MT+MT+MT is 3 applications, one for each GPU"},
        Mistake{"run MT+", "The name of a workload is missing in `MT+`."},
        Mistake{"run MT --input graph.mtx", "MT reads no graph, so it cannot take `graph.mtx`."},
        Mistake{"run PR --input /no/such.mtx", "/no/such.mtx: there is no such file."},
        Mistake{"compare", "`nearfar compare` needs WORKLOADS"},
        Mistake{"compare MT --vary gpus", "--vary wants key=v1,v2"},
        Mistake{"compare MT --vary gpus=", "--vary wants key=v1,v2"},
        Mistake{"compare MT --vary gpus=2,2", "`gpus=2` is named twice"},
        Mistake{"compare MT --system ideal-4gpu,nowhere", "nowhere"},
        Mistake{"characterize", "`nearfar characterize` needs a WORKLOAD"},
        Mistake{"characterize FIR+MT", "looks at one workload; FIR+MT is several."},
        Mistake{"characterize MT --gpus 1025", "--gpus must be a whole number from 1 to 1024"},
        Mistake{"characterize MTT", "Did you mean `MT`?"},
        Mistake{"functional", "`nearfar functional` needs WORKLOADS"},
        Mistake{"functional MT MT", "The workload `MT` is named twice."},
        Mistake{"functional MT FIR+PR", "FIR+PR is several at once."},
        Mistake{"functional MT C2DD", "Did you mean `C2D`?"},
        Mistake{"functional MT --system mmu-4gpu", "no time in which pages could move"},
        Mistake{"functional MT --system ats-4gpu", "it needs translation.kind=ideal."},
        Mistake{"functional MT --system ideal-4gpu --design rec", "The design `rec` changes systems with"},
        Mistake{"explain surplus", "`surplus` is one argument too many for `nearfar explain`"},
        Mistake{"list", "`nearfar list` needs one of: workloads, systems, designs, statistics, studies, papers."},
        Mistake{"list workload", "Did you mean `workloads`?"},
        Mistake{"list systems --details", "--details is for `nearfar list workloads` only."},
        Mistake{"study", "`nearfar study` needs a STUDY"}, Mistake{"study idyl-fig54", "Did you mean `idyll-fig54`?"},
        Mistake{"study nowhere.yaml", "nowhere.yaml: there is no such file."},
        Mistake{"study least-tlb-fig4 --quick --size paper", "--quick is --size small"},
        Mistake{"study least-tlb-fig4 --executor slrum", "Did you mean `slurm`?"},
        Mistake{"study least-tlb-fig4 --database /", "`/` is a folder"},
        Mistake{"completion", "`nearfar completion` needs the name of a shell"},
        Mistake{"completion fish", "`nearfar completion` knows bash and zsh, not `fish`."}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Outputs, Mistakes,
    ::testing::Values(Mistake{"run MT --json a.json --csv ./a.json",
                              "Two results cannot go to one file, `a.json` and `./a.json`, which is the same."},
                      Mistake{"run MT --csv a.json --timeline a.json", "Two results cannot go to one file"},
                      Mistake{"characterize MT --svg z --png z", "Two results cannot go to one file"},
                      Mistake{"functional MT --json z --csv z", "Two results cannot go to one file"},
                      Mistake{"tune MT --vary gpus=1,2 --svg q --png q", "Two results cannot go to one file"},
                      Mistake{"compose MT --designs idyll --json q --html q", "Two results cannot go to one file"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    EmptyValues, Mistakes,
    ::testing::Values(
        Mistake{"run MT --json ''", "--json: the name of a file was expected; it is empty."},
        Mistake{"run MT --csv ''", "--csv: the name of a file was expected; it is empty."},
        Mistake{"run MT --timeline ''", "--timeline: the name of a file was expected; it is empty."},
        Mistake{"run MT --timeline t --timeline-gpu ''", "--timeline-gpu: a value was expected"},
        Mistake{"run PR --input ''", "--input: the name of a file was expected; it is empty."},
        Mistake{"characterize MT --svg ''", "--svg: the name of a file was expected; it is empty."},
        Mistake{"study least-tlb-fig4 --dry-run --csv ''", "--csv: the name of a file was expected; it is empty."},
        Mistake{"study least-tlb-fig4 --dry-run --database ''", "--database: the name of a file was expected"},
        Mistake{"report --figures ''", "--figures: the name of a folder was expected; it is empty."},
        Mistake{"report -o ''", "--output: the name of a file was expected; it is empty."}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Values, Mistakes,
    ::testing::Values(
        Mistake{"run MT --set", "wants one value for `--set`, each time it is given."},
        Mistake{"run MT --check=maybe", "--check: a switch takes no value but true or false; `maybe` is neither."},
        Mistake{"run MT --timeline t --timeline-cycles 1000--5",
                "--timeline-cycles takes a range FROM-TO in decimal or hexadecimal"},
        Mistake{"run MT --timeline t --timeline-of dta", "Did you mean `data`?"},
        Mistake{"run MT --timeline t --timeline-address buffer:inptu",
                "MT has no buffer `inptu`. Did you mean `input`?"},
        Mistake{"run MT --timeline t --timeline-limit 1kB", "it must be at least 10kB"},
        Mistake{"run MT --timeline-of data", "name its file with --timeline FILE."},
        Mistake{"run MT --design idyll+", "The name of a design is missing in `idyll+`."},
        Mistake{"cost +idyll", "The name of a design is missing in `+idyll`."},
        Mistake{"cost idyll+idyll", "The design `idyll` is named twice."},
        Mistake{"cost idyll+idyll-dir", "The design `idyll` has `idyll-dir` in it, which is named too."},
        Mistake{"cost idyll-dir+idyll", "The design `idyll` has `idyll-dir` in it, which is named too."},
        Mistake{"cost rec --system mmu-4gpu",
                "The design `rec` changes systems with remote_cache=l1l2 and coherence=directory"},
        Mistake{"cost idyll --gpus 4 --set gpus=16", "--gpus and --set gpus=16 both decide `gpus`; give one of them."},
        Mistake{"compare MT --vary gpus=1,x", "nearfar: error: --vary: `gpus` takes a whole number"},
        Mistake{"compare MT --vary gpus=1,2 --set gpus=4",
                "--vary gpus=1,2 and --set gpus=4 both decide `gpus`; give one of them."},
        Mistake{"compare MT --vary gpus=1,2 --set gpu.l2.size=x", "nearfar: error: --set: `gpu.l2.size`"},
        Mistake{"compare MT PR MT", "The workload `MT` is named twice."},
        Mistake{"compare MT --set =1", "nearfar: error: --set: an override is a path"}),
    name_of);

TEST(Cost, OfADirectoryStandsBesideTheBaselines) {
  const Outcome rec = nearfar("cost rec");
  EXPECT_EQ(rec.code, 0) << rec.err;
  EXPECT_THAT(rec.out, HasSubstr("103 KiB"));
  EXPECT_THAT(rec.out, HasSubstr("The directory of the baseline takes 52.0 KiB"));
  EXPECT_THAT(rec.out, HasSubstr("rec takes 1.98 times that."));
  const Outcome twice = nearfar("cost dir-2x");
  EXPECT_THAT(twice.out, HasSubstr("104 KiB"));
  EXPECT_THAT(twice.out, HasSubstr("dir-2x takes 2.00 times that."));
  EXPECT_THAT(nearfar("cost dir-ideal").out, HasSubstr("without limit"));
}

TEST(Program, HelpExplainsTheWordsAndEveryCommand) {
  const Outcome outcome = nearfar("--help");
  EXPECT_EQ(outcome.code, 0);
  for (const char* word : {"system ", "design ", "workload ", "run ", "compare ", "explain ", "list ", "Examples:"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  EXPECT_EQ(nearfar("").out, outcome.out);
  EXPECT_THAT(nearfar("run --help").out, AllOf(HasSubstr("--json FILE"), HasSubstr("[medium]")));
}

TEST(Program, TextThatCannotBeWrittenIsAMistake) {
  for (const char* words : {"--help", "run --help", "--version", "list systems"}) {
    const Outcome outcome = nearfar(std::string(words) + " >/dev/full");
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr("`standard output` cannot be written: No space left on device."));
  }
}

TEST(Program, NamesThatNoFileCanHaveAreMistakes) {
  const std::string name(5000, 'x');
  const auto complaint = [&](const std::string& words) {
    const ScratchFolder scratch;
    const std::string folder = "cd " + scratch.path().string() + " && touch nearfar.db && ";
    const Outcome outcome = run_shell(folder + kProgram + words + " " + name);
    EXPECT_EQ(outcome.code, 2) << words;
    return outcome.err;
  };
  for (const char* words : {"report --database", "report --figures", "report -o", "run MT --json", "run PR --input"}) {
    EXPECT_THAT(complaint(words), HasSubstr(": File name too long.")) << words;
  }
  for (const char* words : {"study least-tlb-fig4 --database", "study least-tlb-fig4 --dry-run --database"}) {
    EXPECT_THAT(complaint(words), HasSubstr("cannot be used: unable to open database file.")) << words;
  }
}

TEST(Program, VersionIsOneLine) {
  const Outcome outcome = nearfar("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, ::testing::MatchesRegex("nearfar [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Run, SummaryGoesToStandardOutput) {
  const Outcome outcome = nearfar(kTinyRun);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("MT, "), HasSubstr("(width=64 host=0)"), HasSubstr("cycles"), HasSubstr("L1 hits")));
}

TEST(Run, SummaryNamesWhatWasSet) {
  const Outcome outcome = nearfar(kTinyRun + "--set gpu.l2.size=1MiB --set gpus=2 --check");
  EXPECT_THAT(outcome.out, HasSubstr("on ideal-4gpu (2 GPUs), baseline, seed 1, gpu.l2.size=1MiB, gpus=2, checked\n"));
}

TEST(Run, SaysThatATimelineHasNothingOfTranslation) {
  const ScratchFolder scratch;
  const Outcome ideal = nearfar(kTinyRun + "--timeline " + scratch.file("t.json"));
  EXPECT_EQ(ideal.code, 0);
  EXPECT_THAT(ideal.err, StartsWith("nearfar: The timeline has nothing of translation: the system `ideal-4gpu`"));
  EXPECT_TRUE(Json::accept(read_file(scratch.file("t.json"))));
  EXPECT_EQ(nearfar(kTinyRun + "--system mmu-4gpu --timeline " + scratch.file("t.json")).err, "");
}

TEST(Run, QuietSaysNothing) {
  const Outcome outcome = nearfar(kTinyRun + "--quiet");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(Run, JsonOnStandardOutputStandsAlone) {
  const Outcome outcome = nearfar(kTinyRun + "--json - --seed 7 --set gpus=2");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["workload"], "MT");
  EXPECT_EQ(json["size"], "small");
  EXPECT_EQ(json["system"], "ideal-4gpu");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["parameters"]["width"], 64);
  EXPECT_EQ(json["configuration"]["gpus"], "2");
  EXPECT_EQ(json["configuration_origins"]["gpus"], "--set");
  EXPECT_GT(json["cycles"].get<std::uint64_t>(), 0U);
  EXPECT_GT(json["peak_rss_bytes"].get<std::uint64_t>(), 1U << 20);
}

TEST(Run, FilesAndSummaryTogether) {
  const ScratchFolder scratch;
  const Outcome outcome = nearfar(kTinyRun + "--json " + scratch.file("a.json") + " --csv " + scratch.file("a.csv"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("MT, "));
  const Json json = Json::parse(read_file(scratch.file("a.json")));
  EXPECT_THAT(read_file(scratch.file("a.csv")),
              AllOf(StartsWith("name,value\n"), HasSubstr("\ncycles," + json["cycles"].dump() + "\n")));
}

TEST(Run, SeveralApplicationsRunOnOneGpuEach) {
  const Outcome outcome = nearfar("run FIR+MT --size small --param width=64 --param FIR.n=1024 --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["parameters"]["MT.width"], 64);
  EXPECT_EQ(json["parameters"]["FIR.n"], 1024);
  EXPECT_EQ(json["applications"].size(), 2U);
}

TEST(Run, TakesTheUsersGraph) {
  const ScratchFolder scratch;
  run_shell("printf '0 1\\n1 2\\n2 0\\n' > " + scratch.file("ring.txt"));
  const Outcome outcome = nearfar("run PR --size small --input " + scratch.file("ring.txt") + " --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["input"], scratch.file("ring.txt"));
  EXPECT_EQ(Json::parse(outcome.out)["statistics"]["gpus.cu.groups"], 4 * 3) << "a workgroup for each of three rows";
  run_shell("printf '0 1\\n1 x\\n' > " + scratch.file("bad.txt"));
  const Outcome bad = nearfar("run PR --input " + scratch.file("bad.txt"));
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.txt:2:3: expected a vertex, not `x`."));
}

TEST(Run, AnInterruptedRunLeavesNothingHalfWritten) {
  const ScratchFolder scratch;
  run_shell("timeout -s INT 0.3 env " + kProgram + "run MT --size medium --json " + scratch.file("a.json"));
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
    EXPECT_EQ(entry.path().filename(), "a.json");
    EXPECT_TRUE(Json::accept(read_file(entry.path())));
  }
}

/// With a store of its own.
Outcome compared(const std::string& words) {
  const ScratchFolder scratch;
  return nearfar("compare " + words + " --database " + scratch.file("a.db"));
}

TEST(Compare, ShowsEveryVariantAndTheMean) {
  const Outcome outcome = compared("MT FIR --size small --param width=64 --param n=1024 --vary gpus=1,2");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("speedup is against gpus=1"), HasSubstr("\nMT "), HasSubstr("\nFIR "),
                                 HasSubstr("\ngeometric mean  gpus=1")));
}

TEST(Compare, NamesASingleSetting) {
  const Outcome outcome = compared("MT --size small --param width=64 --vary gpus=1");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("speedup is against gpus=1\n"), HasSubstr("MT              gpus=1")));
}

TEST(Compare, JsonHoldsTheRunsAndTheirMean) {
  const Outcome outcome = compared("MT --size small --param width=64 --vary gpus=1,2 --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["runs"].size(), 2U);
  const double first = json["runs"][0]["result"]["cycles"], second = json["runs"][1]["cycles"];
  EXPECT_DOUBLE_EQ(json["runs"][1]["speedup"], first / second);
  EXPECT_DOUBLE_EQ(json["geometric_means"]["gpus=2"], first / second);
  EXPECT_EQ(json["runs"][1]["result"]["configuration"]["gpus"], "2");
}

TEST(Compare, RunsNothingTwice) {
  const ScratchFolder scratch;
  const std::string words =
      "compare MT --size small --param width=64 --vary gpus=1,2 --database " + scratch.file("a.db") + " --json ";
  EXPECT_EQ(nearfar(words + scratch.file("a.json")).code, 0);
  const Outcome again = nearfar(words + scratch.file("b.json"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.err, "") << "nothing was run";
  EXPECT_EQ(read_file(scratch.file("a.json")), read_file(scratch.file("b.json"))) << "host times too";
}

TEST(Compare, ChecksWhatIsInTheStore) {
  const ScratchFolder scratch;
  const std::string words = "compare MT --size small --param width=64 --database " + scratch.file("a.db");
  const Outcome checked = nearfar(words + " --check --per-unit --threads 2 --json -");
  ASSERT_EQ(checked.code, 0) << checked.err;
  EXPECT_FALSE(std::filesystem::exists(scratch.file("a.db"))) << "a store does not say what was checked";
  const Json result = Json::parse(checked.out)["runs"][0]["result"];
  EXPECT_EQ(result["threads"], 2);
  EXPECT_TRUE(result["statistics"].contains("gpu0.cu0.instructions"));
}

TEST(Compare, GivesAnInputToWhomItIsFor) {
  const std::string graph = NEARFAR_SOURCE_DIR "/inputs/roads.gr";
  const Outcome outcome = compared("MT SSSP --size small --param width=64 --input " + graph);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(compared("MT --input " + graph).code, 2);
  const ScratchFolder scratch;
  std::ofstream(scratch.file("bad.gr")) << "p sp 2 1\na 1 3 1\n";
  const Outcome bad = compared("SSSP --input " + scratch.file("bad.gr"));
  EXPECT_EQ(bad.code, 2) << "a mistake in the file, not a run that failed";
  EXPECT_THAT(bad.err, HasSubstr("bad.gr:2:"));
}

TEST(Compare, ShowsTheApplicationsOfAMix) {
  const std::string mix = "FIR+MT --size small --param MT.width=64 --param FIR.n=1024 --vary gpus=2,4 ";
  const ScratchFolder scratch;
  const Outcome outcome = compared(mix + "--csv " + scratch.file("a.csv"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\nFIR+MT, GPU 0: FIR  gpus=2 "), HasSubstr("\nFIR+MT, GPU 1: MT   gpus=2 ")));
  EXPECT_THAT(read_file(scratch.file("a.csv")),
              AllOf(StartsWith("workload,gpu,application,variant,cycles,speedup,low,high,repeats\nFIR+MT,,,gpus=2,"),
                    HasSubstr("\nFIR+MT,1,MT,gpus=4,")));
  const Json json = Json::parse(compared(mix + "--json -").out);
  const Json& run = json["runs"][1];
  ASSERT_EQ(run["applications"].size(), 2U);
  EXPECT_EQ(run["applications"][1]["workload"], "MT");
  EXPECT_EQ(run["applications"][1]["cycles"], run["result"]["statistics"]["app1.cycles"]);
}

TEST(Run, HasAResultForEachApplicationOfAMix) {
  const std::string mix = "run FIR+MT --size small --param MT.width=64 --param FIR.n=1024 ";
  const Outcome outcome = nearfar(mix);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\n  application  cycles  instructions"), HasSubstr("\n  GPU 1: MT ")));
  const Json json = Json::parse(nearfar(mix + "--json -").out);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& application = json["applications"][i];
    for (const char* what : {"cycles", "instructions", "accesses", "launches"}) {
      EXPECT_EQ(application[what], json["statistics"]["app" + std::to_string(i) + "." + what]) << what;
      EXPECT_GT(application[what], 0) << what;
    }
  }
  EXPECT_THAT(nearfar(mix + "--csv -").out, HasSubstr("\napp0.workload,FIR\napp1.workload,MT\n"));
  EXPECT_THAT(nearfar(kTinyRun).out, ::testing::Not(HasSubstr("application")));
}

TEST(Export, HasARowForEachRun) {
  const ScratchFolder scratch;
  const std::string store = scratch.file("a.db");
  const Outcome made = nearfar("compare MT --size small --param width=64 --vary gpus=1,2 --database " + store);
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome csv = nearfar("export " + store);
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_THAT(csv.out, StartsWith("workload,applications,size,system,designs,seed,input,set.gpus,key,model,"));
  EXPECT_THAT(csv.out, AllOf(HasSubstr("\nMT,MT,small,ideal-4gpu,baseline,1,,1,"),
                             HasSubstr("\nMT,MT,small,ideal-4gpu,baseline,1,,2,")));
  const Outcome files = nearfar("export " + store + " --csv " + scratch.file("a.csv") + " --jsonl -");
  ASSERT_EQ(files.code, 0) << files.err;
  EXPECT_EQ(read_file(scratch.file("a.csv")), csv.out) << "the same every time";
  const Json second = Json::parse(files.out.substr(files.out.find('\n') + 1));
  EXPECT_EQ(second["set.gpus"], 2);
  EXPECT_EQ(second["cycles"], second["run.cycles"]);
}

TEST(Export, OfAnEmptyStoreIsAMistake) {
  const ScratchFolder scratch;
  const std::string store = scratch.file("a.db");
  const Outcome missing = nearfar("export " + store);
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("There is no store `" + store + "`"));
  EXPECT_FALSE(std::filesystem::exists(store));
  { const ResultStore made(store); }
  EXPECT_THAT(nearfar("export " + store).err, HasSubstr("The store `" + store + "` has no results."));
}

TEST(Export, LeavesOutOtherVersionsOfTheModelUnlessToldOtherwise) {
  const ScratchFolder scratch;
  const std::string store = scratch.file("a.db");
  ResultFile old;
  old.key = "0123", old.model = "an older one", old.workload = "MT", old.statistics = {{"a", 1}};
  Json json = Json::parse(nearfar(kTinyRun + "--json -").out);
  json["model"] = old.model;
  old.json = json.dump();
  ResultStore(store).add(old, "");
  const Outcome none = nearfar("export " + store);
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("no results of this version of the model; --all-models exports the 1 of other"));
  const Outcome all = nearfar("export --all-models " + store);
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr(",an older one,"));
}

TEST(Explain, ShowsOriginsAndOnlyWhatChangedWhenAsked) {
  const Outcome all = nearfar("explain --set gpu.l2.size=4MiB");
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, AllOf(HasSubstr("gpu.l2.size"), HasSubstr("--set"), HasSubstr("default")));
  const Outcome changed = nearfar("explain --set gpu.l2.size=4MiB --changed --json -");
  const Json json = Json::parse(changed.out);
  for (const Json& parameter : json["parameters"]) {
    EXPECT_TRUE(parameter["value"] != parameter["default"] || parameter["origin"] == "--set") << parameter;
  }
  EXPECT_LT(json["parameters"].size(), Json::parse(nearfar("explain --json -").out)["parameters"].size());
}

TEST(Characterize, TablesJsonAndPlots) {
  const std::string tiny = "characterize MT --size small --param width=128 --gpus 2 ";
  const Outcome table = nearfar(tiny);
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(StartsWith("MT, matrix transpose, small"), HasSubstr("pages by GPUs"),
                               HasSubstr("LRU holds"), HasSubstr("lane to lane")));
  const Json json = Json::parse(nearfar(tiny + "--json -").out);
  EXPECT_EQ(json["accesses"], 128 * 128 / 8);
  EXPECT_EQ(json["gpus"], 2);
  EXPECT_EQ(json["touched"]["pages_by_gpus"].size(), 2U);
  EXPECT_EQ(json["lines_per_instruction"]["most"], 16);
  EXPECT_EQ(json["page_reuse"]["capacities"].size(), json["page_reuse"]["hits"].size());
  EXPECT_THAT(nearfar(tiny + "--svg -").out, StartsWith("<svg "));
}

TEST(Functional, TablesJsonAndCsv) {
  const std::string tiny = "functional MT FIR --size small --param width=128 --param n=4096 ";
  const Outcome table = nearfar(tiny + "--design hmg");
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(StartsWith("size small, seed 1, system rec-4gpu, design hmg"), HasSubstr("\nMT "),
                               HasSubstr("\nFIR "), HasSubstr("lines/entry")));
  const Json json = Json::parse(nearfar(tiny + "--set directory.ways=4 --json -").out);
  EXPECT_EQ(json["passes"].size(), 2U);
  EXPECT_EQ(json["passes"][0]["accesses"], 128 * 128 / 8);
  EXPECT_EQ(json["passes"][0]["statistics"]["run.accesses"], 128 * 128 / 8);
  EXPECT_EQ(json["configuration"]["directory.ways"], "4");
  EXPECT_THAT(nearfar(tiny + "--csv -").out,
              AllOf(StartsWith("workload,name,value\nMT,gpu0."), HasSubstr("\nFIR,run.launches,1\n")));
}

TEST(List, NamesWhatThereIs) {
  EXPECT_THAT(nearfar("list workloads").out,
              AllOf(HasSubstr("\nMT "), HasSubstr("\nFIR "), HasSubstr("\nW10  MT+MT+ST+ST")));
  EXPECT_THAT(nearfar("list workloads --details").out,
              AllOf(HasSubstr("paper"), HasSubstr("  width "), HasSubstr("512 MiB"), HasSubstr("8.39 M")));
  EXPECT_THAT(nearfar("list systems").out, HasSubstr("\nideal-4gpu "));
  EXPECT_THAT(nearfar("list designs").out, HasSubstr("\nbaseline "));
  EXPECT_THAT(nearfar("list statistics").out, HasSubstr("run.cycles "));
}

/// `gpu<g>.l1v.hits` explains gpu0.l1v.hits: what is between < and > stands for any text without a dot.
bool explains(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || name.empty()) return pattern.empty() && name.empty();
  if (pattern.front() != '<') return pattern.front() == name.front() && explains(pattern.substr(1), name.substr(1));
  const std::string_view rest = pattern.substr(pattern.find('>') + 1);
  for (std::size_t length = 1; length <= name.size() && name[length - 1] != '.'; ++length) {
    if (explains(rest, name.substr(length))) return true;
  }
  return false;
}

TEST(List, ExplainsEveryStatisticOfARunAndOfAPass) {
  std::istringstream lines(nearfar("list statistics").out);
  std::vector<std::string> patterns;
  for (std::string line; std::getline(lines, line);) patterns.push_back(line.substr(0, line.find(' ')));
  const Json run = Json::parse(nearfar(kTinyRun + "--set gpus=2 --json -").out);
  const Json pass =
      Json::parse(nearfar("functional ST --size small --set directory.entries=64 --json -").out)["passes"][0];
  EXPECT_TRUE(pass["statistics"].contains("gpus.invalidation.eviction_share"));
  for (const Json& statistics : {run["statistics"], pass["statistics"]}) {
    EXPECT_GT(statistics.size(), 10U);
    for (const auto& [name, value] : statistics.items()) {
      EXPECT_TRUE(std::ranges::any_of(patterns, [&](const auto& pattern) { return explains(pattern, name); })) << name;
    }
  }
}

TEST(Completion, ScriptsAreValid) {
  EXPECT_EQ(run_shell(kProgram + "completion bash | bash -n").code, 0);
  const Outcome zsh = run_shell("! command -v zsh >/dev/null || " + kProgram + "completion zsh | zsh -n");
  EXPECT_EQ(zsh.err, "");
  EXPECT_THAT(nearfar("completion zsh").out, StartsWith("#compdef nearfar\n"));
}

std::string completed_by_bash(const std::string& words) {
  const std::string program = kProgram + "completion bash";
  return run_shell("bash -c '. <(" + program + "); compopt() { :; }; COMP_WORDS=(" + words +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _nearfar; echo \"${COMPREPLY[*]}\"'")
      .out;
}

TEST(Completion, BashFindsCommandsOptionsNamesAndKeys) {
  EXPECT_EQ(completed_by_bash("nearfar ru"), "run\n");
  EXPECT_EQ(completed_by_bash("nearfar run --prog"), "\n") << "an option between programs";
  EXPECT_EQ(completed_by_bash("nearfar study least-tlb-fig4"), "least-tlb-fig4\n");
  EXPECT_EQ(completed_by_bash("nearfar run --js"), "--json\n");
  EXPECT_EQ(completed_by_bash("nearfar run MT+FI"), "MT+FIR\n");
  EXPECT_EQ(completed_by_bash("nearfar run MT --size m"), "medium\n");
  EXPECT_EQ(completed_by_bash("nearfar compare MT --system x,ideal-4"), "x,ideal-4gpu\n");
  EXPECT_EQ(completed_by_bash("nearfar run MT --set gpu.l2.siz"), "gpu.l2.size=\n");
  EXPECT_EQ(completed_by_bash("nearfar list st"), "statistics studies\n");
}

TEST(Repeats, OfARunSayHowFarItsCyclesMove) {
  const std::string tiny = "run MT --size small --param width=64 ";
  const Outcome plain = nearfar(tiny);
  const Outcome outcome = nearfar(tiny + "--repeat 3");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nof 3 repeats  cycles "));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" ±"), HasSubstr("smallest "), HasSubstr("largest ")));
  const auto cycles = [](const std::string& text) { return text.substr(text.find("cycles"), 30); };
  EXPECT_EQ(cycles(outcome.out), cycles(plain.out)) << "the summary is of the plain run";
  EXPECT_THAT(nearfar(tiny + "--repeat 1").out, ::testing::Not(HasSubstr("repeats")));
}

TEST(Repeats, OfAComparisonAreInTableAndJson) {
  const ScratchFolder scratch;
  const Outcome outcome =
      nearfar("compare MT FIR --size small --param width=64 --param n=1024 --vary gpus=1,2 --repeat 3 --database " +
              scratch.file("a.db") + " --json " + scratch.file("a.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("mean and 95 % interval of 3 repeats"), HasSubstr(" ±")));
  const auto json = nlohmann::json::parse(read_file(scratch.file("a.json")));
  EXPECT_EQ(json["repeats"], 3);
  const auto& run = json["runs"][1];
  EXPECT_EQ(run["speedup_interval"]["n"], 3);
  EXPECT_EQ(run["speedup_interval"]["mean"], run["speedup"]);
  EXPECT_EQ(run["cycles_by_draw"].size(), 3U);
  EXPECT_EQ(run["cycles_by_draw"][0], run["result"]["cycles"]);
  EXPECT_EQ(run["result"]["configuration"]["perturb.draw"], "0");
  EXPECT_EQ(json["geometric_mean_intervals"]["gpus=2"]["mean"], json["geometric_means"]["gpus=2"]);
}

INSTANTIATE_TEST_SUITE_P(
    Repeats, Mistakes,
    ::testing::Values(Mistake{"run MT --repeat 0", "--repeat must be a whole number from 1 to 1000"},
                      Mistake{"run MT --repeat 2 --json a.json", "--json holds one result, and --repeat makes several"},
                      Mistake{"run MT --repeat 2 --csv -", "--csv holds one result, and --repeat makes several"},
                      Mistake{"run MT --repeat 2 --timeline a.json", "--timeline holds one result"},
                      Mistake{"run MT --repeat 2 --set perturb.draw=3", "both decide `perturb.draw`"},
                      Mistake{"compare MT --repeat 2 --vary perturb.draw=0,1", "both decide `perturb.draw`"},
                      Mistake{"compare MT --repeat x", "--repeat must be a whole number"},
                      Mistake{"study least-tlb-fig4 --dry-run --repeat 0", "--repeat must be a whole number"}));

}  // namespace
}  // namespace nearfar::program_test
