#include "memory/memory_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"

namespace nearfar {

std::string Location::name() const {
  if ((value >> 63) != 0) {
    const PhysLine line{value & ~(std::uint64_t{1} << 63)};
    return fmt::format("line {} of frame {} of device {}", line.index(), line.page().frame(), line.device().value);
  }
  const std::uint64_t line = value & ((std::uint64_t{1} << 44) - 1);
  const auto copy = static_cast<unsigned>(value >> 44 & 0x7ff);
  return fmt::format("line {} of virtual page {:#x} of application {}{}", line & 63, line >> kLineIndexBits,
                     value >> 55, copy == 0 ? "" : fmt::format(" (the copy of GPU {})", copy - 1));
}

std::string LoadUnit::name() const {
  return fmt::format("{} {} of GPU {}", scalar() ? "scalar cache" : "compute unit", index(), device().value);
}

void MemoryModel::see(const MemoryEvent& event) {
  switch (event.kind) {
    case MemoryEvent::Kind::Boundary: boundary(event.application); break;
    case MemoryEvent::Kind::Ordered: ordered(event); break;
    case MemoryEvent::Kind::Release:
      releases_[event.unit.value].push_back({event.begun, event.time, event.scope});
      break;
    case MemoryEvent::Kind::Returned: returned(event); break;
  }
}

/// What was ordered before a boundary binds all loads behind it, so that the finer rules can begin anew.
void MemoryModel::boundary(std::uint8_t application) {
  ++boundaries_[application];
  recent_.clear();
  seen_.clear();
}

void MemoryModel::ordered(const MemoryEvent& event) {
  Line& line = lines_[event.location.value];
  if (line.boundary != boundaries_[event.application]) {
    line.at_boundary = devices_ != 0 ? line.oldest : line.current;
    if (devices_ != 0) line.newest_at_boundary = line.current;
    line.boundary = boundaries_[event.application];
  }
  if (devices_ != 0) {
    ordered_side_by_side(event, line);
    return;
  }
  line.current.write(event.mask, event.version, line_bytes_);
  if (recent_.size() >= kRemembered) recent_.clear();
  std::vector<Write>& writes = recent_[event.location.value];
  if (writes.size() == kRecentWrites) writes.erase(writes.begin());
  writes.push_back({event.version, event.time, event.unit, event.mask});
}

void MemoryModel::returned(const MemoryEvent& event) {
  const auto found = lines_.find(event.location.value);
  if (found == lines_.end()) {
    event.image.every(line_bytes_, [&](unsigned byte, LineVersion version) {
      if (version != 0 && version != kOwnStore) fail(event, byte, "nothing has been written there");
      return true;
    });
    return;
  }
  const Line& line = found->second;
  const bool written = line.boundary == boundaries_[event.application];
  const LineImage& oldest = written ? line.at_boundary : devices_ != 0 ? line.oldest : line.current;
  const bool plain = event.image.is_uniform() && oldest.is_uniform() && line.current.is_uniform();
  for (unsigned byte = 0; byte < (plain ? 1 : line_bytes_); ++byte) {
    const LineVersion version = event.image.at(byte);
    if (version == kOwnStore) continue;
    if (version < oldest.at(byte)) {
      fail(event, byte, fmt::format("version {} had been written before the kernel began", oldest.at(byte)));
    }
    if (version > line.current.at(byte)) {
      fail(event, byte, fmt::format("version {} is the last that its home has ordered", line.current.at(byte)));
    }
  }
  if (!written) return;
  if (devices_ != 0) {
    check_own_stores(event);
    return;
  }
  check_fences(event);
  check_order_of_loads(event);
}

/// A write of one device leaves that of another since the last boundary a chance to remain; and of several that have
/// written, none is known to have lost its own.
void MemoryModel::ordered_side_by_side(const MemoryEvent& event, Line& line) {
  line.oldest.set_each(line_bytes_, [&](unsigned byte) {
    const LineVersion oldest = line.oldest.at(byte), newest = line.current.at(byte);
    if (!event.mask.test(byte)) return oldest;
    const bool first = newest == line.newest_at_boundary.at(byte);
    const bool alone = oldest == newest && newest % devices_ == event.version % devices_;
    return first || alone ? event.version : oldest;
  });
  line.current.write(event.mask, event.version, line_bytes_);
  if (seen_.size() >= kRemembered) seen_.clear();
  seen_[{event.location.value, event.unit.value}].write(event.mask, event.version, line_bytes_);
}

void MemoryModel::check_own_stores(const MemoryEvent& event) {
  const auto own = seen_.find({event.location.value, event.unit.value});
  if (own == seen_.end()) return;
  for (unsigned byte = 0; byte < line_bytes_; ++byte) {
    if (event.image.at(byte) >= own->second.at(byte)) continue;
    fail(event, byte, fmt::format("the unit itself had stored version {}", own->second.at(byte)));
  }
}

Cycle MemoryModel::acquired_from(const Write& write, LoadUnit reader, const Acquires& acquired) {
  return write.unit.device() == reader.device() ? acquired.gpu : acquired.system;
}

bool MemoryModel::released_before(const Write& write, LoadUnit reader, Cycle acquired) const {
  const auto found = releases_.find(write.unit.value);
  if (found == releases_.end()) return false;
  const Scope needed = write.unit.device() == reader.device() ? Scope::Gpu : Scope::System;
  const std::vector<Release>& releases = found->second;
  // They complete in order but for a release of the GPU that passes one of the system; the latter began earlier.
  auto release = std::ranges::lower_bound(releases, write.time, {}, &Release::completed);
  for (; release != releases.end() && release->completed < acquired; ++release) {
    if (release->begun >= write.time && release->scope >= needed) return true;
  }
  return false;
}

void MemoryModel::check_fences(const MemoryEvent& event) const {
  if (event.acquired.gpu == 0 || releases_.empty()) return;
  const auto writes = recent_.find(event.location.value);
  if (writes == recent_.end()) return;
  for (const Write& write : writes->second) {
    const Cycle acquired = acquired_from(write, event.unit, event.acquired);
    if (!released_before(write, event.unit, acquired)) continue;
    for (unsigned byte = 0; byte < line_bytes_; ++byte) {
      if (!write.mask.test(byte) || event.image.at(byte) >= write.version) continue;
      fail(event, byte,
           fmt::format("version {} had been released by {} before this unit's acquire at cycle {}", write.version,
                       write.unit.name(), acquired));
    }
  }
}

void MemoryModel::check_order_of_loads(const MemoryEvent& event) {
  if (seen_.size() >= kRemembered) seen_.clear();
  const auto [place, is_new] = seen_.try_emplace({event.location.value, event.unit.value}, event.image);
  if (is_new) return;
  LineImage& seen = place->second;
  if (seen.is_uniform() && event.image.is_uniform() && event.image.uniform() != kOwnStore &&
      seen.uniform() != kOwnStore && event.image.uniform() >= seen.uniform()) {
    seen = event.image;
    return;
  }
  for (unsigned byte = 0; byte < line_bytes_; ++byte) {
    const LineVersion before = seen.at(byte);
    if (before == kOwnStore || event.image.at(byte) >= before) continue;
    fail(event, byte, fmt::format("an earlier load of the unit had returned version {}", before));
  }
  // A unit's own store says nothing of the order at the home.
  seen.set_each(line_bytes_, [&](unsigned byte) {
    const LineVersion before = seen.at(byte) == kOwnStore ? 0 : seen.at(byte);
    return event.image.at(byte) == kOwnStore ? before : event.image.at(byte);
  });
}

void MemoryModel::fail(const MemoryEvent& event, unsigned byte, const std::string& why) const {
  const LineVersion version = event.image.at(byte);
  throw SimulationError(fmt::format("check: at cycle {} a load of {} returned {} of byte {} of {}, but {}", event.time,
                                    event.unit.name(),
                                    version == kUndefinedByte ? "undefined data" : fmt::format("version {}", version),
                                    byte, event.location.name(), why));
}

}  // namespace nearfar
