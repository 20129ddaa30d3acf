// The L1 scalar cache that the compute units of a shader array share: read only, for uniform loads.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/compute_unit.h"
#include "gpu/l1_cache.h"
#include "sim/types.h"

namespace nearfar {

class ScalarCache {
 public:
  ScalarCache(GpuContext& context, unsigned index);

  enum class Answer : std::uint8_t { Hit, Pending, NoRegister };
  /// A scalar load of wavefront slot `slot` of compute unit `cu`; `ready` is set on a hit.
  Answer load(unsigned cu, unsigned slot, PhysLine line, Cycle& ready);

  /// A line that was asked for has come.
  template <class Units>
  void fill(PhysLine line, Units& units);

  void acquire() { l1_.acquire(L1Event::Boundary); }
  void cover(L1Coverage* coverage) { l1_.cover(coverage); }
  void drop(PhysPage page, std::uint64_t lines) { l1_.drop(page, lines); }
  bool idle() { return l1_.pending().used() == 0 && waiting_.empty(); }
  L1Stats& stats() { return l1_.stats(); }

 private:
  static std::uint16_t target(unsigned cu, unsigned slot) { return static_cast<std::uint16_t>(cu << 6 | slot); }

  GpuContext& context_;
  unsigned index_;
  L1Cache l1_;
  std::vector<std::uint32_t> versions_;
  std::vector<std::uint16_t> waiting_;  // loads that found no register, in order
};

template <class Units>
void ScalarCache::fill(PhysLine line, Units& units) {
  if (l1_.covered()) l1_.note(L1Event::Fill, line);
  PendingLines::Arrival arrival = l1_.pending().take(line.page(), std::uint64_t{1} << line.index());
  ++l1_.stats().fills;
  const bool keep = arrival.kept != 0 && (context_.keep_remote || line.device() == context_.device());
  std::uint32_t version = 0;
  if (context_.oracle != nullptr) {
    version = context_.oracle->load_filled(Oracle::unit(context_.device(), index_, true), line);
    context_.oracle->load_returned(context_.application, line, version);
  }
  if (keep) {
    const TagArray::Slot slot = l1_.install(line);
    if (context_.oracle != nullptr) versions_[slot] = version;
  }
  if (context_.frames != nullptr) {
    context_.frames->note_lines(line.page(), std::uint64_t{1} << line.index());
    context_.frames->leave(line.page(), 1);
  }
  units[arrival.target >> 6].scalar_done(arrival.target & 63);
  while (!arrival.joined.empty()) {
    PendingLines::Join* join = arrival.joined.pop();
    const PendingLines::Target waiting = join->target;
    l1_.pending().give(join);
    units[waiting >> 6].scalar_done(waiting & 63);
  }
  const std::vector<std::uint16_t> waiting = std::exchange(waiting_, {});
  for (const std::uint16_t t : waiting) units[t >> 6].scalar_retry(t & 63);
}

}  // namespace nearfar
