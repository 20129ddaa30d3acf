// What is said of the sizes, against the workloads themselves; and the mixes.
#include "workload/expected.h"

#include <gtest/gtest.h>

#include "workload/census.h"
#include "workload/mixes.h"

namespace nearfar::expected_test {
namespace {

using namespace nearfar::testing;

class ExpectedSizes : public ::testing::TestWithParam<std::string> {};

std::uint64_t bytes_of(const Workload& workload) {
  std::uint64_t bytes = 0;
  for (const Buffer& each : workload.buffers()) bytes += each.bytes;
  return bytes;
}

TEST_P(ExpectedSizes, AreThoseOfTheWorkload) {
  const Expected small = expected(GetParam(), SizeClass::Small);
  const auto workload = make(GetParam());
  EXPECT_EQ(bytes_of(*workload), small.bytes);
  EXPECT_EQ(take_census(*workload).lines.total, small.accesses);
  EXPECT_LT(small.accesses, 1'000'000U) << "too much for tests";
  EXPECT_EQ(bytes_of(*make_workload(GetParam(), SizeClass::Medium, {}, 1)),
            expected(GetParam(), SizeClass::Medium).bytes);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const WorkloadInfo& info : catalog()) all.push_back(info.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, ExpectedSizes, ::testing::ValuesIn(names()),
                         [](const auto& which) { return which.param; });

TEST(Mixes, AreFourWorkloadsEachWithParametersTheyHave) {
  EXPECT_EQ(mixes().size(), 10U);
  for (const Mix& mix : mixes()) {
    EXPECT_EQ(mix.workloads.size(), 4U) << mix.name;
    EXPECT_EQ(mix.classes.size(), 4U) << mix.name;
    for (const std::string& workload : mix.workloads) {
      EXPECT_FALSE(settings_in_mix(workload, SizeClass::Medium).empty()) << workload;
      EXPECT_TRUE(settings_in_mix(workload, SizeClass::Small).empty()) << workload;
      EXPECT_NO_THROW(make(workload, settings_in_mix(workload, SizeClass::Medium))) << workload;
    }
  }
}

}  // namespace
}  // namespace nearfar::expected_test
