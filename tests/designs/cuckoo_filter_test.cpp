// The cuckoo filter against sets and multisets of keys: what it may never miss, how often it errs, what it holds when
// it is full and when it is empty again.
#include "designs/cuckoo_filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace nearfar::cuckoo_filter_test {
namespace {

using Match = CuckooFilter::Match;

bool holds(const CuckooFilter& filter, std::uint64_t key) { return filter.look_up(key) != Match::None; }

/// Everything in one bucket under one fingerprint.
std::uint64_t constant_hash(std::uint64_t, std::uint64_t) { return 0; }

TEST(MetroHash, IsTheOneThatWasPublished) {
  // From an implementation for keys of any length that passes the author's test vectors.
  EXPECT_EQ(metro_hash(0x0706050403020100, 0), 0x84790d12bd34b00aU);
  EXPECT_EQ(metro_hash(0x0706050403020100, 1), 0xe26d193f3867d392U);
  EXPECT_EQ(metro_hash(~std::uint64_t{0}, 0), 0xfe633df238265e41U);
}

/// Insertions of absent keys and deletions of present ones: the promise of a filter that never forgets.
RC_GTEST_PROP(CuckooFilter, ConservativeNeverMissesAndCountsWhatItHolds, ()) {
  CuckooFilterSpec spec;
  spec.buckets = *rc::gen::element<std::uint32_t>(1, 2, 5, 8);
  spec.slots = *rc::gen::element<std::uint32_t>(1, 2, 4);
  spec.fingerprint_bits = *rc::gen::element<std::uint32_t>(1, 3, 12);
  spec.counters = *rc::gen::element<std::uint32_t>(1, 3, 8);
  spec.counter_bits = *rc::gen::element<std::uint32_t>(2, 8);
  spec.max_kicks = *rc::gen::element<std::uint32_t>(0, 5, 500);
  spec.seed = *rc::gen::arbitrary<std::uint64_t>();
  CuckooFilter filter(spec);
  std::map<std::uint64_t, bool> present;
  const auto keys = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 60));
  for (const std::uint64_t key : keys) {
    if (present[key]) {
      RC_ASSERT(filter.erase(key));
    } else {
      filter.insert(key);
    }
    present[key] = !present[key];
    std::uint64_t items = 0;
    for (const auto& [item, is_in] : present) {
      if (!is_in) continue;
      ++items;
      RC_ASSERT(holds(filter, item));
    }
    RC_ASSERT(filter.stored() <= filter.slots());
    RC_ASSERT(filter.exits() <= (filter.stored() == filter.slots() ? 0 : filter.stored()));
    if (filter.stuck() == 0) RC_ASSERT(filter.stored() + filter.counted() == items);
  }
  for (const auto& [item, is_in] : present) {
    if (is_in) RC_ASSERT(filter.erase(item));
  }
  RC_ASSERT(filter.stored() == 0U);
  RC_ASSERT(filter.exits() == 0U);
  if (filter.stuck() != 0) return;
  RC_ASSERT(filter.counted() == 0U);
  for (std::uint64_t key = 0; key < 60; ++key) RC_ASSERT(!holds(filter, key));
}

/// The exact filter is a multiset; the others tolerate second insertions and deletions of what is not there.
RC_GTEST_PROP(CuckooFilter, ExactIsAMultisetAndDropStaysWithinItsSlots, ()) {
  CuckooFilterSpec spec;
  spec.buckets = 3;
  spec.slots = 2;
  spec.overflow = FilterOverflow::Exact;
  CuckooFilter exact(spec);
  spec.overflow = FilterOverflow::Drop;
  CuckooFilter dropping(spec);
  std::map<std::uint64_t, unsigned> reference;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, 12), rc::gen::arbitrary<bool>()));
  for (const auto& [key, inserts] : steps) {
    if (inserts) {
      RC_ASSERT(exact.insert(key));
      ++reference[key];
      dropping.insert(key);
    } else {
      RC_ASSERT(exact.erase(key) == (reference[key] != 0));
      if (reference[key] != 0) --reference[key];
      dropping.erase(key);
    }
    RC_ASSERT(holds(exact, key) == (reference[key] != 0));
    RC_ASSERT(dropping.stored() <= 6U);
    RC_ASSERT(dropping.counted() == 0U);
  }
}

TEST(CuckooFilter, OfOneSlotSaturatesAndRecovers) {
  CuckooFilterSpec spec;
  spec.buckets = 1;
  spec.slots = 1;
  spec.counters = 1;
  CuckooFilter filter(spec);
  constexpr std::uint64_t a = 10, b = 20, c = 30;
  EXPECT_TRUE(filter.insert(a));
  EXPECT_FALSE(filter.insert(b));
  EXPECT_EQ(filter.stored(), 1U);
  EXPECT_EQ(filter.counted(), 1U);
  EXPECT_TRUE(holds(filter, a) && holds(filter, b));
  EXPECT_EQ(filter.look_up(c), Match::Counter);
  EXPECT_TRUE(filter.erase(a));
  EXPECT_EQ(filter.stored() + filter.counted(), 1U);
  EXPECT_TRUE(holds(filter, b));
  EXPECT_TRUE(filter.erase(b));
  for (const std::uint64_t key : {a, b, c}) EXPECT_FALSE(holds(filter, key));
}

