// From names to machines: inheritance, precedence of files, overrides and presets, origins, and finding systems/.
#include "machine/system_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/schema.h"
#include "config/temp_systems.h"

namespace nearfar::system_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Overrides = std::vector<std::string>;

std::string origin(const LoadedSystem& system, std::string_view path) { return parameter(system, path).origin; }
std::string value(const LoadedSystem& system, std::string_view path) { return parameter(system, path).value; }

TEST(SystemFile, NothingSaidMeansDefaults) {
  const TempSystems systems;
  systems.write("x", "description: Nothing else.\n");
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(loaded.spec.name, "x");
  EXPECT_EQ(loaded.spec.gpus, SystemSpec{}.gpus);
  for (const EffectiveParameter& p : loaded.parameters) {
    EXPECT_EQ(p.value, p.default_value) << p.path;
    EXPECT_THAT(p.origin, testing::AnyOf("default", "standard hbm", "standard ddr4-2400")) << p.path;
    EXPECT_FALSE(p.range.empty()) << p.path;
    EXPECT_TRUE(p.sentence.ends_with('.')) << p.path;
  }
}

TEST(SystemFile, DerivedFileWinsOverItsBase) {
  const TempSystems systems;
  systems.write("old", "abstract: true\ngpus: 2\ngpu:\n  line: 128\n  l2: {size: 1MiB, ways: 8}\n");
  systems.write("middle", "base: old\ngpu:\n  l2: {size: 4MiB}\n");
  systems.write("x", "base: middle\ngpus: 8\n");
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(loaded.spec.gpus, 8U);
  EXPECT_EQ(loaded.spec.gpu.l2.size, 4_MiB);
  EXPECT_EQ(loaded.spec.gpu.l2.ways, 8U);
  EXPECT_EQ(loaded.spec.gpu.line, 128U);
  EXPECT_EQ(origin(loaded, "gpus"), "systems/x.yaml:2:7");
  EXPECT_EQ(origin(loaded, "gpu.l2.size"), "systems/middle.yaml:3:14");
  EXPECT_EQ(origin(loaded, "gpu.l2.ways"), "systems/old.yaml:5:26");
  EXPECT_EQ(origin(loaded, "gpu.l2.banks"), "default");
}

TEST(SystemFile, KeysThatAreWrongInABaseAreWrongEvenWhenOverridden) {
  const TempSystems systems;
  systems.write("old", "gpus: many\n");
  systems.write("x", "base: old\ngpus: 8\n");
  EXPECT_THAT(failure("x", {"gpus=4"}), StartsWith("systems/old.yaml:1:7: `gpus` takes a whole number"));
}

TEST(SystemFile, OverridesWinAndTheLastOneStands) {
  const TempSystems systems;
  systems.write("x", "gpus: 2\nlink: {latency: 10}\n");
  const LoadedSystem loaded = load_system("x", Overrides{"gpus=3", "gpu.l2.size=4MiB", "gpus=5"});
  EXPECT_EQ(loaded.spec.gpus, 5U);
  EXPECT_EQ(loaded.spec.gpu.l2.size, 4_MiB);
  EXPECT_EQ(origin(loaded, "gpus"), "--set");
  EXPECT_EQ(origin(loaded, "gpu.l2.size"), "--set");
  EXPECT_EQ(origin(loaded, "link.latency"), "systems/x.yaml:2:17");
}

TEST(SystemFile, AnOverrideMayHoldAnEqualsSign) {
  const TempSystems systems;
  systems.write("x", "gpus: 2\n");
  EXPECT_THAT(failure("x", {"gpus=4=5"}), HasSubstr("`4=5` is not a whole number"));
}

