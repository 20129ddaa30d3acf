// Neighborhood-aware coalescing as a design: `neighborhood` at all levels of the page table, `neighborhood-leaf` at the
// leaf alone. It goes with every pool of walkers that reads its tables entry by entry.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_neighborhood();
std::shared_ptr<PlugIn> make_neighborhood_leaf();

}  // namespace nearfar
