// TLB probing on a ring: who is asked, what it costs, and what may overtake what.
#include <gtest/gtest.h>

#include <random>

#include "designs/ats_bench.h"

namespace nearfar::tlb_probing_test {
namespace {

struct ProbingRig {
  explicit ProbingRig(const RigOptions& options, const TlbProbingSpec& spec = {}) : rig(options, 0, 1 << 12) {
    for (unsigned g = 0; g < options.gpus; ++g) {
      probers.push_back(
          &rig.parts(g).add(std::make_unique<TlbProber>(rig.partition(g), rig.l2(g), rig.wire(g), spec, options.gpus)));
    }
  }
  Rig rig;
  std::vector<TlbProber*> probers;
};

std::vector<unsigned> neighbours(unsigned gpus, unsigned hops, unsigned g) {
  ProbingRig r(small_tlbs(gpus, 4, 8), {hops, false});
  std::vector<unsigned> out;
  for (const DeviceId gpu : r.probers[g]->neighbours()) out.push_back(gpu.value);
  return out;
}

TEST(TlbProbing, AsksTheNeighboursOnTheRing) {
  EXPECT_EQ(neighbours(4, 1, 0), (std::vector<unsigned>{1, 3}));
  EXPECT_EQ(neighbours(4, 1, 2), (std::vector<unsigned>{3, 1}));
  EXPECT_EQ(neighbours(2, 1, 0), (std::vector<unsigned>{1}));
  EXPECT_EQ(neighbours(1, 1, 0), (std::vector<unsigned>{}));
  EXPECT_EQ(neighbours(5, 2, 0), (std::vector<unsigned>{1, 4, 2, 3}));
  EXPECT_EQ(neighbours(4, 9, 1), (std::vector<unsigned>{2, 0, 3}));
}

TEST(TlbProbing, ANeighbourAnswers) {
  ProbingRig r(small_tlbs(4, 4, 8));
  r.rig.ask(2, 7, 0);
  r.rig.ask(1, 7, 10'000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, 7), 10'321U);
  EXPECT_EQ(r.probers[1]->stats().hits, 1U);
  EXPECT_EQ(r.rig.part(LatencyComponent::RemoteWalk), 20U) << "10 of the first miss, which no neighbour could answer";
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
}

TEST(TlbProbing, ThenTheIommuDoes) {
  ProbingRig r(small_tlbs(4, 4, 8));
  r.rig.ask(1, 7, 0);
  r.rig.ask(3, 7, 10'000);  // not a neighbour of GPU 1
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, 7), 1321U) << "walked";
  EXPECT_EQ(r.rig.answered(3, 7), 10'821U) << "in the IOMMU TLB";
  EXPECT_EQ(r.probers[3]->stats().misses, 1U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(TlbProbing, MayAskTheIommuAtOnce) {
  ProbingRig r(small_tlbs(4, 4, 8), {1, true});
  r.rig.ask(1, 7, 0);
  r.rig.ask(2, 7, 10'000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, 7), 1011U);
  EXPECT_EQ(r.rig.answered(2, 7), 10'321U);
  EXPECT_EQ(r.probers[2]->stats().duplicates, 1U);
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
}

class ProbingStorm : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ProbingStorm, ::testing::Range<std::uint64_t>(0, 48));

TEST_P(ProbingStorm, AnswersEveryRequestOnce) {
  std::mt19937_64 random(GetParam());
  const auto one_of = [&](std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  const unsigned gpus = one_of({1, 2, 3, 5});
  RigOptions options = small_tlbs(gpus, one_of({1, 2, 4}), one_of({1, 2, 8}));
  if (GetParam() % 3 == 0) options.host.uvm.policy = PagePolicy::FirstTouch;
  options.l2_tlb.mshrs = one_of({1, 2, 8});
  options.iommu.walkers = one_of({1, 2});
  options.iommu.queue = one_of({1, 3});
  options.iommu.pending = one_of({0, 1, 2});
  ProbingRig r(options, {one_of({1, 2}), GetParam() % 2 == 0});
  const unsigned pages = one_of({2, 5, 20});
  const Cycle spread = one_of({2'000, 200'000});
  for (unsigned i = 0; i < 400; ++i) {
    r.rig.ask(static_cast<unsigned>(random() % gpus), random() % pages, random() % spread, false, i);
  }
  r.rig.run();
  EXPECT_EQ(r.rig.answers.size(), 400U);
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
}

}  // namespace
}  // namespace nearfar::tlb_probing_test
