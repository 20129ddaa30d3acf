// What tests count at one level of NMOESI: how often each event has met each state of a copy, and how often each
// message has met each phase of a unit with work in progress.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coherence/nmoesi/message.h"
#include "coherence/nmoesi/protocol_table.h"

namespace nearfar::nmoesi {

enum class Phase : std::uint8_t {
  Q,     ///< quiet
  Room,  ///< waits for a way or a transaction, and has asked nobody
  W,     ///< the parent has been asked; the copy is the old one
  C,     ///< children have been probed
  G,     ///< a child has been answered, and has not said Done
  L,     ///< the same of lines of a block, and the block is quiet otherwise
  P,     ///< the copy has been put, or published; its bytes wait for the acknowledgement
};
inline constexpr std::size_t kPhases = 7;

struct Coverage {
  std::array<std::array<std::uint64_t, kEvents>, kStates> events{};   ///< by state
  std::array<std::array<std::uint64_t, kKinds>, kPhases> messages{};  ///< by phase

  void note(State state, Event event) { ++events[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)]; }
  void note(Phase phase, Kind kind) { ++messages[static_cast<std::size_t>(phase)][static_cast<std::size_t>(kind)]; }
};

}  // namespace nearfar::nmoesi