TEST(CuckooFilter, OfEqualFingerprintsIsAMultisetOfThem) {
  CuckooFilterSpec spec;
  spec.overflow = FilterOverflow::Drop;
  CuckooFilter filter(spec, constant_hash);
  EXPECT_TRUE(filter.insert(1));
  EXPECT_TRUE(filter.insert(2));
  EXPECT_TRUE(filter.erase(3));  // an equal fingerprint: whose it is nobody can tell
  EXPECT_TRUE(holds(filter, 1));
  EXPECT_TRUE(filter.erase(1));
  EXPECT_FALSE(holds(filter, 2));
  EXPECT_FALSE(filter.erase(2));
}

/// The sizes of the Pending Request Table: 125 buckets of 4 fingerprints of 12 bits.
TEST(CuckooFilter, ErrsAsItsFingerprintsLet) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CuckooFilterSpec spec;
    spec.seed = seed;
    CuckooFilter filter(spec);
    constexpr std::uint64_t kItems = 400;
    for (std::uint64_t key = 0; key < kItems; ++key) EXPECT_TRUE(filter.insert(key * 7));
    std::uint64_t wrong = 0;
    constexpr std::uint64_t kProbes = 200'000;
    for (std::uint64_t i = 0; i < kProbes; ++i) wrong += holds(filter, (std::uint64_t{1} << 40) + i);
    // Each probe is compared with 2 × 4 slots that are filled to 0.8, of 4095 fingerprints.
    const double expected = 8 * (kItems / 500.0) / 4095;
    EXPECT_NEAR(static_cast<double>(wrong) / kProbes, expected, expected * 0.3);
  }
}

/// More items than slots: a conservative filter turns positive for what is absent, by as much as is expected of
/// counters that are positive with probability 1 − exp(−excess / counters).
TEST(CuckooFilter, SaturatesGraduallyWhenConservative) {
  const std::map<std::uint64_t, double> expected = {{475, 0.001}, {500, 0.07}, {600, 0.57}, {800, 0.90}, {1000, 0.98}};
  for (const auto& [items, rate] : expected) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      CuckooFilterSpec spec;
      spec.seed = seed;
      CuckooFilter filter(spec);
      for (std::uint64_t key = 0; key < items; ++key) filter.insert(key);
      std::uint64_t positive = 0;
      for (std::uint64_t i = 0; i < 2000; ++i) positive += holds(filter, (std::uint64_t{1} << 40) + i);
      sum += static_cast<double>(positive) / 2000;
    }
    EXPECT_NEAR(sum / 8, rate, 0.04) << items << " items";
  }
}

/// Items come and go in a filter with more of them than slots: those that become empty are found again. The sizes are
/// those of the two tables of Trans-FW.
TEST(CuckooFilter, StaysFullWhenItemsComeAndGo) {
  for (const auto& [buckets, slots, overflow, load] :
       {std::tuple(125U, 4U, FilterOverflow::Conservative, 0.995), std::tuple(1000U, 2U, FilterOverflow::Drop, 0.98)}) {
    CuckooFilterSpec spec;
    spec.buckets = buckets;
    spec.slots = slots;
    spec.overflow = overflow;
    CuckooFilter filter(spec);
    const std::uint64_t items = 2 * filter.slots(), steps = 4 * items;
    for (std::uint64_t key = 0; key < items; ++key) filter.insert(key);
    std::uint64_t stored = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      filter.erase(step);
      filter.insert(items + step);
      stored += filter.stored();
      const bool held = holds(filter, step + 1) && holds(filter, items + step);
      EXPECT_TRUE(held || overflow == FilterOverflow::Drop);
    }
    EXPECT_GT(static_cast<double>(stored) / static_cast<double>(steps), load * filter.slots());
  }
}

/// The sizes of a tracker of an L2 TLB of 512 entries: 256 buckets of 2 fingerprints of 4 bits, too few by design.
TEST(CuckooFilter, DropsAFewWhenFull) {
  double stored = 0, wrong = 0, missed = 0;
  constexpr unsigned kSeeds = 10;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CuckooFilterSpec spec;
    spec.buckets = 256;
    spec.slots = 2;
    spec.fingerprint_bits = 4;
    spec.max_kicks = 16;
    spec.overflow = FilterOverflow::Drop;
    spec.seed = seed;
    CuckooFilter filter(spec);
    for (std::uint64_t key = 0; key < 512; ++key) filter.insert(key);
    stored += static_cast<double>(filter.stored()) / 512;
    for (std::uint64_t key = 0; key < 512; ++key) missed += holds(filter, key) ? 0 : 1.0 / 512;
    for (std::uint64_t i = 0; i < 4000; ++i) wrong += holds(filter, (std::uint64_t{1} << 40) + i) ? 1.0 / 4000 : 0;
  }
  EXPECT_NEAR(stored / kSeeds, 0.92, 0.03);
  EXPECT_NEAR(wrong / kSeeds, 0.22, 0.03);
  EXPECT_NEAR(missed / kSeeds, 0.05, 0.03);
}

}  // namespace
}  // namespace nearfar::cuckoo_filter_test
