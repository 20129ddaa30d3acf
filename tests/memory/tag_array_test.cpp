// The tag array against a plain reference on random input: lists of keys in order of use, set by set.
#include "memory/cache/tag_array.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
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
  const std::uint64_t most = sets * 0xfffe - 1;
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

/// LRU as a design would plug it in: by the time of the last use.
class PluggedLru final : public CacheReplacement {
 public:
  explicit PluggedLru(const CacheArray& array) : ways_(array.ways), last_(array.sets * array.ways, 0) {}
  void used(std::uint64_t set, std::uint32_t way) override { last_[set * ways_ + way] = ++clock_; }
  void filled(std::uint64_t set, std::uint32_t way) override { last_[set * ways_ + way] = ++clock_; }
  std::uint32_t victim(std::uint64_t set, const WaySet&) override {
    const auto first = last_.begin() + static_cast<std::ptrdiff_t>(set * ways_);
    return static_cast<std::uint32_t>(std::min_element(first, first + ways_) - first);
  }

 private:
  std::uint32_t ways_;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> last_;
};

RC_GTEST_PROP(TagArray, APluggedPolicyHearsOfEveryUseAndFillAndDecides, ()) {
  const auto sets = *rc::gen::element<std::uint64_t>(1, 3, 8);
  const auto ways = *rc::gen::element<std::uint32_t>(1, 3, 4, 17);
  TagArray plain(sets, ways, IndexHash::Xor, Replacement::Lru);
  // What the parameter says has no effect beside a policy.
  TagArray plugged(sets, ways, IndexHash::Xor, *rc::gen::element(Replacement::Lru, Replacement::Random));
  plugged.set_replacement(std::make_unique<PluggedLru>(CacheArray{0, sets, ways}));
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, 3 * sets * ways), rc::gen::inRange(0, 10)));
  for (const auto& [key, action] : steps) {
    const TagArray::Slot slot = plain.find(key);
    RC_ASSERT(plugged.find(key) == slot);
    if (slot == TagArray::kNone) {
      const TagArray::Slot victim = plain.victim(key);
      RC_ASSERT(plugged.victim(key) == victim);
      RC_ASSERT(plugged.victim(key) == victim);  // asked again, as by a request that waits for memory
      plain.fill(victim, key);
      plugged.fill(victim, key);
    } else if (action == 0) {
      plain.invalidate(slot);
      plugged.invalidate(slot);
    } else {
      plain.touch(slot);
      plugged.touch(slot);
    }
  }
}

/// One set whose ways may be reserved for lines to come.
struct ReservingSet {
  enum class State { Invalid, Valid, Reserved };
  struct Way {
    State state = State::Invalid;
    std::uint64_t key = 0;
    std::uint64_t last = 0;  ///< its fill or, with LRU, its use
  };
  std::vector<Way> ways;

  Way* first(State state) {
    const auto found = std::ranges::find(ways, state, &Way::state);
    return found == ways.end() ? nullptr : &*found;
  }
  Way* find(std::uint64_t key) {
    for (Way& way : ways) {
      if (way.state == State::Valid && way.key == key) return &way;
    }
    return nullptr;
  }
  /// The oldest of the valid ways, where there is no invalid one.
  Way* victim() {
    if (Way* invalid = first(State::Invalid)) return invalid;
    Way* oldest = nullptr;
    for (Way& way : ways) {
      if (way.state == State::Valid && (oldest == nullptr || way.last < oldest->last)) oldest = &way;
    }
    return oldest;
  }
};

