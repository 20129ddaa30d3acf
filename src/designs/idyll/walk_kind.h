// The walks of IDYLL's merging buffer: entries of the local page table that are invalidated later.
#pragma once

#include "translation/walk/walk_kind.h"

namespace nearfar::idyll {

inline const WalkKind kWritebackWalk = add_walk_kind({.name = "writeback", .writes = true});

}  // namespace nearfar::idyll
