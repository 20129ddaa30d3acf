// least-TLB: its structures against plain models, its scenarios cycle by cycle, storms on tiny TLBs, and what it costs.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <random>

#include "designs/ats_bench.h"
#include "designs/design.h"

namespace nearfar::least_tlb_test {
namespace {

using Pages = std::vector<std::uint64_t>;
constexpr std::uint64_t kA = 1, kB = 2, kC = 3, kD = 4, kX = 9;

// ---------------------------------------------------------------------------------------------------------- structures

TEST(LeastTlbTracker, HasThePublishedErrors) {
  // A full L2 TLB of 512 pages in 512 slots: 92 % stored, 5 % missed, 22 % of other pages named.
  double stored = 0, missed = 0, named = 0;
  const unsigned rounds = 30;
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    TlbTracker tracker({}, 4);
    std::mt19937_64 random(seed);
    std::vector<PageKey> held;
    for (unsigned i = 0; i < 512; ++i) {
      held.emplace_back(0, random() % (1 << 20));
      tracker.insert(gpu_id(1), held.back());
    }
    stored += 512.0 - static_cast<double>(tracker.stats().dropped);
    for (const PageKey page : held) missed += tracker.holds(gpu_id(1), page) ? 0 : 1;
    for (unsigned i = 0; i < 512; ++i) named += tracker.holds(gpu_id(1), {0, (1 << 21) + random() % (1 << 20)}) ? 1 : 0;
  }
  EXPECT_NEAR(stored / rounds / 512, 0.92, 0.03);
  EXPECT_NEAR(missed / rounds / 512, 0.05, 0.03);
  EXPECT_NEAR(named / rounds / 512, 0.22, 0.03);
}

TEST(LeastTlbTracker, CountsItsErrorsAgainstTheTruth) {
  rc::check([](std::uint64_t seed, bool exact) {
    TrackerSpec spec;
    spec.entries = 32;
    spec.exact = exact;
    TlbTracker tracker(spec, 2);
    std::map<std::uint64_t, unsigned> held;  // what GPU 1 was told, plainly
    std::uint64_t positives = 0, wrong = 0, missed = 0;
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < 300; ++i) {
      const std::uint64_t page = random() % 40;
      switch (random() % 3) {
        case 0:
          tracker.insert(gpu_id(1), {0, page});
          ++held[page];
          break;
        case 1:
          if (held[page] == 0) break;
          tracker.erase(gpu_id(1), {0, page});
          --held[page];
          break;
        default: {
          const bool named = tracker.holds(gpu_id(1), {0, page});
          positives += named;
          wrong += named && held[page] == 0;
          missed += !named && held[page] != 0;
          RC_ASSERT(!tracker.holds(gpu_id(0), {0, page}));
        }
      }
    }
    RC_ASSERT(tracker.stats().positives == positives);
    RC_ASSERT(tracker.stats().false_positives == wrong);
    RC_ASSERT(tracker.stats().false_negatives == missed);
    RC_ASSERT(!exact || wrong + missed == 0);
  });
}

TEST(EvictionCounters, ChooseTheSmallestAndThenTheLowest) {
  EvictionCounters counters(4, 0);
  const auto receiver = [&](unsigned except) { return counters.receiver(gpu_id(except))->value; };
  EXPECT_EQ(receiver(0), 1U);
  counters.enter(gpu_id(1));
  EXPECT_EQ(receiver(0), 2U);
  EXPECT_EQ(counters.receiver(std::nullopt)->value, 0U);
  counters.leave(gpu_id(1));
  EXPECT_EQ(receiver(0), 1U);
  EXPECT_FALSE(EvictionCounters(1, 0).receiver(gpu_id(0)));

  EvictionCounters narrow(3, 2);  // shows at most 3
  for (unsigned i = 0; i < 9; ++i) narrow.enter(gpu_id(1));
  for (unsigned i = 0; i < 5; ++i) narrow.enter(gpu_id(2));
  EXPECT_EQ(narrow.receiver(gpu_id(0))->value, 1U) << "both show 3";
  EXPECT_EQ(narrow[1], 9U) << "and count on";
}

