#include "memory/cache/tag_array.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace nearfar {
namespace {

std::uint32_t round_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

/// Tags of two bytes are below this: the two highest mean an invalid and a reserved way.
constexpr std::uint64_t kNarrowTags = std::numeric_limits<std::uint16_t>::max() - 1;

/// A block that fits a host cache line must not straddle two of them.
std::uint32_t block_size(std::uint32_t bytes) {
  return bytes <= kHostLine ? std::bit_ceil(bytes) : round_up(bytes, static_cast<std::uint32_t>(kHostLine));
}

}  // namespace

TagArray::TagArray(std::uint64_t sets, std::uint32_t ways, IndexHash hash, Replacement replacement, std::uint64_t keys)
    : sets_(sets),
      ways_(ways),
      way_bits_(static_cast<std::uint32_t>(std::bit_width(ways - 1))),
      set_shift_(std::has_single_bit(sets) ? std::countr_zero(sets) : -1),
      hash_(hash),
      replacement_(replacement),
      invalid_(keys / sets < kNarrowTags ? std::numeric_limits<std::uint16_t>::max()
                                         : std::numeric_limits<std::uint32_t>::max()),
      ages_at_(narrow() ? round_up(ways, 8) * 2 : round_up(ways, 4) * 4),
      states_at_(ages_at_ + ways),
      block_bytes_(block_size(std::max(states_at_ + ways, ages_at_ + 16))),  // ages are read sixteen at a time
      storage_(sets * block_bytes_ + kHostLine) {
  assert(sets > 0 && ways > 0 && ways <= WaySet{}.size());
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  first_block_ = storage_.data() + (kHostLine - address % kHostLine) % kHostLine;
  invalidate_all();
  for (std::uint64_t set = 0; set < sets; ++set) {
    for (std::uint32_t way = 0; way < ways; ++way) ages(set)[way] = static_cast<std::uint8_t>(ways - 1 - way);
  }
}

void TagArray::invalidate_all() {
  for (std::uint64_t set = 0; set < sets_; ++set) std::memset(block(set), 0xff, ages_at_);  // all ones, in any width
  reserved_ways_ = 0;
}

WaySet TagArray::unreserved_ways(std::uint64_t set) const {
  WaySet ways;
  for (std::uint32_t way = 0; way < ways_; ++way) ways[way] = tag(slot_at(set, way)) != reserved_tag();
  return ways;
}

/// The victim in a set without an invalid way, where ways may be reserved or a design decides.
TagArray::Slot TagArray::choose_victim(std::uint64_t set) {
  const WaySet ways = unreserved_ways(set);
  if (ways.none()) return kNone;
  if (replacement_ == Replacement::Design) return slot_at(set, policy_->victim(set, ways));
  if (replacement_ == Replacement::Random) {
    auto way = static_cast<std::uint32_t>(next_random() % ways_);
    while (!ways[way]) way = (way + 1) % ways_;
    return slot_at(set, way);
  }
  const std::uint8_t* age = ages(set);
  std::uint32_t oldest = ways_;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    if (ways[way] && (oldest == ways_ || age[way] > age[oldest])) oldest = way;
  }
  return slot_at(set, oldest);
}

TagArray::Slot TagArray::find_state(Slot slot, std::uint8_t bits) const {
  std::uint32_t way = way_of(slot);
  for (std::uint64_t set = set_of(slot); set < sets_; ++set, way = 0) {
    const std::uint8_t* of_ways = states(set);
    // Most sets have none: eight ways at a time say so.
    constexpr std::uint64_t kEach = 0x0101010101010101ULL;
    for (; way + 8 <= ways_; way += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, of_ways + way, sizeof eight);
      eight &= kEach * bits;
      if (eight != 0) return slot_at(set, way + static_cast<std::uint32_t>(std::countr_zero(eight)) / 8);
    }
    for (; way < ways_; ++way) {
      if ((of_ways[way] & bits) != 0) return slot_at(set, way);
    }
  }
  return slots();
}

std::uint64_t TagArray::key(Slot slot) const {
  const std::uint64_t set = set_of(slot);
  const std::uint64_t upper = tag(slot);
  if (set_shift_ >= 0) {
    const std::uint64_t low = hash_ == IndexHash::Xor ? set ^ mix(upper) : set;
    return upper << set_shift_ | (low & (sets_ - 1));
  }
  const std::uint64_t low = hash_ == IndexHash::Xor ? (set + sets_ - mix(upper) % sets_) % sets_ : set;
  return upper * sets_ + low;
}

}  // namespace nearfar