TEST(SystemFile, AStandardFillsTheTimings) {
  const TempSystems systems;
  systems.write("x", "gpu: {dram: {standard: ddr3-1600}}\n");
  const LoadedSystem loaded = load_system("x", Overrides{"gpu.clock=2GHz"});
  const DramSpec& dram = loaded.spec.gpu.dram;
  EXPECT_EQ(dram.standard, DramStandard::Ddr3_1600);
  EXPECT_EQ(dram.t_cl, 28U);
  EXPECT_EQ(dram.t_ras, 70U);
  EXPECT_EQ(dram.t_wtr, 15U);
  EXPECT_EQ(dram.t_refi, 15'600U);
  EXPECT_EQ(dram.row, 8_KiB);
  EXPECT_EQ(dram.channel_bandwidth.bytes_per_second, 12'800'000'000U);
  EXPECT_EQ(origin(loaded, "gpu.dram.t_cl"), "standard ddr3-1600");
  EXPECT_EQ(parameter(loaded, "gpu.dram.t_cl").typed, "13.75ns");
}

TEST(SystemFile, AStandardYieldsToKeysBesideIt) {
  const TempSystems systems;
  systems.write("x", "gpu: {dram: {t_cl: 99, t_ras: 120, standard: gddr5}}\n");
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(loaded.spec.gpu.dram.t_cl, 99U);
  EXPECT_EQ(loaded.spec.gpu.dram.t_rcd, 14U);
  EXPECT_EQ(loaded.spec.gpu.dram.t_wr, 12U);
  EXPECT_EQ(origin(loaded, "gpu.dram.t_cl"), "systems/x.yaml:1:20");
}

TEST(SystemFile, AStandardYieldsToKeysOfMoreDerivedFiles) {
  const TempSystems systems;
  systems.write("old", "gpu: {dram: {standard: gddr5}}\n");
  systems.write("x", "base: old\ngpu: {dram: {t_wr: 20}}\n");
  EXPECT_EQ(load_system("x", {}).spec.gpu.dram.t_wr, 20U);
  EXPECT_EQ(load_system("x", Overrides{"gpu.dram.t_wr=21"}).spec.gpu.dram.t_wr, 21U);
}

TEST(SystemFile, AStandardWinsOverKeysOfItsBase) {
  const TempSystems systems;
  systems.write("old", "gpu: {dram: {t_wr: 20}}\n");
  systems.write("x", "base: old\ngpu: {dram: {standard: gddr5}}\n");
  EXPECT_EQ(load_system("x", {}).spec.gpu.dram.t_wr, 12U);
  EXPECT_EQ(load_system("old", Overrides{"gpu.dram.standard=gddr5"}).spec.gpu.dram.t_wr, 12U);
}

TEST(SystemFile, AStandardAmongTheOverridesYieldsToThemInAnyOrder) {
  const TempSystems systems;
  systems.write("x", "gpus: 1\n");
  for (const Overrides& overrides : {Overrides{"gpu.dram.standard=gddr5", "gpu.dram.t_wr=9"},
                                     Overrides{"gpu.dram.t_wr=9", "gpu.dram.standard=gddr5"}}) {
    const LoadedSystem loaded = load_system("x", overrides);
    EXPECT_EQ(loaded.spec.gpu.dram.t_wr, 9U);
    EXPECT_EQ(loaded.spec.gpu.dram.t_ras, 28U);
  }
}

TEST(SystemFile, CustomFillsNothing) {
  const TempSystems systems;
  systems.write("x", "gpu: {clock: 2GHz, dram: {standard: custom}}\n");
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(loaded.spec.gpu.dram.t_cl, DramSpec{}.t_cl);
  EXPECT_EQ(origin(loaded, "gpu.dram.t_cl"), "default");
}

TEST(SystemFile, OneDeviceDoesNotTakeTheStandardOfAnother) {
  const TempSystems systems;
  systems.write("x", "host: {dram: {standard: ddr3-1600}}\n");
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(value(loaded, "host.dram.channel_bandwidth"), "12.8GB/s");
  EXPECT_EQ(value(loaded, "gpu.dram.channel_bandwidth"), "16GB/s");
}

TEST(SystemFile, DefaultsOfMemoryAreWhatTheirStandardSays) {
  DramSpec hbm;
  hbm.set_standard(DramStandard::Hbm, 1000_MHz);
  const DramSpec plain;
  const Schema expected(const_cast<DramSpec&>(plain)), filled(hbm);
  for (std::size_t i = 0; i < expected.parameters().size(); ++i) {
    EXPECT_EQ(filled.parameters()[i].default_text, expected.parameters()[i].default_text)
        << expected.parameters()[i].path;
  }
}

TEST(SystemFile, TimesAreRoundedOnceWithTheFinalClock) {
  const TempSystems systems;
  systems.write("old", "gpu: {clock: 1GHz}\nlink: {latency: 106.7ns}\n");
  systems.write("x", "base: old\ngpu: {clock: 2GHz}\n");
  EXPECT_EQ(load_system("old", {}).spec.link.latency, 107U);
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(loaded.spec.link.latency, 213U);  // and not 2 × 107
  EXPECT_EQ(parameter(loaded, "link.latency").value, "213");
  EXPECT_EQ(parameter(loaded, "link.latency").typed, "106.7ns");
  EXPECT_EQ(load_system("x", Overrides{"gpu.clock=3GHz"}).spec.link.latency, 320U);
}

TEST(SystemFile, BandwidthPerCycleFollowsTheFinalClock) {
  const TempSystems systems;
  systems.write("x", "link: {bandwidth: 16B/cycle}\n");
  EXPECT_EQ(load_system("x", Overrides{"gpu.clock=1.4GHz"}).spec.link.bandwidth.bytes_per_second, 22'400'000'000U);
}

TEST(SystemFile, ReadsEveryKindOfValue) {
  const TempSystems systems;
  systems.write("x",
                "gpus: 128\n"
                "gpu: {clock: 1.4GHz, wavefront: 32}\n"
                "link: {topology: all-to-all, bandwidth: 300 GB/s, header: 12}\n"
                "placement: {initial: interleave}\n"
                "dispatch: {policy: round-robin}\n"
                "remote_cache: none\n"
                "boundary: {write_back: false}\n"
                "watchdog: {cycles: \"70000 cycles\"}\n");
  const SystemSpec spec = load_system("x", {}).spec;
  EXPECT_EQ(spec.gpus, 128U);
  EXPECT_EQ(spec.gpu.clock.hertz, 1'400'000'000U);
  EXPECT_EQ(spec.gpu.wavefront, 32U);
  EXPECT_EQ(spec.link.topology, TopologyKind::AllToAll);
  EXPECT_EQ(spec.link.bandwidth.bytes_per_second, 300'000'000'000U);
  EXPECT_EQ(spec.link.header, 12U);
  EXPECT_EQ(spec.placement, InitialPlacement::Interleave);
  EXPECT_EQ(spec.dispatch, DispatchPolicy::RoundRobin);
  EXPECT_EQ(spec.remote_cache, RemoteCache::None);
  EXPECT_FALSE(spec.boundary.write_back);
  EXPECT_EQ(spec.watchdog, 70'000U);
}

TEST(SystemFile, ReadsWindowsLineEndsAndAByteOrderMark) {
  const TempSystems systems;
  systems.write("x", "\xef\xbb\xbfgpus: 2\r\ngpu:\r\n  line: 128\r\n");
  const LoadedSystem loaded = load_system("x", {});
  EXPECT_EQ(loaded.spec.gpus, 2U);
  EXPECT_EQ(loaded.spec.gpu.line, 128U);
  EXPECT_EQ(origin(loaded, "gpu.line"), "systems/x.yaml:3:9");
}

TEST(SystemFile, AFileMayBeNamedByItsPath) {
  const TempSystems systems;
  systems.write("shared", "gpus: 3\n");
  const std::string folder = (systems.root() / "mine").string();
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/local.yaml") << "base: shared\nlink: {latency: 7}\n";
  std::ofstream(folder + "/x.yaml") << "base: local\n";
  std::ofstream(folder + "/y.yaml") << "base: ./local.yaml\n";
  for (const char* name : {"/x.yaml", "/y.yaml"}) {
    const LoadedSystem loaded = load_system(folder + name, {});
    EXPECT_EQ(loaded.spec.gpus, 3U);
    EXPECT_EQ(loaded.spec.link.latency, 7U);
    EXPECT_EQ(origin(loaded, "gpus"), "systems/shared.yaml:1:7");
    EXPECT_EQ(origin(loaded, "link.latency"), folder + "/local.yaml:2:17");
  }
}

TEST(SystemFile, CyclesOfInheritanceAreShown) {
  const TempSystems systems;
  systems.write("x", "base: y\n");
  systems.write("y", "gpus: 4\nbase: z\n");
  systems.write("z", "base: y\n");
  EXPECT_EQ(failure("x"),
            "systems/z.yaml:1:7: `y` inherits from itself: y → z → y.\n"
            "    1 | base: y\n"
            "      |       ^");
  systems.write("self", "base: self\n");
  EXPECT_THAT(failure("self"), HasSubstr("`self` inherits from itself: self → self."));
}

TEST(SystemFile, LongChainsAreRefused) {
  const TempSystems systems;
  systems.write("s0", "gpus: 1\n");
  for (int i = 1; i < 30; ++i) systems.write("s" + std::to_string(i), "base: s" + std::to_string(i - 1) + "\n");
  EXPECT_EQ(failure("s15"), "");
  EXPECT_THAT(failure("s16"), HasSubstr("more than 16 files inherit from one another"));
}

TEST(SystemFile, AbstractIsNotInherited) {
  const TempSystems systems;
  systems.write("old", "abstract: true\n");
  systems.write("x", "base: old\n");
  EXPECT_EQ(failure("x"), "");
  EXPECT_EQ(failure("old"),
            "systems/old.yaml:1:11: `old` is only a base for other systems and cannot be run alone.\n"
            "    1 | abstract: true\n"
            "      |           ^~~~");
}

TEST(SystemFile, AMissingSystemGetsTheNearestName) {
  const TempSystems systems;
  systems.write("ideal-4gpu", "gpus: 4\n");
  systems.write("ring-8gpu", "gpus: 8\n");
  systems.write("base", "abstract: true\n");
  const std::string where = systems.directory().string();
  EXPECT_EQ(failure("ideal-4gp"), "there is no system `ideal-4gp` in " + where +
                                      ". Did you mean `ideal-4gpu`? The systems are ideal-4gpu, ring-8gpu.");
  EXPECT_EQ(failure("other/thing"), "there is no system `other/thing` in " + where +
                                        ". The systems are ideal-4gpu, ring-8gpu. A file is named by a path that ends "
                                        "in .yaml.");
}

TEST(SystemFile, FilesThatCannotBeReadSaySo) {
  const TempSystems systems;
  const std::string folder = systems.directory().string();
  EXPECT_EQ(failure(folder + "/none.yaml"), folder + "/none.yaml: there is no such file.");
  std::filesystem::create_symlink("round.yaml", folder + "/round.yaml");  // neither there nor not there
  EXPECT_EQ(failure(folder + "/round.yaml"),
            folder + "/round.yaml: cannot be read: Too many levels of symbolic links.");
  std::filesystem::create_directory(folder + "/folder.yaml");
  EXPECT_EQ(failure(folder + "/folder.yaml"), folder + "/folder.yaml: is a directory, not a file.");
  EXPECT_EQ(failure("folder"), "systems/folder.yaml: is a directory, not a file.");
  systems.write("huge", std::string((std::size_t{1} << 20) + 1, '#'));
  EXPECT_EQ(failure("huge"), "systems/huge.yaml: is larger than 1MiB, which no system needs.");
  std::filesystem::create_symlink("/dev/zero", folder + "/endless.yaml");
  EXPECT_EQ(failure("endless"), "systems/endless.yaml: is not a regular file.");
}

TEST(SystemFile, LargeFilesThatAreAllowedAreQuick) {
  const TempSystems systems;
  std::string keys = "a: {";
  for (int i = 0; keys.size() < 1'000'000; ++i) keys += "k" + std::to_string(i) + ": 1,\n ";
  systems.write("keys", keys + "}\n");
  EXPECT_THAT(failure("keys"), StartsWith("systems/keys.yaml:1:1: a system has no key `a`."));
  systems.write("nested", "a: " + std::string(1'000'000, '['));
  EXPECT_THAT(failure("nested"), StartsWith("systems/nested.yaml:1:1004: more than 1000 brackets are open."));
  std::string laughs = "a0: &a0 [lol]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  systems.write("laughs", laughs);
  EXPECT_THAT(failure("laughs"), StartsWith("systems/laughs.yaml:1:5: anchors (&) are not used in systems"));
}

TEST(SystemFile, AnEnvironmentVariableThatNamesNoFolderIsAnError) {
  const TempSystems systems;
  const std::string nowhere = (systems.root() / "nowhere").string();
  setenv("NEARFAR_SYSTEMS", nowhere.c_str(), 1);
  EXPECT_EQ(failure("x"), "NEARFAR_SYSTEMS names `" + nowhere + "`, which is not a directory.");
}

TEST(SystemFile, TheFolderIsTheCurrentOneOrStandsAboveTheProgram) {
  const TempSystems systems;
  systems.write("only-here", "gpus: 2\n");
  unsetenv("NEARFAR_SYSTEMS");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(systems.root());
  EXPECT_EQ(failure("only-here"), "");
  std::filesystem::current_path("/");
  EXPECT_EQ(failure("ideal-4gpu"), "");
  std::filesystem::current_path(before);
}

TEST(SystemFile, ListsWhatCanBeRun) {
  const TempSystems systems;
  systems.write("b", "description: The second.\n");
  systems.write("a", "description: The first.\n");
  systems.write("base", "abstract: true\n");
  systems.write("broken", "gpus: [\n");
  std::ofstream(systems.directory() / "notes.txt") << "not a system";
  std::vector<std::string> names, sentences;
  for (const SystemSummary& system : list_systems()) {
    names.push_back(system.name);
    sentences.push_back(system.sentence);
    EXPECT_EQ(system.path, (systems.directory() / (system.name + ".yaml")).string());
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "broken"));
  EXPECT_THAT(sentences, ElementsAre("The first.", "The second.",
                                     "Cannot be read: systems/broken.yaml:1:8: this is not YAML: flow sequence without "
                                     "a closing bracket."));
}

TEST(SystemFile, TextInMemoryIsReadLikeAFile) {
  const TempSystems systems;
  systems.write("old", "gpus: 2\n");
  const LoadedSystem loaded = load_system_text("base: old\nlink: {latency: 5}\n", "memory", {});
  EXPECT_EQ(loaded.spec.gpus, 2U);
  EXPECT_EQ(origin(loaded, "link.latency"), "memory:2:17");
}

}  // namespace
}  // namespace nearfar::system_file_test
