// An event: something that fires at a time. Its header is what the event queues need; what it is about follows in
// the same 64 bytes, as a type of its own that derives from it (a request for lines, a message, a wavefront's wake-up).
// An event is linked into at most one place at a time: a wheel slot, a queue or a list of waiters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "sim/fifo.h"
#include "sim/pool.h"
#include "sim/types.h"

namespace nearfar {

using HandlerId = std::uint16_t;

/// Order within a cycle: messages by their source first, then what the partition scheduled for itself.
inline constexpr std::uint16_t kLocalSource = 0xffff;

struct Event {
  Event* next = nullptr;
  Cycle when = 0;  ///< when it fires
  HandlerId handler = 0;
  std::uint16_t source = kLocalSource;  ///< the partition that sent it
};

inline constexpr std::size_t kEventBytes = 64;  ///< a line of the host's caches

/// The place of one event, of whatever type.
struct alignas(kEventBytes) EventBlock {
  std::byte bytes[kEventBytes];
};

template <class T>
concept EventType = std::is_base_of_v<Event, T> && std::is_trivially_copyable_v<T> && sizeof(T) <= kEventBytes;

class EventPool {
 public:
  template <EventType T>
  T* allocate() {
    return ::new (blocks_.allocate()) T;
  }
  /// Another event with the same contents, all of the block of the first: also what only a derived type knows of.
  template <class T>
  T* copy(const T& event) {
    EventBlock* block = blocks_.allocate();
    std::memcpy(static_cast<void*>(block), static_cast<const void*>(&event), sizeof(EventBlock));
    return std::launder(reinterpret_cast<T*>(block));
  }
  void release(Event* event) { blocks_.release(reinterpret_cast<EventBlock*>(event)); }

  /// Allocated and not released.
  std::uint64_t live() const { return blocks_.live(); }

 private:
  Pool<EventBlock, 1024> blocks_;
};

using EventQueue = Fifo<Event>;

/// An event of a component's own that needs no more than a number: which of its parts is meant.
struct IndexEvent : Event {
  std::uint32_t index = 0;
};

/// The same that carries one of the component's things.
template <class T>
struct PointerEvent : Event {
  T* what = nullptr;
};

}  // namespace nearfar