RC_GTEST_PROP(TagArray, ReservedWaysHoldNothingAndAreNoVictims, ()) {
  using State = ReservingSet::State;
  const auto sets = *rc::gen::element<std::uint64_t>(1, 2, 3);
  const auto ways = *rc::gen::element<std::uint32_t>(1, 2, 4, 17);
  const auto replacement = *rc::gen::element(Replacement::Lru, Replacement::Fifo, Replacement::Random);
  const bool narrow = *rc::gen::arbitrary<bool>();
  TagArray tags(sets, ways, IndexHash::Modulo, replacement, narrow ? 1000 : ~std::uint64_t{0});
  std::vector<ReservingSet> reference(sets, ReservingSet{std::vector<ReservingSet::Way>(ways)});
  std::set<std::uint64_t> coming;
  std::uint64_t clock = 0;
  const std::uint32_t stride = tags.slots() / static_cast<std::uint32_t>(sets);
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, 2 * sets * ways + 1), rc::gen::inRange(0, 30)));
  for (const auto& [key, action] : steps) {
    ReservingSet& set = reference[key % sets];
    if (action == 0) {  // a fence: nothing is held, and nothing that comes will be
      tags.invalidate_all();
      coming.clear();
      for (ReservingSet& each : reference) {
        for (ReservingSet::Way& way : each.ways) way.state = State::Invalid;
      }
      continue;
    }
    ReservingSet::Way* held = set.find(key);
    const TagArray::Slot slot = tags.find(key);
    RC_ASSERT((slot == TagArray::kNone) == (held == nullptr));
    if (coming.contains(key)) {
      const TagArray::Slot reserved = tags.reserved(key);
      ReservingSet::Way* way = set.first(State::Reserved);
      RC_ASSERT(reserved % stride == static_cast<std::uint32_t>(way - set.ways.data()));
      RC_ASSERT(!tags.valid(reserved) && tags.state(reserved) == 0);
      coming.erase(key);
      if (action < 4) {
        tags.unreserve(reserved);
        way->state = State::Invalid;
      } else {
        tags.fill(reserved, key);
        *way = {State::Valid, key, ++clock};
      }
      continue;
    }
    if (held != nullptr) {
      tags.state(slot) = 3;
      tags.touch(slot);
      if (replacement == Replacement::Lru) held->last = ++clock;
      continue;
    }
    ReservingSet::Way* expected = set.victim();
    const TagArray::Slot victim = tags.victim(key);
    RC_ASSERT((victim == TagArray::kNone) == (expected == nullptr));
    RC_ASSERT(tags.can_reserve(key) == (expected != nullptr));
    if (expected == nullptr) continue;
    if (replacement == Replacement::Random) {
      expected = &set.ways[victim % stride];
      RC_ASSERT(expected->state != State::Reserved);
    }
    RC_ASSERT(victim % stride == static_cast<std::uint32_t>(expected - set.ways.data()));
    if (action % 2 == 0) {
      tags.reserve(victim);
      expected->state = State::Reserved;
      coming.insert(key);
    } else {
      tags.fill(victim, key);
      *expected = {State::Valid, key, ++clock};
    }
  }
}

TEST(TagArray, APluggedPolicyChoosesAmongWaysThatAreNotReserved) {
  class Asked final : public CacheReplacement {
   public:
    explicit Asked(std::vector<WaySet>& asked) : asked_(asked) {}
    void filled(std::uint64_t, std::uint32_t) override {}
    std::uint32_t victim(std::uint64_t, const WaySet& ways) override {
      asked_.push_back(ways);
      std::uint32_t way = 0;
      while (!ways[way]) ++way;
      return way;
    }

   private:
    std::vector<WaySet>& asked_;
  };
  std::vector<WaySet> asked;
  TagArray tags(1, 3, IndexHash::Modulo, Replacement::Lru);
  tags.set_replacement(std::make_unique<Asked>(asked));
  for (std::uint64_t key = 0; key < 3; ++key) tags.fill(tags.victim(key), key);
  for (std::uint64_t key = 3; key < 6; ++key) tags.reserve(tags.victim(key));
  EXPECT_EQ(asked, (std::vector<WaySet>{0b111, 0b110, 0b100}));
  EXPECT_EQ(tags.victim(6), TagArray::kNone);
  EXPECT_EQ(asked.size(), 3U) << "there was nothing to choose from";
}

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

/// Ages lie behind the tags of a set, and must not be taken for tags.
TEST(TagArray, SlotsBeyondTheLastWayAreNeverValid) {
  for (const std::uint32_t ways : {3U, 5U, 12U, 96U, 100U}) {
    TagArray tags(2, ways, IndexHash::Modulo, Replacement::Lru, 64);
    for (std::uint64_t key = 0; key < 2 * ways; ++key) tags.fill(tags.victim(key), key);
    unsigned valid = 0;
    for (TagArray::Slot slot = 0; slot < tags.slots(); ++slot) valid += tags.valid(slot);
    EXPECT_EQ(valid, 2 * ways);
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
