#include "memory/oracle.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace nearfar {
namespace {

std::string name(PhysLine line) {
  return fmt::format("line {} of frame {} of device {}", line.index(), line.page().frame(), line.device().value);
}

}  // namespace

std::uint32_t Oracle::store_ordered(Unit unit, std::uint8_t application, PhysLine line) {
  ++stores_[{line.value, unit}].ordered;
  History& history = lines_[line.value];
  if (history.boundary != boundaries_[application]) {
    history.at_boundary = history.version;
    history.boundary = boundaries_[application];
  }
  return ++history.version;
}

void Oracle::load_issued(Unit unit, PhysLine line) {
  const auto stores = stores_.find({line.value, unit});
  loads_[{line.value, unit}] = {stores == stores_.end() ? 0 : stores->second.issued, 0};
}

void Oracle::load_served(Unit unit, PhysLine line, std::uint32_t version) {
  const auto history = lines_.find(line.value);
  const std::uint32_t last = history == lines_.end() ? 0 : history->second.version;
  if (version != last) {
    throw SimulationError(fmt::format("check: the home of {} served version {}, but version {} was ordered last",
                                      name(line), version, last));
  }
  Load& load = loads_[{line.value, unit}];
  const auto stores = stores_.find({line.value, unit});
  const std::uint32_t own = stores == stores_.end() ? 0 : stores->second.ordered;
  if (own < load.own_stores) {
    throw SimulationError(fmt::format("check: unit {} of device {} read {} past {} of its own stores", unit & 0x7fff,
                                      unit >> 16, name(line), load.own_stores - own));
  }
  load.version = version;
}

std::uint32_t Oracle::load_filled(Unit unit, PhysLine line) {
  const auto load = loads_.find({line.value, unit});
  if (load == loads_.end()) {
    throw SimulationError(fmt::format("check: unit {} of device {} was given {}, which it had not asked for",
                                      unit & 0x7fff, unit >> 16, name(line)));
  }
  const std::uint32_t version = load->second.version;
  loads_.erase(load);
  return version;
}

void Oracle::load_returned(std::uint8_t application, PhysLine line, std::uint32_t version) const {
  const auto found = lines_.find(line.value);
  if (found == lines_.end()) return;
  const History& history = found->second;
  const std::uint32_t oldest = history.boundary == boundaries_[application] ? history.at_boundary : history.version;
  if (version < oldest || version > history.version) {
    throw SimulationError(fmt::format("check: a load of {} returned version {}; allowed are {} to {}", name(line),
                                      version, oldest, history.version));
  }
}

std::uint32_t Oracle::memory_read(PhysLine line) const {
  const auto found = memory_.find(line.value);
  return found == memory_.end() ? 0 : found->second;
}

void Oracle::page_copied(PhysPage from, PhysPage to) {
  for (unsigned i = 0; i < 1U << kLineIndexBits; ++i) {
    const PhysLine source{from, i};
    const PhysLine copy{to, i};
    const auto history = lines_.find(source.value);
    if (history == lines_.end()) {
      lines_.erase(copy.value);
      memory_.erase(copy.value);
      continue;
    }
    if (memory_read(source) != history->second.version) {
      throw SimulationError(fmt::format("check: {} left with version {}, but version {} was ordered last", name(source),
                                        memory_read(source), history->second.version));
    }
    const History copied = history->second;
    lines_[copy.value] = copied;
    memory_[copy.value] = copied.version;
  }
}

void Oracle::all_written_back(DeviceId except) const {
  for (const auto& [key, history] : lines_) {
    if (PhysLine{key}.device() == except) continue;
    if (memory_read(PhysLine{key}) == history.version) continue;
    throw SimulationError(fmt::format("check: memory holds version {} of {}, but version {} was ordered last",
                                      memory_read(PhysLine{key}), name(PhysLine{key}), history.version));
  }
}

}  // namespace nearfar
