// A resident wavefront: its stream, what it waits for, and the results that are on their way to it.
#pragma once

#include <array>
#include <cstdint>

#include "program/stream.h"
#include "sim/fifo.h"
#include "sim/types.h"

namespace nearfar {

/// Vector loads that a wavefront can have outstanding (the counter of the hardware has four bits).
inline constexpr unsigned kLoadSlots = 16;

enum class WaveState : std::uint8_t {
  Free,        ///< the slot is empty
  Ready,       ///< runs, or sleeps until its event
  Loads,       ///< waits for its oldest vector load
  Scalars,     ///< waits for scalar loads
  Barrier,     ///< waits for the others of its workgroup
  LoadStore,   ///< its memory instruction waits for the load/store unit, or is stalled in it
  ScalarMiss,  ///< waits for an MSHR of the scalar cache
  Fence,       ///< waits until the compute unit's stores are ordered
};

/// What every step touches comes first, then the loads.
struct Wavefront {
  Stream stream;
  Plain op{};             ///< what it does next
  Cycle other_ready = 0;  ///< when scalar and local results so far are there
  std::uint32_t loads_issued = 0;
  std::uint32_t loads_retired = 0;  ///< in order
  std::uint32_t waiting_since = 0;
  std::uint16_t group = 0;  ///< workgroup slot in its compute unit
  std::uint8_t slot = 0;
  std::uint8_t simd = 0;

  Cycle wake = 0;             ///< earliest end of the wait it is in
  Wavefront* next = nullptr;  ///< link in a list of waiting wavefronts
  std::uint8_t scalars_pending = 0;
  WaveState state = WaveState::Free;
  std::array<std::uint8_t, kLoadSlots> lines_left{};  ///< lines of a load still missing
  std::array<std::uint32_t, kLoadSlots> ready{};      ///< when a load's hits are there (low bits of the cycle)
  PhysPage scalar_page;              ///< of its scalar load, which waited for the translation and has it now
  std::uint16_t arguments_left = 0;  ///< steps with which it loads kernel arguments, before its stream goes on alone
  bool holds_page = false;           ///< that is so: the page does not leave before the load has gone on
};

using WaveQueue = Fifo<Wavefront>;

}  // namespace nearfar
