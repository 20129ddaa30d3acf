// What every organization of the coherence directory does, as a table that can be laid beside the published one. The
// directories are code; tests drive each of them through every row, and models of the protocol are compared with it.
//
// A row is about one line at its home. It says what an event does to the line's sharers and who is sent an
// invalidation of what. An event that replaces or drops an entry acts on each line of it. Atomics are writes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nearfar::transitions {

enum class Organization : std::uint8_t { Line, Hmg, Rec };

enum class Event : std::uint8_t {
  LocalRead,
  RemoteRead,
  LocalWrite,
  RemoteWrite,
  Replacement,  ///< the entry makes way for another
  PageDrop,     ///< the page leaves its home, and no GPU has copies of it
};

/// The line before the event, seen by the GPU that makes it.
enum class Before : std::uint8_t {
  NoEntry,             ///< nothing that covers the line is tracked
  Untracked,           ///< the entry tracks other lines of the range alone
  Requester,           ///< the requester is the only sharer
  RequesterAndOthers,  ///< the requester is one of several sharers
  Others,              ///< there are sharers, and the requester is none of them
};

/// Whether the entry tracks other lines too, where that matters.
enum class OtherLines : std::uint8_t { Any, None, Some };

enum class After : std::uint8_t {
  NoEntry,
  Untracked,
  Same,
  Requester,      ///< the requester alone
  WithRequester,  ///< those before, and the requester
};

enum class Invalidated : std::uint8_t { Nobody, AllSharers, AllButRequester };

/// What an invalidation covers.
enum class Extent : std::uint8_t { Nothing, Line, Block };

struct Transition {
  Organization organization;
  std::string_view rule;  ///< its name in docs/coherence.md
  Event event;
  Before before;
  OtherLines other_lines;
  After after;
  Invalidated invalidated;
  Extent extent;
};

