#include "tester/expected_pairs.h"

#include <fmt/format.h>

namespace nearfar::tester {
namespace {

constexpr const char* kOnlyPending = "a fill answers an MSHR";
constexpr const char* kOnlyHeld = "what is replaced is held";
constexpr const char* kVisitsLines = "it visits what is held or pending";
constexpr const char* kLoadsEnd = "a wavefront ends after its loads, and a kernel after its wavefronts";
constexpr const char* kDrained = "a page moves when the accesses to it are over";

/// Why an event cannot meet a state in an L1 cache; null if it can.
const char* impossible(L1State state, L1Event event, bool scalar) {
  const bool pending = state == L1State::Pending || state == L1State::Poisoned;
  if (scalar && (event == L1Event::Store || event == L1Event::Atomic)) return "a scalar cache is only read";
  if (scalar && event == L1Event::Fence) return "fences leave the scalar cache alone";
  if (scalar && state == L1State::Poisoned) return "stores and fences, which poison, leave the scalar cache alone";
  switch (event) {
    case L1Event::Fill: return pending ? nullptr : kOnlyPending;
    case L1Event::Fence: return state == L1State::Invalid ? kVisitsLines : nullptr;
    case L1Event::Boundary:
      if (pending) return kLoadsEnd;
      return state == L1State::Invalid ? kVisitsLines : nullptr;
    case L1Event::Drop: return pending ? kDrained : nullptr;
    case L1Event::Replacement: return state == L1State::Valid ? nullptr : kOnlyHeld;
    default: return nullptr;
  }
}

bool is_own(L2Event event) {
  return event == L2Event::OwnRead || event == L2Event::OwnScalarRead || event == L2Event::OwnWriteWhole ||
         event == L2Event::OwnWritePart || event == L2Event::OwnAtomic;
}

bool pending(L2State state) { return state == L2State::PendingOwn || state == L2State::PendingRemote; }

/// The same for the cache in front of a device's memory.
const char* impossible(L2State state, L2Event event, bool host) {
  if (host && is_own(event)) return "the host has no compute units";
  const bool requests = event <= L2Event::RemoteStall;
  if (host && requests && event != L2Event::TableRead && state == L2State::PendingOwn) {
    return "the host asks its memory for page tables alone, which no GPU reads there";
  }
  switch (event) {
    case L2Event::OwnStall:
    case L2Event::RemoteStall:
      return state == L2State::Invalid ? nullptr : "a line that is held or pending has all that a request needs";
    case L2Event::TableRead:
      if (state == L2State::Dirty) return "page tables are not written through the caches";
      return state == L2State::PendingRemote ? "no other device reads a device's page tables" : nullptr;
    case L2Event::Fill: return pending(state) ? nullptr : kOnlyPending;
    case L2Event::Replacement: return state == L2State::Clean || state == L2State::Dirty ? nullptr : kOnlyHeld;
    case L2Event::Flush:
      if (host) return "the host's cache is not flushed at boundaries";
      return state == L2State::Invalid || state == L2State::Behind ? kVisitsLines : nullptr;
    case L2Event::PageStays:
      if (host) return "a page that the host writes back leaves it";
      [[fallthrough]];
    case L2Event::PageLeaves:
      if (pending(state)) return kDrained;
      return state == L2State::Behind ? kVisitsLines : nullptr;
    default: return nullptr;
  }
}

/// The same for a line at home in another GPU, in an L2 that caches such lines.
const char* impossible(RemoteLineState state, RemoteLineEvent event) {
  const bool changed = state >= RemoteLineState::Changed;
  const bool held = changed || state == RemoteLineState::Valid || state == RemoteLineState::ValidPoisoned;
  const bool pending = state != RemoteLineState::Invalid && state != RemoteLineState::Valid &&
                       state != RemoteLineState::Changed && state != RemoteLineState::Part;
  switch (event) {
    case RemoteLineEvent::Invalidation: return changed ? "with directories stores are written through" : nullptr;
    case RemoteLineEvent::Release: return changed ? nullptr : "it visits what stores have changed";
    case RemoteLineEvent::Fill: return pending ? nullptr : kOnlyPending;
    case RemoteLineEvent::Replacement: return held ? nullptr : kOnlyHeld;
    case RemoteLineEvent::Acquire: return state == RemoteLineState::Invalid ? kVisitsLines : nullptr;
    case RemoteLineEvent::Drop:
      if (changed) return "where pages move stores are written through";
      return pending ? kDrained : nullptr;
    default: return nullptr;
  }
}

/// The same for a line's recorded sharers in the directory of its home.
const char* impossible(DirectoryState state, DirectoryEvent event) {
  const bool requester = state == DirectoryState::RequesterOnly || state == DirectoryState::RequesterAndOthers;
  if (event == DirectoryEvent::LocalWrite && requester) return "the home is no sharer of its own lines";
  return nullptr;
}

template <class Table, class States, class Events, class Reason>
void add_pairs(std::vector<Pair>& pairs, const char* name, const Table& table, const States& states,
               const Events& events, Reason reason) {
  for (std::size_t e = 0; e < events.size(); ++e) {
    for (std::size_t s = 0; s < states.size(); ++s) {
      const auto [count, why] = reason(table, s, e);
      pairs.push_back({name, std::string(states[s]), std::string(events[e]), count, why == nullptr ? "" : why});
    }
  }
}

struct Known {
  std::uint64_t count;
  const char* why;
};

std::string listed(const std::vector<Pair>& pairs, bool seen, bool possible) {
  std::string text;
  for (const Pair& pair : pairs) {
    if ((pair.count != 0) != seen || pair.impossible.empty() != possible) continue;
    text += fmt::format("  {}: {} meets a line that is {}", pair.table, pair.event, pair.state);
    text += possible ? "\n" : fmt::format(", {} times, but {}\n", pair.count, pair.impossible);
  }
  return text;
}

}  // namespace

std::vector<Pair> all_pairs(const ProtocolCoverage& coverage) {
  std::vector<Pair> pairs;
  const auto l1 = [&](const char* name, const L1Coverage& table, bool scalar) {
    add_pairs(pairs, name, table, kL1States, kL1Events, [scalar](const L1Coverage& t, std::size_t s, std::size_t e) {
      const auto state = static_cast<L1State>(s);
      const auto event = static_cast<L1Event>(e);
      return Known{t.at(state, event), impossible(state, event, scalar)};
    });
  };
  const auto home = [&](const char* name, const L2Coverage& table, bool host) {
    add_pairs(pairs, name, table, kL2States, kL2Events, [host](const L2Coverage& t, std::size_t s, std::size_t e) {
      const auto state = static_cast<L2State>(s);
      const auto event = static_cast<L2Event>(e);
      return Known{t.at(state, event), impossible(state, event, host)};
    });
  };
  l1("vector L1", coverage.vector_l1, false);
  l1("scalar L1", coverage.scalar_l1, true);
  home("L2", coverage.l2, false);
  home("host LLC", coverage.host_llc, true);
  add_pairs(pairs, "remote line in L2", coverage.remote_lines, kRemoteLineStates, kRemoteLineEvents,
            [](const RemoteLineCoverage& t, std::size_t s, std::size_t e) {
              const auto state = static_cast<RemoteLineState>(s);
              const auto event = static_cast<RemoteLineEvent>(e);
              return Known{t.at(state, event), impossible(state, event)};
            });
  add_pairs(pairs, "directory", coverage.directory, kDirectoryStates, kDirectoryEvents,
            [](const DirectoryCoverage& t, std::size_t s, std::size_t e) {
              const auto state = static_cast<DirectoryState>(s);
              const auto event = static_cast<DirectoryEvent>(e);
              return Known{t.at(state, event), impossible(state, event)};
            });
  return pairs;
}

std::string tables(const ProtocolCoverage& coverage) {
  std::string text;
  std::string table;
  std::string event;
  const std::vector<Pair> pairs = all_pairs(coverage);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    if (pair.table != table) {
      text += fmt::format("\n\n{:<20}", pair.table);
      for (std::size_t s = i; s < pairs.size() && pairs[s].event == pair.event; ++s) {
        text += fmt::format("{:>21}", pairs[s].state);
      }
    }
    if (pair.table != table || pair.event != event) text += fmt::format("\n{:<20}", pair.event);
    const std::string count = pair.count != 0 ? std::to_string(pair.count) : pair.impossible.empty() ? "never" : "-";
    text += fmt::format("{:>21}", count);
    table = pair.table;
    event = pair.event;
  }
  return text + "\n";
}

std::string never_seen(const ProtocolCoverage& coverage) { return listed(all_pairs(coverage), false, true); }
std::string should_not_be(const ProtocolCoverage& coverage) { return listed(all_pairs(coverage), true, false); }

}  // namespace nearfar::tester
