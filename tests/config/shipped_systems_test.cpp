// The systems in systems/: each loads, says what its source says, and survives being written out and read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "config/temp_systems.h"
#include "machine/system_file.h"

namespace nearfar::shipped_systems_test {
namespace {

class ShippedSystems : public testing::Test {
 protected:
  void SetUp() override { setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1); }
  void TearDown() override { unsetenv("NEARFAR_SYSTEMS"); }
};

/// What distinguishes two specs, for messages; values compare as text, which is exact.
std::vector<std::string> values(const LoadedSystem& system) {
  std::vector<std::string> all;
  for (const EffectiveParameter& p : system.parameters) all.push_back(p.path + "=" + p.value);
  return all;
}

TEST_F(ShippedSystems, AllLoadAndSayWhatTheyAre) {
  std::vector<std::string> names;
  for (const SystemSummary& system : list_systems()) {
    names.push_back(system.name);
    EXPECT_TRUE(system.sentence.ends_with('.')) << system.name;
    EXPECT_EQ(failure(system.name), "");
  }
  EXPECT_THAT(names,
              testing::IsSupersetOf({"ddr3-1gpu", "gddr5-1gpu", "ideal-4gpu", "pcie-4gpu", "rec-4gpu", "ring-8gpu"}));
}

TEST_F(ShippedSystems, EffectiveValuesAsOverridesGiveTheSameSystem) {
  for (const SystemSummary& system : list_systems()) {
    const LoadedSystem first = load_system(system.name, {});
    const LoadedSystem again = load_system(system.name, values(first));
    EXPECT_EQ(values(again), values(first)) << system.name;
    for (const EffectiveParameter& p : again.parameters) EXPECT_EQ(p.origin, "--set") << p.path;
    const LoadedSystem from_nothing = load_system_text("gpus: 1\n", "nothing", values(first));
    EXPECT_EQ(values(from_nothing), values(first)) << system.name;
  }
}

TEST_F(ShippedSystems, TheBaseSpellsOutTheDefaults) {
  const LoadedSystem loaded = load_system_text("base: base\n", "only-base", {});
  for (const EffectiveParameter& p : loaded.parameters) EXPECT_EQ(p.value, p.default_value) << p.path;
}

TEST_F(ShippedSystems, IdealTakesAnyNumberOfGpus) {
  for (const char* gpus : {"gpus=1", "gpus=8", "gpus=16", "gpus=64", "gpus=128"}) {
    EXPECT_EQ(failure("ideal-4gpu", {gpus}), "");
  }
}

TEST_F(ShippedSystems, IdealIsTheMachineOfTable2) {
  const SystemSpec spec = load_system("ideal-4gpu", {}).spec;
  EXPECT_EQ(spec.gpus, 4U);
  EXPECT_EQ(spec.gpu.cus(), 64U);
  EXPECT_EQ(spec.gpu.l2.size / spec.gpu.l2.banks, 256_KiB);
  const DramSpec& dram = spec.gpu.dram;
  EXPECT_EQ(dram.channels * dram.channel_bandwidth.bytes_per_second, 512'000'000'000U);
  EXPECT_EQ(dram.model, DramModel::Fixed);
  EXPECT_EQ(dram.latency, 107U);
  EXPECT_EQ(spec.link.latency, 150U);
}

TEST_F(ShippedSystems, RecHasFlatMemoryOfOneTerabyteASecond) {
  const SystemSpec spec = load_system("rec-4gpu", {}).spec;
  EXPECT_EQ(spec.gpu.dram.model, DramModel::Fixed);
  EXPECT_EQ(spec.gpu.dram.latency, 200U);
  EXPECT_EQ(spec.gpu.dram.channels * spec.gpu.dram.channel_bandwidth.bytes_per_second, 1'000'000'000'000U);
  EXPECT_EQ(spec.link.header, 12U);
  EXPECT_EQ(spec.link.reply_header, 4U);
}

TEST_F(ShippedSystems, RecIsAsItsCalibrationFrozeIt) {
  const SystemSpec spec = load_system("rec-4gpu", {}).spec;
  EXPECT_EQ(spec.gpu.l2.index, IndexHash::Xor);
  EXPECT_EQ(spec.gpu.l2.bank_index, IndexHash::Xor);
  EXPECT_EQ(spec.placement, InitialPlacement::Distribute);
  EXPECT_EQ(spec.dispatch, DispatchPolicy::RoundRobin);
}

TEST_F(ShippedSystems, RecHasDirectoriesOfTable2) {
  for (const char* name : {"rec-4gpu", "rec-nvidia", "rec-mmu-4gpu"}) {
    const SystemSpec spec = load_system(name, {}).spec;
    EXPECT_TRUE(spec.has_directories()) << name;
    EXPECT_EQ(spec.directory.all_entries(), 8192U) << name;
    EXPECT_EQ(spec.directory.ways, 8U) << name;
    EXPECT_EQ(spec.directory.replacement, DirectoryReplacement::Fifo) << name;
  }
  EXPECT_TRUE(load_system("rec-mmu-4gpu", {}).spec.moves_pages());
}

TEST_F(ShippedSystems, RecOfNvidiaIsLarger) {
  const GpuSpec gpu = load_system("rec-nvidia", {}).spec.gpu;
  EXPECT_EQ(gpu.cus(), 128U);
  EXPECT_EQ(gpu.line, 128U);
  EXPECT_EQ(gpu.l1v.size, 128_KiB);
  EXPECT_EQ(gpu.l2.size, 72_MiB);
}

/// Fewer would be the limit by accident.
TEST_F(ShippedSystems, RecHasAsManyCreditsAsFillItsLinks) {
  for (const char* name : {"rec-4gpu", "rec-nvidia", "rec-mmu-4gpu"}) {
    for (const EffectiveParameter& p : load_system(name, {}).parameters) {
      if (p.path != "link.credits" && p.path != "link.queue") continue;
      EXPECT_EQ(p.typed, "auto") << name << " " << p.path;
    }
  }
}

TEST_F(ShippedSystems, PcieTimesFollowItsClock) {
  const SystemSpec spec = load_system("pcie-4gpu", {}).spec;
  EXPECT_EQ(spec.gpu.cus(), 80U);
  EXPECT_EQ(spec.link.topology, TopologyKind::PcieTree);
  EXPECT_EQ(spec.link.latency, 420U);
  EXPECT_EQ(spec.link.switch_latency, 140U);
  EXPECT_EQ(spec.gpu.dram.channels * spec.gpu.dram.channel_bandwidth.bytes_per_second, 900'000'000'000U);
}

TEST_F(ShippedSystems, FinePackPostsItsStores) {
  const SystemSpec four = load_system("finepack-4gpu", {}).spec;
  EXPECT_TRUE(four.posts_stores());
  EXPECT_EQ(four.link.bandwidth.bytes_per_second, 32'000'000'000U);
  EXPECT_EQ(four.link.smallest_store(four.gpu.line), 32U);
  EXPECT_EQ(four.link.pcie.max_payload, 4096U);
  const SystemSpec sixteen = load_system("finepack-16gpu", {}).spec;
  EXPECT_EQ(sixteen.gpus, 16U);
  EXPECT_EQ(sixteen.link.bandwidth.bytes_per_second, 128'000'000'000U);
  EXPECT_EQ(sixteen.link.gpus_per_switch, 16U);
  EXPECT_EQ(load_system("finepack-16gpu-tree", {}).spec.link.gpus_per_switch, 4U);
  const SystemSpec nvlink = load_system("finepack-4gpu-nvlink", {}).spec;
  EXPECT_EQ(nvlink.link.bandwidth.bytes_per_second, 50'000'000'000U);
  EXPECT_EQ(nvlink.link.smallest_store(nvlink.gpu.line), 48U);
  // A format brings its bandwidth, unless one is given.
  EXPECT_EQ(
      load_system("finepack-4gpu", std::vector<std::string>{"link.format=pcie5"}).spec.link.bandwidth.bytes_per_second,
      64'000'000'000U);
  EXPECT_FALSE(load_system("finepack-4gpu", std::vector<std::string>{"remote_cache=l1l2"}).spec.posts_stores());
  EXPECT_FALSE(load_system("pcie-4gpu", {}).spec.posts_stores());
}

TEST_F(ShippedSystems, Ddr3HasTheCyclesOfItsSource) {
  const DramSpec dram = load_system("ddr3-1gpu", {}).spec.gpu.dram;
  EXPECT_EQ(dram.channels * dram.ranks * dram.banks, 64U);
  EXPECT_EQ(dram.t_cl, 28U);
  EXPECT_EQ(dram.t_rcd, 28U);
  EXPECT_EQ(dram.t_rp, 28U);
  EXPECT_EQ(dram.t_ras, 70U);
  EXPECT_EQ(dram.t_rrd, 12U);
  EXPECT_EQ(dram.t_faw, 60U);
  EXPECT_EQ(dram.t_wr, 30U);
  EXPECT_EQ(dram.t_wtr, 15U);
  EXPECT_EQ(dram.t_rtp, 15U);
  EXPECT_EQ(dram.t_refi, 15'600U);
  EXPECT_EQ(dram.t_rfc, 520U);
  EXPECT_TRUE(dram.refresh);
}

TEST_F(ShippedSystems, Gddr5HasFourChannels) {
  const SystemSpec spec = load_system("gddr5-1gpu", {}).spec;
  EXPECT_EQ(spec.gpu.dram.channels * spec.gpu.dram.channel_bandwidth.bytes_per_second, 153'600'000'000U);
  EXPECT_EQ(spec.gpu.dram.t_cl, 11U);
  EXPECT_EQ(spec.gpu.l2.size / spec.gpu.l2.banks, 128_KiB);
  EXPECT_EQ(spec.link.latency, 240U);
}

}  // namespace
}  // namespace nearfar::shipped_systems_test