namespace rows {

using enum Event;
using enum OtherLines;
using enum Invalidated;
using B = Before;
using A = After;
using E = Extent;
constexpr Organization Line = Organization::Line;
constexpr Organization Hmg = Organization::Hmg;
constexpr Organization Rec = Organization::Rec;
constexpr Extent Nothing = Extent::Nothing;

// clang-format off
inline constexpr Transition kAll[] = {
    // Baseline: a tag and a vector of sharers for each line.
    {Line, "H1", LocalRead, B::NoEntry, Any, A::Same, Nobody, Nothing},
    {Line, "H1", LocalRead, B::Others, Any, A::Same, Nobody, Nothing},
    {Line, "H2", RemoteRead, B::NoEntry, Any, A::Requester, Nobody, Nothing},
    {Line, "H3", RemoteRead, B::Others, Any, A::WithRequester, Nobody, Nothing},
    {Line, "H4", RemoteRead, B::Requester, Any, A::Same, Nobody, Nothing},
    {Line, "H4", RemoteRead, B::RequesterAndOthers, Any, A::Same, Nobody, Nothing},
    {Line, "H5", LocalWrite, B::NoEntry, Any, A::NoEntry, Nobody, Nothing},
    {Line, "H6", LocalWrite, B::Others, Any, A::NoEntry, AllSharers, E::Line},
    {Line, "H7a", RemoteWrite, B::NoEntry, Any, A::Requester, Nobody, Nothing},
    {Line, "H7b", RemoteWrite, B::Requester, Any, A::Requester, Nobody, Nothing},
    {Line, "H7c", RemoteWrite, B::RequesterAndOthers, Any, A::Requester, AllButRequester, E::Line},
    {Line, "H7d", RemoteWrite, B::Others, Any, A::Requester, AllSharers, E::Line},
    {Line, "H9", Replacement, B::Others, Any, A::NoEntry, AllSharers, E::Line},
    {Line, "H12", PageDrop, B::NoEntry, Any, A::NoEntry, Nobody, Nothing},
    {Line, "H12", PageDrop, B::Others, Any, A::NoEntry, Nobody, Nothing},

    // HMG: a tag and a vector of sharers for each block of lines, all of which have one state.
    {Hmg, "H1", LocalRead, B::NoEntry, Any, A::Same, Nobody, Nothing},
    {Hmg, "H1", LocalRead, B::Others, Any, A::Same, Nobody, Nothing},
    {Hmg, "H2", RemoteRead, B::NoEntry, Any, A::Requester, Nobody, Nothing},
    {Hmg, "H3", RemoteRead, B::Others, Any, A::WithRequester, Nobody, Nothing},
    {Hmg, "H4", RemoteRead, B::Requester, Any, A::Same, Nobody, Nothing},
    {Hmg, "H4", RemoteRead, B::RequesterAndOthers, Any, A::Same, Nobody, Nothing},
    {Hmg, "H5", LocalWrite, B::NoEntry, Any, A::NoEntry, Nobody, Nothing},
    {Hmg, "H6", LocalWrite, B::Others, Any, A::NoEntry, AllSharers, E::Block},
    {Hmg, "H7a", RemoteWrite, B::NoEntry, Any, A::Requester, Nobody, Nothing},
    {Hmg, "H7b", RemoteWrite, B::Requester, Any, A::Requester, Nobody, Nothing},
    {Hmg, "H7c", RemoteWrite, B::RequesterAndOthers, Any, A::Requester, AllButRequester, E::Block},
    {Hmg, "H7d", RemoteWrite, B::Others, Any, A::Requester, AllSharers, E::Block},
    {Hmg, "H9", Replacement, B::Others, Any, A::NoEntry, AllSharers, E::Block},
    {Hmg, "H12", PageDrop, B::NoEntry, Any, A::NoEntry, Nobody, Nothing},
    {Hmg, "H12", PageDrop, B::Others, Any, A::NoEntry, Nobody, Nothing},

    // REC: a tag for each range, a vector of sharers for each line of it.
    {Rec, "H1", LocalRead, B::NoEntry, Any, A::Same, Nobody, Nothing},
    {Rec, "H1", LocalRead, B::Untracked, Any, A::Same, Nobody, Nothing},
    {Rec, "H1", LocalRead, B::Others, Any, A::Same, Nobody, Nothing},
    {Rec, "H2", RemoteRead, B::NoEntry, Any, A::Requester, Nobody, Nothing},
    {Rec, "H2", RemoteRead, B::Untracked, Any, A::Requester, Nobody, Nothing},
    {Rec, "H3", RemoteRead, B::Others, Any, A::WithRequester, Nobody, Nothing},
    {Rec, "H4", RemoteRead, B::Requester, Any, A::Same, Nobody, Nothing},
    {Rec, "H4", RemoteRead, B::RequesterAndOthers, Any, A::Same, Nobody, Nothing},
    {Rec, "H5", LocalWrite, B::NoEntry, Any, A::NoEntry, Nobody, Nothing},
    {Rec, "H5", LocalWrite, B::Untracked, Any, A::Untracked, Nobody, Nothing},
    {Rec, "H6", LocalWrite, B::Others, None, A::NoEntry, AllSharers, E::Line},
    {Rec, "H6", LocalWrite, B::Others, Some, A::Untracked, AllSharers, E::Line},
    {Rec, "H7a", RemoteWrite, B::NoEntry, Any, A::Requester, Nobody, Nothing},
    {Rec, "H7a", RemoteWrite, B::Untracked, Any, A::Requester, Nobody, Nothing},
    {Rec, "H7b", RemoteWrite, B::Requester, Any, A::Requester, Nobody, Nothing},
    {Rec, "H7c", RemoteWrite, B::RequesterAndOthers, Any, A::Requester, AllButRequester, E::Line},
    {Rec, "H7d", RemoteWrite, B::Others, Any, A::Requester, AllSharers, E::Line},
    {Rec, "H9", Replacement, B::Untracked, Any, A::NoEntry, Nobody, Nothing},
    {Rec, "H9", Replacement, B::Others, Any, A::NoEntry, AllSharers, E::Line},
    {Rec, "H12", PageDrop, B::NoEntry, Any, A::NoEntry, Nobody, Nothing},
    {Rec, "H12", PageDrop, B::Untracked, Any, A::NoEntry, Nobody, Nothing},
    {Rec, "H12", PageDrop, B::Others, Any, A::NoEntry, Nobody, Nothing},
};
// clang-format on

}  // namespace rows

inline constexpr std::span<const Transition> kTransitions = rows::kAll;

// As they are written in exports.
inline constexpr std::string_view kOrganizations[] = {"line", "hmg", "rec"};
inline constexpr std::string_view kEvents[] = {"local-read",   "remote-read", "local-write",
                                               "remote-write", "replacement", "page-drop"};
inline constexpr std::string_view kBefore[] = {"no-entry", "untracked", "requester", "requester-and-others", "others"};
inline constexpr std::string_view kOtherLines[] = {"any", "none", "some"};
inline constexpr std::string_view kAfter[] = {"no-entry", "untracked", "same", "requester", "with-requester"};
inline constexpr std::string_view kInvalidated[] = {"nobody", "all-sharers", "all-but-requester"};
inline constexpr std::string_view kExtents[] = {"nothing", "line", "block"};

}  // namespace nearfar::transitions
