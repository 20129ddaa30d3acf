// Results over readings: the frozen one, the range over those that are not ruled out, and the refusal of a wrong order.
#include "calibrate/claim_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.h"
#include "report/claims_file.h"
#include "report/collect.h"
#include "study/made_up.h"

namespace nearfar::claim_readings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScratchFolder;

constexpr const char* kClaims = R"(title: P
claims:
  p.fact:
    {sentence: a fact, figure: Fig 1, published: 1.5, unit: x, quality: speedup, role: fact, study: s, plot: speedup,
     series: new, over: MT, take: mean}
  p.result:
    {sentence: a result, figure: Fig 2, published: 1.5, unit: x, quality: speedup, role: result, study: s, plot: speedup,
     series: new, over: MT, take: mean}
)";

Study study() {
  return read_study_text(
      "title: S\nsystem: mmu-4gpu-counters\nsize: small\nworkloads: [MT]\nvariants: {baseline: {}, new: {design: "
      "idyll}}\n"
      "figures: {speedup: {value: speedup}}\n",
      "s.yaml");
}

FrozenReading reading(const std::string& name, const std::string& bandwidth) {
  FrozenReading out;
  out.name = name;
  out.settings.overrides = {"link.bandwidth=" + bandwidth};
  return out;
}

/// Three readings, frozen at `time`; the store has results of the first two.
struct Bench {
  ScratchFolder scratch;
  ResultStore store{scratch.file("x.db")};
  std::vector<Paper> papers = {read_paper_text(kClaims, "claims/p.yaml", "p")};
  std::vector<Study> studies = {study()};
  std::vector<Frozen> frozen{1};

  explicit Bench(std::int64_t time) {
    frozen[0].paper = "p", frozen[0].system = "mmu-4gpu-counters", frozen[0].time = time;
    frozen[0].readings = {reading("1.001", "16GB/s"), reading("1.002", "64GB/s"), reading("1.003", "300GB/s")};
  }

  void add(std::size_t of_reading, std::uint64_t baseline, std::uint64_t design) {
    const Study on = on_reading(studies[0], frozen[0], frozen[0].readings[of_reading]);
    for (std::size_t i = 0; i < 2; ++i) {
      const PlannedRun run = Planner().plan(cell_run(on, "MT", on.variants[i], 1));
      ResultFile result = parse_result(testing::made_up_json(run.key, i == 0 ? baseline : design), run.key);
      result.designs = run.run.designs;
      store.add(result, run.program, run.machine);
    }
  }

  std::vector<MeasuredClaim> claims() {
    content_ = collect(papers, on_frozen(studies, papers, frozen), store);
    add_readings(content_.claims, studies, content_.papers, frozen, store);
    return content_.claims;
  }

 private:
  ReportContent content_;
};

TEST(ClaimReadings, AResultIsReproducibleUnderAnotherReading) {
  Bench bench(0);
  bench.add(0, 1000, 1000);  // no effect under the frozen reading
  bench.add(1, 1500, 1000);  // the published one under another
  const std::vector<MeasuredClaim> claims = bench.claims();
  const MeasuredClaim& result = claims[1];
  EXPECT_EQ(result.verdict, Verdict::Missed);
  EXPECT_THAT(result.readings.reading, HasSubstr("1.001, frozen 1970"));
  EXPECT_EQ(result.readings.remaining, 3u);
  EXPECT_EQ(result.readings.measured, 2u);
  EXPECT_DOUBLE_EQ(result.readings.low, 1);
  EXPECT_DOUBLE_EQ(result.readings.high, 1.5);
  EXPECT_THAT(result.readings.reproducing, ElementsAre("1.002"));
  EXPECT_EQ(outcome_text(result), "reproducible under reading 1.002");
  EXPECT_EQ(range_text(result), "1.000× to 1.500× (2 of 3 readings)");
  EXPECT_EQ(outcome_text(claims[0]), "fact of the baseline");
}

TEST(ClaimReadings, OrReproducedOrUnderNone) {
  Bench good(0);
  good.add(0, 1500, 1000);
  EXPECT_EQ(outcome_text(good.claims()[1]), "reproduced");
  Bench bad(0);
  bad.add(0, 1000, 1000), bad.add(1, 1000, 1100), bad.add(2, 1100, 1000);
  EXPECT_EQ(outcome_text(bad.claims()[1]), "not under any of 3 readings tried");
}

TEST(ClaimReadings, AReadingFrozenAfterADesignHadRunIsRefused) {
  Bench bench(4'000'000'000);  // later than the runs, which are added now
  bench.add(0, 1500, 1000);
  const std::vector<MeasuredClaim> claims = bench.claims();
  EXPECT_EQ(claims[1].verdict, Verdict::NotMeasured);
  EXPECT_THAT(claims[1].note, HasSubstr("after idyll had run with it"));
  EXPECT_EQ(claims[0].verdict, Verdict::Met);  // facts are not results
}

TEST(ClaimReadings, AllReadingsCanBeRun) {
  Bench bench(0);
  EXPECT_EQ(runs_on_readings(bench.studies, bench.papers, bench.frozen).size(), 6u);
}

}  // namespace
}  // namespace nearfar::claim_readings_test
