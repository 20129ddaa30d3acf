// The programs of the UMH study against their closed forms, and that they compute what they say.
#include <gtest/gtest.h>

#include <map>

#include "workload/catalog/radix_sort.h"
#include "workload/census.h"
#include "workload/graph/algorithms.h"

namespace nearfar::umh_test {
namespace {

using namespace nearfar::testing;

std::uint64_t lines(std::string_view name, std::vector<ParameterSetting> settings = {}) {
  return take_census(*make(name, std::move(settings))).lines.total;
}

TEST(Umh, StreamingProgramsTouchTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("BSch"), 49'152U);
  EXPECT_EQ(lines("BSch", {{"samples", 2'097'152}}), 196'608U);
  EXPECT_EQ(lines("DCT"), 32U * 64 * 64);
  EXPECT_EQ(lines("DCT", {{"width", 1024}}), 524'288U);
  EXPECT_EQ(lines("DCT", {{"width", 1024}, {"sdk", 3}}), 917'504U);
  EXPECT_EQ(lines("DH"), 51'300U);
  EXPECT_EQ(lines("DH", {{"n", 1 << 21}}), 410'406U);
  EXPECT_EQ(lines("DH", {{"n", 1 << 21}, {"sdk", 3}}), 279'078U);
  EXPECT_EQ(lines("FWT"), 36'864U);
  EXPECT_EQ(lines("FWT", {{"n", 1 << 18}}), 720'896U);
  EXPECT_EQ(lines("Hist"), 16'512U);
  EXPECT_EQ(lines("Hist", {{"width", 2048}}), 264'192U);
  EXPECT_EQ(lines("Hist", {{"width", 2048}, {"sdk", 3}}), 266'240U);
  EXPECT_EQ(lines("MTw"), 81'920U);
  EXPECT_EQ(lines("MTw", {{"factor", 4}}), 278'528U);
  EXPECT_EQ(lines("RD"), 32'896U);
  EXPECT_EQ(lines("RD", {{"n", 1 << 21}}), 263'168U);
  EXPECT_EQ(lines("SF", {{"iterations", 1}}), (42U * 8 - 6) * 382 + 4 * 8 * 382);
  EXPECT_EQ(lines("SF", {{"iterations", 1}, {"width", 1024}, {"height", 768}}), 559'180U);
  EXPECT_EQ(lines("SLA"), 99U * 1024 + 99 * 4 + 4) << "the top scan of four values has four accesses";
  EXPECT_EQ(lines("SLA", {{"n", 1 << 21}}), 814'184U);
}

TEST(Umh, WindowsTouchTheLinesCounted) {
  EXPECT_EQ(lines("SC2", {{"width", 512}, {"height", 512}}), 4'423'056U);
  const auto sc2 = make("SC2", {{"width", 512}, {"height", 64}});
  const Census inside = take_wave(*sc2, 0, 2 * 20 + 1, 1);
  EXPECT_EQ(inside.lines.total, 1110U + 4);
  EXPECT_EQ(inside.scalar_loads, 225U);
}

TEST(Umh, LaunchesAreThoseOfTheSamples) {
  EXPECT_EQ(make("FW")->launches().size(), 64U);
  EXPECT_EQ(make("FWT", {{"n", 1 << 18}})->launches().size(), 18U);
  const auto dh = make("DH", {{"n", 1 << 21}});
  ASSERT_EQ(dh->launches().size(), 3U);
  EXPECT_EQ(dh->launches()[0].groups(), 4096U);
  EXPECT_EQ(dh->launches()[1].groups(), 8U);
  EXPECT_EQ(dh->launches()[2].size_x, 4U);
  const auto sla = make("SLA", {{"n", 1 << 21}});
  const std::uint64_t groups[] = {8192, 32, 1, 32, 8192};
  for (std::size_t l = 0; l < 5; ++l) EXPECT_EQ(sla->launches()[l].groups(), groups[l]);
  for (const char* name : {"BSch", "DCT", "DH", "FW", "FWT", "Hist", "MTw", "RD", "RS", "SC2", "SF", "SLA"}) {
    EXPECT_EQ(make(name)->launches()[0].split, Split::RoundRobin) << name;
  }
}

TEST(Umh, BlocksOfFourKilobytesAreTouchedByAsManyGpusAsCounted) {
  const auto gpus = [](std::string_view name, std::string_view of, std::vector<ParameterSetting> settings) {
    const auto workload = make(name, std::move(settings));
    const Census census = take_census(*workload, 4);
    const Buffer& pages = buffer(*workload, of);
    int most = 0;
    for (int by = 1; by <= 4; ++by) {
      if (pages_by(census, pages, by) > pages_of(pages) / 2) most = by;
    }
    return most;
  };
  EXPECT_EQ(gpus("BSch", "rand", {}), 4);
  EXPECT_EQ(gpus("DCT", "input", {}), 4);
  EXPECT_EQ(gpus("DH", "signal", {}), 2);
  EXPECT_EQ(gpus("Hist", "data", {{"width", 2048}}), 1);
  EXPECT_EQ(gpus("Hist", "bins", {{"width", 2048}}), 4);
  EXPECT_EQ(gpus("MTw", "seeds", {}), 4);
  EXPECT_EQ(gpus("RD", "input", {}), 1);
  EXPECT_EQ(gpus("RS", "keys", {{"n", 1 << 17}}), 1);
  EXPECT_EQ(gpus("RS", "sorted", {{"n", 1 << 17}}), 4);
  EXPECT_EQ(gpus("SF", "image", {{"width", 1024}}), 4);
  EXPECT_EQ(gpus("SLA", "input", {}), 4);
}

TEST(FloydWarshall, FindsTheShortestWays) {
  constexpr std::uint32_t kN = 48;
  const AllPairs pairs = floyd_warshall_rounds(kN, 1);
  const auto weights = draw_distances(kN, 1);
  // From every vertex by Bellman-Ford.
  for (std::uint32_t source = 0; source < kN; ++source) {
    std::vector<std::uint32_t> distance(weights.begin() + source * kN, weights.begin() + (source + 1) * kN);
    for (std::uint32_t round = 0; round < kN; ++round) {
      for (std::uint32_t v = 0; v < kN; ++v) {
        for (std::uint32_t u = 0; u < kN; ++u) distance[u] = std::min(distance[u], distance[v] + weights[v * kN + u]);
      }
    }
    for (std::uint32_t u = 0; u < kN; ++u) ASSERT_EQ(pairs.distance[source * kN + u], distance[u]);
  }
}

TEST(FloydWarshall, LoadsAreOfTheClosedFormAndStoresWhereAWayGotShorter) {
  const auto fw = make("FW");
  const AllPairs pairs = floyd_warshall_rounds(64, 1);
  std::uint64_t loads = 0, stores = 0, improved = 0;
  for (std::uint32_t k = 0; k < 64; ++k) {
    for (std::uint64_t group = 0; group < 16; ++group) {
      for (const auto& item : touches(*fw, k, group)) {
        loads += static_cast<std::uint64_t>(std::ranges::count(item, '+', &Touch::how));
        stores += static_cast<std::uint64_t>(std::ranges::count(item, '-', &Touch::how));
      }
    }
    for (std::uint64_t entry = 0; entry < 64 * 64; ++entry) improved += pairs.improved[k].has(entry);
  }
  EXPECT_EQ(loads, 3U * 64 * 64 * 64);
  EXPECT_EQ(stores, 2 * improved);
  EXPECT_NEAR(static_cast<double>(improved) / (64 * 64), 5, 1) << "updates of an element";
}

TEST(WalshTransform, TheStreamsTransform) {
  constexpr std::uint64_t kN = 512;
  const auto fwt = make("FWT", {{"n", kN}});
  const VirtAddr base = fwt->buffers()[0].base;
  std::vector<int> data(kN), before;
  for (std::uint64_t i = 0; i < kN; ++i) data[i] = static_cast<int>(i * 7 % 23);
  before = data;
  for (std::size_t l = 0; l < fwt->launches().size(); ++l) {
    for (const auto& item : touches(*fwt, l, 0)) {
      int& first = data.at((item.at(0).at.value - base.value) / 4);
      int& second = data.at((item.at(1).at.value - base.value) / 4);
      const int sum = first + second, difference = first - second;
      first = sum, second = difference;
    }
  }
  for (std::uint64_t i = 0; i < kN; ++i) {
    int expected = 0;
    for (std::uint64_t j = 0; j < kN; ++j) expected += std::popcount(i & j) % 2 == 0 ? before[j] : -before[j];
    ASSERT_EQ(data[i], expected) << i;
  }
}

TEST(RadixSort, Sorts) {
  const RadixSort sort = sort_by_radix(1 << 14, 1);
  auto expected = sort.keys;
  std::ranges::sort(expected);
  EXPECT_EQ(sort.sorted, expected);
  EXPECT_EQ(sort_by_radix(1 << 14, 1).keys, sort.keys);
  EXPECT_NE(sort_by_radix(1 << 14, 2).keys, sort.keys);
}

TEST(RadixSort, TheStreamsPutEveryKeyWhereItBelongs) {
  constexpr std::uint64_t kN = 1 << 14;
  const auto rs = make("RS", {{"n", kN}});
  const RadixSort sort = sort_by_radix(kN, 1);
  const VirtAddr keys = buffer(*rs, "keys").base, sorted = buffer(*rs, "sorted").base;
  std::vector<std::uint32_t> now = sort.keys, next(kN);
  for (std::size_t pass = 0; pass < 4; ++pass) {
    for (const auto& item : touches(*rs, 2 * pass + 1, 0)) {
      for (std::size_t i = 256; i < item.size(); i += 2) {
        next.at((item[i + 1].at.value - sorted.value) / 4) = now.at((item[i].at.value - keys.value) / 4);
      }
    }
    now = next;
  }
  EXPECT_EQ(now, sort.sorted);
}

TEST(RadixSort, TouchesTheLinesCounted) {
  const double n = 1 << 17;
  EXPECT_NEAR(static_cast<double>(lines("RS", {{"n", 1 << 17}})), 2'608'532, 0.01 * 2'608'532);
  const auto rs = make("RS", {{"n", 1 << 17}});
  Counter counter(*rs);
  for (std::uint64_t group = 0; group < rs->launches()[0].groups(); ++group) counter.group(0, group);
  EXPECT_EQ(static_cast<double>(counter.census().lines.total), 2 * n);
}

/// Scans with the streams' addresses: in each group the elements in order, the sum before each stored in its place.
TEST(ScanLargeArrays, TheStreamsAddUp) {
  constexpr std::uint64_t kN = 1 << 17;
  const auto sla = make("SLA", {{"n", kN}});
  std::map<VirtAddr, std::uint64_t> memory;
  const VirtAddr input = buffer(*sla, "input").base, output = buffer(*sla, "output").base;
  for (std::uint64_t i = 0; i < kN; ++i) memory[input + 4 * i] = i * 31 % 17;
  for (std::size_t l = 0; l < 5; ++l) {
    for (std::uint64_t group = 0; group < sla->launches()[l].groups(); ++group) {
      const Items items = touches(*sla, l, group);
      if (l < 3) {
        std::uint64_t sum = 0;
        for (const auto& item : items) {
          for (std::size_t which = 0; which < 2; ++which) {
            memory[item[item.size() - 2 + which].at] = sum;
            sum += memory.at(item[which].at);
          }
        }
        if (l < 2) memory[items[0].at(2).at] = sum;
      } else {
        const std::uint64_t addend = memory.at(items[0].at(0).at);
        for (const auto& item : items) memory.at(item.back().at) += addend;
      }
    }
  }
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kN; ++i) {
    ASSERT_EQ(memory.at(output + 4 * i), sum) << i;
    sum += i * 31 % 17;
  }
}

TEST(HaarWavelet, EveryCoefficientIsStoredOnce) {
  const auto dh = make("DH", {{"n", 1 << 12}});
  const Buffer& coefficients = buffer(*dh, "coefficients");
  for (std::size_t l = 0; l < dh->launches().size(); ++l) {
    std::map<VirtAddr, int> stored;
    std::uint64_t length = 2 * dh->launches()[l].groups() * dh->launches()[l].size_x;
    for (std::uint64_t group = 0; group < dh->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*dh, l, group)) {
        for (const Touch& touch : item) {
          if (touch.how == '-' && touch.at < coefficients.base + coefficients.bytes) ++stored[touch.at];
        }
      }
    }
    EXPECT_EQ(stored.size(), length - dh->launches()[l].groups()) << "all but the averages that are left";
    EXPECT_TRUE(std::ranges::all_of(stored, [](const auto& each) { return each.second == 1; }));
  }
}

}  // namespace
}  // namespace nearfar::umh_test
