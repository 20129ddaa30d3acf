// The cache of page-table lines: hand-worked walks, and its lines against a plain LRU.
#include "designs/pte_cache/pte_cache.h"

#include <gtest/gtest.h>

#include <list>
#include <random>

#include "designs/design.h"
#include "designs/neighborhood/walk_coalescer.h"
#include "designs/walk_bench.h"

namespace nearfar::pte_cache_test {
namespace {

constexpr std::uint64_t kFirst = page_at(0x0f5, 0x0a3, 0x029, 0x088);

struct CacheBench {
  explicit CacheBench(std::uint32_t walkers, PteCacheSpec spec)
      : bench(options(walkers)), cache(bench.partition(), bench.unit(), spec) {
    bench.unit().set_access(cache);
  }
  static BenchOptions options(std::uint32_t walkers) {
    BenchOptions o;
    o.walkers = walkers;
    o.timing = WalkTiming::Memory;
    return o;
  }
  WalkBench bench;
  PteCache cache;
};

PteCacheSpec of_lines(std::uint32_t lines) {
  PteCacheSpec spec;
  spec.lines = lines;
  return spec;
}

TEST(PteCache, HitsStillNeedAWalkerEach) {
  CacheBench one(1, of_lines(64));
  CacheBench eight(8, of_lines(64));
  for (std::uint64_t i = 0; i < 8; ++i) {
    one.bench.ask(kFirst + i, 0);
    eight.bench.ask(kFirst + i, 0);
  }
  one.bench.run();
  eight.bench.run();
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(one.bench.done(kFirst + i), 400 + 4 * i);
    EXPECT_EQ(eight.bench.done(kFirst + i), 400U) << "all walkers miss together";
  }
  EXPECT_EQ(one.bench.reads(), 4U);
  EXPECT_EQ(one.cache.stats().hits, 7U);
  EXPECT_EQ(eight.bench.reads(), 32U);
  EXPECT_EQ(eight.cache.stats().hits, 0U);
}

TEST(PteCache, HoldsLeafLinesAlone) {
  PteCacheSpec spec = of_lines(64);
  spec.levels = PteCacheLevels::Leaf;
  CacheBench bench(1, spec);
  bench.bench.ask(kFirst, 0);
  bench.bench.ask(page_at(0x0f5, 0x0a3, 0x02a, 0), 400);  // its entry of level 2 is in a line that was read
  bench.bench.run();
  EXPECT_EQ(bench.bench.reads(), 6U);
  EXPECT_EQ(bench.cache.stats().lookups, 2U);
}

TEST(PteCache, HitIsAnAccessThatServesNeighbors) {
  CacheBench bench(1, of_lines(64));
  WalkCoalescer coalescer(bench.bench.partition(), bench.bench.unit(), {}, true);
  bench.bench.unit().set_order(coalescer);
  bench.bench.ask(kFirst, 0);
  bench.bench.ask(kFirst + 1, 410);  // its leaf line is held: until 414
  bench.bench.ask(kFirst + 2, 412);  // served by that
  bench.bench.run();
  EXPECT_EQ(bench.bench.done(kFirst + 1), 414U);
  EXPECT_EQ(bench.bench.done(kFirst + 2), 414U);
  EXPECT_EQ(bench.bench.reads(), 4U);
  EXPECT_EQ(coalescer.stats().full, 1U);
}

/// One request after another, far apart: then it is a plain LRU list of the lines that walks touch.
TEST(PteCache, IsAPlainLruOfLines) {
  for (const std::uint32_t lines : {1U, 3U, 8U}) {
    CacheBench bench(1, of_lines(lines));
    std::mt19937_64 random(lines);
    std::list<std::uint64_t> held;
    std::uint64_t hits = 0;
    std::vector<std::uint64_t> asked;
    for (unsigned i = 0; i < 300; ++i)
      asked.push_back(page_at(random() % 2, random() % 2, random() % 20, random() % 30));
    for (const std::uint64_t page : asked) bench.bench.map(page);
    for (unsigned i = 0; i < asked.size(); ++i) bench.bench.ask_unmapped(asked[i], i * 1000);
    // What each walk looks up, in order: the levels that the walk cache leaves to it.
    for (unsigned i = 0; i < asked.size(); ++i) {
      bench.bench.at(i * 1000 + 1, [&, i] {
        for (unsigned level = bench.bench.walk(asked[i]).level; level >= 1; --level) {
          const std::uint64_t line = bench.bench.table(0).line(level, asked[i]).value;
          const auto found = std::ranges::find(held, line);
          if (found != held.end()) {
            ++hits;
            held.erase(found);
          }
          held.push_front(line);
          if (held.size() > lines) held.pop_back();
        }
      });
    }
    bench.bench.run();
    EXPECT_EQ(bench.cache.stats().hits, hits);
    EXPECT_GT(hits, 0U);
  }
}

TEST(PteCache, CostsItsLines) {
  const std::vector<std::string> designs = {"pte-cache"};
  const std::vector<DesignCost> costs = cost_of(designs, "svm-1gpu", {});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].items[0].bits, 1536U * 8) << "1.5 KB of data, as much as coalescing has";
}

}  // namespace
}  // namespace nearfar::pte_cache_test
