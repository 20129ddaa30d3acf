// Plug-ins: designs and workloads that the real program loads from a shared object.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/process.h"

namespace nearfar::plugin_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::nearfar;
using ::testing::Not;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;
using testing::ScratchFolder;
namespace fs = std::filesystem;

const std::string kSample = SAMPLE_PLUGIN;
const std::string kRun = "run SampleFill --size small --system mmu-4gpu ";

Outcome with(const std::string& plugin, const std::string& arguments) {
  return nearfar("--plugin " + plugin + " " + arguments);
}

TEST(Plugin, BringsADesignWithItsStatistics) {
  const ScratchFolder folder;
  const std::string json = folder.file("result.json");
  const Outcome ran =
      with(kSample, "run MT --size small --param width=64 --system mmu-4gpu --design sample-filter --json " + json);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(read_file(json), AllOf(HasSubstr("gpus.sample.asked"), HasSubstr("sample.latency"), HasSubstr("sha256")));
}

TEST(Plugin, ItsParametersChangeTheRun) {
  const ScratchFolder folder;
  const auto cycles = [&](const std::string& set) {
    const std::string json = folder.file("result.json");
    EXPECT_EQ(with(kSample, kRun + "--design sample-filter --json " + json + " " + set).code, 0);
    const std::string text = read_file(json);
    const std::size_t at = text.find("\"cycles\":");
    return text.substr(at, text.find(',', at) - at);
  };
  EXPECT_NE(cycles(""), cycles("--set sample.latency=900"));
}

TEST(Plugin, IsListed) {
  EXPECT_THAT(with(kSample, "list designs").out, HasSubstr("sample-filter"));
  EXPECT_THAT(with(kSample, "list workloads").out, HasSubstr("SampleFill"));
  EXPECT_THAT(with(kSample, "list statistics").out, HasSubstr("gpus.sample.asked"));
  EXPECT_THAT(nearfar("list designs").out, Not(HasSubstr("sample-filter")));
}

TEST(Plugin, ComesFromTheEnvironmentToo) {
  const Outcome ran = run_shell("NEARFAR_PLUGINS=" + kSample + " " + testing::kProgram + kRun);
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST(Plugin, NamedTwiceIsLoadedOnce) {
  const Outcome ran = with(kSample, "--plugin " + kSample + " list designs");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST(Plugin, IsKnownToTheRunsOfAComparison) {
  const ScratchFolder scratch;
  const Outcome ran =
      with(kSample, "compare SampleFill --size small --system mmu-4gpu --design baseline,sample-filter --database " +
                        scratch.file("a.db"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("sample-filter"));
}

TEST(Plugin, ThatIsMissingIsRefused) {
  const Outcome ran = with("no-such.so", "list designs");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("There is no plug-in `no-such.so`."));
}

TEST(Plugin, MustBeOne) {
  const Outcome ran = with(NEARFAR_SOURCE_DIR "/README.md", "list designs");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is no plug-in of nearfar"));
}

TEST(Plugin, OfAnotherModelIsRefused) {
  const ScratchFolder folder;
  std::string content = read_file(kSample);
  const std::string mark = "nearfar plug-in for model ";
  const std::size_t at = content.find(mark);
  ASSERT_NE(at, std::string::npos);
  content.replace(at + mark.size(), 4, "0000");
  std::ofstream(folder.file("old.so"), std::ios::binary) << content;
  const Outcome ran = with(folder.file("old.so"), "list designs");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("another version of the model"), HasSubstr("0000")));
}

TEST(Plugin, CannotTakeANameThatIsTaken) {
  const ScratchFolder folder;
  fs::copy_file(kSample, folder.file("again.so"));
  const Outcome ran = with(kSample, "--plugin " + folder.file("again.so") + " list designs");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("There is a design `sample-filter` already."));
}

}  // namespace
}  // namespace nearfar::plugin_test
