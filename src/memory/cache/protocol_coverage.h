// Protocol coverage: which events have met which states of a line, in the L1 caches and in the caches in front of
// memory. A random test that has not seen a pair has not tested it. Counted only where a run asks for it, by each
// device for itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nearfar {

enum class L1State : std::uint8_t { Invalid, Valid, Pending, Poisoned };
inline constexpr std::array<std::string_view, 4> kL1States{"invalid", "valid", "pending", "poisoned"};

/// Load, Store and Atomic are lookups, tried again while they stall. Fence and Boundary visit what is held or pending,
/// Drop the lines of a page that moves, Replacement the victim of a fill.
enum class L1Event : std::uint8_t { Load, Store, Atomic, Fill, Fence, Boundary, Drop, Replacement };
inline constexpr std::array<std::string_view, 8> kL1Events{"load",  "store",    "atomic", "fill",
                                                           "fence", "boundary", "drop",   "replacement"};

/// Behind: requests that came before it wait at the bank, so a request queues without a look at its line.
enum class L2State : std::uint8_t { Invalid, Clean, Dirty, PendingOwn, PendingRemote, Behind };
inline constexpr std::array<std::string_view, 6> kL2States{"invalid",     "clean",          "dirty",
                                                           "pending own", "pending remote", "behind others"};

/// Own requests are those of the device itself. OwnStall and RemoteStall: a request that could not act, for want of an
/// MSHR or of room for its dirty victim. Flush visits what is held or pending; PageStays and PageLeaves all lines of a
/// page that is written back.
enum class L2Event : std::uint8_t {
  OwnRead,
  OwnScalarRead,
  TableRead,
  OwnWriteWhole,
  OwnWritePart,
  OwnAtomic,
  OwnStall,
  RemoteRead,
  RemoteScalarRead,
  RemoteWriteWhole,
  RemoteWritePart,
  RemoteAtomic,
  RemoteStall,
  Fill,
  Replacement,
  Flush,
  PageStays,
  PageLeaves,
};
inline constexpr std::array<std::string_view, 18> kL2Events{"own read",           "own scalar read",
                                                            "table read",         "own write, whole",
                                                            "own write, part",    "own atomic",
                                                            "own stalls",         "remote read",
                                                            "remote scalar",      "remote write, whole",
                                                            "remote write, part", "remote atomic",
                                                            "remote stalls",      "fill",
                                                            "replacement",        "flush",
                                                            "page written back",  "page leaves"};

/// A line at home in another GPU, in an L2 that caches such lines. ValidPoisoned: held, and an older fill of it is
/// still under way. PoisonedPending, PoisonedTwice: asked for again behind a poisoned fill, and that one is old by now
/// too. Where stores are kept: Changed has bytes that its home does not have, and of Part nothing else is held; the
/// others also have a fill under way.
enum class RemoteLineState : std::uint8_t {
  Invalid,
  Valid,
  ValidPoisoned,
  Pending,
  Poisoned,
  PoisonedPending,
  PoisonedTwice,
  Changed,
  ChangedFill,
  Part,
  PartFill
};
inline constexpr std::array<std::string_view, 11> kRemoteLineStates{"invalid",
                                                                    "valid",
                                                                    "valid, poisoned fill",
                                                                    "pending",
                                                                    "poisoned",
                                                                    "poisoned, pending",
                                                                    "poisoned twice",
                                                                    "changed",
                                                                    "changed, fill pending",
                                                                    "changed bytes",
                                                                    "changed bytes, fill pending"};

/// Load, StoreWhole, StorePart and Atomic are lookups, tried again while they stall. Acquire visits what is held or
/// pending, Drop the lines of a page that migrates, Invalidation those that a home names, Release what stores changed.
enum class RemoteLineEvent : std::uint8_t {
  Load,
  StoreWhole,
  StorePart,
  Atomic,
  Fill,
  Replacement,
  Acquire,
  Drop,
  Invalidation,
  Release
};
inline constexpr std::array<std::string_view, 10> kRemoteLineEvents{
    "load",        "store, whole", "store, part", "atomic",       "fill",
    "replacement", "acquire",      "drop",        "invalidation", "release"};

/// The sharers of a line that its home's directory has recorded, as who asks for it sees them.
enum class DirectoryState : std::uint8_t { Untracked, RequesterOnly, OthersOnly, RequesterAndOthers };
inline constexpr std::array<std::string_view, 4> kDirectoryStates{"untracked", "shared by requester",
                                                                  "shared by others", "shared by both"};

enum class DirectoryEvent : std::uint8_t { RemoteRead, RemoteWrite, LocalWrite };
inline constexpr std::array<std::string_view, 3> kDirectoryEvents{"remote read", "remote write", "local write"};

/// How often each event has met each state.
template <class State, std::size_t States, class Event, std::size_t Events>
class PairCounts {
 public:
  static constexpr std::size_t kStates = States;
  static constexpr std::size_t kEvents = Events;

  void count(State state, Event event) { ++counts_[static_cast<std::size_t>(event)][static_cast<std::size_t>(state)]; }
  std::uint64_t at(State state, Event event) const {
    return counts_[static_cast<std::size_t>(event)][static_cast<std::size_t>(state)];
  }
  void add(const PairCounts& other) {
    for (std::size_t e = 0; e < Events; ++e) {
      for (std::size_t s = 0; s < States; ++s) counts_[e][s] += other.counts_[e][s];
    }
  }

 private:
  std::array<std::array<std::uint64_t, States>, Events> counts_{};
};

using L1Coverage = PairCounts<L1State, kL1States.size(), L1Event, kL1Events.size()>;
using L2Coverage = PairCounts<L2State, kL2States.size(), L2Event, kL2Events.size()>;
using RemoteLineCoverage =
    PairCounts<RemoteLineState, kRemoteLineStates.size(), RemoteLineEvent, kRemoteLineEvents.size()>;
using DirectoryCoverage = PairCounts<DirectoryState, kDirectoryStates.size(), DirectoryEvent, kDirectoryEvents.size()>;

struct ProtocolCoverage {
  L1Coverage vector_l1;
  L1Coverage scalar_l1;
  L2Coverage l2;
  L2Coverage host_llc;
  RemoteLineCoverage remote_lines;
  DirectoryCoverage directory;

  void add(const ProtocolCoverage& other) {
    vector_l1.add(other.vector_l1);
    scalar_l1.add(other.scalar_l1);
    l2.add(other.l2);
    host_llc.add(other.host_llc);
    remote_lines.add(other.remote_lines);
    directory.add(other.directory);
  }
};

}  // namespace nearfar
