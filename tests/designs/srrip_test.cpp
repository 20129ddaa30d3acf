// SRRIP: sequences worked by hand, a plain reference, a scan that it resists, and caches of whole machines.
#include "designs/srrip/srrip.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "designs/tiny_machine.h"
#include "memory/cache/tag_array.h"

namespace nearfar::srrip_test {
namespace {

/// A cache of lines by name, without time.
class Cache {
 public:
  Cache(std::uint64_t sets, std::uint32_t ways) : tags_(sets, ways, IndexHash::Modulo, Replacement::Lru) {}
  Cache(std::uint64_t sets, std::uint32_t ways, const SrripSpec& spec) : Cache(sets, ways) {
    tags_.set_replacement(std::make_unique<Srrip>(spec, CacheArray{0, sets, ways}, stats_));
  }

  bool access(std::uint64_t key) {
    const TagArray::Slot slot = tags_.find(key);
    if (slot != TagArray::kNone) {
      tags_.touch(slot);
      return true;
    }
    tags_.fill(tags_.victim(key), key);
    return false;
  }
  /// h for a hit, m for a miss.
  std::string accesses(const std::vector<std::uint64_t>& keys) {
    std::string text;
    for (const std::uint64_t key : keys) text += access(key) ? 'h' : 'm';
    return text;
  }
  TagArray& tags() { return tags_; }
  const SrripStats& stats() const { return stats_; }

 private:
  SrripStats stats_;
  TagArray tags_;
};

constexpr std::uint64_t a1 = 1, a2 = 2, b1 = 11, b2 = 12, b3 = 13, b4 = 14;

// The paper's example of a mixed pattern in a set of four ways. The scan b1 … b4 takes the two ways that are free, and
// then the place of b1: at the first miss in the full set a1 and a2 go from 0 to 1, b1 and b2 from 2 to 3.
TEST(Srrip, KeepsWhatHasBeenUsedOverAScanAsInThePaper) {
  const std::vector<std::uint64_t> pattern = {a1, a2, a2, a1, b1, b2, b3, b4, a1, a2};
  Cache srrip(1, 4, {});
  EXPECT_EQ(srrip.accesses(pattern), "mmhhmmmmhh");
  EXPECT_EQ(srrip.stats().fills, 6U);
  EXPECT_EQ(srrip.stats().reused, 2U);
  EXPECT_EQ(srrip.stats().agings, 1U);
  EXPECT_EQ(srrip.tags().find(b1), TagArray::kNone);
  EXPECT_EQ(srrip.tags().find(b2), TagArray::kNone);
  Cache lru(1, 4);
  EXPECT_EQ(lru.accesses(pattern), "mmhhmmmmmm");
}

// With frequency priority a1, used twice, goes from 2 to 0; a2, used once, to 1. b1 and b2 come with 2 into the free
// ways. The next miss ages all by one, and b1 leaves; the one behind it takes b2; the third ages all once more: then a2
// and the two that came last stand at 3, and a2 is in the first way of these.
TEST(Srrip, WithFrequencyPriorityKeepsWhatIsUsedMoreOften) {
  Cache cache(1, 4, {.promotion = RrpvPromotion::FrequencyPriority});
  EXPECT_EQ(cache.accesses({a1, a2, a1, a1, a2, b1, b2, b3, b4, 15}), "mmhhhmmmmm");
  EXPECT_NE(cache.tags().find(a1), TagArray::kNone);
  EXPECT_EQ(cache.tags().find(a2), TagArray::kNone);
  // With hit priority both are at 0 and outlive the scan.
  Cache hit(1, 4, {});
  hit.accesses({a1, a2, a1, a1, a2, b1, b2, b3, b4, 15});
  EXPECT_NE(hit.tags().find(a2), TagArray::kNone);
}

// One bit: a line is recently used (0) from its fill on; where all are, all become old, and the first leaves.
TEST(Srrip, OfOneBitIsNotRecentlyUsed) {
  Cache cache(1, 3, {.rrpv_bits = 1});
  EXPECT_EQ(cache.accesses({1, 2, 3, 4}), "mmmm");  // all old: 1 leaves, 4 is recent
  EXPECT_EQ(cache.accesses({2, 5}), "hm");          // 2 and 4 are recent: 3 leaves
  EXPECT_EQ(cache.tags().find(3), TagArray::kNone);
  EXPECT_EQ(cache.accesses({4, 2, 5, 6}), "hhhm");  // all recent, so all become old: the first way's, 4, leaves
  EXPECT_EQ(cache.tags().find(4), TagArray::kNone);
}

TEST(Srrip, FillsAnInvalidWayFirst) {
  Cache cache(1, 4, {});
  cache.accesses({1, 2, 3, 4, 2, 3});
  cache.tags().invalidate(cache.tags().find(3));
  cache.access(5);
  for (const std::uint64_t held : {1, 2, 4, 5}) EXPECT_NE(cache.tags().find(held), TagArray::kNone) << held;
}

TEST(Srrip, DoesNotChooseAReservedWay) {
  Cache cache(1, 3, {});
  cache.accesses({1, 2, 3});
  const TagArray::Slot first = cache.tags().victim(4);  // all are at 3 now
  cache.tags().reserve(first);
  EXPECT_EQ(cache.accesses({5, 6}), "mm");
  EXPECT_EQ(cache.tags().find(2), TagArray::kNone);
  EXPECT_EQ(cache.tags().find(3), TagArray::kNone);
  cache.tags().fill(cache.tags().reserved(4), 4);
  for (const std::uint64_t held : {4, 5, 6}) EXPECT_NE(cache.tags().find(held), TagArray::kNone) << held;
}

/// One set, as the paper's table says.
struct ReferenceSet {
  struct Way {
    std::optional<std::uint64_t> key;
    unsigned rrpv = 0;
  };
  std::vector<Way> ways;

