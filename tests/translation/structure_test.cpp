// Walk caches, page tables and reuse distances against plain models on random input.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "translation/iommu/iommu.h"
#include "translation/tlb/tlb.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk_cache.h"

namespace nearfar::structure_test {
namespace {

RC_GTEST_PROP(WalkCacheArray, FindsTheLongestPrefixAndKeepsTheRecentOnes, ()) {
  const auto capacity = *rc::gen::inRange<std::uint32_t>(1, 12);
  WalkCache cache(capacity);
  std::list<std::pair<unsigned, std::uint64_t>> plain;  // (level, prefix), most recent first
  const auto touch = [&](unsigned level, std::uint64_t prefix) {
    const auto found = std::find(plain.begin(), plain.end(), std::pair{level, prefix});
    if (found == plain.end()) return false;
    plain.splice(plain.begin(), plain, found);
    return true;
  };
  for (unsigned i = 0; i < 300; ++i) {
    // Few pages at every distance, so that prefixes are shared at all levels.
    std::uint64_t number = 0;
    for (unsigned level = 0; level < 5; ++level) number = number << 9 | *rc::gen::inRange<std::uint64_t>(0, 2);
    const PageKey page{0, number};
    unsigned expected = 0;
    for (unsigned level = 2; level <= 5 && expected == 0; ++level) {
      if (touch(level, number >> 9 * (level - 1))) expected = level;
    }
    const unsigned hit = cache.look_up(page, 1, 5);
    RC_ASSERT(hit == expected);
    for (unsigned level = hit == 0 ? 5 : hit - 1; level >= 2; --level) {
      cache.fill(page, 1, level);
      if (touch(level, number >> 9 * (level - 1))) continue;
      if (plain.size() == capacity) plain.pop_back();
      plain.emplace_front(level, number >> 9 * (level - 1));
    }
  }
}

RC_GTEST_PROP(PageTableInMemory, ReadsBackWhatWasWritten, ()) {
  const auto levels = *rc::gen::inRange(4U, 6U);
  const PageSize size{*rc::gen::element(0U, kLargePageBits)};
  std::uint64_t frames = 0;
  PageTable table(levels, size, [&] { return PhysPage{DeviceId{3}, frames++}; });
  const std::uint64_t limit = std::uint64_t{1} << (9 * (levels - (size.bits == 0 ? 0 : 1)));
  table.cover(100, 700);
  std::map<std::uint64_t, std::uint64_t> plain;
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint64_t number =
        *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 2000), rc::gen::inRange<std::uint64_t>(0, limit));
    if (*rc::gen::inRange(0, 2) == 0) {
      const PhysPage page{DeviceId{static_cast<std::uint16_t>(*rc::gen::inRange(0, 1025))},
                          *rc::gen::inRange<std::uint64_t>(0, 1ULL << 27)};
      table.write(number, Pte::leaf({page, true, 0}, size.bits != 0));
      plain[number] = page.value;
    }
    const Pte entry = table.read(number);
    RC_ASSERT(entry.valid() == plain.contains(number));
    if (!entry.valid()) continue;
    RC_ASSERT(entry.page().value == plain[number]);
    RC_ASSERT(entry.large() == (size.bits != 0));
    for (unsigned level = table.leaf(); level <= table.root(); ++level) {
      RC_ASSERT(table.present(level, number));
      RC_ASSERT(table.line(level, number).device() == DeviceId{3});
    }
  }
  RC_ASSERT(table.pages() == frames);
}

RC_GTEST_PROP(PageTableInMemory, HasAsManyNodesAsItSays, ()) {
  const auto levels = *rc::gen::inRange(4U, 6U);
  const PageSize size{*rc::gen::element(0U, kLargePageBits)};
  const auto first = *rc::gen::inRange<std::uint64_t>(0, 1U << 26);
  const auto count = *rc::gen::element<std::uint64_t>(0, 1, 511, 512, 513, 3000, 1U << 19);
  std::uint64_t frames = 0;
  PageTable table(levels, size, [&] { return PhysPage{DeviceId{0}, frames++}; });
  table.cover(first, count);
  RC_ASSERT(PageTable::nodes(levels, size, first, count) == frames);
}

TEST(PageTableEntry, KeepsItsFieldsApart) {
  Pte entry = Pte::leaf({PhysPage{DeviceId{0x1fff}, 0x7ff'ffff}, false, 0}, true);
  entry.set_access_bits(0x7ff);
  EXPECT_TRUE(entry.valid());
  EXPECT_FALSE(entry.writable());
  EXPECT_TRUE(entry.large());
  EXPECT_EQ(entry.page(), (PhysPage{DeviceId{0x1fff}, 0x7ff'ffff}));
  EXPECT_EQ(entry.access_bits(), 0x7ffU);
  EXPECT_EQ(entry.bits() >> 63, 0U);
  entry.invalidate();
  EXPECT_FALSE(entry.valid());
  EXPECT_EQ(entry.page().device(), DeviceId{0x1fff});
}

TEST(PageTableLines, EightEntriesShareOne) {
  PageTable table(4, {}, [n = std::uint64_t{0}]() mutable { return PhysPage{DeviceId{0}, n++}; });
  table.cover(0, 64);
  EXPECT_EQ(table.line(1, 0), table.line(1, 7));
  EXPECT_NE(table.line(1, 7), table.line(1, 8));
  EXPECT_EQ(table.line(2, 0), table.line(2, 63));
}

RC_GTEST_PROP(ReuseDistance, IsTheNumberOfOtherPagesInBetween, ()) {
  ReuseMeter meter;
  std::vector<std::uint64_t> seen;
  for (unsigned i = 0; i < 3000; ++i) {
    const auto page = *rc::gen::inRange<std::uint64_t>(0, 50);
    std::uint64_t expected = ReuseMeter::kFirst;
    const auto last = std::find(seen.rbegin(), seen.rend(), page);
    if (last != seen.rend()) expected = std::set<std::uint64_t>(seen.rbegin(), last).size();
    RC_ASSERT(meter.note({0, page}) == expected);
    seen.push_back(page);
  }
}

TEST(LookupPortTurns, AreGivenInOrder) {
  LookupPort port(2);
  EXPECT_EQ(port.take(5), 5U);
  EXPECT_EQ(port.take(5), 5U);
  EXPECT_EQ(port.take(5), 6U);
  EXPECT_EQ(port.take(6), 6U);
  EXPECT_EQ(port.take(6), 7U);
  EXPECT_EQ(port.take(20), 20U);
}

}  // namespace
}  // namespace nearfar::structure_test
