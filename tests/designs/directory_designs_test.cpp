// The designs of coherence directories: where they fit, what they refuse, and what they cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/error.h"
#include "designs/design.h"

namespace nearfar::directory_designs_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

Names directory_designs() {
  Names names;
  for (const Design& design : all_designs()) {
    if (std::ranges::find(design.seams, "directory") != design.seams.end()) names.push_back(design.name);
  }
  return names;
}

std::string refusal(const Names& designs, const std::string& system, const Names& overrides = {}) {
  try {
    load_system_with(designs, system, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(DirectoryDesigns, AreAllThere) {
  EXPECT_EQ(directory_designs(), (Names{"carve", "dir-12x", "dir-2x", "dir-3x", "dir-4x", "dir-5x", "dir-6x", "dir-8x",
                                        "dir-ideal", "hmg", "multi-grain", "rec"}));
}

TEST(DirectoryDesigns, NeedSystemsWithDirectories) {
  for (const std::string& name : directory_designs()) {
    EXPECT_EQ(
        refusal({name}, "mmu-4gpu"),
        "The design `" + name +
            "` changes systems with remote_cache=l1l2 and coherence=directory; `mmu-4gpu` has remote_cache=l1 and "
            "coherence=boundary.");
    EXPECT_THAT(
        refusal({name}, "ats-4gpu", {"remote_cache=l1l2"}),
        AllOf(HasSubstr("`" + name + "`"), HasSubstr("`ats-4gpu` has remote_cache=l1l2 and coherence=boundary")));
    EXPECT_THAT(refusal({name}, "rec-4gpu", {"coherence=boundary"}), HasSubstr("coherence=boundary"));
  }
}

TEST(DirectoryDesigns, DoNotGoWithPostedStores) {
  EXPECT_EQ(refusal({"rec", "finepack"}, "rec-4gpu"),
            "The designs `finepack` and `rec` cannot be combined: `rec` needs remote_cache=l1l2, with which the stores "
            "that `finepack` decides about are not posted.");
  EXPECT_EQ(refusal({"finepack", "rec"}, "rec-4gpu"), refusal({"rec", "finepack"}, "rec-4gpu"));
}

TEST(DirectoryDesigns, FitEveryKindOfTranslation) {
  const Names with_directories = {"remote_cache=l1l2", "coherence=directory"};
  for (const std::string& name : directory_designs()) {
    for (const char* system : {"rec-4gpu", "rec-nvidia", "rec-mmu-4gpu"}) EXPECT_EQ(refusal({name}, system), "");
    for (const char* system : {"ideal-4gpu", "mmu-4gpu", "ats-4gpu", "svm-1gpu"}) {
      EXPECT_EQ(refusal({name}, system, with_directories), "") << system;
    }
  }
}

TEST(DirectoryDesigns, ExcludeOneAnother) {
  EXPECT_THAT(refusal({"rec", "hmg"}, "rec-4gpu"), HasSubstr("both decide the seam `directory`"));
  EXPECT_THAT(refusal({"dir-2x", "rec"}, "rec-4gpu"), HasSubstr("both decide the seam `directory`"));
  EXPECT_EQ(refusal({"rec", "idyll"}, "rec-mmu-4gpu"), "");
}

TEST(DirectoryDesigns, RefuseBlocksThatCannotBe) {
  EXPECT_THAT(refusal({"hmg"}, "rec-nvidia", {"hmg.lines=64"}),
              AllOf(HasSubstr("a block of `hmg.lines` lines must not be larger than a 4KiB frame"),
                    HasSubstr("gpu.line = 128")));
  EXPECT_EQ(refusal({"hmg"}, "rec-nvidia", {"hmg.lines=32"}), "");
  EXPECT_THAT(refusal({"hmg"}, "rec-4gpu", {"hmg.lines=3"}), HasSubstr("hmg.lines"));
  EXPECT_THAT(refusal({"rec"}, "rec-nvidia", {"rec.range=64"}), HasSubstr("`rec.range` must be at least a line"));
  EXPECT_EQ(refusal({"rec"}, "rec-nvidia", {"rec.range=128"}), "");
  EXPECT_THAT(refusal({"rec"}, "rec-4gpu", {"rec.range=8KiB"}), HasSubstr("rec.range"));
}

TEST(DirectoryDesigns, RefuseMoreGpusThanAnEntryHasBits) {
  EXPECT_EQ(refusal({"rec"}, "rec-4gpu", {"gpus=64"}), "");
  EXPECT_THAT(refusal({"rec"}, "rec-4gpu", {"gpus=65"}), HasSubstr("at most 64 GPUs"));
}

TEST(DirectoryDesigns, RecFillsInARangeOfSixteenLines) {
  const auto range = [](const std::string& system, const Names& overrides) {
    const LoadedSystem loaded = load_system_with(Names{"rec"}, system, overrides);
    return *std::ranges::find(loaded.parameters, "rec.range", &EffectiveParameter::path);
  };
  EXPECT_EQ(range("rec-4gpu", {}).value, "1KiB");
  EXPECT_EQ(range("rec-4gpu", {}).typed, "auto");
  EXPECT_EQ(range("rec-nvidia", {}).value, "2KiB");
  EXPECT_EQ(range("rec-nvidia", {"rec.range=auto"}).value, "2KiB");
  EXPECT_EQ(range("rec-nvidia", {"rec.range=256"}).value, "256B");
  EXPECT_EQ(range("rec-nvidia", {"rec.range=256"}).origin, "--set");
}

// ------------------------------------------------------------------------------------------------------------- storage

StorageItem storage(const std::string& design, const Names& overrides = {}, const std::string& system = "rec-4gpu") {
  return cost_of(Names{design}, system, overrides).at(0).items.at(0);
}
double kib(std::uint64_t bits) { return static_cast<double>(bits) / 8 / 1024; }

TEST(DirectoryCost, S34IsThePublishedOne) {
  EXPECT_EQ(kib(storage("rec").bits), 103);
  EXPECT_EQ(kib(storage("rec").baseline_bits), 52);
  EXPECT_EQ(storage("rec").formula, "8192 entries × (38 base + 16 positions × (1 + 3 sharers) + 1 valid) bits");
  EXPECT_EQ(kib(storage("hmg").bits), 52);
  EXPECT_EQ(kib(storage("dir-2x").bits), 104);
  EXPECT_EQ(kib(storage("dir-6x").bits), 312);
  EXPECT_EQ(kib(storage("dir-12x").bits), 624);
  EXPECT_EQ(kib(storage("dir-12x").baseline_bits), 52);
  EXPECT_EQ(storage("dir-ideal").bits, 0U) << "no hardware";
  EXPECT_TRUE(storage("rec").per_gpu);
}

TEST(DirectoryCost, FollowsTheParameters) {
  EXPECT_EQ(kib(storage("rec", {"rec.range=128"}).bits), 50);
  EXPECT_EQ(kib(storage("rec", {"rec.range=256"}).bits), 57);
  EXPECT_EQ(kib(storage("rec", {"rec.range=4KiB"}).bits), 293);
  EXPECT_EQ(kib(storage("rec", {"gpus=8"}).bits), 167);
  EXPECT_EQ(kib(storage("rec", {"gpus=8"}).baseline_bits), 56);
  EXPECT_EQ(kib(storage("rec", {"gpus=16"}).bits), 295);
  EXPECT_EQ(kib(storage("rec", {"directory.entries=4096"}).bits), 51.5);
  EXPECT_EQ(kib(storage("rec", {}, "rec-nvidia").bits), 102) << "16 lines are 2 KiB there";
}

}  // namespace
}  // namespace nearfar::directory_designs_test
