// One event of a timeline: what it is, where in the machine it is shown, and which lines or page it is about.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/types.h"

namespace nearfar {

/// What a timeline can be of.
enum class TimelineSubject : std::uint8_t { Translation, Data, Links, Dram, Launches };
inline constexpr std::array<std::string_view, 5> kTimelineSubjects{"translation", "data", "links", "dram", "launches"};

/// The units of a device that have tracks, in the order in which a viewer shows them.
enum class TimelineUnit : std::uint8_t {
  Application,  ///< host: the steps of one application
  Dma,          ///< host: copies
  Kernel,       ///< GPU: launches and their boundaries; what is shown within one another
  ComputeUnit,  ///< page groups of loads, stores and atomics
  VectorL1,     ///< misses, by compute unit
  ScalarL1,     ///< misses, by shader array
  L2Bank,       ///< lookups, misses and what waits
  L2Lines,      ///< instants: lines that come and leave
  Directory,    ///< of a unified memory hierarchy: blocks a stacked memory asks for, requests at a module of the host
  DramChannel,
  LinkOutput,
  LinkInput,
  Walker,
};

inline constexpr TimelineSubject subject_of(TimelineUnit unit) {
  switch (unit) {
    case TimelineUnit::Application:
    case TimelineUnit::Dma:
    case TimelineUnit::Kernel: return TimelineSubject::Launches;
    case TimelineUnit::ComputeUnit:
    case TimelineUnit::VectorL1:
    case TimelineUnit::ScalarL1:
    case TimelineUnit::L2Bank:
    case TimelineUnit::L2Lines:
    case TimelineUnit::Directory: return TimelineSubject::Data;
    case TimelineUnit::DramChannel: return TimelineSubject::Dram;
    case TimelineUnit::LinkOutput:
    case TimelineUnit::LinkInput: return TimelineSubject::Links;
    case TimelineUnit::Walker: break;
  }
  return TimelineSubject::Translation;
}

/// Where the lines of an event lie.
struct TimelineLines {
  /// Page tables, and frames of which a device does not know the page, have only a physical address.
  enum class Space : std::uint8_t { None, Virtual, Physical };

  std::uint64_t address = 0;  ///< virtual: of the first byte of a page; physical: the frame (PhysPage)
  std::uint64_t mask = 0;     ///< lines of a 4 KiB page; 0: the whole page
  std::uint8_t process = 0;   ///< whose virtual address it is
  Space space = Space::None;
};

/// A message's way over one link.
struct TimelineHop {
  std::uint16_t origin = 0;  ///< device that made it
  std::uint16_t destination = 0;
  std::uint16_t output = 0;             ///< port of the sender
  std::uint32_t bytes = 0;              ///< headers included
  std::uint32_t sending = 0;            ///< cycles from its start that it occupies the output
  std::uint32_t receiving = 0;          ///< cycles to its end that it occupies the input, or waits for it
  const char* traffic_class = nullptr;  ///< literals
  const char* type = nullptr;
};

inline constexpr std::uint16_t kNoPeer = 0xffff;

struct TimelineEvent {
  enum class Kind : std::uint8_t {
    Span,     ///< something that occupies its track from `start` to `end`
    Request,  ///< a part of a translation request's life; requests overlap, `id` tells them apart
    Level,    ///< a queue's length from `start` on, in `value`
    Instant,  ///< something that happens at `start`
    Message,  ///< leaves the output of `peer` at `start` and is through the input of `device` at `end`
  };

  Kind kind = Kind::Span;
  std::uint16_t device = 0;    ///< under which it is shown
  std::uint16_t track = 0;     ///< which of the device's units of this sort: walker, compute unit, bank, channel, port
  const char* name = nullptr;  ///< a literal
  Cycle start = 0;
  Cycle end = 0;
  std::uint64_t id = 0;     ///< translation: the page and its process; launches: the application
  std::uint64_t value = 0;  ///< levels: the length; translation requests of a GPU: 1 for a whole one, 0 for a part of
                            ///< it; launches: the number of the launch; copies: bytes; compute units: the wavefront
  TimelineUnit unit = TimelineUnit::Walker;
  std::uint16_t peer = kNoPeer;  ///< L2: the device that asked; messages: the one that sent it over this link
  TimelineLines lines{};
  TimelineHop hop{};

  /// Where a timeline that is too long ends, this is the cycle that decides whether it is in: launches are, once they
  /// have begun, so that what is there can be told from what is not.
  Cycle settled() const { return subject_of(unit) == TimelineSubject::Launches ? start : end; }
};

}  // namespace nearfar
