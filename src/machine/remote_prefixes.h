// What other GPUs' walk caches could have told about a far fault: the longest prefix of its page that one of them held
// when the fault left. Put together after a run from what each GMMU noted for itself; each walk counts as a use of its
// entries when it ends, all at once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stats/stat.h"
#include "translation/gmmu/gmmu.h"

namespace nearfar {

struct RemotePrefixStats {
  std::array<std::uint64_t, 4> hits{};  ///< levels 2 to 5
  std::uint64_t none = 0;

  /// The events of all GPUs, each with such a walk cache, over tables with these levels.
  void add(const std::vector<const std::vector<GmmuEvent>*>& gpus, const WalkCacheSpec& spec, unsigned leaf,
           unsigned root);
  void describe(StatVisitor& visitor);
};

}  // namespace nearfar
