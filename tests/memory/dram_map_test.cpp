// Where lines lie: every line has a place of its own, neighbours are in different channels, any counts will do.
#include "memory/dram/dram_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace nearfar::dram_map_test {
namespace {

PhysLine line_of(std::uint64_t number, std::uint64_t line_bytes) {
  const std::uint64_t page_lines = kPageBytes / line_bytes;
  return PhysLine(PhysPage(DeviceId{3}, number / page_lines), static_cast<unsigned>(number % page_lines));
}

DramSpec any_spec() {
  DramSpec spec;
  spec.channels = *rc::gen::inRange(1U, 40U);
  spec.ranks = *rc::gen::inRange(1U, 4U);
  spec.banks = *rc::gen::inRange(1U, 20U);
  spec.row = Bytes{128} << *rc::gen::inRange(0U, 5U);
  spec.channel_index = *rc::gen::element(IndexHash::Modulo, IndexHash::Xor);
  return spec;
}

RC_GTEST_PROP(DramMap, ModuloIsRowRankBankColumnChannelFromHighToLow, ()) {
  DramSpec spec = any_spec();
  spec.channel_index = IndexHash::Modulo;
  const auto line_bytes = *rc::gen::element<std::uint64_t>(64, 128);
  std::uint64_t number = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 30);
  const DramMap::Place place = DramMap(spec, line_bytes).place(line_of(number, line_bytes));
  RC_ASSERT(place.channel == number % spec.channels);
  number = number / spec.channels / (spec.row / line_bytes);
  RC_ASSERT(place.bank % spec.banks == number % spec.banks);
  number /= spec.banks;
  RC_ASSERT(place.rank == number % spec.ranks);
  RC_ASSERT(place.bank / spec.banks == place.rank);
  RC_ASSERT(place.row == number / spec.ranks);
}

RC_GTEST_PROP(DramMap, EveryAlignedRunMeetsEveryChannelOnce, ()) {
  const DramSpec spec = any_spec();
  const DramMap map(spec, 64);
  const auto run = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < spec.channels; ++i) {
    const PhysLine line = line_of(run * spec.channels + i, 64);
    const DramMap::Place place = map.place(line);
    RC_ASSERT(place.channel < spec.channels);
    RC_ASSERT(place.channel == map.channel(line));
    seen.insert(place.channel);
  }
  RC_ASSERT(seen.size() == spec.channels);
}

RC_GTEST_PROP(DramMap, ARowHoldsAsManyLinesAsFitInIt, ()) {
  const DramSpec spec = any_spec();
  const auto line_bytes = *rc::gen::element<std::uint64_t>(64, 128);
  const DramMap map(spec, line_bytes);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> rows;
  const std::uint64_t lines = 2 * spec.channels * spec.ranks * spec.banks * (spec.row / line_bytes);
  for (std::uint64_t i = 0; i < lines; ++i) {
    const DramMap::Place place = map.place(line_of(i, line_bytes));
    ++rows[{place.channel, place.bank, place.row}];
  }
  for (const auto& [row, count] : rows) RC_ASSERT(count == spec.row / line_bytes);
  RC_ASSERT(rows.size() == 2U * spec.channels * spec.ranks * spec.banks);
}

TEST(DramMap, FoldedIndexSpreadsStridesThatTheRemainderDoesNot) {
  DramSpec spec;
  spec.channels = 32;
  for (const std::uint64_t stride : {std::uint64_t{32}, std::uint64_t{1024}, std::uint64_t{4096}}) {
    for (const IndexHash hash : {IndexHash::Modulo, IndexHash::Xor}) {
      spec.channel_index = hash;
      const DramMap map(spec, 64);
      std::set<std::uint32_t> seen;
      for (std::uint64_t i = 0; i < 4096; ++i) seen.insert(map.channel(line_of(i * stride, 64)));
      EXPECT_EQ(seen.size(), hash == IndexHash::Xor ? 32U : 1U) << stride;
    }
  }
}

}  // namespace
}  // namespace nearfar::dram_map_test
