// Loads, stores and atomics of one line that are under way together: each is performed where and when it must be.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::order_test {
namespace {

/// One wavefront of GPU 0 runs `run(page)` on a page of GPU `home`.
template <class Run>
Outcome run_alone(const SystemSpec& system, unsigned home, Run run) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Interleave);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return run(base + home * kPageBytes); });
  return simulate(system, {script});
}

TEST(Atomic, GoesToTheHomeAlsoWhenItsLineIsOnItsWay) {
  for (const unsigned home : {0U, 1U}) {
    const Outcome run = run_alone(test_system(), home, [](VirtAddr page) -> Stream {
      const auto lane0 = [=](unsigned lane) { return lane == 0 ? page : kIdle; };
      co_yield load(4, lane0);
      co_yield atomic(4, lane0);
      co_yield wait(0);
      co_yield load(4, lane0);
      co_yield wait(0);
    });
    EXPECT_EQ(run.count("gpus.l1v.atomic_lines"), 1U) << home;
    EXPECT_EQ(run.count("gpus.l1v.merges"), 0U) << home;
    EXPECT_EQ(run.count("gpus.l2.atomics"), 1U) << home;
    EXPECT_EQ(run.count("gpus.l2.reads"), 2U) << "the atomic invalidates what its compute unit held, home " << home;
  }
}

}  // namespace
}  // namespace nearfar::order_test
