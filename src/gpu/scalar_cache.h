// The L1 scalar cache that the compute units of a shader array share: read only, for uniform loads.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/compute_unit.h"
#include "memory/cache/l1_cache.h"
#include "sim/types.h"

namespace nearfar {

class ScalarCache {
 public:
  ScalarCache(GpuContext& context, unsigned index);

  enum class Answer : std::uint8_t { Hit, Pending, NoRegister };
  /// A scalar load of wavefront slot `slot` of compute unit `cu`; `ready` is set on a hit.
  Answer load(unsigned cu, unsigned slot, VirtPage virtual_page, PhysLine line, Cycle& ready);

  /// A line that was asked for has come.
  template <class Units>
  void fill(PhysLine line, Units& units);

  void acquire() {
    l1_.acquire(L1Event::Boundary);
    if (context_.watch != nullptr) context_.watch->acquired(unit());
  }
  void cover(L1Coverage* coverage) { l1_.cover(coverage); }
  void drop(PhysPage page, std::uint64_t lines) { l1_.drop(page, lines); }
  bool idle() { return l1_.pending().used() == 0 && waiting_.empty(); }
  L1Stats& stats() { return l1_.stats(); }

 private:
  LoadUnit unit() const { return LoadUnit::of(context_.device(), index_, true); }
  static std::uint16_t target(unsigned cu, unsigned slot) { return static_cast<std::uint16_t>(cu << 6 | slot); }

  GpuContext& context_;
  unsigned index_;
  L1Cache l1_;
  std::vector<L1Image> images_;         // by slot, when the data oracle is on
  std::vector<std::uint16_t> waiting_;  // loads that found no register, in order
};

template <class Units>
void ScalarCache::fill(PhysLine line, Units& units) {
  if (l1_.covered()) l1_.note(L1Event::Fill, line);
  L1MshrFile::Arrival arrival = l1_.pending().take(line.page(), std::uint64_t{1} << line.index());
  ++l1_.stats().fills;
  const bool keep = arrival.kept != 0 && (context_.keep_remote || line.device() == context_.device());
  const TagArray::Slot kept = keep ? l1_.install(line) : TagArray::kNone;
  if (context_.watch != nullptr) context_.watch->filled(unit(), line, keep ? &images_[kept] : nullptr);
  if (context_.tracker != nullptr) {
    context_.tracker->add_lines(line.page(), std::uint64_t{1} << line.index());
    context_.tracker->leave(line.page(), 1);
  }
  units[arrival.target >> 6].scalar_done(arrival.target & 63);
  while (!arrival.merged.empty()) {
    L1MshrFile::MergedLoad* merge = arrival.merged.pop();
    const L1MshrFile::Target waiting = merge->target;
    l1_.pending().release(merge);
    units[waiting >> 6].scalar_done(waiting & 63);
  }
  const std::vector<std::uint16_t> waiting = std::exchange(waiting_, {});
  for (const std::uint16_t t : waiting) units[t >> 6].scalar_retry(t & 63);
}

}  // namespace nearfar
