#include "cli/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "cli/process.h"
#include "config/error.h"

namespace nearfar::output_file_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::read_file;
using testing::ScratchFolder;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

template <class Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OutputFile, WritesTheWholeTextAndNothingBesideIt) {
  const ScratchFolder scratch;
  const std::string text(3 << 20, 'x');
  OutputFile(scratch.file("result.json")).write(text);
  EXPECT_EQ(read_file(scratch.file("result.json")), text);
  EXPECT_EQ(files_in(scratch.path()), 1U);
}

TEST(OutputFile, HasThePermissionsOfAnyNewFile) {
  const ScratchFolder scratch;
  const mode_t before = umask(022);
  OutputFile(scratch.file("result.json")).write("x");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(scratch.file("result.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST(OutputFile, IsNotTouchedUntilItIsWritten) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("result.json")) << "old";
  const OutputFile file(scratch.file("result.json"));
  EXPECT_EQ(read_file(scratch.file("result.json")), "old");
  file.write("new");
  EXPECT_EQ(read_file(scratch.file("result.json")), "new");
}

TEST(OutputFile, AFailedWriteLeavesTheOldFileAndNoOther) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("result.json")) << "old";
  const OutputFile file(scratch.file("result.json"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string complaint = complaint_of([&] { file.write(std::string(1 << 20, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(complaint, HasSubstr("cannot be written: File too large"));
  EXPECT_EQ(read_file(scratch.file("result.json")), "old");
  EXPECT_EQ(files_in(scratch.path()), 1U);
}

TEST(OutputFile, ALinkStaysALink) {
  const ScratchFolder scratch;
  fs::create_symlink(scratch.file("target"), scratch.file("link"));
  std::ofstream(scratch.file("target")) << "old";
  OutputFile(scratch.file("link")).write("new");
  EXPECT_TRUE(fs::is_symlink(scratch.file("link")));
  EXPECT_EQ(read_file(scratch.file("target")), "new");
}

TEST(OutputFile, ALinkToNothingStaysALink) {
  const ScratchFolder scratch;
  fs::create_symlink("target", scratch.file("second"));
  fs::create_symlink("second", scratch.file("first"));
  OutputFile(scratch.file("first")).write("new");
  EXPECT_TRUE(fs::is_symlink(scratch.file("first")) && fs::is_symlink(scratch.file("second")));
  EXPECT_EQ(read_file(scratch.file("target")), "new");
  fs::create_symlink("round", scratch.file("round"));
  EXPECT_THAT(complaint_of([&] { OutputFile(scratch.file("round")); }), HasSubstr("Too many levels of symbolic links"));
  fs::create_symlink("none/target", scratch.file("nowhere"));
  EXPECT_THAT(complaint_of([&] { OutputFile(scratch.file("nowhere")); }), HasSubstr("there is no folder"));
}

TEST(OutputFile, PermissionsStayAsTheyAre) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("result.json")) << "old";
  fs::permissions(scratch.file("result.json"), fs::perms(0600));
  OutputFile(scratch.file("result.json")).write("new");
  EXPECT_EQ(read_file(scratch.file("result.json")), "new");
  EXPECT_EQ(fs::status(scratch.file("result.json")).permissions(), fs::perms(0600));
}

TEST(OutputFile, RefusesAFileThatIsReadOnly) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("result.json")) << "old";
  fs::permissions(scratch.file("result.json"), fs::perms(0444));
  EXPECT_THAT(complaint_of([&] { OutputFile(scratch.file("result.json")); }),
              HasSubstr("cannot be written: it is read-only."));
  EXPECT_EQ(read_file(scratch.file("result.json")), "old");
}

TEST(OutputFile, ADeviceIsWrittenToNotReplaced) {
  OutputFile("/dev/null").write("x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, TwoResultsNeedTwoPlaces) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path() / "folder");
  fs::create_symlink("a.json", scratch.file("link"));
  const std::optional<OutputFile> none, first(scratch.file("a.json")), other(scratch.file("b.json"));
  const std::optional<OutputFile> null("/dev/null"), standard("-");
  EXPECT_FALSE(check_outputs({&none, &first, &none, &other, &null, &null}));
  EXPECT_TRUE(check_outputs({&first, &standard}));
  EXPECT_THAT(complaint_of([&] { check_outputs({&standard, &first, &standard}); }), HasSubstr("standard output"));
  for (const char* name : {"a.json", "./a.json", "folder/../a.json", "link"}) {
    const std::optional<OutputFile> same(scratch.file(name));
    EXPECT_THAT(complaint_of([&] {
                  check_outputs({&first, &none, &same});
                }),
                HasSubstr("Two results cannot go to one file, `" + scratch.file("a.json") + "`"));
  }
  const std::optional<OutputFile> here("a.json"), also_here("./a.json");
  EXPECT_EQ(complaint_of([&] {
              check_outputs({&here, &also_here});
            }),
            "Two results cannot go to one file, `a.json` and `./a.json`, which is the same.");
}

TEST(OutputFile, RefusesAFolderThatIsNotThere) {
  const ScratchFolder scratch;
  EXPECT_THAT(complaint_of([&] { OutputFile(scratch.file("none/result.json")); }), HasSubstr("there is no folder"));
}

TEST(OutputFile, RefusesAFolderInsteadOfAFile) {
  const ScratchFolder scratch;
  EXPECT_THAT(complaint_of([&] { OutputFile(scratch.path().string()); }), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace nearfar::output_file_test
