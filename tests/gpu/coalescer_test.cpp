// The coalescer against a byte-by-byte reference.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "gpu/coalescer.h"

namespace nearfar::coalescer_test {
namespace {

/// Pages in order of first touch; in each, the bytes written of every line.
struct Reference {
  std::vector<std::uint64_t> pages;
  std::map<std::uint64_t, std::map<unsigned, std::set<unsigned>>> lines;

  Reference(const LaneAddresses& lanes, unsigned bytes, unsigned line_bytes) {
    for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
      if ((lanes.active >> lane & 1) == 0) continue;
      for (unsigned b = 0; b < bytes; ++b) {
        const std::uint64_t at = lanes.address[lane] + b;
        const std::uint64_t page = at / kPageBytes;
        if (std::ranges::find(pages, page) == pages.end()) pages.push_back(page);
        lines[page][static_cast<unsigned>(at % kPageBytes / line_bytes)].insert(static_cast<unsigned>(at % line_bytes));
      }
    }
  }

  std::uint64_t mask(std::uint64_t page) const {
    std::uint64_t all = 0;
    for (const auto& [line, bytes] : lines.at(page)) all |= std::uint64_t{1} << line;
    return all;
  }
};

void check(std::span<const PageGroup> groups, const Reference& expected) {
  RC_ASSERT(groups.size() == expected.pages.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    RC_ASSERT(groups[i].page.value == expected.pages[i]);
    RC_ASSERT(groups[i].lines == expected.mask(expected.pages[i]));
  }
}

void check(const Stores& stores, const Reference& expected, unsigned line_bytes) {
  RC_ASSERT(stores.groups.size() == expected.pages.size());
  std::size_t partial = 0;
  for (std::size_t i = 0; i < stores.groups.size(); ++i) {
    const StoreGroup& group = stores.groups[i];
    RC_ASSERT(group.page.value == expected.pages[i]);
    RC_ASSERT(group.lines == expected.mask(expected.pages[i]));
    std::size_t next = group.first_partial;
    for (const auto& [line, written] : expected.lines.at(group.page.value)) {
      const bool full = written.size() == line_bytes;
      RC_ASSERT((group.full >> line & 1) == (full ? 1U : 0U));
      if (full) continue;
      RC_ASSERT(next < stores.partial.size());
      const PartialLine& mask = stores.partial[next++];
      RC_ASSERT(mask.count() == written.size());
      for (const unsigned byte : written) RC_ASSERT((mask.bytes[byte / 64] >> byte % 64 & 1) == 1U);
      ++partial;
    }
    RC_ASSERT((group.full & ~group.lines) == 0U);
  }
  RC_ASSERT(stores.partial.size() == partial);
}

/// Orders in which real kernels touch memory, mixed: runs, strides, repeats, neighbours in disorder, scattered pages.
LaneAddresses random_lanes(unsigned lanes, unsigned bytes) {
  LaneAddresses all;
  all.address.fill(kIdle.value);
  const std::uint64_t base = *rc::gen::inRange<std::uint64_t>(0, 1 << 14);
  const std::uint64_t span = *rc::gen::element<std::uint64_t>(64, 256, 1024, 1 << 13, 1 << 18, 1ULL << 40);
  const auto pattern = *rc::gen::inRange(0, 5);
  const bool aligned = *rc::gen::arbitrary<bool>();
  const std::uint64_t stride = *rc::gen::element<std::uint64_t>(0, 1, 4, 8, 16, 64, 128, 4096, 4100);
  std::uint64_t next = base;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    switch (pattern) {
      case 0: all.address[lane] = base + std::uint64_t{lane} * bytes; break;
      case 1: all.address[lane] = base + lane * stride; break;
      case 2: all.address[lane] = base + (lanes - 1 - lane) * std::uint64_t{bytes}; break;
      case 3: all.address[lane] = base + *rc::gen::inRange<std::uint64_t>(0, span); break;
      default:
        next = *rc::gen::inRange(0, 8) == 0 ? base + *rc::gen::inRange<std::uint64_t>(0, span) : next + bytes;
        all.address[lane] = next;
    }
    if (aligned) all.address[lane] -= all.address[lane] % bytes;
  }
  const std::uint64_t everybody = ~std::uint64_t{0} >> (kMaxLanes - lanes);
  all.active = everybody & *rc::gen::oneOf(rc::gen::just(everybody), rc::gen::arbitrary<std::uint64_t>(),
                                           rc::gen::map(rc::gen::inRange(0U, 64U),
                                                        [](unsigned n) { return (std::uint64_t{1} << n) - 1; }));
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
    if ((all.active >> lane & 1) == 0) all.address[lane] = kIdle.value;
  }
  return all;
}