TEST(SpillStates, SurviveNotesAndMessages) {
  for (const unsigned home : {0U, 3U, 127U}) {
    for (const std::uint32_t left : {0U, 1U, 15U}) {
      const SpillState state{gpu_id(home), true, left};
      const ChainedNote packed = ChainedNote::of(ChainedNote{state.note(), 7}.pack());
      const SpillState back = SpillState::of(packed.note);
      EXPECT_EQ(back.home.value, home);
      EXPECT_TRUE(back.spilled);
      EXPECT_EQ(back.left, left);
      EXPECT_EQ(packed.chain, 7U);
      EXPECT_NE(state.note(), 0U);
    }
  }
}

// -------------------------------------------------------------------------------------------------- one process,
// shared

TEST(LeastTlbSingle, AWalkFillsTheL2TlbAlone) {
  LeastTlbRig r(small_tlbs(2, 1, 2), false);
  r.rig.ask(0, kA, 0);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(0, kA), 1011U);
  EXPECT_EQ(r.in_iommu(), Pages{});
  EXPECT_TRUE(r.tracked(0, kA));
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, AVictimGoesToTheIommuAndComesBack) {
  LeastTlbRig r(small_tlbs(2, 1, 2), false);
  r.rig.ask(0, kA, 0);
  r.rig.ask(0, kB, 2000);
  r.rig.at(2, 3160, [&] { EXPECT_EQ(r.in_iommu(), Pages{}); });
  r.rig.at(2, 3162, [&] {
    EXPECT_EQ(r.in_iommu(), Pages{kA});
    EXPECT_FALSE(r.tracked(0, kA));
  });
  r.rig.ask(0, kA, 4000);
  r.rig.at(2, 4362, [&] { EXPECT_EQ(r.in_iommu(), Pages{}); });
  r.rig.at(2, 4662, [&] { EXPECT_EQ(r.in_iommu(), Pages{kB}); });
  r.rig.run();
  EXPECT_EQ(r.rig.answered(0, kB), 3011U);
  EXPECT_EQ(r.rig.answered(0, kA), 4511U);
  EXPECT_EQ(r.walks(), 2U);
  EXPECT_EQ(r.counters(), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, APeerAnswersBeforeTheWalk) {
  LeastTlbRig r(small_tlbs(2, 4, 8), false);
  r.rig.ask(0, kA, 0);
  r.rig.ask(1, kA, 5000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, kA), 5821U);
  EXPECT_EQ(r.iommu.stats().all.remote_hits, 1U);
  EXPECT_EQ(r.rig.iommu().stats().duplicates, 1U);
  EXPECT_EQ(r.l2(0), Pages{kA});
  EXPECT_EQ(r.l2(1), Pages{kA});
  EXPECT_TRUE(r.tracked(0, kA) && r.tracked(1, kA));
  EXPECT_EQ(r.rig.part(LatencyComponent::RemoteLink), 300U);
  EXPECT_EQ(r.rig.part(LatencyComponent::RemoteWalk), 10U);
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
}

/// A page that GPU 0 does not hold but whose fingerprint there equals that of one that it does.
std::uint64_t alias_of(std::uint64_t page) {
  for (std::uint64_t other = page + 1;; ++other) {
    TlbTracker tracker({}, 2);
    tracker.insert(gpu_id(0), {0, other});
    if (tracker.holds(gpu_id(0), {0, page})) return other;
  }
}

