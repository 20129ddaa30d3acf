// IDYLL as plug-ins: its directory, in page-table entries or in memory, and its lazy invalidation.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_idyll_dir();
std::shared_ptr<PlugIn> make_idyll_inmem();
std::shared_ptr<PlugIn> make_idyll_lazy();

}  // namespace nearfar
