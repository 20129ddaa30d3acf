// The pooled transaction: a request on its way through the machine, and at the same time the event that wakes the
// component it has reached. One host cache line; linked into at most one place at a time (a wheel slot, a queue or a
// list of waiters).
#pragma once

#include <bit>
#include <cstdint>

#include "sim/fifo.h"
#include "sim/pool.h"
#include "sim/types.h"

namespace nearfar {

enum class TransactionKind : std::uint8_t {
  Event,       ///< an event of a component's own; the fields mean what the component says
  Read,        ///< a load of the lines `mask` of `line`'s page
  ScalarRead,  ///< a load by a scalar cache
  Write,       ///< a store to the lines `mask` of `line`'s page
  Atomic,      ///< a read-modify-write of such lines at their home
  TableRead,   ///< a walker's read of a page-table line
  Control,     ///< launches, workgroups, completions between host and GPUs
  Message,     ///< translation: requests, answers, invalidations, pages (translation/message.h)
};

/// Order within a cycle: messages by their source first, then what the partition scheduled for itself.
inline constexpr std::uint16_t kLocalSource = 0xffff;

struct alignas(64) Transaction {
  Transaction* next = nullptr;
  Cycle when = 0;  ///< when it fires
  PhysLine line;
  std::uint64_t mask = 0;         ///< lines of the page; user data of events and control messages
  std::uint32_t stage_start = 0;  ///< low bits of the cycle at which the present stage began
  std::uint32_t user = 0;
  union {
    std::uint32_t accounted = 0;  ///< messages: cycles of a fault that have been put to a component
    std::uint32_t target;         ///< loads: who asked in its compute unit, as the L1 remembers it
    std::uint32_t last_bytes;     ///< writes: bytes of the last line, where there are several; those between are whole
  };
  std::uint32_t early_ticks = 0;  ///< by how much its (first) packet left a link before the end of the cycle
  std::uint16_t handler = 0;
  std::uint16_t source = kLocalSource;
  std::uint16_t cu = 0;          ///< compute unit (or shader array) that asked
  std::uint16_t wire_bytes = 0;  ///< size of the packet it travels in; of a burst, of its first packet
  std::uint16_t data_bytes = 0;  ///< bytes a write carries in its first line, an atomic in each
  std::uint8_t requester = 0;    ///< device that asked
  std::uint8_t destination = 0;  ///< device it travels to
  TransactionKind kind = TransactionKind::Event;
  bool reply = false;
  std::uint8_t application = 0;
  std::uint8_t port = 0;  ///< which door it knocks at in its destination

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
static_assert(sizeof(Transaction) == 64);

using TransactionPool = Pool<Transaction, 1024>;
using TransactionQueue = Fifo<Transaction>;

}  // namespace nearfar
