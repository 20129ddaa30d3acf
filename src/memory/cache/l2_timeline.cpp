#include "memory/cache/l2_timeline.h"

#include <algorithm>

#include "memory/cache/l2_cache.h"
#include "memory/cache/request_latency.h"

namespace nearfar {
namespace {

/// By what the request is: what it is called when it hits, when it has to wait for its line, and when it goes on to its
/// home elsewhere.
struct LookupNames {
  const char* hit;
  const char* miss;
  const char* merge;
  const char* forward;
};

const LookupNames& lookup_names(RequestKind kind, bool at_home) {
  static constexpr LookupNames kReads{"read hit", "read miss", "read merge", ""};
  static constexpr LookupNames kWrites{"write", "write miss", "write merge", ""};
  static constexpr LookupNames kAtomics{"atomic", "atomic miss", "atomic merge", ""};
  static constexpr LookupNames kTables{"page table hit", "page table miss", "page table merge", ""};
  static constexpr LookupNames kRemoteReads{"remote line read hit", "", "remote line read merge",
                                            "remote line read miss"};
  static constexpr LookupNames kRemoteWrites{"", "", "", "remote line write"};
  static constexpr LookupNames kRemoteAtomics{"", "", "", "remote line atomic"};
  switch (kind) {
    case RequestKind::Write: return at_home ? kWrites : kRemoteWrites;
    case RequestKind::Atomic: return at_home ? kAtomics : kRemoteAtomics;
    case RequestKind::TableRead: return kTables;
    default: return at_home ? kReads : kRemoteReads;
  }
}

}  // namespace

// -------------------------------------------------------------------------------------------------- what an L2 says

/// What the line of a request has come to, `extra` cycles from now.
void L2Cache::trace(const Bank& bank, const LineRequest& request, Outcome outcome, Cycle extra) {
  const bool at_home = request.line.device() == partition_.device();
  const LookupNames& names = lookup_names(request.kind, at_home);
  const Cycle start = partition_.now() + extra;
  const Cycle lookup = lookup_latency(is_remote(request));
  switch (outcome) {
    case Outcome::Hit: timeline_->served(bank.index, request, names.hit, start, start + lookup + data_latency_); return;
    case Outcome::Done: timeline_->served(bank.index, request, names.hit, start, start + lookup); return;
    case Outcome::Missed:
      timeline_->waits(bank.index, request, names.miss, start, 0);
      timeline_->ask_memory(extra + lookup);
      return;
    case Outcome::Merged:
      timeline_->waits(bank.index, request, names.merge, start, at_home ? std::uint8_t{0} : fill_);
      return;
    case Outcome::Forwarded:
      if (request.writes()) {
        timeline_->served(bank.index, request, names.forward, start, start + tag_latency_);
      } else {
        timeline_->waits(bank.index, request, names.forward, start, fill_);
      }
      return;
    case Outcome::Stall: return;  // it acts later
  }
}

void L2Cache::trace_eviction(const Bank& bank, TagArray::Slot slot) {
  timeline_->evicted(line_of(bank, slot), (bank.tags.state(slot) & kDirty) != 0);
}

// ---------------------------------------------------------------------------------------------------- what is noted

/// Whether a lookup is to be noted. What could not act when it came has stalled until now. (Walkers' reads do not say
/// when they came.)
bool L2Timeline::begin(unsigned bank, const LineRequest& request, Lookup& lookup) {
  if (!on_) return false;
  lookup.line = timeline_.lines_of(request.line.page(), std::uint64_t{1} << request.line.index());
  if (!timeline_.selects(lookup.line)) return false;
  lookup.requester = request.requester().value;
  const Cycle now = partition_.now();
  const Cycle since = now - since_stage_start(now, request);
  if (request.kind == RequestKind::TableRead || since == now) return true;
  note_span(bank, {"stall", since, lookup.requester, lookup.line}, now);
  return true;
}

void L2Timeline::served(unsigned bank, const LineRequest& request, const char* name, Cycle start, Cycle end) {
  Lookup lookup{name, start, 0, {}};
  if (begin(bank, request, lookup)) note_span(bank, lookup, end);
}

void L2Timeline::waits(unsigned bank, const LineRequest& request, const char* name, Cycle start, std::uint8_t fill) {
  Lookup lookup{name, start, 0, {}};
  if (begin(bank, request, lookup)) waiting_[key(request.line, fill)].push_back(lookup);
}

void L2Timeline::filled(unsigned bank, PhysLine line, std::uint8_t fill, bool poisoned) {
  const auto found = waiting_.find(key(line, fill));
  if (found == waiting_.end()) return;
  for (const Lookup& lookup : found->second) note_span(bank, lookup, partition_.now());
  note_instant(poisoned ? "poisoned fill" : "fill", found->second.front().line, partition_.device());
  waiting_.erase(found);
}

void L2Timeline::note_span(unsigned bank, const Lookup& lookup, Cycle end) {
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = static_cast<std::uint16_t>(bank);
  event.name = lookup.name;
  event.start = std::min(lookup.start, end);  // what waits for the port merges as soon as it has come
  event.end = end;
  event.unit = TimelineUnit::L2Bank;
  event.peer = lookup.requester;
  event.lines = lookup.line;
  timeline_.note(event);
}

void L2Timeline::note_instant(const char* name, const TimelineLines& lines, DeviceId from) {
  TimelineEvent event;
  event.kind = TimelineEvent::Kind::Instant;
  event.device = partition_.device().value;
  event.name = name;
  event.start = event.end = partition_.now();
  event.unit = TimelineUnit::L2Lines;
  if (from != partition_.device()) event.peer = from.value;
  event.lines = lines;
  timeline_.note_lines(event);
}

}  // namespace nearfar
