// Instances of one GPU over the L3 TLB that they share: how a GPU is cut, what a translation takes to the cycle, what
// the designs for the L3 TLB decide, and storms on whole machines.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <list>
#include <map>
#include <set>

#include "config/error.h"
#include "designs/mig_packing/packed_array.h"
#include "designs/mig_tlb/way_partition.h"
#include "designs/tiny_machine.h"
#include "machine/instances.h"
#include "translation/rig.h"

namespace nearfar::mig_test {
namespace {

std::string error_of(const Names& designs, const std::string& system, const Names& overrides) {
  try {
    load_system_with(designs, system, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void expect_words(const std::string& error, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(error.find(word), std::string::npos) << error << "\n  lacks " << word;
}

InstanceLayout layout(const std::string& text) {
  for (const InstanceLayout::Named& each : InstanceLayout::all()) {
    if (each.name == text) return each.layout;
  }
  ADD_FAILURE() << text;
  return {};
}

std::map<std::string, std::uint64_t> counters_of(SubEntryUse& use) {
  struct Reader final : StatVisitor {
    std::map<std::string, std::uint64_t> out;
    void counter(std::string_view name, std::string_view, std::string_view, std::uint64_t& value) override {
      out[std::string(name)] = value;
    }
    void histogram(std::string_view, std::string_view, std::string_view, Histogram&) override {}
  } reader;
  use.describe(reader);
  return reader.out;
}

// ------------------------------------------------------------------------------------------------- how a GPU is cut

TEST(InstanceLayouts, FitSevenComputeAndEightMemorySlices) {
  std::set<std::string> names;
  for (const InstanceLayout::Named& each : InstanceLayout::all()) {
    unsigned compute = 0, memory = 0;
    for (unsigned i = 0; i < each.layout.count(); ++i) {
      compute += each.layout.compute_slices(i);
      memory += each.layout.memory_slices(i);
      EXPECT_GE(each.layout.compute_slices(0), each.layout.compute_slices(i));
    }
    EXPECT_LE(compute, 7U) << each.name;
    EXPECT_LE(memory, 8U) << each.name;
    EXPECT_TRUE(names.insert(each.name).second);
  }
  for (const char* name : {"7g", "4g:3g", "3g:3g", "3g:2g:2g", "3g:2g:1g:1g", "1g:1g:1g:1g:1g:1g:1g", "2g", "3g"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  // Two of three slices have all memory, and four and four do not fit.
  for (const char* name : {"3g:3g:1g", "4g:4g", "7g:1g", "2g:3g"}) EXPECT_FALSE(names.contains(name)) << name;
}

TEST(Instances, HaveTheirPartOfTheGpu) {
  const SystemSpec whole = load_system("mig-a100", Names{"mig.instances=3g:2g:1g:1g"}).spec;
  EXPECT_EQ(whole.gpus, 4U);
  const SystemSpec three = system_of_instance(whole, 0);
  EXPECT_EQ(three.gpu.cus(), 42U);
  EXPECT_EQ(three.gpu.l2_tlb.entries, 256U);
  EXPECT_EQ(three.gpu.l2_tlb.mshrs, 256U);
  EXPECT_EQ(three.gpu.l2.size, 20_MiB);
  EXPECT_EQ(three.gpu.l2.banks, 32U);
  EXPECT_EQ(three.gpu.dram.channels, 20U);
  EXPECT_EQ(three.gpu.dram.capacity, 20_GiB);
  const SystemSpec two = system_of_instance(whole, 1);
  EXPECT_EQ(two.gpu.cus(), 28U);
  EXPECT_EQ(two.gpu.l2_tlb.entries, 168U);
  EXPECT_EQ(two.gpu.l2.size, 10_MiB);
  const SystemSpec one = system_of_instance(whole, 3);
  EXPECT_EQ(one.gpu.cus(), 14U);
  EXPECT_EQ(one.gpu.l2_tlb.entries, 88U);
  EXPECT_EQ(one.gpu.dram.channels, 5U);
}

TEST(Instances, AreRefusedWhereTheyCannotBe) {
  expect_words(error_of({}, "ats-4gpu", {"mig.instances=3g:3g"}), {"mig.instances", "translation.kind", "mig-a100"});
  expect_words(error_of({}, "mig-a100", {"mig.instances=3g:3g:3g"}), {"mig.instances", "3g:3g"});
  expect_words(error_of({}, "mig-a100", {"gpus=2"}), {"gpus", "mig.instances", "3"});
  expect_words(error_of({}, "mig-a100", {"gpu.shader_arrays=8"}), {"gpu.shader_arrays", "seven"});
  expect_words(error_of({}, "mig-a100", {"gpu.l2.banks=4"}), {"gpu.l2.banks", "eight"});
  expect_words(error_of({}, "mig-a100", {"placement.initial=host"}), {"placement.initial"});
  expect_words(error_of({}, "mig-a100", {"walk.timing=memory"}), {"walk.timing"});
  expect_words(error_of({}, "mig-a100", {"placement.policy=on-touch"}), {"placement.policy"});
  expect_words(error_of({}, "ats-4gpu", {"page.size=64K"}), {"page.size", "mig"});
  expect_words(error_of({"least-tlb"}, "mig-a100", {"mig.instances=3g:2g:1g:1g"}), {"least-tlb", "mig"});
  expect_words(error_of({"trans-fw"}, "mig-a100", {}), {"trans-fw", "mig"});
  expect_words(error_of({"mig-dynamic"}, "ats-4gpu", {}), {"mig-dynamic", "ats"});
  expect_words(error_of({"mig-dynamic", "mig-static"}, "mig-a100", {}), {"mig-dynamic", "mig-static"});
  expect_words(error_of({"mig-tlb", "mig-packing"}, "mig-a100", {}), {"mig-packing"});
  expect_words(error_of({"mig-static"}, "mig-a100", {"mig.l3_tlb.ways=2"}), {"mig.l3_tlb.ways", "3 instances"});
  expect_words(error_of({"mig-static"}, "mig-a100", {"mig.l3_tlb.entries=0"}), {"mig.l3_tlb.entries"});
  expect_words(error_of({"mig-static"}, "mig-a100", {"mig.l3_tlb.replacement=fifo"}), {"mig.l3_tlb.replacement"});
  expect_words(error_of({"mig-sharing"}, "mig-a100", {"mig.sub_entries=1"}), {"mig.sub_entries"});
  expect_words(error_of({"mig-packing"}, "mig-a100", {"mig.sub_entries=2"}), {"mig_packing.ranges"});
  EXPECT_EQ(error_of({"mig-tlb", "dws"}, "mig-a100", {}), "");
  EXPECT_EQ(error_of({"mig-packing", "dws"}, "mig-a100", {}), "");

  RunRequest request;
  request.system = load_system("mig-a100", {}).spec;
  request.applications = {roamers(1, 4, 4)};
  try {
    run(request);
    ADD_FAILURE() << "one application on three instances";
  } catch (const InputError& error) {
    expect_words(error.what(), {"3g:2g:2g", "--instances 3g"});
  }
}

// ------------------------------------------------------------------------------------------------ 64 KiB page tables

TEST(PageTableOf64K, HasSixteenLeafEntriesForAPage) {
  std::uint64_t frames = 0;
  const PageSize size{kMediumPageBits};
  PageTable table(5, size, [&] { return PhysPage{DeviceId{0}, frames++}; });
  table.cover(30, 4);
  // A leaf table has 512 entries, which are 32 pages: 30 and 31 in the first, 32 and 33 in the second.
  EXPECT_EQ(table.pages(), 6U);
  EXPECT_EQ(PageTable::nodes(5, size, 30, 4), 6U);
  EXPECT_EQ(table.leaf(), 1U);
  EXPECT_FALSE(table.read(31).valid());
  table.write(31, Pte::leaf({PhysPage{DeviceId{0}, 0x100}, true, 0}, false));
  EXPECT_EQ(table.read(31).page().frame(), 0x100U);
  EXPECT_FALSE(table.read(30).valid());
  EXPECT_FALSE(table.read(32).valid());
  EXPECT_EQ(table.line(1, 31).index(), 62U);  // two lines of eight entries each
  EXPECT_EQ(table.prefix(2, 31), 0U);
  EXPECT_EQ(table.prefix(2, 32), 1U);
}

TEST(WalkCacheOf64K, CoversAsManyBytesAsWithSmallPages) {
  WalkCache cache(8, 9, kMediumPageBits);
  cache.fill(PageKey{0, 0}, 1, 2);
  EXPECT_EQ(cache.find(PageKey{0, 31}, 1, 5), 2U);
  EXPECT_EQ(cache.find(PageKey{0, 32}, 1, 5), 0U);
  cache.fill(PageKey{0, 0}, 1, 3);
  EXPECT_EQ(cache.find(PageKey{0, (1U << 14) - 1}, 1, 5), 3U);
  EXPECT_EQ(cache.find(PageKey{0, 1U << 14}, 1, 5), 0U);
}

// -------------------------------------------------------------------------------------------------------- sub-entries

/// Ranges in the order of use, each with the pages of it that are held.
class PlainSubEntries {
 public:
  PlainSubEntries(std::uint32_t sets, std::uint32_t ways, std::uint32_t pages, bool shares)
      : sets_(sets), ways_(ways), pages_(pages), shares_(shares), order_(sets) {}

  bool use(PageKey page) {
    auto& set = set_of(page);
    const auto found = find(set, page);
    if (found == set.end() || !holds(*found, page)) return false;
    set.splice(set.begin(), set, found);
    return true;
  }
  /// How many pages left, or 0.
  std::size_t insert(PageKey page) {
    auto& set = set_of(page);
    const auto found = find(set, page);
    if (found != set.end()) {
      found->pages[page.number() % pages_] = page;
      set.splice(set.begin(), set, found);
      return 0;
    }
    std::size_t left = 0;
    if (set.size() == ways_) {
      left = set.back().pages.size();
      set.pop_back();
    }
    set.push_front({range_of(page), {{page.number() % pages_, page}}});
    return left;
  }
  bool erase(PageKey page) {
    auto& set = set_of(page);
    const auto found = find(set, page);
    if (found == set.end() || !holds(*found, page)) return false;
    found->pages.erase(page.number() % pages_);
    if (found->pages.empty()) set.erase(found);
    return true;
  }

 private:
  struct Range {
    PageKey name;
    std::map<std::uint64_t, PageKey> pages;
  };
  PageKey range_of(PageKey page) const { return {shares_ ? Pid{0} : page.pid(), page.number() / pages_}; }
  std::list<Range>& set_of(PageKey page) { return order_[range_of(page).number() % sets_]; }
  std::list<Range>::iterator find(std::list<Range>& set, PageKey page) {
    return std::ranges::find(set, range_of(page), &Range::name);
  }
  bool holds(const Range& range, PageKey page) const {
    const auto found = range.pages.find(page.number() % pages_);
    return found != range.pages.end() && found->second == page;
  }

  std::uint32_t sets_, ways_, pages_;
  bool shares_;
  std::vector<std::list<Range>> order_;
};

struct Evictions final : TlbEvictionObserver {
  std::size_t last = 0;
  void evicted(std::span<const TlbEntry> pages) override { last = pages.size(); }
};

RC_GTEST_PROP(SubEntries, AreARangeEachWithItsOwnPages, ()) {
  const auto sets = *rc::gen::inRange<std::uint32_t>(1, 4);
  const auto ways = *rc::gen::inRange<std::uint32_t>(1, 5);
  const std::uint32_t pages = 2U << *rc::gen::inRange<unsigned>(0, 4);
  const bool shares = *rc::gen::arbitrary<bool>();
  Tlb tlb(sets * ways, ways, TlbReplacementKind::Lru, pages);
  if (shares) tlb.share_between_processes();
  Evictions evictions;
  tlb.set_eviction_observer(evictions);
  PlainSubEntries plain(sets, ways, pages, shares);
  for (unsigned i = 0; i < 500; ++i) {
    const PageKey page{static_cast<Pid>(*rc::gen::inRange(0, 2)), *rc::gen::inRange<std::uint64_t>(0, 12 * pages)};
    switch (*rc::gen::inRange(0, 4)) {
      case 0: RC_ASSERT(tlb.erase(page) == plain.erase(page)); break;
      case 1: {
        evictions.last = 0;
        const auto victim = tlb.insert(page, {PhysPage{page.value}, true, 0});
        RC_ASSERT(plain.insert(page) == evictions.last);
        RC_ASSERT(victim.has_value() == (evictions.last != 0));
        break;
      }
      default: {
        const Mapping* held = tlb.use(page);
        RC_ASSERT((held != nullptr) == plain.use(page));
        if (held != nullptr) RC_ASSERT(held->page.value == page.value);
      }
    }
  }
}

// --------------------------------------------------------------------------------------------- latencies, to the cycle

/// L1 TLB 1, L2 TLB 10; crossbar 10, L3 TLB 10, crossbar 10: 41 for a hit. A walk is 1 for the walk cache and 100 for
/// each level.
constexpr Cycle kHit = 41;

TEST(SubEntryScenario, PagesOfARangeHaveOneEntryAndMissAlone) {
  Rig rig(RigOptions::instances(1, 4, 8), 0, 256);
  rig.ask(0, 0, 0);
  rig.ask(0, 5, 2000);
  rig.ask(0, 5, 4000);
  rig.run();
  EXPECT_EQ(rig.answers.size(), 3U);
  EXPECT_EQ(rig.answers[0].when, kHit + 1 + 500);
  EXPECT_EQ(rig.answers[1].when, 2000 + kHit + 1 + 100);  // the entry above the leaf is in the walk cache
  EXPECT_EQ(rig.answers[2].when, 4000U + 11);             // now its sub-entry of the L2 TLB is there
  EXPECT_EQ(rig.l2(0).array().size(), 1U);
  EXPECT_EQ(rig.iommu().tlb().size(), 1U);
  EXPECT_EQ(counters_of(*rig.iommu().sub_entry_use())["sub_misses"], 1U);
  EXPECT_EQ(counters_of(*rig.l2(0).sub_entry_use())["sub_misses"], 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_EQ(rig.part(LatencyComponent::IommuLink), 4U * 10);
  EXPECT_EQ(rig.part(LatencyComponent::IommuTlb), 2U * 10);
  EXPECT_EQ(rig.part(LatencyComponent::IommuWalk), 501U + 101);
  EXPECT_TRUE(rig.idle());
}

TEST(SubEntryScenario, AnEntryThatLeavesTakesAllItsPagesAlong) {
  Rig rig(RigOptions::instances(1, 1, 1), 0, 256);
  rig.ask(0, 0, 0);
  rig.ask(0, 5, 2000);
  rig.ask(0, 16, 4000);  // another range
  rig.ask(0, 5, 6000);
  rig.run();
  // Page 16 lies in the same 2 MiB, whose entry the walk cache holds; page 5 has to be walked for again.
  EXPECT_EQ(rig.answers[2].when, 4000 + kHit + 101);
  EXPECT_EQ(rig.answers[3].when, 6000 + kHit + 101);
  for (SubEntryUse* use : {rig.iommu().sub_entry_use(), rig.l2(0).sub_entry_use()}) {
    auto counters = counters_of(*use);
    EXPECT_EQ(counters["evicted_with_2"], 1U);
    EXPECT_EQ(counters["evicted_with_1"], 1U);
    EXPECT_EQ(counters["sub_misses"], 1U);
  }
  EXPECT_EQ(rig.iommu().stats().all.evictions, 2U);
}

TEST(SubEntryScenario, WhatAnInstanceHasInTheL3IsNobodyElses) {
  Rig rig(RigOptions::instances(2, 1, 8), 0, 256, 2);
  rig.ask(0, 3, 0, false, 0, 0);
  rig.ask(1, 3, 2000, false, 0, 1);
  rig.ask(0, 40, 4000, false, 0, 0);  // pushes page 3 out of the L2 TLB
  rig.ask(0, 3, 6000, false, 1, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 3), kHit + 501);
  EXPECT_EQ(rig.answered(1, 3, 0, 1), 2000 + kHit + 501);  // tables and walk cache are each process's own
  EXPECT_EQ(rig.answered(0, 3, 1), 6000 + kHit);
  EXPECT_EQ(rig.iommu().tlb().size(), 3U);
  EXPECT_EQ(rig.iommu().stats().by_process[0].hits, 1U);
  EXPECT_EQ(rig.iommu().stats().by_process[1].lookups, 1U);
}

TEST(SubEntrySharing, PutsPagesOfTwoProcessesIntoOneEntry) {
  Rig rig(RigOptions::instances(2, 1, 8), 0, 256, 2);
  rig.iommu().share_sub_entries();
  rig.ask(0, 0, 0, false, 0, 0);
  rig.ask(1, 1, 2000, false, 0, 1);
  rig.ask(0, 40, 4000, false, 0, 0);
  rig.ask(0, 0, 6000, false, 1, 0);  // still there
  rig.ask(1, 0, 8000, false, 0, 1);  // takes the sub-entry of process 0
  rig.ask(0, 41, 10000, false, 0, 0);
  rig.ask(0, 40, 10500, false, 1, 0);
  rig.ask(0, 0, 12000, false, 2, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 0, 1), 6000 + kHit);
  EXPECT_EQ(rig.answered(1, 0, 0, 1), 8000 + kHit + 101);
  EXPECT_EQ(rig.answered(0, 0, 2), 12000 + kHit + 101);  // and has to take it back
  EXPECT_EQ(rig.iommu().tlb().size(), 2U);
  EXPECT_EQ(counters_of(*rig.iommu().sub_entry_use())["displaced"], 2U);
}

TEST(SubEntrySharing, CountsWhatEachProcessHadInAnEntry) {
  Rig rig(RigOptions::instances(2, 1, 1), 0, 256, 2);
  rig.iommu().share_sub_entries();
  rig.ask(0, 0, 0, false, 0, 0);
  rig.ask(0, 2, 2000, false, 0, 0);
  rig.ask(1, 1, 4000, false, 0, 1);
  rig.ask(1, 50, 6000, false, 0, 1);
  rig.run();
  auto counters = counters_of(*rig.iommu().sub_entry_use());
  EXPECT_EQ(counters["evicted_with_3"], 1U);
  EXPECT_EQ(counters["evicted_with_2.pid0"], 1U);
  EXPECT_EQ(counters["evicted_with_1.pid1"], 1U);
}

// ---------------------------------------------------------------------------------------------------- way partitioning

TEST(WayShares, FollowTheSizesOfInstances) {
  using Shares = std::vector<std::uint32_t>;
  EXPECT_EQ(shares_by_size(layout("3g:3g"), 8), (Shares{4, 4}));
  EXPECT_EQ(shares_by_size(layout("3g:2g:2g"), 8), (Shares{4, 2, 2}));
  EXPECT_EQ(shares_by_size(layout("3g:2g:1g:1g"), 8), (Shares{4, 2, 1, 1}));
  EXPECT_EQ(shares_by_size(layout("4g:1g:1g:1g"), 4), (Shares{1, 1, 1, 1}));
  EXPECT_EQ(shares_by_size(layout("7g"), 8), (Shares{8}));
}

TEST(WayShares, GoToWhomTheNextWayBringsMost) {
  const std::vector<std::vector<std::uint64_t>> hits = {{9, 5, 4, 3}, {9, 8, 0, 0}, {9, 0, 0, 0}};
  const auto gain = [&](std::size_t process, std::uint32_t ways) { return hits[process][ways]; };
  EXPECT_EQ(shares_by_gain(3, 3, gain), (std::vector<std::uint32_t>{1, 1, 1}));
  EXPECT_EQ(shares_by_gain(3, 4, gain), (std::vector<std::uint32_t>{1, 2, 1}));
  EXPECT_EQ(shares_by_gain(3, 6, gain), (std::vector<std::uint32_t>{3, 2, 1}));
}

TEST(ShadowTagStacks, KnowWhatEachNumberOfWaysWouldHit) {
  ShadowTags tags(1, 4);
  for (const std::uint64_t range : {1, 2, 3}) tags.access(0, range, 0);
  tags.access(0, 1, 0);  // third from the top: a hit with three ways or more
  tags.access(0, 1, 0);
  tags.access(0, 2, 1);  // held, but not this sub-entry
  tags.access(0, 2, 1);
  EXPECT_EQ(tags.hits(0), 2U);
  EXPECT_EQ(tags.hits(1), 0U);
  EXPECT_EQ(tags.hits(2), 1U);
  for (const std::uint64_t range : {4, 5, 6}) tags.access(0, range, 0);
  tags.access(0, 1, 0);  // 6, 5, 4, 2 are left
  EXPECT_EQ(tags.hits(3), 0U);
  tags.forget_hits();
  EXPECT_EQ(tags.hits(0), 0U);
}

MigSpec four_ways(const std::string& instances) {
  MigSpec mig;
  mig.instances = layout(instances);
  mig.l3_tlb.entries = mig.l3_tlb.ways = 4;
  return mig;
}

/// A page of its own range.
PageKey page_of_range(Pid pid, std::uint64_t range) { return {pid, range * 16}; }

TEST(WayPartitions, TakeFromWhoHasMoreThanItsShare) {
  Engine engine(1);
  WayPartition ways(engine.partition(0), {.shares = WayShares::Static}, four_ways("3g:3g"));  // two ways each
  Tlb tlb(4, 4, TlbReplacementKind::Lru, 16);
  tlb.set_replacement(ways.replacement());
  const auto insert = [&](Pid pid, std::uint64_t range) {
    const auto victim = tlb.insert(page_of_range(pid, range), {PhysPage{1}, true, 0});
    return victim ? victim->page : PageKey{};
  };
  // Nobody wants the others' ways: process 0 may fill all four.
  for (std::uint64_t range = 0; range < 4; ++range) EXPECT_EQ(insert(0, range), PageKey{});
  // Process 1 takes two of them back, the oldest first, though it is new itself.
  EXPECT_EQ(insert(1, 10), page_of_range(0, 0));
  EXPECT_EQ(insert(1, 11), page_of_range(0, 1));
  // Then each replaces its own: process 1 its least recently used one.
  EXPECT_NE(tlb.use(page_of_range(1, 10)), nullptr);
  EXPECT_EQ(insert(1, 12), page_of_range(1, 11));
  EXPECT_EQ(insert(0, 4), page_of_range(0, 2));
}

TEST(WayPartitions, FollowDemandWithoutAFlush) {
  Engine engine(1);
  Partition& partition = engine.partition(0);
  WayPartition ways(partition, {.epoch = 1000, .sample = 1}, four_ways("3g:3g"));
  Tlb tlb(4, 4, TlbReplacementKind::Lru, 16);
  tlb.set_replacement(ways.replacement());
  const auto touch = [&](Pid pid, std::uint64_t range) {
    const PageKey page = page_of_range(pid, range);
    if (tlb.use(page) == nullptr) tlb.insert(page, {PhysPage{1}, true, 0});
  };
  struct Act {
    std::function<void()> step;
    Partition& partition;
    void on(IndexEvent* event) {
      partition.pool().release(event);
      step();
    }
  };
  // Process 0 goes round three ranges, which takes three ways; process 1 streams and hits with none.
  Act first{[&] {
              for (unsigned i = 0; i < 9; ++i) touch(0, i % 3);
              for (unsigned i = 0; i < 9; ++i) touch(1, 100 + i);
            },
            partition};
  Act second{[&] {
               EXPECT_EQ(tlb.size(), 4U);
               touch(0, 0);
             },
             partition};
  const HandlerId now = partition.add_handler<&Act::on>(&first);
  const HandlerId later = partition.add_handler<&Act::on>(&second);
  partition.schedule(partition.pool().allocate<IndexEvent>(), now, 10);
  partition.schedule(partition.pool().allocate<IndexEvent>(), later, 1000);
  EXPECT_EQ(std::vector(ways.shares().begin(), ways.shares().end()), (std::vector<std::uint32_t>{2, 2}));
  Engine::Options options;
  options.window = 10;
  EXPECT_EQ(engine.run(options), Engine::Outcome::Drained);
  EXPECT_EQ(std::vector(ways.shares().begin(), ways.shares().end()), (std::vector<std::uint32_t>{3, 1}));
}

// --------------------------------------------------------------------------------------------------------------
// packing

MigSpec one_set(std::uint32_t ways) {
  MigSpec mig;
  mig.l3_tlb.entries = mig.l3_tlb.ways = ways;
  return mig;
}

TEST(Packing, PutsFourSparseRangesIntoOneEntry) {
  PackedArray array({}, one_set(1));
  Evictions evictions;
  array.set_eviction_observer(evictions);
  const auto insert = [&](std::uint64_t page) { array.insert(PageKey{0, page}, {PhysPage{page}, true, 0}, 0); };
  const auto held = [&](std::uint64_t page) { return array.use(PageKey{0, page}) != nullptr; };
  for (std::uint64_t range = 0; range < 4; ++range) insert(range * 16 + range);
  for (std::uint64_t range = 0; range < 4; ++range) EXPECT_TRUE(held(range * 16 + range));
  EXPECT_FALSE(held(0 * 16 + 1));
  EXPECT_TRUE(array.holds_range(PageKey{0, 15}));
  // A fifth range takes the place of the one that has not been used for longest.
  insert(4 * 16);
  EXPECT_EQ(evictions.last, 1U);
  EXPECT_FALSE(array.holds_range(PageKey{0, 0}));
  EXPECT_TRUE(held(1 * 16 + 1));
  // Four pages of a range fit; with the fifth it has the entry for itself, and the others leave.
  for (std::uint64_t page = 0; page < 4; ++page) insert(4 * 16 + page);
  EXPECT_TRUE(held(1 * 16 + 1));
  insert(4 * 16 + 4);
  EXPECT_FALSE(held(1 * 16 + 1));
  for (std::uint64_t page = 0; page < 16; ++page) insert(4 * 16 + page);
  for (std::uint64_t page = 0; page < 16; ++page) EXPECT_TRUE(held(4 * 16 + page));
  // A whole entry that leaves is packed again.
  insert(7 * 16);
  EXPECT_EQ(evictions.last, 16U);
  insert(8 * 16);
  EXPECT_TRUE(held(7 * 16));
  EXPECT_TRUE(held(8 * 16));
}

/// Whatever happens, a page that is found is one that was put there last, ranges are held once, and no way has more
/// pages than sub-entries.
RC_GTEST_PROP(Packing, HoldsWhatItWasGiven, ()) {
  const auto ways = *rc::gen::inRange<std::uint32_t>(1, 4);
  const std::uint32_t ranges = 2U << *rc::gen::inRange<unsigned>(0, 4);
  PackedArray array({ranges}, one_set(ways));
  std::map<std::uint64_t, std::uint64_t> given;
  for (unsigned i = 0; i < 300; ++i) {
    const PageKey page{static_cast<Pid>(*rc::gen::inRange(0, 2)), *rc::gen::inRange<std::uint64_t>(0, 16 * 6)};
    if (*rc::gen::inRange(0, 2) == 0) {
      array.insert(page, {PhysPage{i + 1}, true, 0}, 0);
      given[page.value] = i + 1;
      RC_ASSERT(array.use(page) != nullptr);
    }
    const Mapping* held = array.use(page);
    if (held != nullptr) RC_ASSERT(held->page.value == given.at(page.value));
    std::map<std::uint64_t, unsigned> pages;
    array.for_each([&](const TlbEntry& entry) { ++pages[entry.page.value]; });
    RC_ASSERT(pages.size() <= ways * std::size_t{16});
    for (const auto& [which, count] : pages) RC_ASSERT(count == 1U);
  }
}

TEST(Packing, AnswersAsFastAsTheBaselineAndHoldsMore) {
  // One entry of the L3, and none of the L2 TLB's use: four ranges with a page each.
  const auto walks = [](bool packs) {
    Rig rig(RigOptions::instances(1, 1, 1), 0, 256);
    MigSpec mig = one_set(1);
    if (packs) rig.iommu().set_l3_array(rig.parts(1).add(std::make_unique<PackedArray>(PackingSpec{}, mig)));
    for (unsigned i = 0; i < 8; ++i) rig.ask(0, (i % 4) * 16, i * 2000);
    rig.run();
    if (packs) {
      EXPECT_EQ(rig.answers.back().when, 7 * 2000 + kHit);
    }
    return rig.iommu().walkers().stats().walks[static_cast<std::size_t>(WalkKind::Demand)];
  };
  EXPECT_EQ(walks(false), 8U);
  EXPECT_EQ(walks(true), 4U);
}

// ------------------------------------------------------------------------------------------------------- whole
// machines

/// An application on each of four instances, with so many pages that they fill TLBs of a few entries with 16
/// sub-entries of 64 KiB each.
std::vector<std::shared_ptr<const Workload>> instance_programs(std::uint64_t seed) {
  const std::uint64_t pages = seed % 3 == 2 ? 4096 : 256;
  return {roamers(seed, pages, 4), roamers(seed + 1, pages, 6), roamers(seed + 2, pages / 4, 4),
          roamers(seed + 3, pages, 3)};
}

const std::vector<Names> kChoices = {{},          {"mig-static"},  {"mig-dynamic"},   {"mig-sharing"},
                                     {"mig-tlb"}, {"mig-packing"}, {"mig-tlb", "dws"}};

std::string name_of(const Names& designs) { return designs.empty() ? "baseline" : designs.front(); }

TEST(InstanceStorm, LosesNothingAndNeverStops) {
  for (const Names& designs : kChoices) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(name_of(designs) + " " + std::to_string(seed));
      const Outcome run = simulate(tiny_machine(TranslationKind::Mig, designs, seed), instance_programs(seed));
      EXPECT_GT(run.count("mig.l3_tlb.evictions"), 20U);
      expect_parts_add_up(run);
    }
  }
}

TEST(InstanceThreads, GiveTheSameStatistics) {
  for (const Names& designs : kChoices) {
    for (const std::uint64_t seed : {2, 3}) {
      SCOPED_TRACE(name_of(designs) + " " + std::to_string(seed));
      const SystemSpec system = tiny_machine(TranslationKind::Mig, designs, seed);
      const Outcome one = simulate(system, instance_programs(seed), false, 1);
      for (const unsigned threads : {2U, 3U}) {
        const Outcome many = simulate(system, instance_programs(seed), false, threads);
        ASSERT_EQ(one.result.statistics.size(), many.result.statistics.size());
        for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
          ASSERT_EQ(one.result.statistics[i].name, many.result.statistics[i].name);
          ASSERT_EQ(one.result.statistics[i].count, many.result.statistics[i].count) << one.result.statistics[i].name;
        }
      }
    }
  }
}

TEST(InstanceStatistics, OfProcessesAddUp) {
  for (const Names& designs : std::vector<Names>{{}, {"mig-dynamic"}, {"mig-packing"}}) {
    SCOPED_TRACE(name_of(designs));
    const Outcome run = simulate(tiny_machine(TranslationKind::Mig, designs, 2), instance_programs(2));
    std::uint64_t evictions = 0;
    for (unsigned n = 1; n <= 16; ++n) {
      const std::string what = "mig.l3_tlb.evicted_with_" + std::to_string(n);
      std::uint64_t sum = 0;
      for (unsigned p = 0; p < 4; ++p) sum += run.count(what + ".pid" + std::to_string(p));
      EXPECT_EQ(sum, run.count(what));
      evictions += run.count(what);
    }
    EXPECT_GT(evictions, 0U);
    EXPECT_EQ(evictions, run.count("mig.l3_tlb.evictions"));
  }
}

/// Loads a line of each of these pages, one after another.
Stream visit_pages(VirtAddr base, std::vector<std::uint64_t> pages) {
  for (const std::uint64_t page : pages) {
    co_yield load(4, [=](unsigned lane) { return base + page * 64 * 1024 + lane % 16 * 4; });
    co_yield wait(0);
  }
}

/// The crossbar is 10 cycles each way on the whole machine, too: 30 for an L3 TLB hit, and 101 or 501 more for a walk.
TEST(Instances, TakeThirtyCyclesToTheL3AndBack) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(32 * 64 * 1024, Placement::Interleave);
  script->launch(groups_of(1, 64, Split::RoundRobin), [=](const Script&, const Wave&) {
    return visit_pages(base, {0, 16, 0, 5});
  });
  const Names settings = {"mig.instances=1g", "gpu.l2_tlb.entries=7", "gpu.l2_tlb.ways=1", "gpu.l1_tlb.entries=1",
                          "gpu.l1_tlb.ways=1"};
  const Outcome run = simulate(load_system("mig-a100", settings).spec, {script});
  EXPECT_EQ(run.count("l2_miss.count"), 4U);
  EXPECT_EQ(run.count("l2_miss.component.iommu.link"), 4U * 20);
  EXPECT_EQ(run.count("l2_miss.component.iommu.tlb"), 4U * 10);
  EXPECT_EQ(run.count("l2_miss.component.iommu.walk"), 501U + 101 + 101);
  EXPECT_EQ(run.count("l2_miss.latency"), 4U * 30 + 501 + 101 + 101);
  EXPECT_EQ(run.count("mig.l3_tlb.hits"), 1U);
  EXPECT_EQ(run.count("mig.l3_tlb.sub_misses"), 1U);
  EXPECT_EQ(run.count("gpus.l2_tlb.evicted_with_1"), 2U);
}

/// Without shares a partition is the array's own LRU.
TEST(WayPartitions, WithoutSharesAreTheBaseline) {
  const auto cycles = [](const Names& designs, const Names& settings) {
    Names all = {"gpu.cus_per_array=1", "gpu.l2_tlb.entries=7",   "gpu.l2_tlb.ways=1", "mig.l3_tlb.entries=16",
                 "mig.l3_tlb.ways=4",   "mig.instances=3g:2g:2g", "page.size=4K"};
    all.insert(all.end(), settings.begin(), settings.end());
    const Outcome run = simulate(load_system_with(designs, "mig-a100", all).spec,
                                 {roamers(1, 60, 8), roamers(2, 90, 8), roamers(3, 90, 8)});
    EXPECT_GT(run.count("mig.l3_tlb.evictions"), 50U);
    return std::pair(run.result.cycles, run.count("mig.l3_tlb.hits"));
  };
  EXPECT_EQ(cycles({}, {}), cycles({"mig-dynamic"}, {"mig.partition=none"}));
  EXPECT_NE(cycles({}, {}), cycles({"mig-static"}, {}));
}

/// Instances share the L3 TLB and the walkers behind it and nothing else: where these are without limit, a program
/// takes as long beside another one as alone.
TEST(Instances, DisturbOneAnotherInTheL3AndBehindItAlone) {
  const auto cycles = [](const char* instances, unsigned programs, const Names& more) {
    Names settings = {std::string("mig.instances=") + instances, "gpu.l2_tlb.entries=7", "gpu.l2_tlb.ways=1"};
    settings.insert(settings.end(), more.begin(), more.end());
    std::vector<std::shared_ptr<const Workload>> all = {roamers(5, 400, 32), roamers(6, 400, 32)};
    all.resize(programs);
    return simulate(load_system("mig-a100", settings).spec, std::move(all)).count("app0.cycles");
  };
  const Names limits = {"mig.l3_tlb.entries=2", "mig.l3_tlb.ways=2", "mig.walkers=1"};
  EXPECT_LT(cycles("3g", 1, limits), cycles("3g:3g", 2, limits));
  const Names none = {"mig.l3_tlb.entries=0", "mig.l3_tlb.lookups_per_cycle=0", "mig.walkers=0",
                      "mig.pw_cache.unlimited=true"};
  EXPECT_EQ(cycles("3g", 1, none), cycles("3g:3g", 2, none));
}

}  // namespace
}  // namespace nearfar::mig_test
