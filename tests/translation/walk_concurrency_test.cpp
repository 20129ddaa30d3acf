// Concurrent page-table reads, counted as they happen, against all pairs of a whole run.
#include "translation/walk/walk_concurrency.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace nearfar::walk_concurrency_test {
namespace {

struct PlainRead {
  std::size_t request;
  unsigned level;
  std::uint64_t line;
  std::uint64_t entry;
};
struct PlainRequest {
  Cycle entered = 0;
  Cycle ended = 0;
};

std::uint64_t counted(const std::vector<PlainRead>& reads, const std::vector<PlainRequest>& requests, bool leaf,
                      bool later_only) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if ((reads[i].level == 1) != leaf) continue;
    bool found = false;
    for (std::size_t j = 0; j < (later_only ? i : reads.size()); ++j) {
      const PlainRequest& a = requests[reads[i].request];
      const PlainRequest& b = requests[reads[j].request];
      found |= reads[i].request != reads[j].request && reads[i].line == reads[j].line && a.entered < b.ended &&
               b.entered < a.ended && (leaf || reads[i].entry != reads[j].entry);
    }
    sum += found;
  }
  return sum;
}

TEST(WalkConcurrency, CountsWhatAllPairsOfReadsSay) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    WalkConcurrency observer;
    std::vector<PlainRead> reads;
    std::vector<PlainRequest> requests;
    struct Live {
      std::unique_ptr<Walk> walk;
      std::size_t number;
    };
    std::vector<Live> live;
    const Cycle end = 400;
    for (Cycle now = 0; now < end || !live.empty(); ++now) {
      if (now < end && random() % 3 == 0) {
        live.push_back({std::make_unique<Walk>(), requests.size()});
        live.back().walk->queued = now;
        requests.push_back({now, 0});
        observer.entered(*live.back().walk);
      }
      if (live.empty()) continue;
      Live& one = live[random() % live.size()];
      const std::uint64_t what = random() % 4;
      if (what < 2) {
        const bool leaf = what == 0;
        const std::uint64_t entry = random() % 40;
        const std::uint64_t line = (leaf ? 0 : 100) + entry / 8;
        reads.push_back({one.number, leaf ? 1U : 2U, line, entry});
        observer.read(*one.walk, leaf ? 1 : 2, leaf, PhysLine{line}, entry);
      } else if (what == 2 && requests[one.number].entered < now) {
        requests[one.number].ended = now;
        observer.ended(*one.walk, now);
        live.erase(live.begin() + (&one - live.data()));
      }
    }
    const WalkConcurrencyStats& stats = observer.stats();
    ASSERT_EQ(stats.leaf, counted(reads, requests, true, false)) << seed;
    ASSERT_EQ(stats.avoidable, counted(reads, requests, true, true)) << seed;
    ASSERT_EQ(stats.upper, counted(reads, requests, false, false)) << seed;
    ASSERT_EQ(stats.by_level[0], stats.upper) << seed;
    ASSERT_EQ(stats.leaf_reads + stats.upper_reads, reads.size()) << seed;
  }
}

TEST(WalkConcurrency, ForgetsWhatCannotCountAnyMore) {
  WalkConcurrency observer;
  Walk walk;
  for (Cycle now = 0; now < 100'000; now += 10) {
    walk.queued = now;
    observer.entered(walk);
    observer.read(walk, 1, true, PhysLine{now % 997}, now);
    observer.ended(walk, now + 5);
  }
  EXPECT_LT(observer.remembered(), 10'000U);
  EXPECT_EQ(observer.stats().leaf, 0U);
}

}  // namespace
}  // namespace nearfar::walk_concurrency_test