  Way* find(std::uint64_t key) {
    for (Way& way : ways) {
      if (way.key == key) return &way;
    }
    return nullptr;
  }
  Way& victim(unsigned largest) {
    for (Way& way : ways) {
      if (!way.key) return way;
    }
    for (unsigned wanted = largest;; --wanted) {
      for (Way& way : ways) {
        if (way.rrpv != wanted) continue;
        for (Way& each : ways) each.rrpv += largest - wanted;
        return way;
      }
    }
  }
};

RC_GTEST_PROP(Srrip, IsTheReference, ()) {
  const auto sets = *rc::gen::element<std::uint64_t>(1, 2, 8);
  const auto ways = *rc::gen::element<std::uint32_t>(1, 2, 4, 16);
  SrripSpec spec;
  spec.rrpv_bits = *rc::gen::inRange<std::uint32_t>(1, 8);
  spec.promotion = *rc::gen::element(RrpvPromotion::HitPriority, RrpvPromotion::FrequencyPriority);
  const unsigned largest = (1U << spec.rrpv_bits) - 1;
  Cache cache(sets, ways, spec);
  std::vector<ReferenceSet> reference(sets, ReferenceSet{std::vector<ReferenceSet::Way>(ways)});
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, 2 * sets * ways + 1), rc::gen::inRange(0, 12)));
  for (const auto& [key, action] : steps) {
    ReferenceSet& set = reference[key % sets];
    ReferenceSet::Way* held = set.find(key);
    if (action == 0 && held != nullptr) {
      cache.tags().invalidate(cache.tags().find(key));
      held->key.reset();
      continue;
    }
    RC_ASSERT(cache.access(key) == (held != nullptr));
    if (held == nullptr) {
      set.victim(largest) = {key, largest - 1};
    } else if (spec.promotion == RrpvPromotion::HitPriority) {
      held->rrpv = 0;
    } else if (held->rrpv != 0) {
      --held->rrpv;
    }
    for (const ReferenceSet::Way& way : set.ways) {
      RC_ASSERT(!way.key || cache.tags().find(*way.key) != TagArray::kNone);
    }
  }
}

/// Lines that are used twice a round, and a scan of lines that are used once between the rounds.
std::vector<std::uint64_t> rounds_with_scans(unsigned rounds, std::uint64_t hot, std::uint64_t scan) {
  std::vector<std::uint64_t> lines;
  for (std::uint64_t round = 0, next = hot; round < rounds; ++round) {
    for (unsigned twice = 0; twice < 2; ++twice) {
      for (std::uint64_t line = 0; line < hot; ++line) lines.push_back(line);
    }
    for (std::uint64_t i = 0; i < scan; ++i) lines.push_back(next++);
  }
  return lines;
}

std::size_t misses(Cache cache, const std::vector<std::uint64_t>& lines) {
  return static_cast<std::size_t>(std::ranges::count(cache.accesses(lines), 'm'));
}

// 32 lines of which 16 are hot. A scan as long as the cache has LRU lose all of them in every round, SRRIP none.
TEST(Srrip, ResistsScansThatLruDoesNot) {
  const std::vector<std::uint64_t> lines = rounds_with_scans(10, 16, 32);
  EXPECT_EQ(misses(Cache(4, 8), lines), 10U * (16 + 32));
  EXPECT_EQ(misses(Cache(4, 8, {}), lines), 16U + 10 * 32);
}

/// One wavefront that loads one line after another.
std::shared_ptr<Script> line_by_line(const std::vector<std::uint64_t>& lines) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer((std::ranges::max(lines) + 1) * 64, Placement::Distribute);
  script->launch(groups_of(1), [=](const Script&, const Wave&) -> Stream {
    for (const std::uint64_t line : lines) {
      co_yield load(4, [=](unsigned lane) { return base + line * 64 + lane % 16 * 4; });
      co_yield wait(0);
    }
  });
  return script;
}

