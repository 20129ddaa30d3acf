// The MSHRs of a first-level cache: lines that have been asked for and are not there yet, and who waits for
// them.
//
// A register is a line's, and there are as many as the hardware has. They are kept by what was asked for at once: the
// lines of a page that one instruction misses are one group, found, filled and answered together.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/fifo.h"
#include "sim/pool.h"
#include "sim/types.h"

namespace nearfar {

class L1MshrFile {
 public:
  /// Small numbers that the owner understands.
  using Target = std::uint16_t;

  /// Who waits for lines that another had asked for.
  struct MergedLoad {
    MergedLoad* next = nullptr;
    std::uint64_t lines = 0;
    Target target = 0;
  };

  struct alignas(64) Group {
    PhysPage page;
    std::uint64_t lines = 0;     ///< not yet there
    std::uint64_t poisoned = 0;  ///< of these: answers who waits, but takes no more and is not kept
    Fifo<MergedLoad> merged;
    std::uint32_t issued = 0;  ///< low bits of the cycle in which they were asked for
    Target target = 0;         ///< who asked
    std::uint16_t chain = kEnd;
  };

  /// Lines that have come, and who waited for them: `target` for all, then those who merged.
  struct Arrival {
    std::uint64_t kept = 0;  ///< those not poisoned
    std::uint32_t issued = 0;
    Target target = 0;
    Fifo<MergedLoad> merged;
  };

  explicit L1MshrFile(std::uint32_t capacity)
      : capacity_(capacity),
        bucket_mask_(std::bit_ceil(capacity) - 1),
        groups_(capacity),
        buckets_(std::bit_ceil(capacity), kEnd) {
    assert(capacity < kEnd);
    for (std::uint32_t i = 0; i + 1 < capacity; ++i) groups_[i].chain = static_cast<std::uint16_t>(i + 1);
  }

  std::uint32_t used() const { return used_; }
  bool full() const { return used_ == capacity_; }

  /// The lines of a page that are pending.
  std::uint64_t lines_of(PhysPage page) const {
    std::uint64_t lines = 0;
    for (std::uint16_t i = buckets_[bucket(page)]; i != kEnd; i = groups_[i].chain) {
      if (groups_[i].page == page) lines |= groups_[i].lines;
    }
    return lines;
  }
  /// The group in which all of `lines`, which are not none, are pending; or null.
  Group* find(PhysPage page, std::uint64_t lines) {
    for (std::uint16_t i = buckets_[bucket(page)]; i != kEnd; i = groups_[i].chain) {
      if (groups_[i].page == page && (groups_[i].lines & lines) == lines) return &groups_[i];
    }
    return nullptr;
  }
  Group* find(PhysLine line) { return find(line.page(), std::uint64_t{1} << line.index()); }

  /// Takes a register for a line and begins a group with it. It is not pending, and a register is free.
  Group& begin(PhysLine line, Target target, std::uint32_t now) {
    const std::uint16_t i = free_;
    Group& group = groups_[i];
    free_ = group.chain;
    group.page = line.page();
    group.lines = 0;
    group.poisoned = 0;
    group.issued = now;
    group.target = target;
    group.chain = buckets_[bucket(group.page)];
    buckets_[bucket(group.page)] = i;
    add(group, line);
    return group;
  }
  /// The same for another line that is asked for in the same breath.
  void add(Group& group, PhysLine line) {
    assert(!full() && (lines_of(group.page) >> line.index() & 1) == 0);
    group.lines |= std::uint64_t{1} << line.index();
    ++used_;
  }
  /// Another waits for a line of the group. Who comes twice for one line, by two virtual pages, is answered twice.
  void merge(Group& group, PhysLine line, Target target) {
    const std::uint64_t bit = std::uint64_t{1} << line.index();
    MergedLoad* last = group.merged.back();
    if (last == nullptr || last->target != target || (last->lines & bit) != 0) {
      last = merged_.allocate();
      last->lines = 0;
      last->target = target;
      group.merged.push(last);
    }
    last->lines |= bit;
  }

  /// Frees the registers of lines that have come, which are of one group. Who merged is to be given back.
  Arrival take(PhysPage page, std::uint64_t lines) {
    std::uint16_t* link = &buckets_[bucket(page)];
    while (groups_[*link].page != page || (groups_[*link].lines & lines) != lines) link = &groups_[*link].chain;
    Group& group = groups_[*link];
    Arrival arrival{lines & ~group.poisoned, group.issued, group.target, {}};
    group.lines &= ~lines;
    used_ -= static_cast<std::uint32_t>(std::popcount(lines));
    if (group.lines == 0) {
      arrival.merged = group.merged;
      release(*link);
    } else if (!group.merged.empty()) {
      split(group, lines, arrival.merged);
    }
    return arrival;
  }
  void release(MergedLoad* merge) { merged_.release(merge); }

  /// Visits every pending line, in a fixed order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const std::uint16_t head : buckets_) {
      for (std::uint16_t i = head; i != kEnd; i = groups_[i].chain) {
        for (std::uint64_t rest = groups_[i].lines; rest != 0; rest &= rest - 1) {
          visit(PhysLine{groups_[i].page, static_cast<unsigned>(std::countr_zero(rest))});
        }
      }
    }
  }

  /// None of what is pending is to be kept.
  void poison_all() {
    for (const std::uint16_t head : buckets_) {
      for (std::uint16_t i = head; i != kEnd; i = groups_[i].chain) groups_[i].poisoned = groups_[i].lines;
    }
  }

 private:
  static constexpr std::uint16_t kEnd = 0xffff;

  std::size_t bucket(PhysPage page) const { return (page.value * 0x9e3779b97f4a7c15ULL >> 40) & bucket_mask_; }

  /// Frees the group that a link of a bucket's chain names.
  void release(std::uint16_t& link) {
    const std::uint16_t index = link;
    Group& group = groups_[index];
    link = group.chain;
    group.merged = {};
    group.chain = free_;
    free_ = index;
  }

  /// Parts who waits for some of the lines from who waits for others.
  void split(Group& group, std::uint64_t lines, Fifo<MergedLoad>& served) {
    Fifo<MergedLoad> left;
    while (!group.merged.empty()) {
      MergedLoad* merge = group.merged.pop();
      const std::uint64_t come = merge->lines & lines;
      if (come == merge->lines) {
        served.push(merge);
        continue;
      }
      if (come != 0) {
        MergedLoad* part = merged_.allocate();
        part->lines = come;
        part->target = merge->target;
        served.push(part);
        merge->lines &= ~lines;
      }
      left.push(merge);
    }
    group.merged = left;
  }

  std::uint32_t capacity_;
  std::uint32_t bucket_mask_;
  std::uint32_t used_ = 0;
  std::uint16_t free_ = 0;
  std::vector<Group> groups_;
  std::vector<std::uint16_t> buckets_;
  Pool<MergedLoad, 32> merged_;
};

}  // namespace nearfar