RC_GTEST_PROP(Coalescer, AgreesWithTheReference, ()) {
  const unsigned line_bytes = *rc::gen::element(64U, 128U);
  Coalescer coalescer(line_bytes);
  for (int i = 0; i < 8; ++i) {  // one after the other: nothing may stay behind
    const unsigned bytes = *rc::gen::inRange(1U, 17U);
    const LaneAddresses lanes = random_lanes(*rc::gen::element(32U, 64U), bytes);
    const Reference expected(lanes, bytes, line_bytes);
    check(coalescer.loads(lanes, bytes), expected);
    check(coalescer.stores(lanes, bytes), expected, line_bytes);
  }
}

/// Any tile of a matrix: bands and columns, gaps and overlaps, rows backwards.
Rows random_rows(unsigned lanes, unsigned bytes) {
  Rows rows;
  rows.first = VirtAddr{(1 << 20) + *rc::gen::inRange<std::uint64_t>(0, 1 << 13)};
  rows.width = *rc::gen::element(1U, 2U, 8U, 16U, 32U, 64U);
  rows.lanes = *rc::gen::inRange(1U, rows.width + 1);
  rows.lane = *rc::gen::inRange(0U, rows.width - rows.lanes + 1);
  rows.rows = *rc::gen::inRange(1U, kMaxLanes / rows.width + 1);
  rows.step = *rc::gen::element(0U, 1U, 4U, bytes, 32U, 64U, 4096U);
  rows.pitch = *rc::gen::element<std::uint64_t>(0, 1, 4, bytes, 64, 1000, 4096, 65536, std::uint64_t{0} - 256);
  return rows.lane < lanes ? rows.within(lanes) : Rows{};
}

RC_GTEST_PROP(Coalescer, RowsAreAsTheirLanes, ()) {
  const unsigned line_bytes = *rc::gen::element(64U, 128U);
  Coalescer coalescer(line_bytes);
  const unsigned bytes = *rc::gen::inRange(1U, 17U), wave = *rc::gen::element(32U, 64U);
  LaneAddresses rows;
  rows.rows = random_rows(wave, bytes);
  LaneAddresses lanes = rows;
  lanes.expand();
  RC_ASSERT(wave == kMaxLanes || lanes.active >> 32 == 0U);

  const Reference expected(lanes, bytes, line_bytes);
  check(coalescer.loads(rows, bytes), expected);
  check(coalescer.stores(rows, bytes), expected, line_bytes);
}

LaneAddresses linear(std::uint64_t first, std::uint64_t stride) {
  LaneAddresses lanes;
  lanes.active = ~std::uint64_t{0};
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) lanes.address[lane] = first + lane * stride;
  return lanes;
}

TEST(Coalescer, JoinsNeighboursIntoLines) {
  Coalescer coalescer(64);
  const auto groups = coalescer.loads(linear(0x1000, 4), 4);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].page, VirtPage{1});
  EXPECT_EQ(groups[0].lines, 0xfU);
  EXPECT_EQ(coalescer.loads(linear(0x1004, 4), 4)[0].lines, 0x1fU);
  EXPECT_EQ(Coalescer(128).loads(linear(0x1004, 4), 4)[0].lines, 0x7U);
}

TEST(Coalescer, NobodyTouchesNothing) {
  Coalescer coalescer(64);
  LaneAddresses lanes = linear(0, 4);
  lanes.active = 0;
  EXPECT_TRUE(coalescer.loads(lanes, 4).empty());
  EXPECT_TRUE(coalescer.stores(lanes, 4).groups.empty());
}

TEST(Coalescer, EveryLaneMayTouchTwoPages) {
  Coalescer coalescer(64);
  const auto groups = coalescer.loads(linear(0x1ffc, 0x2000), 8);
  ASSERT_EQ(groups.size(), 128U);
  for (unsigned i = 0; i < 128; ++i) {
    EXPECT_EQ(groups[i].page, VirtPage{1 + i});
    EXPECT_EQ(groups[i].lines, i % 2 == 0 ? std::uint64_t{1} << 63 : 1U);
  }
}

TEST(Coalescer, LanesInDisorderThatCrossALineTouchBoth) {
  for (const unsigned bytes : {2U, 4U, 8U, 16U}) {
    Coalescer coalescer(64);
    LaneAddresses lanes = linear(0x1000, 0);
    for (unsigned lane = 0; lane < kMaxLanes; ++lane) lanes.address[lane] += (lane % 2 == 0 ? 9 : 4) * 64 - 1;
    const auto groups = coalescer.loads(lanes, bytes);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].lines, 0x318U) << bytes;
  }
}

