// Frozen readings: what their files say, studies on them, and the order that is kept.
#include "calibrate/frozen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/claim_readings.h"
#include "calibrate/made_up_calibration.h"
#include "cli/process.h"
#include "config/error.h"
#include "machine/system_file.h"
#include "study/made_up.h"

namespace nearfar::frozen_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using testing::formula;
using ::testing::HasSubstr;
using testing::made_up_calibration;
using testing::ScratchFolder;

constexpr std::int64_t kNoon = 1'772'366'400;  // 2026-03-01T12:00:00Z

/// Frozen from a campaign in which 64 GB/s meets the facts.
std::string frozen_file() {
  const Calibration calibration = made_up_calibration();
  const auto simulate = formula([&](const Reading& reading, std::uint32_t) {
    return std::vector<double>{10 + 10 * (2 - reading.at[0]), 20 + 0.5 * reading.at[1]};
  });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {12, 1, 1}, simulate);
  return frozen_text(calibration, outcomes, analyse(calibration, outcomes), 13, kNoon);
}

TEST(Frozen, IsASystemWithItsProvenance) {
  const std::string text = frozen_file();
  const LoadedSystem loaded = load_system_text(text, "made-up-frozen.yaml", {});
  const auto bandwidth = std::ranges::find(loaded.parameters, "link.bandwidth", &EffectiveParameter::path);
  EXPECT_EQ(bandwidth->value, "64GB/s");
  const auto frozen = read_frozen_text(text, "systems/made-up-frozen.yaml");
  ASSERT_TRUE(frozen);
  EXPECT_EQ(frozen->paper, "made-up");
  EXPECT_EQ(frozen->system, "ideal-4gpu");
  EXPECT_EQ(frozen->hash, made_up_calibration().hash);
  EXPECT_EQ(frozen->time, kNoon);
  EXPECT_EQ(frozen->tried, 13u);
  EXPECT_FALSE(frozen->by_hand);
  EXPECT_GT(frozen->readings.size(), 1u);
  EXPECT_THAT(frozen->readings.front().settings.overrides, Contains("link.bandwidth=64GB/s"));
  EXPECT_EQ(time_text(frozen->time), "2026-03-01T12:00:00Z");
}

TEST(Frozen, ThoseMadeByHandAreThereWithTheirOrder) {
  const std::vector<Frozen> all = read_frozen();
  EXPECT_THAT(all, Contains(AllOf(Field(&Frozen::paper, "rec"), Field(&Frozen::by_hand, true),
                                  Field(&Frozen::order, HasSubstr("before any design ran in time")),
                                  Field(&Frozen::system, "rec-4gpu"))));
  EXPECT_THAT(all, Contains(AllOf(Field(&Frozen::paper, "finepack"), Field(&Frozen::by_hand, true))));
  // Every reading that is not ruled out can be made.
  for (const Frozen& frozen : all) {
    for (const FrozenReading& reading : frozen.readings) {
      const std::string system = reading.settings.system.empty() ? frozen.system : reading.settings.system;
      EXPECT_NO_THROW(load_system(system, reading.settings.overrides)) << frozen.paper << " " << reading.name;
    }
  }
}

TEST(Frozen, SaysWhatIsWrongWithItsProvenance) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      read_frozen_text(text, "f.yaml");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("base: ideal-4gpu\nprovenance: {calibration: x}\n"), HasSubstr("lacks `how`"));
  EXPECT_THAT(complaint("base: ideal-4gpu\nprovenance:\n  calibration: x\n  how: by hand\n  frozen: noon\n"),
              AllOf(HasSubstr("f.yaml:5:11"), HasSubstr("takes a time")));
  EXPECT_FALSE(read_frozen_text("base: ideal-4gpu\n", "f.yaml"));
}

Study study_with(const std::string& design) {
  return read_study_text(
      "title: S\nsystem: mmu-4gpu-counters\nsize: small\nworkloads: [MT]\nvariants: {baseline: {}, new: {design: " +
          design + ", set: {gpu.l1v.mshrs: 32}}}\nfigures: {speedup: {value: speedup}}\n",
      "s.yaml");
}

