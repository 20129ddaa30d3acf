// What one process would hit in the L3 TLB if it had all ways of it: the tags of some of the sets, each a stack in the
// order of use, and the hits at each place of the stacks. A process that had only w ways would have had the hits of the
// first w places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nearfar {

class ShadowTags {
 public:
  ShadowTags(std::uint32_t sets, std::uint32_t ways) : ways_(ways), stacks_(sets), hits_(ways, 0) {}

  /// A translation of a sub-entry is used or filled in a sampled set.
  void access(std::uint32_t set, std::uint64_t range, std::uint32_t sub_entry) {
    std::vector<Tag>& stack = stacks_[set];
    const std::uint32_t bit = 1U << sub_entry;
    auto found = std::ranges::find(stack, range, &Tag::range);
    if (found == stack.end()) {
      if (stack.size() == ways_) stack.pop_back();
      stack.insert(stack.begin(), Tag{range, bit});
      return;
    }
    if ((found->filled & bit) != 0) ++hits_[static_cast<std::size_t>(found - stack.begin())];
    found->filled |= bit;
    std::rotate(stack.begin(), found, found + 1);
  }

  /// Hits that only a process with more than `place` ways has.
  std::uint64_t hits(std::uint32_t place) const { return hits_[place]; }
  void forget_hits() { std::ranges::fill(hits_, 0); }

 private:
  struct Tag {
    std::uint64_t range = 0;
    std::uint32_t filled = 0;  ///< a bit for each sub-entry
  };

  std::uint32_t ways_;
  std::vector<std::vector<Tag>> stacks_;  ///< by set; the most recent first
  std::vector<std::uint64_t> hits_;       ///< by place
};

}  // namespace nearfar
