// The coherence directory of the baseline: an entry tracks one line.
#pragma once

#include "coherence/block_directory.h"

namespace nearfar {

class LineDirectory final : public BlockDirectory {
 public:
  LineDirectory(const DirectorySpec& spec, const DirectoryHome& home) : BlockDirectory(spec, home, 1) {}
};

}  // namespace nearfar
