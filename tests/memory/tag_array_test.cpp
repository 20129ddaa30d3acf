// The tag array against a plain reference on random input: lists of keys in order of use, set by set.
#include "memory/cache/tag_array.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace nearfar::tag_array_test {
namespace {

/// One set as a list of ways; `order` is from the oldest to the youngest way.
struct ReferenceSet {
  std::vector<std::optional<std::uint64_t>> ways;
  std::vector<std::uint32_t> order;

  explicit ReferenceSet(std::uint32_t count) : ways(count) {
    for (std::uint32_t way = 0; way < count; ++way) order.push_back(way);
  }
  void make_youngest(std::uint32_t way) {
    order.erase(std::find(order.begin(), order.end(), way));
    order.push_back(way);
  }
  std::uint32_t victim() const {
    for (std::uint32_t way = 0; way < ways.size(); ++way) {
      if (!ways[way]) return way;
    }
    return order.front();
  }
};

void compare_with_reference(Replacement replacement) {
  const auto sets = *rc::gen::element<std::uint64_t>(1, 2, 3, 4, 7, 8, 48, 64);
  const auto ways = *rc::gen::element<std::uint32_t>(1, 2, 3, 4, 5, 8, 15, 16, 17, 32);
  const auto hash = *rc::gen::element(IndexHash::Modulo, IndexHash::Xor);
  const auto span = *rc::gen::inRange<std::uint64_t>(1, 4 * sets * ways + 2);
  // Keys that tags of two bytes just tell apart, and others.
  const bool narrow = *rc::gen::arbitrary<bool>();
  const std::uint64_t most = sets * 0xffff - 1;
  const auto base = narrow ? *rc::gen::element<std::uint64_t>(0, most - span)
                           : *rc::gen::element<std::uint64_t>(0, most, 12345678, std::uint64_t{1} << 31);
  TagArray tags = narrow ? TagArray(sets, ways, hash, replacement, most) : TagArray(sets, ways, hash, replacement);
  std::map<std::uint32_t, ReferenceSet> reference;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, span), rc::gen::inRange(0, 20)));
  const std::uint32_t stride = tags.slots() / static_cast<std::uint32_t>(sets);
  for (const auto& [offset, action] : steps) {
    const std::uint64_t key = base + offset;
    const TagArray::Slot found = tags.find(key);
    // The victim says which set a key belongs to; find must answer the same as a search of that set's list.
    const TagArray::Slot victim = found == TagArray::kNone ? tags.victim(key) : found;
    ReferenceSet& set = reference.try_emplace(victim / stride, ways).first->second;
    const auto held = std::find(set.ways.begin(), set.ways.end(), std::optional(key));
    RC_ASSERT((found != TagArray::kNone) == (held != set.ways.end()));
    if (found == TagArray::kNone) {
      RC_ASSERT(victim % stride == set.victim());
      tags.fill(victim, key);
      set.ways[victim % stride] = key;
      set.make_youngest(victim % stride);
    } else if (action == 0) {
      tags.invalidate(found);
      held->reset();
      continue;
    } else {
      RC_ASSERT(found % stride == static_cast<std::uint32_t>(held - set.ways.begin()));
      tags.touch(found);
      if (replacement == Replacement::Lru) set.make_youngest(found % stride);
    }
    RC_ASSERT(tags.key(victim) == key);
  }
}

RC_GTEST_PROP(TagArray, IsTheReferenceWithLru, ()) { compare_with_reference(Replacement::Lru); }
RC_GTEST_PROP(TagArray, IsTheReferenceWithFifo, ()) { compare_with_reference(Replacement::Fifo); }

RC_GTEST_PROP(TagArray, RandomReplacementKeepsWhatItFilled, ()) {
  TagArray tags(4, 4, IndexHash::Xor, Replacement::Random);
  const auto keys = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 200));
  std::set<std::uint64_t> held;
  for (const std::uint64_t key : keys) {
    if (tags.find(key) != TagArray::kNone) continue;
    const TagArray::Slot slot = tags.victim(key);
    if (tags.valid(slot)) held.erase(tags.key(slot));
    tags.fill(slot, key);
    held.insert(key);
    for (const std::uint64_t each : held) RC_ASSERT(tags.find(each) != TagArray::kNone);
  }
}

TEST(TagArray, StateBelongsToItsSlotAndIsClearedByAFill) {
  TagArray tags(2, 4, IndexHash::Modulo, Replacement::Lru);
  for (std::uint64_t key = 0; key < 8; ++key) tags.fill(tags.victim(key), key);
  tags.state(tags.find(3)) = 5;
  for (std::uint64_t key = 0; key < 8; ++key) {
    tags.touch(tags.find(key));
    EXPECT_EQ(tags.state(tags.find(key)), key == 3 ? 5 : 0);
  }
  const TagArray::Slot slot = tags.find(3);
  tags.invalidate(slot);
  tags.fill(tags.victim(11), 11);
  EXPECT_EQ(tags.state(tags.find(11)), 0);
}

RC_GTEST_PROP(TagArray, FindsStatesInTheOrderOfSlots, ()) {
  const auto sets = *rc::gen::inRange<std::uint64_t>(1, 9);
  const auto ways = *rc::gen::inRange<std::uint32_t>(1, 34);
  const bool narrow = *rc::gen::arbitrary<bool>();
  TagArray tags(sets, ways, IndexHash::Modulo, Replacement::Lru, narrow ? sets * ways : ~std::uint64_t{0});
  std::set<TagArray::Slot> marked;
  for (std::uint64_t key = 0; key < sets * ways; ++key) {
    const TagArray::Slot slot = tags.victim(key);
    tags.fill(slot, key);
    tags.state(slot) = *rc::gen::element<std::uint8_t>(0, 0, 0, 1, 2, 3, 0x80);
    if ((tags.state(slot) & 2) != 0) marked.insert(slot);
  }
  for (TagArray::Slot from = 0; from <= tags.slots(); ++from) {
    const auto next = marked.lower_bound(from);
    RC_ASSERT(tags.find_state(from, 2) == (next == marked.end() ? tags.slots() : *next));
  }
}

TEST(TagArray, HashedIndexSpreadsAStrideOverTheSets) {
  const auto misses = [](IndexHash hash) {
    TagArray tags(64, 4, hash, Replacement::Lru);
    unsigned count = 0;
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t i = 0; i < 128; ++i) {
        const std::uint64_t key = i * 64;
        if (tags.find(key) == TagArray::kNone) {
          ++count;
          tags.fill(tags.victim(key), key);
        }
      }
    }
    return count;
  };
  EXPECT_EQ(misses(IndexHash::Modulo), 256U);  // one set for all
  EXPECT_LT(misses(IndexHash::Xor), 170U);     // 128 keys in 256 places
}

}  // namespace
}  // namespace nearfar::tag_array_test
