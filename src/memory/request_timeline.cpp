#include "memory/request_timeline.h"

#include <algorithm>

namespace nearfar {
namespace {

const char* group_name(RequestKind kind) {
  switch (kind) {
    case RequestKind::Write: return "store";
    case RequestKind::Atomic: return "atomic";
    default: return "load";
  }
}

const char* miss_name(RequestKind kind) {
  switch (kind) {
    case RequestKind::Atomic: return "atomic at the home";
    case RequestKind::ScalarRead: return "scalar load miss";
    default: return "load miss";
  }
}

}  // namespace

void RequestTimeline::issue(Issuer who, RequestKind kind, std::uint8_t process, VirtPage page, std::uint64_t lines) {
  if (!on_) return;
  Group group;
  group.who = who;
  group.kind = kind;
  group.lines = {page.value << kPageShift, lines, process, TimelineLines::Space::Virtual};
  if (!timeline_.selects(group.lines)) return;
  group.to_do = group.left = lines;
  group.start = partition_.now();
  if (kind == RequestKind::Write) {
    stores_[store_key(who.unit, page)].push_back(group);
  } else {
    loads_[load_key(who)].push_back(group);
  }
}

void RequestTimeline::complete(const Group& group) {
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = group.who.unit;
  event.name = group_name(group.kind);
  event.start = group.start;
  event.end = std::max(group.ready, partition_.now());
  event.value = group.who.slot;
  event.unit = TimelineUnit::ComputeUnit;
  event.lines = group.lines;
  timeline_.note(event);
}

void RequestTimeline::looked_up(Issuer who, VirtPage page, PhysPage frame, std::uint64_t lines, std::uint64_t missing,
                                Cycle ready) {
  const auto found = loads_.find(load_key(who));
  if (found == loads_.end()) return;
  std::vector<Group>& groups = found->second;
  const auto group = std::ranges::find_if(groups, [&](const Group& each) {
    return each.lines.address == page.value << kPageShift && (each.to_do & lines) != 0;
  });
  if (group == groups.end()) return;
  group->frame = frame;
  group->to_do &= ~lines;
  group->left &= ~(lines & ~missing);
  if (lines != missing) group->ready = std::max(group->ready, ready);
  if (group->left != 0) return;
  complete(*group);
  groups.erase(group);
  if (groups.empty()) loads_.erase(found);
}

void RequestTimeline::arrived(Issuer who, PhysPage frame, std::uint64_t lines) {
  const auto found = loads_.find(load_key(who));
  if (found == loads_.end()) return;
  std::vector<Group>& groups = found->second;
  const auto group = std::ranges::find_if(
      groups, [&](const Group& each) { return each.frame == frame && (each.left & ~each.to_do & lines) != 0; });
  if (group == groups.end()) return;
  group->left &= ~lines;
  if (group->left != 0) return;
  complete(*group);
  groups.erase(group);
  if (groups.empty()) loads_.erase(found);
}

void RequestTimeline::sent(Issuer who, VirtPage page, std::uint64_t lines) {
  const auto found = stores_.find(store_key(who.unit, page));
  if (found == stores_.end()) return;
  const auto group = std::ranges::find_if(
      found->second, [&](const Group& each) { return each.who.slot == who.slot && (each.to_do & lines) != 0; });
  if (group != found->second.end()) group->to_do &= ~lines;
}

void RequestTimeline::ordered(unsigned unit, PhysPage frame, std::uint64_t lines) {
  const TimelineLines where = timeline_.lines_of(frame, lines);
  if (where.space != TimelineLines::Space::Virtual) return;
  const auto found = stores_.find(store_key(unit, VirtPage{where.address >> kPageShift}));
  if (found == stores_.end()) return;
  // Stores of one compute unit to one line are ordered as they were sent.
  for (Group& group : found->second) {
    const std::uint64_t mine = group.left & ~group.to_do & lines;
    group.left &= ~mine;
    lines &= ~mine;
    if (mine != 0 && group.left == 0) complete(group);
  }
  std::erase_if(found->second, [](const Group& group) { return group.left == 0; });
  if (found->second.empty()) stores_.erase(found);
}

void RequestTimeline::missed(LoadUnit unit, RequestKind kind, PhysPage frame, std::uint64_t lines) {
  if (!on_) return;
  Miss miss{kind, timeline_.lines_of(frame, lines), lines, partition_.now()};
  if (timeline_.selects(miss.lines)) misses_[miss_key(unit, frame)].push_back(miss);
}

void RequestTimeline::filled(LoadUnit unit, PhysPage frame, std::uint64_t lines) {
  const auto found = misses_.find(miss_key(unit, frame));
  if (found == misses_.end()) return;
  std::vector<Miss>& misses = found->second;
  // A line is pending once.
  const auto miss = std::ranges::find_if(misses, [&](const Miss& each) { return (each.left & lines) != 0; });
  if (miss == misses.end()) return;
  miss->left &= ~lines;
  if (miss->left != 0) return;
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = static_cast<std::uint16_t>(unit.index());
  event.name = miss_name(miss->kind);
  event.start = miss->start;
  event.end = partition_.now();
  event.unit = unit.scalar() ? TimelineUnit::ScalarL1 : TimelineUnit::VectorL1;
  event.lines = miss->lines;
  timeline_.note(event);
  misses.erase(miss);
  if (misses.empty()) misses_.erase(found);
}

}  // namespace nearfar
