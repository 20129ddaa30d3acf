// Small perturbations of a run, to see how far its result moves when nothing that matters has changed.
#pragma once

#include <cstdint>

#include "config/quantity.h"

namespace nearfar {

class Section;

struct PerturbSpec {
  std::uint32_t draw = 0;    // which perturbation; 0: none
  Cycle message_jitter = 4;  // most that the way of a message between devices becomes longer
  Cycle start_jitter = 4;    // most that a workgroup starts later
  std::uint64_t seed = 1;    // the run's seed; no parameter of its own

  void describe(Section& section);
};

}  // namespace nearfar
