// An event of the translation stack and what it carries.
#pragma once

#include <bit>
#include <cstdint>

#include "memory/packet.h"
#include "sim/fifo.h"
#include "sim/types.h"

namespace nearfar {

struct Transaction : Packet {
  PhysLine line;
  std::uint64_t mask = 0;
  std::uint32_t stage_start = 0;
  std::uint32_t user = 0;
  std::uint32_t accounted = 0;
  std::uint16_t cu = 0;
  std::uint16_t data_bytes = 0;

  /// An event of a component's own may carry one of its things, in `mask`.
  template <class T>
  void carry(T* what) {
    mask = std::bit_cast<std::uint64_t>(what);
  }
  template <class T>
  T* carried() const {
    return std::bit_cast<T*>(mask);
  }
};
static_assert(EventType<Transaction>);

using TransactionQueue = Fifo<Transaction>;

}  // namespace nearfar
