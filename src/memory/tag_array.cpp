#include "memory/tag_array.h"

#include <bit>

namespace nearfar {

TagArray::TagArray(std::uint64_t sets, std::uint32_t ways, IndexHash hash, Replacement replacement)
    : sets_(sets),
      ways_(ways),
      stride_((ways + 3) / 4 * 4),
      set_shift_(std::has_single_bit(sets) ? std::countr_zero(sets) : -1),
      hash_(hash),
      replacement_(replacement),
      tags_(sets * stride_, kInvalid),
      ages_(sets * stride_ + 16, 0),
      states_(sets * stride_, 0) {
  assert(sets > 0 && ways > 0 && ways <= 128);
  for (std::uint64_t set = 0; set < sets; ++set) {
    for (std::uint32_t way = 0; way < ways; ++way) {
      ages_[set * stride_ + way] = static_cast<std::uint8_t>(ways - 1 - way);
    }
  }
}

std::uint64_t TagArray::key(Slot slot) const {
  const std::uint64_t set = slot / stride_;
  const std::uint64_t upper = tags_[slot];
  if (set_shift_ >= 0) {
    const std::uint64_t low = hash_ == IndexHash::Xor ? set ^ mix(upper) : set;
    return upper << set_shift_ | (low & (sets_ - 1));
  }
  const std::uint64_t low = hash_ == IndexHash::Xor ? (set + sets_ - mix(upper) % sets_) % sets_ : set;
  return upper * sets_ + low;
}

}  // namespace nearfar
