// From results to the numbers of facts: what a mean is taken over, and what is missing.
#include "calibrate/fact_runs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/calibration_file.h"
#include "study/made_up.h"

namespace nearfar::fact_runs_test {
namespace {

using testing::stored;

/// A mean of MT and KM.
Calibration calibration_of(const std::string& value) {
  return read_calibration_text(
      "title: Made up\nsystem: ats-4gpu\nsize: small\nworkloads: [MT, KM]\nfacts:\n  a:\n    sentence: A number.\n"
      "    value: " +
          value +
          "\n    published: {mean: 10}\n    sigma: 1\nopen:\n  gpu.l1v.mshrs:\n    values: {16: there, 64: here}\n",
      "made-up.yaml");
}

TrialOutcome outcome_with(const Calibration& calibration, const StoredResult& mt, const StoredResult& km) {
  const Trial trial{own_reading(calibration), 0};
  StudyResults results;
  for (const NamedRun& run : runs_of(calibration, trial)) results.add(run, run.workload == "MT" ? mt : km);
  return outcome_of(calibration, trial, results);
}

TEST(FactRuns, AWorkloadWithoutSamplesIsLeftOutOfTheMean) {
  const Calibration calibration =
      calibration_of("100 - 100 * below(iommu.tlb.reuse_distance, 4096) / samples(iommu.tlb.reuse_distance)");
  const StoredResult samples = stored({{"iommu.tlb.reuse_distance.below_16", 3},
                                       {"iommu.tlb.reuse_distance.below_8192", 1},
                                       {"iommu.tlb.reuse_distance.max", 5000}});
  const TrialOutcome one = outcome_with(calibration, samples, stored({{"run.cycles", 5}}));
  EXPECT_EQ(one.problem, "");
  EXPECT_EQ(one.values.at(0), 25);
  const TrialOutcome none = outcome_with(calibration, stored({{"run.cycles", 5}}), stored({{"run.cycles", 5}}));
  EXPECT_TRUE(std::isnan(none.values.at(0).value())) << "nothing to divide by in any workload";
}

TEST(FactRuns, ACounterThatIsNotInAResultIsAProblem) {
  const TrialOutcome outcome =
      outcome_with(calibration_of("iommu.walks.demand / run.cycles"),
                   stored({{"iommu.walks.demand", 4}, {"run.cycles", 2}}), stored({{"run.cycles", 5}}));
  EXPECT_EQ(outcome.problem, "`iommu.walks.demand / run.cycles` is not in the result of KM");
  EXPECT_FALSE(outcome.values.at(0).has_value());
}

}  // namespace
}  // namespace nearfar::fact_runs_test
