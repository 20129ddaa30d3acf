// Dynamic walk stealing: who owns which walker, and whose request a free one takes.
#include <gtest/gtest.h>

#include <random>

#include "designs/ats_bench.h"

namespace nearfar::dws_test {
namespace {

struct StealingRig {
  StealingRig(unsigned tenants, std::uint32_t walkers, std::uint32_t queue, const DwsSpec& spec)
      : rig(options(walkers, queue), 0, 64, tenants),
        stealer(rig.parts(1).add(std::make_unique<WalkStealer>(rig.iommu().walkers(), queue, spec, tenants))) {}

  static RigOptions options(std::uint32_t walkers, std::uint32_t queue) {
    RigOptions o = RigOptions::with_iommu(1);
    o.iommu.walkers = walkers;
    o.iommu.queue = queue;
    return o;
  }
  /// A walk of a tenant's page that reaches the walkers at `when`, 361 cycles after its request.
  void walk(Pid tenant, std::uint64_t page, Cycle when) { rig.ask(0, page, kStart + when - 361, false, 0, tenant); }
  /// When that walk ended: its answer takes a link's latency.
  Cycle ended(Pid tenant, std::uint64_t page) const { return rig.answered(0, page, 0, tenant) - kLink - kStart; }

  static constexpr Cycle kStart = 10'000;
  Rig rig;
  WalkStealer& stealer;
};

constexpr std::uint64_t kA = 1, kB = 2, kC = 3, kD = 4;

void four_walks(StealingRig& r) {
  r.walk(0, kA, 0);
  r.walk(0, kB, 0);
  r.walk(0, kC, 0);
  r.walk(1, kD, 100);
  r.rig.run();
  EXPECT_TRUE(r.rig.idle());
}

TEST(Dws, AnIdleWalkerStealsAndThenServesItsOwner) {
  StealingRig r(2, 2, 64, {});
  four_walks(r);
  EXPECT_EQ(r.ended(0, kA), 500U);
  EXPECT_EQ(r.ended(0, kB), 500U);
  EXPECT_EQ(r.ended(0, kC), 1000U);
  EXPECT_EQ(r.ended(1, kD), 1000U);
  EXPECT_EQ(r.stealer.total().steals, 1U);
  EXPECT_EQ(r.stealer.tenant(0).steals, 1U);
  EXPECT_EQ(r.stealer.tenant(0).own, 2U);
  EXPECT_EQ(r.stealer.tenant(1).own, 1U);
}

TEST(Dws, StrictWalkersWaitForTheirOwner) {
  StealingRig r(2, 2, 64, {DwsMode::Strict, 2, 8});
  four_walks(r);
  EXPECT_EQ(r.ended(0, kA), 500U);
  EXPECT_EQ(r.ended(0, kB), 1000U);
  EXPECT_EQ(r.ended(0, kC), 1500U);
  EXPECT_EQ(r.ended(1, kD), 600U);
  EXPECT_EQ(r.stealer.total().steals, 0U);
}

TEST(Dws, PlusPlusStealsFromABusyTenantButNotTwiceInARow) {
  // Tenant 1 keeps both walkers busy until 500; then its walker helps tenant 0, whose queue is far longer.
  StealingRig r(2, 2, 64, {DwsMode::DwsPlusPlus, 2, 2});
  r.walk(0, 10, 0);
  r.walk(1, 20, 0);
  for (std::uint64_t page = 11; page < 16; ++page) r.walk(0, page, 10);
  r.walk(1, 21, 20);
  r.walk(1, 22, 20);
  r.rig.run();
  EXPECT_EQ(r.ended(0, 11), 1000U);
  EXPECT_EQ(r.ended(0, 12), 1000U) << "stolen, although tenant 1 had two waiting";
  EXPECT_EQ(r.ended(1, 21), 1500U) << "not twice in a row";
  EXPECT_TRUE(r.rig.idle());
}

TEST(Dws, WalkersAreDividedAmongTheTenants) {
  StealingRig r(3, 8, 64, {});
  std::vector<unsigned> owners;
  for (std::uint16_t walker = 0; walker < 8; ++walker) owners.push_back(r.stealer.owner(walker));
  EXPECT_EQ(owners, (std::vector<unsigned>{0, 0, 0, 1, 1, 1, 2, 2}));
}

TEST(Dws, ATenantsFullQueueHoldsUpNobodyElse) {
  // Two places in the queue, one for each tenant; tenant 0 floods it.
  StealingRig r(2, 2, 2, {DwsMode::Strict, 2, 8});
  for (std::uint64_t page = 10; page < 20; ++page) r.walk(0, page, 0);
  r.walk(1, 20, 100);
  r.walk(1, 21, 110);
  r.rig.run();
  EXPECT_EQ(r.ended(1, 20), 600U);
  EXPECT_EQ(r.ended(1, 21), 1100U);
  EXPECT_EQ(r.ended(0, 19), 5000U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(Dws, OfOneTenantIsFirstComeFirstServed) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::mt19937_64 random(seed);
    StealingRig with(1, 2, 3, {static_cast<DwsMode>(seed % 3), 2, 8});
    Rig without(StealingRig::options(2, 3), 0, 64);
    for (unsigned i = 0; i < 100; ++i) {
      const std::uint64_t page = random() % 64;
      const Cycle when = random() % 5000;
      with.rig.ask(0, page, when, false, i);
      without.ask(0, page, when, false, i);
    }
    with.rig.run();
    without.run();
    ASSERT_EQ(with.rig.answers.size(), without.answers.size());
    for (std::size_t i = 0; i < without.answers.size(); ++i) {
      EXPECT_EQ(with.rig.answers[i].when, without.answers[i].when);
      EXPECT_EQ(with.rig.answers[i].page, without.answers[i].page);
    }
  }
}

/// A plain model: walkers as times, queues as lists, one cycle after another.
std::vector<Cycle> modelled(const std::vector<std::pair<Cycle, unsigned>>& requests, unsigned tenants, unsigned walkers,
                            bool steals) {
  std::vector<Cycle> ends(requests.size(), 0);
  std::vector<std::vector<std::size_t>> queues(tenants);
  std::vector<Cycle> busy(walkers, 0);
  std::vector<unsigned> owner;
  for (unsigned t = 0; t < tenants; ++t) owner.insert(owner.end(), walkers / tenants + (t < walkers % tenants), t);
  std::size_t next = 0;
  for (Cycle now = 0; std::ranges::find(ends, Cycle{0}) != ends.end(); ++now) {
    const auto serve = [&](unsigned walker, unsigned tenant) {
      ends[queues[tenant].front()] = busy[walker] = now + 500;
      queues[tenant].erase(queues[tenant].begin());
    };
    const auto dispatch = [&] {
      for (unsigned w = 0; w < walkers; ++w) {
        if (busy[w] <= now && !queues[owner[w]].empty()) serve(w, owner[w]);
      }
      for (unsigned w = 0; steals && w < walkers; ++w) {
        const auto longest = std::ranges::max_element(queues, {}, &std::vector<std::size_t>::size);
        if (busy[w] <= now && !longest->empty()) serve(w, static_cast<unsigned>(longest - queues.begin()));
      }
    };
    dispatch();
    for (; next < requests.size() && requests[next].first == now; ++next) {
      queues[requests[next].second].push_back(next);
      dispatch();
    }
  }
  return ends;
}

TEST(Dws, IsWhatThePlainModelDoes) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto tenants = static_cast<unsigned>(1 + random() % 3);
    const auto walkers = static_cast<unsigned>(tenants + random() % 3);
    const bool steals = random() % 2 == 0;
    StealingRig r(tenants, walkers, 1000, {steals ? DwsMode::Dws : DwsMode::Strict, 2, 8});
    std::vector<std::pair<Cycle, unsigned>> requests;
    Cycle when = 0;
    for (unsigned i = 0; i < 60; ++i) {
      // Never in the cycle in which a walk may end: which comes first would be the model's choice.
      when += 1 + random() % 211;
      while (when % 10 == 0) ++when;
      requests.emplace_back(when, static_cast<unsigned>(random() % tenants));
    }
    for (std::size_t i = 0; i < requests.size(); ++i)
      r.walk(static_cast<Pid>(requests[i].second), i, requests[i].first);
    r.rig.run();
    const std::vector<Cycle> expected = modelled(requests, tenants, walkers, steals);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(r.ended(static_cast<Pid>(requests[i].second), i), expected[i]) << i;
    }
    EXPECT_TRUE(r.rig.idle());
  }
}

}  // namespace
}  // namespace nearfar::dws_test
