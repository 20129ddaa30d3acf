// The cache of page-table lines as a design: `pte-cache`, beside every pool of walkers that reads its tables entry by
// entry.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_pte_cache();

}  // namespace nearfar
