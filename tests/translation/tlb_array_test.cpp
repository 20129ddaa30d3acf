// The array of a TLB against plain models on random input.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "translation/tlb/tlb.h"

namespace nearfar::tlb_array_test {
namespace {

/// A set-associative LRU as a list for each set, most recent first.
class PlainTlb {
 public:
  PlainTlb(std::size_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}
  bool use(PageKey page) {
    auto& set = sets_[page.number() % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), page);
    if (found == set.end()) return false;
    set.splice(set.begin(), set, found);
    return true;
  }
  std::optional<PageKey> insert(PageKey page) {
    auto& set = sets_[page.number() % sets_.size()];
    std::optional<PageKey> victim;
    if (!use(page)) {
      if (set.size() == ways_) {
        victim = set.back();
        set.pop_back();
      }
      set.push_front(page);
    }
    return victim;
  }
  bool erase(PageKey page) {
    auto& set = sets_[page.number() % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), page);
    if (found == set.end()) return false;
    set.erase(found);
    return true;
  }

 private:
  std::vector<std::list<PageKey>> sets_;
  std::size_t ways_;
};

RC_GTEST_PROP(TlbArray, IsATrueLruOfEachSet, ()) {
  const auto sets = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto ways = *rc::gen::inRange<std::uint32_t>(1, 40);
  Tlb tlb(sets * ways, ways);
  PlainTlb plain(sets, ways);
  for (unsigned i = 0; i < 400; ++i) {
    const PageKey page{static_cast<Pid>(*rc::gen::inRange(0, 2)), *rc::gen::inRange<std::uint64_t>(0, 120)};
    const Mapping mapping{PhysPage{DeviceId{0}, page.value}, true, 0};
    switch (*rc::gen::inRange(0, 4)) {
      case 0: RC_ASSERT(tlb.erase(page) == plain.erase(page)); break;
      case 1: {
        const auto victim = tlb.insert(page, mapping);
        const auto expected = plain.insert(page);
        RC_ASSERT(victim.has_value() == expected.has_value());
        if (victim) RC_ASSERT(victim->page == *expected);
        break;
      }
      default: {
        const Mapping* held = tlb.use(page);
        RC_ASSERT((held != nullptr) == plain.use(page));
        if (held != nullptr) RC_ASSERT(held->page == mapping.page);
      }
    }
  }
}

/// As PlainTlb, but a use changes nothing.
RC_GTEST_PROP(TlbArray, CanBeAFifoOfEachSet, ()) {
  const auto sets = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto ways = *rc::gen::inRange<std::uint32_t>(1, 40);
  Tlb tlb(sets * ways, ways, TlbReplacementKind::Fifo);
  std::vector<std::list<PageKey>> plain(sets);  // the first that came in front
  for (unsigned i = 0; i < 400; ++i) {
    const PageKey page{0, *rc::gen::inRange<std::uint64_t>(0, 120)};
    std::list<PageKey>& set = plain[page.number() % sets];
    const auto found = std::find(set.begin(), set.end(), page);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        RC_ASSERT(tlb.erase(page) == (found != set.end()));
        if (found != set.end()) set.erase(found);
        break;
      case 1: {
        const auto victim = tlb.insert(page, {PhysPage{page.value}, true, 0});
        const bool full = found == set.end() && set.size() == ways;
        RC_ASSERT(victim.has_value() == full);
        if (full) {
          RC_ASSERT(victim->page == set.front());
          set.pop_front();
        }
        if (found == set.end()) set.push_back(page);
        break;
      }
      default: RC_ASSERT((tlb.use(page) != nullptr) == (found != set.end()));
    }
  }
}

TEST(TlbArray, ReplacedAtRandomLosesEveryWayInTurnAndTheSameInEveryRun) {
  static constexpr std::uint32_t kWays = 8;
  const auto victims = [] {
    Tlb tlb(kWays, kWays, TlbReplacementKind::Random);
    std::vector<std::uint64_t> out;
    for (std::uint64_t page = 0; page < 1000; ++page) {
      const auto victim = tlb.insert(PageKey{0, page}, {PhysPage{page}, true, 0});
      EXPECT_EQ(victim.has_value(), page >= kWays);
      if (victim) out.push_back(victim->page.number());
    }
    EXPECT_EQ(tlb.size(), kWays);
    return out;
  };
  const std::vector<std::uint64_t> first = victims();
  EXPECT_EQ(first, victims());
  EXPECT_EQ(std::set<std::uint64_t>(first.begin(), first.end()).size(), first.size());
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
}

RC_GTEST_PROP(TlbArray, WithoutLimitHoldsEverything, ()) {
  Tlb tlb(0, 1);
  std::set<std::uint64_t> plain;
  for (unsigned i = 0; i < 300; ++i) {
    const PageKey page{0, *rc::gen::inRange<std::uint64_t>(0, 60)};
    if (*rc::gen::inRange(0, 3) == 0) {
      RC_ASSERT(tlb.erase(page) == (plain.erase(page.value) != 0));
    } else {
      RC_ASSERT(!tlb.insert(page, {PhysPage{page.value}, true, 0}));
      plain.insert(page.value);
    }
    RC_ASSERT(tlb.size() == plain.size());
    RC_ASSERT((tlb.peek(page) != nullptr) == plain.contains(page.value));
  }
}

}  // namespace
}  // namespace nearfar::tlb_array_test
