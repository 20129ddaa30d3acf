// The memory model that loads are held to by --check: what a load of a line may return.
//
// It sees the machine as a whole, in the order of simulated time: writes as the homes order them, loads as they return,
// kernel boundaries, and the release and acquire of fences. Of each byte a load may return
//   - nothing that no home has ordered yet, but for the compute unit's own stores;
//   - nothing older than the last write before the application's last kernel boundary;
//   - nothing older than what an earlier load of the same unit returned;
//   - nothing older than a write whose unit had completed a release before this unit began its last acquire, where the
//     scopes of both cover the other's unit.
// A load is held to this for every byte of its lines, whether its lanes use it or not: caches hold whole lines.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/line_image.h"
#include "program/scope.h"
#include "sim/types.h"

namespace nearfar {

/// A line as programs know it: an application's virtual line. Where each GPU has its own copy of a page, as programs
/// on that GPU know it; where an ideal design keeps no copies in step, the line of a frame.
struct Location {
  std::uint64_t value = 0;

  static Location of_virtual(std::uint8_t application, VirtPage page, unsigned line) {
    return {std::uint64_t{application} << 55 | (page.value << kLineIndexBits | line)};
  }
  static Location of_copy(std::uint8_t application, DeviceId gpu, VirtPage page, unsigned line) {
    return {of_virtual(application, page, line).value | std::uint64_t{gpu.value + 1U} << 44};
  }
  static Location of_frame(PhysLine line) { return {std::uint64_t{1} << 63 | line.value}; }
  std::string name() const;
  bool operator==(const Location&) const = default;
};

/// A cache that loads: the vector L1 of a compute unit, or the scalar L1 of a shader array.
struct LoadUnit {
  std::uint32_t value = 0;

  static LoadUnit of(DeviceId device, unsigned index, bool scalar) {
    return {std::uint32_t{device.value} << 16 | (scalar ? 0x8000U : 0U) | index};
  }
  DeviceId device() const { return DeviceId{static_cast<std::uint16_t>(value >> 16)}; }
  bool scalar() const { return (value & 0x8000) != 0; }
  unsigned index() const { return value & 0x7fff; }
  std::string name() const;
};

/// When a unit began its last acquire of at least a scope.
struct Acquires {
  Cycle gpu = 0;
  Cycle system = 0;
};

/// What has happened in one device, as its watch writes it down.
struct MemoryEvent {
  /// Events of one cycle count in this order.
  enum class Kind : std::uint8_t { Boundary, Ordered, Release, Returned };

  Cycle time = 0;
  Kind kind = Kind::Returned;
  std::uint8_t application = 0;
  LoadUnit unit;
  Location location;
  LineVersion version = 0;      ///< Ordered: its number in the order of its line
  Acquires acquired;            ///< Returned: before the load was issued
  Cycle begun = 0;              ///< Release: the writes that it releases had been ordered by then
  Scope scope = Scope::System;  ///< Release
  ByteMask mask;                ///< Ordered: the bytes written
  LineImage image;              ///< Returned
};

class MemoryModel {
 public:
  explicit MemoryModel(unsigned line_bytes) : line_bytes_(line_bytes) {}

  /// Devices order writes each for itself, by time; a version says which, by its remainder. A load may return what its
  /// copy had when it was made: beside the first two rules it has to return its own unit's stores, and where several
  /// devices wrote a byte between two boundaries, any of these writes may remain.
  void unify(unsigned devices) { devices_ = devices; }

  /// The next event in the order of time; throws SimulationError when it may not be.
  void see(const MemoryEvent& event);

 private:
  struct Line {
    LineImage current;      ///< all that has been ordered
    LineImage at_boundary;  ///< what had been when boundary number `boundary` was passed
    std::uint32_t boundary = 0;
    // Unified: of what several devices wrote side by side, any may remain.
    LineImage oldest;              ///< the oldest of these
    LineImage newest_at_boundary;  ///< `current` when that boundary was passed
  };
  struct Write {
    LineVersion version = 0;
    Cycle time = 0;
    LoadUnit unit;
    ByteMask mask;
  };
  struct UnitLocation {
    std::uint64_t location;
    std::uint32_t unit;
    bool operator==(const UnitLocation&) const = default;
  };
  struct Hash {
    std::size_t operator()(std::uint64_t key) const { return (key ^ key >> 29) * 0x9e3779b97f4a7c15ULL; }
    std::size_t operator()(const UnitLocation& key) const {
      return (*this)(key.location * 0x2545f4914f6cdd1dULL + key.unit);
    }
  };
  /// Enough for every line of a tester or a small run; a large one is held to these two rules for what fits.
  static constexpr std::size_t kRemembered = std::size_t{1} << 17;
  static constexpr std::size_t kRecentWrites = 16;

  void boundary(std::uint8_t application);
  void ordered(const MemoryEvent& event);
  void returned(const MemoryEvent& event);
  void check_fences(const MemoryEvent& event) const;
  void check_order_of_loads(const MemoryEvent& event);
  void ordered_side_by_side(const MemoryEvent& event, Line& line);
  void check_own_stores(const MemoryEvent& event);
  struct Release {
    Cycle begun = 0;
    Cycle completed = 0;
    Scope scope = Scope::System;
  };
  /// When `reader` began its last acquire that pairs with releases of the write's unit; 0 if it has not.
  static Cycle acquired_from(const Write& write, LoadUnit reader, const Acquires& acquired);
  /// Whether a release of the write that `reader` is in the scope of had completed before `acquired`.
  bool released_before(const Write& write, LoadUnit reader, Cycle acquired) const;
  [[noreturn]] void fail(const MemoryEvent& event, unsigned byte, const std::string& why) const;

  unsigned line_bytes_;
  unsigned devices_ = 0;  ///< of a unified memory hierarchy; else 0
  boost::unordered_flat_map<std::uint64_t, Line, Hash> lines_;
  boost::unordered_flat_map<std::uint64_t, std::vector<Write>, Hash> recent_;      ///< since the last boundary
  boost::unordered_flat_map<UnitLocation, LineImage, Hash> seen_;                  ///< by loads since the last boundary
  boost::unordered_flat_map<std::uint32_t, std::vector<Release>, Hash> releases_;  ///< by unit, in order
  std::array<std::uint32_t, 256> boundaries_{};                                    ///< by application
};

}  // namespace nearfar
