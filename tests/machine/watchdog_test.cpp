// Stuck or slow: a machine that loses a message is reported, with who waits for what; one that is slow, or computes for
// long, runs to its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/schema.h"
#include "host/host.h"
#include "machine/script.h"
#include "machine/watchdog_bounds.h"

namespace nearfar::watchdog_test {
namespace {

using ::testing::HasSubstr;

/// A part of the host that loses the first fault it is told of; then it does something for ever, or nothing.
class FaultLoser final : public DesignComponent {
 public:
  FaultLoser(Partition& partition, bool turns)
      : partition_(partition), handler_(partition.add_handler<&FaultLoser::on_turn>(this)), turns_(turns) {}

  const char* name() const override { return "fault_loser"; }
  void describe(StatVisitor&) override {}
  bool on_message(const Message& message) override {
    if (lost_ || message.kind != MessageKind::Fault) return false;
    lost_ = true;
    if (turns_) on_turn(partition_.pool().allocate<Event>());
    return true;
  }

 private:
  void on_turn(Event* t) { partition_.schedule(t, handler_, partition_.now() + 300); }

  Partition& partition_;
  HandlerId handler_;
  bool turns_;
  bool lost_ = false;
};

class BrokenDesign final : public PlugIn {
 public:
  explicit BrokenDesign(bool turns) : turns_(turns) {}
  void describe(Section&) override {}
  void attach(Host& host, const SystemSpec&) const override {
    host.parts().add(std::make_unique<FaultLoser>(host.partition(), turns_));
  }
  std::vector<StatInfo> statistics() const override { return {}; }
  std::vector<StorageItem> storage(const SystemSpec&) const override { return {}; }

 private:
  bool turns_;
};

/// Each workgroup loads from a page of its own: the first workgroup `first` times, the others `others` times.
std::shared_ptr<Script> loads_of(std::uint32_t groups, unsigned first, unsigned others) {
  auto script = std::make_shared<Script>();
  const VirtAddr data = script->buffer(std::uint64_t{groups} * kPageBytes, Placement::Distribute);
  script->launch(groups_of(groups, 64, Split::RoundRobin), [=](const Script&, const Wave& wave) {
    return [](VirtAddr base, std::uint64_t page, unsigned loads) -> Stream {
      for (unsigned i = 0; i < loads; ++i) {
        co_yield load(4, [=](unsigned lane) { return base + page * kPageBytes + i % 64 * 64 + lane % 16 * 4; });
        co_yield wait(0);
      }
    }(data, wave.group_x, wave.group_x == 0 ? first : others);
  });
  return script;
}

std::string failure(const SystemSpec& system, const std::shared_ptr<Script>& script) {
  try {
    simulate(system, {script});
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

SystemSpec broken(bool turns, std::vector<std::string> overrides) {
  overrides.emplace_back("placement.initial=host");
  return load_system("mmu-4gpu", overrides, {std::make_shared<BrokenDesign>(turns)}).spec;
}

TEST(Watchdog, ReportsAMachineThatHasWorkLeftAndNothingScheduled) {
  const std::string text = failure(broken(false, {}), loads_of(4, 1, 1));
  EXPECT_THAT(text, HasSubstr("the run makes no progress: nothing is scheduled, but work is left"));
  EXPECT_THAT(text, HasSubstr("wavefront 0: waits for a vector load since cycle"));
  EXPECT_THAT(text, HasSubstr("1 workgroups running"));
}

TEST(Watchdog, ReportsAMachineThatKeepsTurningWithoutProgress) {
  const std::string text = failure(broken(true, {"watchdog.cycles=20000"}), loads_of(4, 1, 1));
  EXPECT_THAT(text, HasSubstr("the run makes no progress for 20000 cycles (watchdog.cycles)"));
  EXPECT_THAT(text, HasSubstr("wavefront 0: waits for a vector load since cycle"));
}

TEST(Watchdog, ReportsItByTheSystemsOwnBoundToo) {
  const SystemSpec system = broken(true, {"gpu.l2.size=64KiB", "host.llc.size=64KiB", "uvm.concurrent_migrations=4"});
  EXPECT_THAT(failure(system, loads_of(4, 1, 1)),
              HasSubstr("no progress for " + std::to_string(watchdog_bounds(system).progress) +
                        " cycles (longer than anything takes in this system)"));
}

/// The first workgroup's fault is lost; the others go on, far longer than the bound.
TEST(Watchdog, ReportsOneRequestThatWaitsForEverWhileOthersGoOn) {
  const std::string text = failure(broken(false, {"watchdog.cycles=10000"}), loads_of(4, 1, 20000));
  EXPECT_THAT(text, HasSubstr("a wavefront has waited for memory for more than 160000 cycles (16 × watchdog.cycles)"));
  EXPECT_THAT(text, HasSubstr("waits for a vector load since cycle"));
}

TEST(Watchdog, LetsWavefrontsComputeForAsLongAsTheyLike) {
  auto script = std::make_shared<Script>();
  script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(1, 128), [](const Script&, const Wave& wave) {
    return [](bool first) -> Stream {
      if (!first) co_yield salu(60000);  // the other wavefront waits at the barrier all that time, and more
      for (int i = 0; !first && i < 50; ++i) co_yield valu(60000);
      co_yield barrier();
    }(wave.index == 0);
  });
  EXPECT_GT(simulate(test_system({"watchdog.cycles=1000"}), {script}).result.cycles, 12'000'000U);
}

/// A page of 2 MiB takes 21 million cycles over such a link.
TEST(Watchdog, LetsLargePagesCrossSlowLinks) {
  const SystemSpec system =
      test_system({"placement.initial=host", "page.size=2M", "link.bandwidth=100MB/s"}, "mmu-4gpu");
  EXPECT_GT(simulate(system, {loads_of(4, 4, 4)}).result.cycles, 20'000'000U);
}

TEST(Watchdog, LetsDriversTakeTheirTime) {
  const SystemSpec system = test_system(
      {"placement.initial=host", "uvm.fault_software_cycles=30000000", "migration.setup_cycles=50000000"}, "mmu-4gpu");
  EXPECT_GT(simulate(system, {loads_of(8, 1, 1)}).result.cycles, 80'000'000U);
}

TEST(WatchdogBounds, FollowFromWhatIsSlow) {
  const WatchdogBounds usual = watchdog_bounds(test_system({}, "mmu-4gpu"));
  EXPECT_GT(usual.request, usual.progress);
  for (const char* slow : {"link.bandwidth=1GB/s", "page.size=2M", "link.latency=100000", "gpu.l2.size=16MiB",
                           "gpu.dram.controller_latency=30000", "uvm.per_fault_cycles=100000",
                           "walk.cycles_per_level=100000", "uvm.concurrent_migrations=4096"}) {
    SCOPED_TRACE(slow);
    const WatchdogBounds slower = watchdog_bounds(test_system({slow}, "mmu-4gpu"));
    EXPECT_GT(slower.progress, usual.progress);
    EXPECT_GT(slower.request, usual.request);
  }
  EXPECT_GT(watchdog_bounds(test_system({"gpu.l2_tlb.mshrs=1024"}, "mmu-4gpu")).request, usual.request);
  EXPECT_EQ(watchdog_bounds(test_system({"watchdog.cycles=70000"}, "mmu-4gpu")).progress, 70'000U);
}

}  // namespace
}  // namespace nearfar::watchdog_test