Outcome run(const Names& designs, const Names& settings, const std::vector<std::uint64_t>& lines) {
  Names all = {"gpus=1",         "gpu.dram.capacity=64MiB", "host.dram.capacity=64MiB",
               "gpu.l2.banks=1", "gpu.l2.index=modulo",     "gpu.l1v.index=modulo"};
  all.insert(all.end(), settings.begin(), settings.end());
  return simulate(load_system_with(designs, "ideal-4gpu", all).spec, {line_by_line(lines)});
}

// An L1 of one line hits nothing here, so the L2 sees every load.
TEST(Srrip, DecidesInTheL2OfAGpu) {
  const std::vector<std::uint64_t> lines = rounds_with_scans(6, 16, 32);
  const Names settings = {"gpu.l1v.size=64", "gpu.l1v.ways=1", "gpu.l2.size=2KiB", "gpu.l2.ways=8"};
  const Outcome plain = run({}, settings, lines);
  const Outcome srrip = run({"srrip"}, settings, lines);
  EXPECT_EQ(plain.count("gpus.dram.reads"), misses(Cache(4, 8), lines));
  EXPECT_EQ(srrip.count("gpus.dram.reads"), misses(Cache(4, 8, {}), lines));
  EXPECT_EQ(srrip.count("gpus.srrip.fills"), srrip.count("gpus.dram.reads"));
  EXPECT_EQ(srrip.count("gpus.srrip.reused"), 16U);
  EXPECT_LT(srrip.result.cycles, plain.result.cycles);
}

TEST(Srrip, DecidesInTheL1sOfAGpu) {
  const std::vector<std::uint64_t> lines = rounds_with_scans(6, 16, 32);
  const Names settings = {"gpu.l1v.size=2KiB", "gpu.l1v.ways=8"};
  const Outcome plain = run({}, settings, lines);
  const Outcome srrip = run({"srrip-l1"}, settings, lines);
  EXPECT_EQ(plain.count("gpus.l1v.fills"), misses(Cache(4, 8), lines));
  EXPECT_EQ(srrip.count("gpus.l1v.fills"), misses(Cache(4, 8, {}), lines));
  EXPECT_EQ(srrip.count("gpus.srrip_l1.fills"), srrip.count("gpus.l1v.fills"));
}

TEST(Srrip, ReplacesInTheScalarL1sToo) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4096, Placement::Distribute);
  script->launch(groups_of(1), [=](const Script&, const Wave&) -> Stream {
    for (unsigned line = 0; line < 8; ++line) co_yield scalar_load(4, base + line * 64);
  });
  const Outcome run = simulate(load_system_with(Names{"srrip-l1"}, "ideal-4gpu", {}).spec, {script});
  EXPECT_EQ(run.count("gpus.srrip_l1.fills"), 8U);
}

TEST(Srrip, CostsItsBitsForEachLine) {
  const auto bits = [](const char* design, const Names& settings) {
    std::vector<std::uint64_t> out;
    const auto costs = cost_of(Names{design}, "ideal-4gpu", settings);
    for (const StorageItem& item : costs.front().items) {
      EXPECT_TRUE(item.per_gpu);
      out.push_back(item.bits);
    }
    return out;
  };
  EXPECT_EQ(bits("srrip", {"gpu.l2.size=2MiB"}), (std::vector<std::uint64_t>{32768 * 2}));
  EXPECT_EQ(bits("srrip", {"gpu.l2.size=2MiB", "srrip.rrpv_bits=3"}), (std::vector<std::uint64_t>{32768 * 3}));
  EXPECT_EQ(bits("srrip-l1", {"gpu.shader_arrays=2", "gpu.cus_per_array=4", "gpu.l1v.size=16KiB", "gpu.l1s.size=8KiB"}),
            (std::vector<std::uint64_t>{8 * 256 * 2, 2 * 128 * 2}));
}

TEST(Srrip, GivesTheSameStatisticsOnAnyNumberOfThreads) {
  for (const TranslationKind kind : {TranslationKind::Ideal, TranslationKind::Mmu, TranslationKind::Ats}) {
    const SystemSpec system = tiny_machine(kind, {"srrip", "srrip-l1"}, 4);
    const Outcome one = simulate(system, storm_programs(4, false));
    const Outcome two = simulate(system, storm_programs(4, false), false, 2);
    EXPECT_GT(one.count("gpus.srrip.agings"), 0U);
    ASSERT_EQ(one.result.statistics.size(), two.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, two.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

}  // namespace
}  // namespace nearfar::srrip_test