TEST(Coalescer, WholeLinesHaveNoByteMasks) {
  Coalescer coalescer(64);
  const Stores stores = coalescer.stores(linear(0x4000, 16), 16);
  ASSERT_EQ(stores.groups.size(), 1U);
  EXPECT_EQ(stores.groups[0].lines, 0xffffU);
  EXPECT_EQ(stores.groups[0].full, 0xffffU);
  EXPECT_EQ(stores.groups[0].partial(), 0U);
  EXPECT_TRUE(stores.partial.empty());
}

TEST(Coalescer, EdgesOfAShiftedRunArePartial) {
  Coalescer coalescer(64);
  const Stores stores = coalescer.stores(linear(0x4004, 4), 4);
  ASSERT_EQ(stores.groups.size(), 1U);
  EXPECT_EQ(stores.groups[0].lines, 0x1fU);
  EXPECT_EQ(stores.groups[0].full, 0x0eU);
  ASSERT_EQ(stores.partial.size(), 2U);
  EXPECT_EQ(stores.partial[0].bytes[0], ~std::uint64_t{0xf});
  EXPECT_EQ(stores.partial[0].count(), 60U);
  EXPECT_EQ(stores.partial[1].bytes[0], 0xfU);
}

/// Nothing but the first line of one page, whole.
void expect_first_line_full(const Stores& stores) {
  ASSERT_EQ(stores.groups.size(), 1U);
  EXPECT_EQ(stores.groups[0].full, 1U);
  EXPECT_TRUE(stores.partial.empty());
}

TEST(Coalescer, PartsThatCompleteALineMakeItFull) {
  Coalescer coalescer(128);
  LaneAddresses lanes = linear(0, 0);
  for (unsigned lane = 0; lane < kMaxLanes; ++lane)
    lanes.address[lane] = (lane * 37 % 64) * 2;  // all 128 bytes, in disorder
  expect_first_line_full(coalescer.stores(lanes, 2));
}

TEST(Coalescer, ARunOverAPartOfALineMakesItFull) {
  Coalescer coalescer(64);
  LaneAddresses lanes;
  const auto add = [&](std::uint64_t address) {
    lanes.address[static_cast<unsigned>(std::popcount(lanes.active))] = address;
    lanes.active = lanes.active << 1 | 1;
  };
  for (const std::uint64_t address : {8, 12}) add(address);
  for (std::uint64_t address = 0; address < 64; address += 4) add(address);
  expect_first_line_full(coalescer.stores(lanes, 4));
}

/// A full wavefront out of order, all of it in one page but for one lane: each lane in turn.
RC_GTEST_PROP(Coalescer, OneLaneOfManyInAnotherPage, ()) {
  Coalescer coalescer(64);
  LaneAddresses lanes;
  lanes.active = ~std::uint64_t{0};
  for (unsigned other = 0; other < kMaxLanes; ++other) {
    for (std::uint64_t& address : lanes.address) address = 0x2000 + 4 * *rc::gen::inRange<std::uint64_t>(0, 1024);
    lanes.address[other] += *rc::gen::element<std::uint64_t>(0x1000, 0x100000, std::uint64_t{0} - 0x1000, 2);
    check(coalescer.loads(lanes, 4), Reference(lanes, 4, 64));
  }
}

TEST(Coalescer, PartsThatComeInDisorderAreHandedOutInOrder) {
  Coalescer coalescer(64);
  LaneAddresses lanes;
  lanes.active = 3;
  lanes.address[0] = 128;
  lanes.address[1] = 8;
  const Stores stores = coalescer.stores(lanes, 4);
  ASSERT_EQ(stores.partial.size(), 2U);
  EXPECT_EQ(stores.partial[0].bytes[0], 0xf00U);
  EXPECT_EQ(stores.partial[1].bytes[0], 0xfU);
}

TEST(Coalescer, AFullLineStaysFull) {
  Coalescer coalescer(64);
  LaneAddresses lanes = linear(0x1000, 4);
  lanes.address[40] = 0x1008;
  const Stores stores = coalescer.stores(lanes, 4);
  ASSERT_EQ(stores.groups.size(), 1U);
  EXPECT_EQ(stores.groups[0].lines, 0xfU);
  EXPECT_EQ(stores.groups[0].full, 0xbU);
  ASSERT_EQ(stores.partial.size(), 1U);
  EXPECT_EQ(stores.partial[0].bytes[0], ~(std::uint64_t{0xf} << 32));
}

}  // namespace
}  // namespace nearfar::coalescer_test
