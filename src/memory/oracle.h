// The data oracle of --check: follows the version of every line through caches, memory and messages.
//
// A line's version counts the writes its home has ordered. The home cache and its memory together always hold the last
// one; a copy elsewhere may be older, but never older than the last kernel boundary, and a compute unit always sees
// its own stores. It is one object for the whole machine, so a checked run uses one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "sim/types.h"

namespace nearfar {

class Oracle {
 public:
  /// Who asks: a compute unit (its vector L1) or a shader array (its scalar L1).
  using Unit = std::uint32_t;
  static Unit unit(DeviceId device, unsigned index, bool scalar) {
    return std::uint32_t{device.value} << 16 | (scalar ? 0x8000U : 0U) | index;
  }

  /// A unit has sent a store.
  void store_issued(Unit unit, PhysLine line) { ++stores_[{line.value, unit}].issued; }
  /// The home orders a store; the answer is the line's new version.
  std::uint32_t store_ordered(Unit unit, std::uint8_t application, PhysLine line);

  /// A unit asks for a line, which it then has pending until load_filled().
  void load_issued(Unit unit, PhysLine line);
  /// The home serves that load with data of `version`.
  void load_served(Unit unit, PhysLine line, std::uint32_t version);
  /// The data has come back; the answer is its version.
  std::uint32_t load_filled(Unit unit, PhysLine line);
  /// A lane gets data with `version`.
  void load_returned(std::uint8_t application, PhysLine line, std::uint32_t version) const;

  /// A line is written to memory, or read from it.
  void memory_written(PhysLine line, std::uint32_t version) { memory_[line.value] = version; }
  std::uint32_t memory_read(PhysLine line) const;

  /// The contents of a frame, all of which are in its memory, have been copied to another.
  void page_copied(PhysPage from, PhysPage to);

  /// All writes of an application so far become the oldest that its next kernel may see.
  void boundary(std::uint8_t application) { ++boundaries_[application]; }

  /// At the end of a run, with the caches of all devices but `except` written back: memory holds the last version of
  /// every line of theirs.
  void all_written_back(DeviceId except) const;

 private:
  struct History {
    std::uint32_t version = 0;      ///< last ordered
    std::uint32_t at_boundary = 0;  ///< version at boundary number `boundary`
    std::uint32_t boundary = 0;
  };
  struct Stores {
    std::uint32_t issued = 0;
    std::uint32_t ordered = 0;
  };
  struct Load {
    std::uint32_t own_stores = 0;  ///< stores of the unit that it must see
    std::uint32_t version = 0;     ///< what the home served
  };
  struct UnitLine {
    std::uint64_t line;
    Unit unit;
    bool operator==(const UnitLine&) const = default;
  };
  struct Hash {
    std::size_t operator()(std::uint64_t key) const { return (key ^ key >> 29) * 0x9e3779b97f4a7c15ULL; }
    std::size_t operator()(const UnitLine& key) const { return (*this)(key.line * 0x2545f4914f6cdd1dULL + key.unit); }
  };

  boost::unordered_flat_map<std::uint64_t, History, Hash> lines_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t, Hash> memory_;
  boost::unordered_flat_map<UnitLine, Stores, Hash> stores_;
  boost::unordered_flat_map<UnitLine, Load, Hash> loads_;
  std::uint32_t boundaries_[256] = {};
};

}  // namespace nearfar