Frozen frozen_at(std::int64_t time) {
  Frozen frozen;
  frozen.paper = "p", frozen.system = "mmu-4gpu-counters", frozen.time = time;
  FrozenReading reading;
  reading.name = "1.001";
  reading.settings.overrides = {"link.bandwidth=64GB/s", "gpu.l1v.mshrs=16"};
  frozen.readings = {reading};
  return frozen;
}

TEST(Frozen, AStudyOnAReadingHasItsValuesBelowItsOwn) {
  const Frozen frozen = frozen_at(kNoon);
  const Study study = on_reading(study_with("idyll"), frozen, frozen.readings.front());
  EXPECT_THAT(study.variants[0].overrides, ElementsAre("link.bandwidth=64GB/s", "gpu.l1v.mshrs=16"));
  EXPECT_THAT(study.variants[1].overrides, ElementsAre("link.bandwidth=64GB/s", "gpu.l1v.mshrs=32"));
}

/// The store says when a run was added: now.
TEST(Frozen, ADesignThatRanBeforeBreaksTheOrder) {
  const ScratchFolder scratch;
  ResultStore store(scratch.file("x.db"));
  const Frozen late = frozen_at(4'000'000'000), early = frozen_at(kNoon);  // after and before any run of this test
  const Study study = on_reading(study_with("idyll"), late, late.readings.front());
  const Study reference = on_reading(study_with("first-touch"), late, late.readings.front());
  EXPECT_FALSE(broken_order(late, study, {}, store));
  unsigned number = 0;
  const auto add = [&](const NamedRun& run, const std::string& size) {
    const PlannedRun planned = Planner().plan(run);
    const std::string key = testing::made_up_key(++number);
    ResultFile result = parse_result(testing::made_up_json(key), key);
    result.size = size, result.designs = run.designs;
    store.add(result, planned.program, planned.machine);
  };
  const NamedRun of_design = cell_run(study, "MT", study.variants[1], 1);
  add(cell_run(study, "MT", study.variants[0], 1), "small");  // the baseline may run at any time
  EXPECT_FALSE(broken_order(late, study, {}, store));
  add(of_design, "medium");  // and so may a design at another size
  EXPECT_FALSE(broken_order(late, study, {}, store));
  add(cell_run(reference, "MT", reference.variants[1], 1), "small");  // and the machines of facts
  EXPECT_FALSE(broken_order(late, reference, {"first-touch"}, store));
  EXPECT_TRUE(broken_order(late, reference, {}, store));
  NamedRun perturbed = of_design;
  perturbed.draw = 2;  // a repeat is the same machine
  add(perturbed, "small");
  const auto why = broken_order(late, study, {}, store);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, AllOf(HasSubstr("frozen at"), HasSubstr("after idyll had run with it")));
  EXPECT_FALSE(broken_order(early, study, {}, store));
  Frozen by_hand = late;
  by_hand.by_hand = true;  // its order is what was recorded
  EXPECT_FALSE(broken_order(by_hand, study, {}, store));
}

TEST(Frozen, OldStoresHaveNoTimesAndNewOnesAreReadByAll) {
  const ScratchFolder scratch;
  ResultStore store(scratch.file("x.db"));
  store.add(parse_result(testing::made_up_json(testing::made_up_key(1)), testing::made_up_key(1)), "program");
  const std::vector<std::string> machines = {"m"};
  EXPECT_FALSE(store.first_run(machines, "small"));
  EXPECT_TRUE(store.journal("readings").empty());
  store.note("readings", "a");
  store.note("readings", "b");
  store.note("readings", "a");
  store.note("others", "c");
  EXPECT_THAT(store.journal("readings"), ElementsAre(Field(&JournalEntry::text, "a"), Field(&JournalEntry::text, "b")));
}

}  // namespace
}  // namespace nearfar::frozen_test
