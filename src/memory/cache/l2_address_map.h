// How an L2 finds a line: the bank that a line number picks, and the key of the line among the tags of that bank. A key
// says at home in which device a line is, where the L2 holds lines of other GPUs.
#pragma once

#include <bit>
#include <cstdint>

#include "config/quantity.h"
#include "memory/cache/cache_spec.h"
#include "sim/types.h"

namespace nearfar {

class L2AddressMap {
 public:
  /// `capacity` is of the memory behind the cache.
  L2AddressMap(const L2Spec& spec, Bytes capacity, Bytes line_bytes)
      : bank_bits_(static_cast<unsigned>(std::countr_zero(spec.banks))),
        bank_mask_(spec.banks - 1),
        within_bits_(static_cast<unsigned>(std::countr_zero(spec.interleave))),
        hash_(spec.bank_index),
        // Page tables lie beside what the capacity bounds; half as many frames more is room enough for both.
        keys_((capacity + capacity / 2) / line_bytes / spec.banks),
        local_key_bits_(static_cast<unsigned>(std::bit_width(keys_))) {}

  unsigned bank_of(PhysLine line) const {
    const std::uint64_t run = line.number_in_device() >> within_bits_;
    return static_cast<unsigned>((hash_ == IndexHash::Xor ? run ^ fold(run >> bank_bits_) : run) & bank_mask_);
  }
  /// The key of a line at home here.
  std::uint64_t key(PhysLine line) const {
    const std::uint64_t number = line.number_in_device();
    const std::uint64_t run = number >> within_bits_;
    return run >> bank_bits_ << within_bits_ | (number & within_mask());
  }
  /// The key of one at home elsewhere, which says where.
  std::uint64_t remote_key(PhysLine line) const {
    return key(line) | (line.device().value + std::uint64_t{1}) << local_key_bits_;
  }

  /// The line of a key in a bank; `device` is the L2's own.
  PhysLine line_of(unsigned bank, std::uint64_t key, DeviceId device, bool remote) const {
    DeviceId home = device;
    if (remote) {
      home = DeviceId{static_cast<std::uint16_t>((key >> local_key_bits_) - 1)};
      key &= (std::uint64_t{1} << local_key_bits_) - 1;
    }
    const std::uint64_t upper = key >> within_bits_;
    const std::uint64_t low = (hash_ == IndexHash::Xor ? bank ^ fold(upper) : bank) & bank_mask_;
    const std::uint64_t run = upper << bank_bits_ | low;
    const std::uint64_t number = run << within_bits_ | (key & within_mask());
    return PhysLine{PhysPage{home, number >> kLineIndexBits},
                    static_cast<unsigned>(number & ((1U << kLineIndexBits) - 1))};
  }

  /// Keys are below this: of lines at home here alone, and with those of devices up to `last`.
  std::uint64_t keys() const { return keys_; }
  std::uint64_t keys_of_devices(DeviceId last) const {
    return std::uint64_t{1} << (local_key_bits_ + static_cast<unsigned>(std::bit_width(last.value + 2U)));
  }

 private:
  std::uint64_t within_mask() const { return (std::uint64_t{1} << within_bits_) - 1; }
  /// Two folds spread strides of a row and of a page over the banks.
  static std::uint64_t fold(std::uint64_t upper) { return upper ^ upper >> 6 ^ upper >> 11; }

  unsigned bank_bits_;
  std::uint32_t bank_mask_;  ///< banks - 1
  unsigned within_bits_;     ///< of the number of a line among the neighbours that are in one bank
  IndexHash hash_;
  std::uint64_t keys_;
  unsigned local_key_bits_;
};

}  // namespace nearfar
