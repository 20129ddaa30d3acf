// NMOESI as a table: what an event does to a copy in each of its states, at any level of the hierarchy. The caches and
// directories of this folder ask it and decide nothing of it themselves.
//
// N  changed here, and others may hold copies too (non-coherent)   M  changed, the only copy
// O  shared, this copy answers readers                              E  the only copy, unchanged
// S  shared                                                         I  no copy
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfar::nmoesi {

enum class State : std::uint8_t { N, M, O, E, S, I };
inline constexpr std::size_t kStates = 6;

/// The first four come from a core (or a child), the last two from the parent on behalf of somebody else.
enum class Event : std::uint8_t { Load, Store, NStore, Eviction, ReadRequest, WriteRequest };
inline constexpr std::size_t kEvents = 6;

enum class Action : std::uint8_t {
  None,          ///< nothing to do; a request is acknowledged
  Hit,           ///< the access is performed
  ReadRequest,   ///< the parent is asked for a copy first
  WriteRequest,  ///< the parent is asked for the only copy first
  WriteBack,     ///< the changed bytes go to the parent
  SendData,      ///< the request is answered with the changed bytes
};

struct Transition {
  Action action = Action::None;
  State next = State::I;

  constexpr bool operator==(const Transition&) const = default;
};

/// What a changed copy (M, O) is after it has answered a read request.
enum class AfterRead : std::uint8_t {
  Owned,       ///< O: it answers the next reader too
  Shared,      ///< S: its parent does
  Invalidate,  ///< M becomes O; O leaves, as the article prints it
};

using Table = std::array<std::array<Transition, kEvents>, kStates>;

// clang-format off
/// Rows are states, columns events, in the order of the enumerations. A request for a copy takes the state that is
/// granted; what stands here is the one that the access leaves it in (a load: E or S, as granted).
constexpr Table make_table(AfterRead after) {
  using enum Action;
  using enum State;
  const State m_read = after == AfterRead::Shared ? S : O;
  const State o_read = after == AfterRead::Owned ? O : after == AfterRead::Shared ? S : I;
  return {{
      //   load             store              n-store           eviction        read request          write request
      {{ {Hit, N},          {WriteRequest, M}, {Hit, N},         {WriteBack, I}, {None, N},            {SendData, I} }},
      {{ {Hit, M},          {Hit, M},          {Hit, M},         {WriteBack, I}, {SendData, m_read},   {SendData, I} }},
      {{ {Hit, O},          {WriteRequest, M}, {Hit, O},         {WriteBack, I}, {SendData, o_read},   {SendData, I} }},
      {{ {Hit, E},          {Hit, M},          {Hit, N},         {None, I},      {SendData, S},        {SendData, I} }},
      {{ {Hit, S},          {WriteRequest, M}, {Hit, N},         {None, I},      {None, S},            {None, I}     }},
      {{ {ReadRequest, S},  {WriteRequest, M}, {ReadRequest, N}, {None, I},      {None, I},            {None, I}     }},
  }};
}
// clang-format on

inline constexpr Table kOwnedTable = make_table(AfterRead::Owned);
inline constexpr Table kSharedTable = make_table(AfterRead::Shared);
inline constexpr Table kInvalidateTable = make_table(AfterRead::Invalidate);

constexpr const Table& table(AfterRead after) {
  return after == AfterRead::Owned ? kOwnedTable : after == AfterRead::Shared ? kSharedTable : kInvalidateTable;
}

constexpr const Transition& transition(const Table& table, State state, Event event) {
  return table[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

/// Rule 3: what becomes of a parent's copy into which changed bytes of a child are merged.
constexpr State merged(State parent) {
  if (parent == State::E) return State::M;
  return parent == State::S ? State::N : parent;
}

/// Its children may be granted the only copy.
constexpr bool is_exclusive(State state) { return state == State::E || state == State::M; }
/// Its copy may differ from its parent's.
constexpr bool may_be_changed(State state) { return state == State::N || state == State::M || state == State::O; }

constexpr char name_of(State state) { return "NMOESI"[static_cast<std::size_t>(state)]; }

}  // namespace nearfar::nmoesi
