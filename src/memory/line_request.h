// Requests for lines of a page, on their way from an L1 through the L2 to the home of the lines, and back as replies.
#pragma once

#include <bit>
#include <cstdint>

#include "memory/packet.h"
#include "sim/types.h"

namespace nearfar {

enum class RequestKind : std::uint8_t {
  Read,        ///< a load of the lines `mask` of `line`'s page
  ScalarRead,  ///< a load by a scalar cache
  Write,       ///< a store to such lines
  Atomic,      ///< a read-modify-write of such lines at their home
  TableRead,   ///< a walker's read of a page-table line
  Fetch,       ///< an L2's own read of a remote line, part of which has been written
  HostRead,    ///< a load by the host
};

struct LineRequest : Packet {
  PhysLine line;                  ///< in the page; where each line acts for itself, the one that does
  std::uint64_t mask = 0;         ///< lines of the page
  std::uint32_t stage_start = 0;  ///< low bits of the cycle at which the present stage began
  std::uint32_t record = 0;       ///< the data oracle's
  std::uint16_t unit = 0;         ///< who asked in its device: compute unit, shader array or table read
  RequestKind kind = RequestKind::Read;
  std::uint8_t fill = 0;  ///< reads: which of the two fills of a line that an L2 may have under way at a time

  /// In the place of `fill`, where a switch asks: for another request, whose latency it counts itself.
  static constexpr std::uint8_t kForSwitch = 2;

  /// In the place of `unit`, in a write: an L2 writes back what units of its GPU stored.
  static constexpr std::uint16_t kWriteBack = 0xffff;

  bool reply() const { return traffic_class == TrafficClass::Response; }
  /// The device that asked.
  DeviceId requester() const { return DeviceId{reply() ? destination : origin}; }
  bool writes() const { return kind == RequestKind::Write || kind == RequestKind::Atomic; }
  std::uint32_t lines() const { return static_cast<std::uint32_t>(std::popcount(mask)); }
  bool one_line() const { return (mask & (mask - 1)) == 0; }
};
static_assert(sizeof(LineRequest) == 60 + 4);

/// A load or an atomic.
struct LoadRequest : LineRequest {
  std::uint16_t target = 0;         ///< who waits in its compute unit, as the L1 remembers it
  std::uint16_t operand_bytes = 0;  ///< atomics: bytes of the operand in each line
};

/// The bytes of lines that a store writes in part, in a ByteMaskPool; 0 is none: all its lines are written whole.
using ByteMasksId = std::uint32_t;

/// A store. Of its lines only the first and the last may be written in part.
struct StoreRequest : LineRequest {
  ByteMasksId masks = 0;
};

static_assert(EventType<LoadRequest> && EventType<StoreRequest>);

inline LoadRequest& as_load(LineRequest& request) { return static_cast<LoadRequest&>(request); }
inline const LoadRequest& as_load(const LineRequest& request) { return static_cast<const LoadRequest&>(request); }
inline StoreRequest& as_store(LineRequest& request) { return static_cast<StoreRequest&>(request); }
inline const StoreRequest& as_store(const LineRequest& request) { return static_cast<const StoreRequest&>(request); }

using LineRequestQueue = Fifo<LineRequest>;

}  // namespace nearfar
