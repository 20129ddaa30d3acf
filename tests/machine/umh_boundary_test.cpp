// A unified memory hierarchy without kernel boundaries: programs of one launch run under the oracles, others without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "config/error.h"
#include "machine/script.h"

namespace nearfar::umh_boundary_test {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<Script> launches(unsigned count) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(1 << 16, Placement::Host);
  for (unsigned i = 0; i < count; ++i) {
    script->launch(groups_of(4), [=](const Script&, const Wave& wave) -> Stream {
      return [](VirtAddr at) -> Stream {
        co_yield store(4, [at](unsigned lane) { return at + 4 * lane; });
      }(base + 4096 * wave.group_x);
    });
  }
  return script;
}

TEST(UmhWithoutBoundary, IsCheckedWithOneLaunchOnly) {
  const SystemSpec system = test_system({"umh.kernel_boundary=none"}, "umh-4gpu");
  EXPECT_GT(simulate(system, {launches(1)}, true).result.cycles, 0U);
  EXPECT_GT(simulate(system, {launches(2)}, false).result.cycles, 0U);
  try {
    simulate(system, {launches(2)}, true);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the 2 launches of this workload cannot be checked"));
  }
}

}  // namespace
}  // namespace nearfar::umh_boundary_test
