// Makes a failing case as small as it can be while the same failure shows.
#pragma once

#include "trial.h"

namespace nearfar::fuzz {

/// The smaller case, with the verdict of its last failure.
Verdict minimize(const Verdict& failure);

}  // namespace nearfar::fuzz
