// Which pairs can meet in NMOESI: an event and the state of a copy, a message and the phase of a unit. Each of the
// others has the reason why it cannot. The random test counts pairs, and fails when one of these meets, or another
// never does.
#pragma once

#include <array>

#include "coherence/nmoesi/coverage.h"

namespace nearfar::nmoesi {

/// The home counts messages of stacked memories and of the last-level cache apart.
enum class Level : std::uint8_t { L1, L2, Smd, Hmd, HmdOfLlc, Llc };
inline constexpr std::size_t kLevels = 6;
inline constexpr std::array<const char*, kLevels> kLevelNames = {"L1", "L2", "SMD", "HMD", "HMD (of the LLC)", "LLC"};
inline constexpr std::array<const char*, kEvents> kEventNames = {"load",     "store",        "n-store",
                                                                 "eviction", "read request", "write request"};
inline constexpr std::array<const char*, kPhases> kPhaseNames = {"Q", "Room", "W", "C", "G", "L", "P"};
inline constexpr std::array<const char*, kKinds> kKindNames = {
    "Read",  "ReadN", "Write",    "Put",      "Publish",   "ProbeRead", "ProbeInv", "FwdRead", "DataS",
    "DataE", "DataX", "PeerData", "ProbeAck", "DirUpdate", "PutAck",    "Listen",   "Done"};

/// Why an event does not meet a state; null if it can.
inline const char* impossible(Level level, State state, Event event) {
  if (level == Level::Hmd || level == Level::HmdOfLlc) return "a home has no state of a block: the data is in memory";
  if (state == State::I && event == Event::Eviction) return "what leaves is there";
  if (level == Level::L1 && state == State::S && event == Event::ReadRequest) {
    return "for a reader an L2 asks its owner, which has not granted S to itself";
  }
  if (level == Level::Smd && event == Event::NStore) return "an L2 asks for an n-store as for a load";
  if (level == Level::Llc && (event == Event::NStore || state == State::N)) return "stores of the host are coherent";
  return nullptr;
}

inline bool has_phase(Level level, Phase phase) {
  switch (level) {
    case Level::L1:
    case Level::Llc: return phase == Phase::Q || phase == Phase::Room || phase == Phase::W || phase == Phase::P;
    case Level::L2: return phase != Phase::L;
    case Level::Smd: return phase != Phase::G;
    default: return phase != Phase::W && phase != Phase::P;
  }
}

inline bool receives(Level level, Kind kind) {
  switch (kind) {
    case Kind::Read:
    case Kind::Write:
    case Kind::Put:
    case Kind::ProbeAck:
    case Kind::Done: return level != Level::L1 && level != Level::Llc;
    case Kind::ReadN: return level == Level::L2 || level == Level::Smd || level == Level::Hmd;
    case Kind::Publish: return level == Level::Smd || level == Level::Hmd;
    case Kind::DirUpdate: return level == Level::Hmd;
    case Kind::FwdRead:
    case Kind::PeerData:
    case Kind::Listen: return level == Level::Smd;
    default: return level != Level::Hmd && level != Level::HmdOfLlc;
  }
}

/// The same of a message and a phase.
inline const char* impossible(Level level, Phase phase, Kind kind) {
  if (!receives(level, kind)) return "nobody sends it there";
  if (!has_phase(level, phase)) return "a unit of this level has no such phase";
  switch (kind) {
    case Kind::DataS:
    case Kind::DataE:
    case Kind::DataX:
    case Kind::PeerData: return phase == Phase::W ? nullptr : "it answers a request";
    case Kind::PutAck: return phase == Phase::P ? nullptr : "it answers a Put or a Publish";
    case Kind::DirUpdate: return phase == Phase::G ? nullptr : "it answers a FwdRead, with which a home has granted";
    case Kind::Done: {
      const bool of_lines = level == Level::Smd || level == Level::HmdOfLlc;
      return phase == (of_lines ? Phase::L : Phase::G) ? nullptr : "it answers a grant";
    }
    case Kind::ProbeAck: {
      const bool below = level == Level::L2 || level == Level::Smd;
      const bool of_block = level == Level::Smd && (phase == Phase::Room || phase == Phase::P);
      const bool can = phase == Phase::C || (below && phase == Phase::W) || of_block;
      return can ? nullptr : "it answers a probe, which makes a quiet unit C; a line without a way has no children";
    }
    case Kind::Publish: {
      const bool can = phase == Phase::Q || (level == Level::Hmd && phase != Phase::G);
      return can ? nullptr : "when a kernel has ended no GPU waits for data, and what is put has left the L2";
    }
    case Kind::Listen: return "it changes nothing, in no phase, and is not counted";
    default: return nullptr;
  }
}

}  // namespace nearfar::nmoesi
