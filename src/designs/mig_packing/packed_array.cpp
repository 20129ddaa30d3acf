#include "designs/mig_packing/packed_array.h"

#include <algorithm>
#include <bit>

#include "config/schema.h"

namespace nearfar {

void PackingSpec::describe(Section& section) {
  section.integer("ranges", ranges, Limits::powers_of_two(2, 16), "ranges",
                  "Ranges of pages that can share a way of the L3 TLB while each has few pages in use.");
}

void PackingStats::describe(StatVisitor& visitor) {
  visitor.counter("moves", "ranges",
                  "Ranges of pages that moved to a way of their own when they needed more sub-entries.", moves);
  visitor.counter("packed_evictions", "ranges", "Ranges of pages that were evicted from a part of a way.",
                  packed_evictions);
  visitor.counter("whole_evictions", "ranges", "Ranges of pages that were evicted from a way of their own.",
                  whole_evictions);
}

PackedArray::PackedArray(const PackingSpec& spec, const MigSpec& mig)
    : sets_(mig.l3_tlb.entries / mig.l3_tlb.ways),
      ways_of_set_(mig.l3_tlb.ways),
      ranges_(spec.ranges),
      packed_pages_(mig.sub_entries / spec.ranges),
      shift_(static_cast<unsigned>(std::countr_zero(mig.sub_entries))),
      names_(std::size_t{mig.l3_tlb.entries} * spec.ranges),
      held_(names_.size()),
      whole_(mig.l3_tlb.entries, 0) {}

PackedArray::Places PackedArray::set_of(PageKey range) const {
  const std::uint32_t places = ways_of_set_ * ranges_;
  const auto first = static_cast<std::uint32_t>(sets_.remainder(range.number()) * places);
  return {first, first + places};
}

std::uint32_t PackedArray::find(PageKey range) const {
  const Places set = set_of(range);
  for (std::uint32_t place = set.first; place < set.end; ++place) {
    if (names_[place] == range) return place;
  }
  return kNone;
}

TlbEntry* PackedArray::find_page(Range& range, PageKey page) {
  const auto end = range.pages.begin() + range.filled;
  const auto found = std::find_if(range.pages.begin(), end, [&](const TlbEntry& entry) { return entry.page == page; });
  return found == end ? nullptr : &*found;
}

const Mapping* PackedArray::use(PageKey page) {
  const std::uint32_t place = find(range_of(page));
  if (place == kNone) return nullptr;
  const TlbEntry* held = find_page(held_[place], page);
  if (held == nullptr) return nullptr;
  held_[place].used = ++clock_;
  return &held->mapping;
}

void PackedArray::insert(PageKey page, const Mapping& mapping, std::uint32_t note) {
  const PageKey name = range_of(page);
  const Places set = set_of(name);
  std::uint32_t place = find(name);
  if (place == kNone) {
    place = place_for_new(set);
    names_[place] = name;
  } else if (TlbEntry* held = find_page(held_[place], page)) {
    held_[place].used = ++clock_;
    *held = {page, mapping, note};
    return;
  } else if (!is_whole(place) && held_[place].filled == packed_pages_) {
    const Range moving = held_[place];
    leave(place);
    place = whole_way(set);
    names_[place] = name;
    held_[place] = moving;
    ++stats_.moves;
  }
  Range& range = held_[place];
  range.pages[range.filled++] = {page, mapping, note};
  range.used = ++clock_;
}

/// A place in a packed way: a free one, in a way that has others in it where there is one, else that of the range of
/// the set that has not been used for longest.
std::uint32_t PackedArray::place_for_new(Places set) {
  std::uint32_t free = kNone;
  std::uint32_t oldest = kNone;
  for (std::uint32_t place = set.first; place < set.end; ++place) {
    if (!is_empty(place)) {
      if (oldest == kNone || held_[place].used < held_[oldest].used) oldest = place;
    } else if (!is_whole(place)) {
      if (last_use(way_of(place)) != 0) return place;
      if (free == kNone) free = place;
    }
  }
  if (free != kNone) return free;
  evict(oldest);
  return oldest;
}

/// When a way was last used, by whichever of its ranges; 0 where it is empty.
std::uint64_t PackedArray::last_use(Places way) const {
  std::uint64_t last = 0;
  for (std::uint32_t place = way.first; place < way.end; ++place) {
    if (!is_empty(place)) last = std::max(last, held_[place].used);
  }
  return last;
}

/// The way of a set that has not been used for longest, for one range alone.
std::uint32_t PackedArray::whole_way(Places set) {
  Places chosen = way_of(set.first);
  for (std::uint32_t place = set.first + ranges_; place < set.end; place += ranges_) {
    if (last_use(way_of(place)) < last_use(chosen)) chosen = way_of(place);
  }
  for (std::uint32_t place = chosen.first; place < chosen.end; ++place) {
    if (!is_empty(place)) evict(place);
  }
  whole_[chosen.first / ranges_] = 1;
  return chosen.first;
}

void PackedArray::evict(std::uint32_t place) {
  ++(is_whole(place) ? stats_.whole_evictions : stats_.packed_evictions);
  if (observer_ != nullptr) observer_->evicted({held_[place].pages.data(), held_[place].filled});
  leave(place);
}

/// Empties a place; its way is a packed one from then on.
void PackedArray::leave(std::uint32_t place) {
  names_[place] = {};
  held_[place].filled = 0;
  whole_[place / ranges_] = 0;
}

void PackedArray::for_each(const std::function<void(const TlbEntry&)>& visit) const {
  for (const Range& range : held_) {
    for (std::uint32_t i = 0; i < range.filled; ++i) visit(range.pages[i]);
  }
}

}  // namespace nearfar