TEST(LeastTlbSingle, AFalsePositiveCostsNothing) {
  LeastTlbRig r(small_tlbs(2, 4, 8), false);
  r.rig.ask(0, alias_of(kA), 0);
  r.rig.ask(1, kA, 5000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, kA), 6011U);
  EXPECT_EQ(r.iommu.stats().all.remote_misses, 1U);
  EXPECT_EQ(r.iommu.tracker().stats().false_positives, 1U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, APeersAnswerTakesBackAQueuedWalk) {
  RigOptions options = small_tlbs(2, 4, 8);
  options.iommu.walkers = 1;
  options.gmmu.walk.cycles = 2000;
  LeastTlbRig r(options, false);
  r.rig.ask(0, kA, 0);
  r.rig.ask(0, kB, 4700);  // walked from 5061 to 7061
  r.rig.ask(1, kA, 5000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, kA), 5821U);
  EXPECT_EQ(r.rig.iommu().walkers().stats().withdrawn, 1U);
  EXPECT_EQ(r.walks(), 2U) << "one of kA for GPU 0, one of kB";
  EXPECT_EQ(r.rig.iommu().stats().duplicates, 0U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, AWalkAnswersBeforeASlowPeer) {
  LeastTlbSpec spec;
  spec.remote_latency = 900;
  LeastTlbRig r(small_tlbs(2, 4, 8), false, spec);
  r.rig.ask(0, kA, 0);
  r.rig.ask(1, kA, 5000);
  r.rig.at(2, 6260, [&] { EXPECT_EQ(r.rig.iommu().stats().duplicates, 0U); });
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, kA), 6011U);
  EXPECT_EQ(r.iommu.stats().remote_late, 1U);
  EXPECT_EQ(r.rig.iommu().stats().duplicates, 1U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, WithoutARaceTheWalkComesAfterThePeer) {
  LeastTlbSpec spec;
  spec.race = false;
  LeastTlbRig r(small_tlbs(2, 4, 8), false, spec);
  r.rig.ask(0, alias_of(kA), 0);
  r.rig.ask(1, kA, 5000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, kA), 6321U);
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, ARequestThatComesAfterTheAnswerIsOnItsOwn) {
  // GPU 1 is answered by GPU 0 at 5671, while the walk runs to 5861; GPU 2 asks in between.
  LeastTlbRig r(small_tlbs(3, 4, 8), false, [] {
    LeastTlbSpec spec;
    spec.tracker.entries = 1536;
    return spec;
  }());
  r.rig.ask(0, kA, 0);
  r.rig.ask(1, kA, 5000);
  r.rig.ask(2, kA, 5350);  // its miss is known at 5711
  r.rig.run();
  EXPECT_EQ(r.rig.answered(1, kA), 5821U);
  EXPECT_EQ(r.rig.answered(2, kA), 6171U);
  EXPECT_EQ(r.rig.iommu().stats().merges, 0U);
  EXPECT_EQ(r.walks(), 3U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbSingle, ATrackerThatOverflowsOnlyLosesAnOpportunity) {
  LeastTlbSpec spec;
  spec.tracker.entries = 4;  // a bucket of two for each GPU
  spec.tracker.fingerprint_bits = 1;
  LeastTlbRig r(small_tlbs(2, 4, 8), false, spec);
  for (const std::uint64_t page : {kA, kB, kC}) r.rig.ask(0, page, page * 2000);
  for (const std::uint64_t page : {kA, kB, kC}) r.rig.ask(1, page, 10'000 + page * 2000);
  r.rig.run();
  EXPECT_EQ(r.iommu.tracker().stats().dropped, 2U) << "the third of each GPU";
  for (const std::uint64_t page : {kA, kB, kC}) EXPECT_EQ(r.rig.answered(1, page), 10'000 + page * 2000 + 821);
  EXPECT_TRUE(r.rig.idle());
}

// -------------------------------------------------------------------------------------------- several processes,
// spills

struct Spilling : LeastTlbRig {
  explicit Spilling(std::uint32_t spills = 1, std::uint32_t iommu_entries = 2)
      : LeastTlbRig(small_tlbs(3, 1, iommu_entries), true, spec_of(spills), 3) {}
  static LeastTlbSpec spec_of(std::uint32_t spills) {
    LeastTlbSpec spec;
    spec.tracker.entries = 1536;
    spec.spill.count = spills;
    return spec;
  }
  void chain() {
    rig.ask(1, kX, 0, false, 0, 1);
    for (const std::uint64_t page : {kA, kB, kC, kD}) rig.ask(0, page, 10'000 * page);
  }
};

TEST(LeastTlbMulti, AnEvictionSpillsAndThatSpillsAgain) {
  Spilling r;
  r.chain();
  r.rig.at(3, 35'000, [&] { EXPECT_EQ(r.in_iommu(), (Pages{kA, kB})); });
  r.rig.run();
  EXPECT_EQ(r.in_iommu(), (Pages{kC, kX}));
  EXPECT_EQ(r.counters(), (std::vector<std::uint32_t>{1, 1, 0}));
  EXPECT_EQ(r.l2(1), Pages{kA});
  EXPECT_EQ(r.l2(2), Pages{kB});
  EXPECT_TRUE(r.tracked(1, kA) && r.tracked(2, kB));
  EXPECT_EQ(r.iommu.stats().all.spills, 2U);
  EXPECT_EQ(r.gpus[2]->stats().chain_length.max, 2U);
  EXPECT_EQ(r.gpus[2]->stats().chain_length.count, 1U);
  EXPECT_EQ(r.iommu.stats().chain_length.count, 0U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbMulti, ASpilledEntryThatIsNeededGoesHome) {
  Spilling r;
  r.chain();
  r.rig.ask(0, kA, 100'000);
  r.rig.run();
  EXPECT_EQ(r.rig.answered(0, kA), 100'821U);
  EXPECT_EQ(r.in_iommu(), (Pages{kD, kX}));
  EXPECT_EQ(r.counters(), (std::vector<std::uint32_t>{1, 1, 0}));
  EXPECT_EQ(r.l2(0), Pages{kA});
  EXPECT_EQ(r.rig.l2(0).array().entry({0, kA})->note, 0U) << "not spilled, all spills left";
  EXPECT_EQ(r.l2(1), Pages{});
  EXPECT_EQ(r.l2(2), Pages{kC});
  EXPECT_FALSE(r.tracked(1, kA) || r.tracked(2, kB));
  EXPECT_TRUE(r.tracked(2, kC));
  EXPECT_EQ(r.gpus[2]->stats().spill_drops, 1U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbMulti, WithTwoSpillsAnEntryGoesRoundTwice) {
  Spilling r(2, 1);
  for (const std::uint64_t page : {kA, kB, kC}) r.rig.ask(0, page, 10'000 * page);
  r.rig.at(3, 35'000, [&] {
    EXPECT_EQ(r.in_iommu(), Pages{kB});
    EXPECT_EQ(r.counters(), (std::vector<std::uint32_t>{1, 0, 0}));
  });
  r.rig.at(1, 35'000, [&] { EXPECT_EQ(r.l2(1), Pages{kA}); });
  // kX pushes kA out of GPU 1's L2 TLB: it has a spill left and enters the IOMMU TLB, for GPU 0; kB is spilled for it,
  // pushes kX out in its turn, and that spills kA again.
  r.rig.ask(1, kX, 40'000, false, 0, 1);
  r.rig.at(3, 41'200, [&] {
    const Tlb::Entry* entry = r.rig.iommu().tlb().entry({0, kA});
    ASSERT_NE(entry, nullptr);
    EXPECT_TRUE(SpillState::of(entry->note).spilled);
    EXPECT_EQ(SpillState::of(entry->note).left, 1U);
    EXPECT_EQ(r.counters(), (std::vector<std::uint32_t>{1, 0, 0}));
  });
  r.rig.at(3, 45'000, [&] {
    EXPECT_EQ(r.in_iommu(), Pages{kX});
    EXPECT_EQ(r.counters(), (std::vector<std::uint32_t>{0, 1, 0}));
  });
  r.rig.at(2, 45'000, [&] { EXPECT_EQ(r.l2(2), Pages{kA}); });
  r.rig.ask(2, kX, 50'000, false, 0, 2);
  r.rig.run();
  EXPECT_EQ(r.gpus[2]->stats().spill_drops, 1U) << "kA, which had no spill left";
  EXPECT_FALSE(r.tracked(2, kA));
  EXPECT_EQ(r.iommu.stats().all.spills, 3U);
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbMulti, WithoutSpillsVictimsStillEnter) {
  Spilling r(0);
  r.chain();
  r.rig.run();
  EXPECT_EQ(r.in_iommu(), (Pages{kB, kC}));
  EXPECT_EQ(r.iommu.stats().all.spills, 0U);
  EXPECT_EQ(r.iommu.stats().discards, 1U);
  EXPECT_EQ(r.l2(1), Pages{kX});
  EXPECT_TRUE(r.rig.idle());
}

TEST(LeastTlbMulti, AHitInTheIommuTlbLowersItsCounter) {
  Spilling r;
  r.rig.ask(0, kA, 0);
  r.rig.ask(0, kB, 10'000);
  r.rig.at(3, 15'000, [&] { EXPECT_EQ(r.counters()[0], 1U); });
  r.rig.ask(0, kA, 20'000);
  r.rig.at(3, 20'362, [&] { EXPECT_EQ(r.counters()[0], 0U); });
  r.rig.run();
  EXPECT_EQ(r.rig.answered(0, kA), 20'511U);
  EXPECT_EQ(r.counters()[0], 1U) << "kB";
  EXPECT_TRUE(r.rig.idle());
}

// -------------------------------------------------------------------------------------------------------------- storms

class LeastTlbStorm : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, LeastTlbStorm, ::testing::Range<std::uint64_t>(0, 96));

/// Everything as small as can be, one process or several, with or without DWS and page requests.
TEST_P(LeastTlbStorm, AnswersEveryRequestOnce) {
  std::mt19937_64 random(GetParam());
  const auto one_of = [&](std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  const unsigned gpus = one_of({2, 3, 4});
  const bool multi = GetParam() % 2 == 0;
  RigOptions options = small_tlbs(gpus, one_of({1, 2, 4}), one_of({1, 2, 8}));
  if (GetParam() % 3 == 0) options.host.uvm.policy = PagePolicy::FirstTouch;
  options.l2_tlb.mshrs = one_of({1, 2, 8});
  options.l2_tlb.lookups_per_cycle = one_of({0, 1});
  options.iommu.tlb.lookups_per_cycle = one_of({0, 1});
  options.iommu.walkers = one_of({4, 5});
  options.iommu.queue = one_of({4, 9});
  options.iommu.pending = one_of({0, 1, 2, 6});
  LeastTlbSpec spec;
  spec.tracker.entries = gpus * 2 * one_of({1, 2, 16});
  spec.tracker.fingerprint_bits = one_of({1, 4});
  spec.tracker.exact = one_of({0, 0, 1}) == 1;
  spec.race = one_of({0, 1}) == 1;
  spec.forward_to = one_of({0, 1}) == 0 ? ForwardTo::One : ForwardTo::All;
  spec.remote_latency = one_of({0, 0, 900});
  spec.spill.count = one_of({0, 1, 3});
  spec.spill.exclude_home = one_of({1, 1, 0}) == 1;
  const unsigned processes = multi ? gpus : 1;
  LeastTlbRig r(options, multi, spec, processes);
  const bool steals = one_of({0, 1}) == 1;
  if (steals) {
    r.rig.parts(gpus).add(std::make_unique<WalkStealer>(r.rig.iommu().walkers(), options.iommu.queue,
                                                        DwsSpec{static_cast<DwsMode>(one_of({0, 1, 2})), 2, 1},
                                                        processes));
  }
  const unsigned pages = one_of({2, 5, 20});
  const Cycle spread = one_of({2'000, 200'000});
  const unsigned requests = 400;
  for (unsigned i = 0; i < requests; ++i) {
    const auto g = static_cast<unsigned>(random() % gpus);
    r.rig.ask(g, random() % pages, random() % spread, random() % 3 == 0, i, static_cast<Pid>(multi ? g : 0));
  }
  r.rig.run();
  EXPECT_EQ(r.rig.answers.size(), requests);
  EXPECT_EQ(r.rig.all_parts(), r.rig.latency());
  EXPECT_TRUE(r.rig.idle());
  // What the tracker was told is what the L2 TLBs hold, now that no message is under way.
  for (unsigned g = 0; g < gpus; ++g) {
    std::uint64_t tracked = 0;
    r.rig.l2(g).array().for_each([&](const Tlb::Entry& entry) {
      if (multi && !SpillState::of(entry.note).spilled) return;
      ++tracked;
      EXPECT_TRUE(r.tracked(g, entry.page.number(), entry.page.pid()));
    });
    EXPECT_EQ(r.iommu.tracker().told(gpu_id(g)).stored(), tracked);
  }
}

// --------------------------------------------------------------------------------------------------------------- cost

TEST(LeastTlbCost, IsThePublishedOne) {
  const auto cost = [](std::vector<std::string> overrides) {
    return cost_of(std::vector<std::string>{"least-tlb"}, "ats-4gpu", overrides).front().items;
  };
  const std::vector<StorageItem> built = cost({});
  ASSERT_EQ(built.size(), 3U);
  EXPECT_EQ(built[0].bits, 8192U);
  EXPECT_EQ(built[1].bits, 52U);
  EXPECT_EQ(built[2].bits, 6144U * 4);
  // The published size is that of an ideal filter with two slots in a bucket and false positives of 0.2.
  EXPECT_NEAR(2048 * std::log2(2 * 2 / 0.2) / 8 / 1024, 1.08, 0.005);
  // Its Eviction Counters have 8 bits each.
  EXPECT_EQ(cost({"least_tlb.eviction_counter.bits=8"})[1].bits, 32U);
}

}  // namespace
}  // namespace nearfar::least_tlb_test
