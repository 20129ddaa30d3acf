// The commands of `nearfar trace`, as a person types them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/process.h"

namespace nearfar::trace_command_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace nearfar::testing;

const std::string kTinyWorkload = "MT --size small --param width=64";

class TraceCommand : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return scratch_.file(name); }
  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  /// A recorded workload.
  std::string recorded(const std::string& workload = kTinyWorkload) const {
    const Outcome outcome = nearfar("trace record " + workload + " -o " + file("w.nft"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return file("w.nft");
  }
  /// A trace that a person wrote.
  std::string by_hand(const std::string& text) const {
    const Outcome outcome =
        nearfar("trace import " + write("hand.txt", text) + " --format text -o " + file("hand.nft"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return file("hand.nft");
  }
  /// What the command says is wrong. It must not leave x.nft behind.
  std::string mistake(const std::string& arguments) const {
    const Outcome outcome = nearfar(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.out, IsEmpty()) << arguments;
    EXPECT_FALSE(exists("x.nft")) << arguments;
    return outcome.err;
  }

  ScratchFolder scratch_;
};

nlohmann::json result_of(const std::string& arguments) {
  const Outcome outcome = nearfar(arguments + " --json -");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

constexpr const char* kHand = R"(nearfar-trace 1
source "by hand"
lanes 64
times
buffer "A" 0x100000000 65536 interleave
copy host 0x100000000 65536 1 0
launch "add" 2 1 1 64 1 0 offset x
wave 0 0
time 5000
valu 4000
load 4 row 0x100000000
wait 0
store 4 row 0x100000100
wave 1 0
load 4 row 0x100001000
)";

// --- record and info

TEST_F(TraceCommand, RecordSaysWhatItHasWritten) {
  const Outcome outcome = nearfar("trace record " + kTinyWorkload + " -o " + file("w.nft"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(StartsWith(file("w.nft") + ": "), HasSubstr("4 wavefronts, 512 accesses, 0.")));
}

TEST_F(TraceCommand, RecordForWavefrontsOf32Lanes) {
  recorded(kTinyWorkload + " --lanes 32");
  EXPECT_THAT(nearfar("trace info --brief " + file("w.nft")).out,
              AllOf(HasSubstr("wavefronts of 32 lanes"), HasSubstr("wavefronts  8")));
  EXPECT_THAT(mistake("run trace:" + file("w.nft")), HasSubstr("recorded with wavefronts of 32 lanes"));
  EXPECT_EQ(nearfar("run trace:" + file("w.nft") + " --set gpu.wavefront=32 --check").code, 0);
}

TEST_F(TraceCommand, RecordIsToldWhatIsWrong) {
  const std::string out = " -o " + file("x.nft");
  EXPECT_THAT(mistake("trace record" + out), HasSubstr("needs a WORKLOAD, as in `nearfar trace record MT -o mt.nft`"));
  EXPECT_THAT(mistake("trace record MT"), HasSubstr("needs -o FILE"));
  EXPECT_THAT(mistake("trace record MT -o -"), HasSubstr("-o takes a file, not standard output."));
  EXPECT_THAT(mistake("trace record MTT" + out), AllOf(HasSubstr("MTT"), HasSubstr("Did you mean")));
  EXPECT_THAT(mistake("trace record W1" + out), HasSubstr("A trace holds one workload; W1 is several."));
  EXPECT_THAT(mistake("trace record MT --lanes 48" + out), HasSubstr("--lanes is 32 or 64, not `48`."));
  EXPECT_THAT(mistake("trace record MT --param wdth=1" + out), HasSubstr("wdth"));
  EXPECT_THAT(mistake("trace record MT -o " + file("none/x.nft")), HasSubstr("there is no folder"));
}

TEST_F(TraceCommand, InfoShowsTheHeaderAndWhatItDoes) {
  const Outcome all = nearfar("trace info " + recorded());
  EXPECT_THAT(all.out, AllOf(HasSubstr("source      MT          size=small width=64"), HasSubstr("584 instructions"),
                             HasSubstr("vector loads"), HasSubstr("pages by GPUs")));
  const Outcome brief = nearfar("trace info --brief " + file("w.nft"));
  EXPECT_THAT(brief.out, AllOf(HasSubstr("584 instructions"), Not(HasSubstr("vector loads"))));
  EXPECT_THAT(mistake("trace info --gpus 0 " + file("w.nft")), HasSubstr("--gpus"));
  EXPECT_THAT(mistake("trace info"), HasSubstr("needs the FILE of a trace"));
  EXPECT_THAT(mistake("trace info " + file("nothing.nft")), HasSubstr("cannot be read: No such file or directory."));
}

TEST_F(TraceCommand, FilesThatAreNoTraces) {
  EXPECT_THAT(mistake("trace info " + write("text.c", "int main() {}\n")),
              HasSubstr("text.c: at byte 0: this is no trace of nearfar's; `nearfar trace import` reads others."));
  const std::string whole = read_file(recorded());
  EXPECT_THAT(mistake("run trace:" + write("cut.nft", whole.substr(0, whole.size() - 9))), HasSubstr("is truncated"));
  std::string changed = whole;
  changed[whole.size() / 3] = static_cast<char>(changed[whole.size() / 3] ^ 0x55);
  EXPECT_THAT(mistake("run trace:" + write("bad.nft", changed)), HasSubstr("bad.nft: at byte "));
}

// --- replay

TEST_F(TraceCommand, AReplayGivesTheSameStatistics) {
  for (const char* options :
       {"", " --set gpus=1", " --system mmu-4gpu", " --system ats-4gpu --set dispatch.policy=round-robin"}) {
    const nlohmann::json run = result_of("run " + kTinyWorkload + options);
    const nlohmann::json replay = result_of("trace replay " + recorded() + options);
    EXPECT_EQ(run["statistics"], replay["statistics"]) << options;
    EXPECT_FALSE(run["statistics"].empty());
    EXPECT_EQ(run["cycles"], replay["cycles"]) << options;
    EXPECT_EQ(replay["statistics"], result_of("run trace:" + file("w.nft") + options)["statistics"]) << options;
  }
}

TEST_F(TraceCommand, TimingDecidesWhatPassesTime) {
  const std::string trace = by_hand(kHand);
  const auto cycles = [&](const std::string& timing) {
    return result_of("trace replay " + trace + " --param host=0 --timing " + timing)["cycles"].get<unsigned>();
  };
  // 4,000 vector instructions at 4 cycles each; 5,000 cycles as recorded; neither.
  EXPECT_GT(cycles("program"), 16'000U);
  EXPECT_GT(cycles("recorded"), 5'000U);
  EXPECT_LT(cycles("recorded"), 10'000U);
  EXPECT_LT(cycles("none"), 5'000U);
  EXPECT_THAT(mistake("trace replay " + trace + " --timing fast"),
              HasSubstr("--timing is program, recorded or none, not `fast`."));
  EXPECT_THAT(mistake("trace replay " + recorded() + " --timing recorded"), HasSubstr("was recorded without times"));
  EXPECT_THAT(mistake("run MT --size small --timing none"), HasSubstr("--timing is for traces"));
}

TEST_F(TraceCommand, TheHostsPartCanBeLeftOut) {
  const std::string trace = by_hand(kHand);
  const nlohmann::json with = result_of("trace replay " + trace),
                       without = result_of("trace replay " + trace + " --param host=0");
  EXPECT_GT(with["cycles"], without["cycles"]);
  EXPECT_EQ(with["accesses"], without["accesses"]);
  EXPECT_THAT(mistake("trace replay " + trace + " --system mmu-4gpu"), HasSubstr("a trace with --param host=0"));
  EXPECT_EQ(nearfar("trace replay " + trace + " --system mmu-4gpu --param host=0 --check").code, 0);
  EXPECT_THAT(mistake("trace replay " + trace + " --param host=2"), HasSubstr("must be 0 (only kernels) or 1"));
  EXPECT_THAT(mistake("trace replay " + trace + " --param width=2"), HasSubstr("has no parameter `width`"));
}

TEST_F(TraceCommand, ATraceStandsBesideAWorkloadInATable) {
  const Outcome outcome =
      nearfar("compare " + std::string("trace:") + recorded() + " MT --size small --param MT.width=64");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("w.nft"), HasSubstr("MT")));
}

// --- import and export

TEST_F(TraceCommand, ExportAndImportLoseNothing) {
  const std::string trace = recorded();
  EXPECT_EQ(nearfar("trace export " + trace + " -o " + file("w.txt")).code, 0);
  EXPECT_EQ(nearfar("trace export " + trace).out, read_file(file("w.txt")));
  EXPECT_EQ(nearfar("trace import " + file("w.txt") + " --format text -o " + file("again.nft")).code, 0);
  EXPECT_EQ(read_file(file("again.nft")), read_file(trace));
  EXPECT_THAT(mistake("trace export"), HasSubstr("needs the FILE of a trace"));
  EXPECT_THAT(mistake("trace export " + trace + " -o " + file("none/w.txt")), HasSubstr("there is no folder"));
}

TEST_F(TraceCommand, ImportsATable) {
  const std::string table =
      write("t.csv", "kind,address,bytes,workgroup\nload,0x100000000,256,0\nstore,0x100000100,256,1\n");
  const Outcome outcome = nearfar("trace import " + table + " --format csv -o " + file("t.nft"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 wavefronts, 8 accesses"));
  EXPECT_EQ(nearfar("run trace:" + file("t.nft") + " --check").code, 0);
}

TEST_F(TraceCommand, ImportsAKernelOfAccelSim) {
  const std::string kernel =
      write("k.traceg",
            "-kernel name = add\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n"
            "-shmem base_addr = 0x00007f0039000000\n-local mem base_addr = 0x00007f0037000000\n"
            "-accelsim tracer version = 4\n\n#traces format = PC mask\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n"
            "warp = 0\ninsts = 1\n0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 4\n\n#END_TB\n");
  const Outcome outcome = nearfar("trace import " + kernel + " --format accel-sim -o " + file("k.nft"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(nearfar("trace export " + file("k.nft")).out,
              AllOf(HasSubstr("lanes 32"), HasSubstr("launch \"add\" 1 1 1 32")));
}

TEST_F(TraceCommand, ImportIsToldWhatIsWrong) {
  const std::string text = write("t.txt", "nearfar-trace 1\nbufer A 0x100000000 4096 host\n");
  const std::string out = " -o " + file("x.nft");
  EXPECT_THAT(mistake("trace import" + out), HasSubstr("needs a FILE to read"));
  EXPECT_THAT(mistake("trace import " + text + out), HasSubstr("needs --format: accel-sim, csv, text"));
  EXPECT_THAT(mistake("trace import " + text + " --format txt" + out),
              HasSubstr("--format is one of accel-sim, csv, text, not `txt`. Did you mean `text`?"));
  EXPECT_THAT(mistake("trace import " + text + " --format text"), HasSubstr("needs -o FILE"));
  EXPECT_THAT(mistake("trace import " + text + " --format csv --lanes 16" + out), HasSubstr("--lanes is 32 or 64"));
  EXPECT_THAT(mistake("trace import " + text + " --format text" + out),
              AllOf(HasSubstr("t.txt:2:"), HasSubstr("buffer")));
  EXPECT_THAT(mistake("trace import " + file("no.txt") + " --format text" + out), HasSubstr("cannot be read"));
  EXPECT_THAT(mistake("trace import " + write("t.csv", "kind,addres\nload,0\n") + " --format csv" + out),
              HasSubstr("t.csv:1: "));
  EXPECT_THAT(mistake("trace import " + write("list.g", "nothing\n") + " --format accel-sim" + out),
              HasSubstr("list.g:1: `nothing` is neither a copy nor the trace of a kernel"));
}

TEST_F(TraceCommand, APartIsNeeded) {
  EXPECT_THAT(mistake("trace"), HasSubstr("`nearfar trace` needs one of: record, info, replay, import, export."));
  EXPECT_THAT(mistake("trace recrod"), HasSubstr("Did you mean `record`?"));
}

}  // namespace
}  // namespace nearfar::trace_command_test
