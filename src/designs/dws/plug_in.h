// DWS as a design: an order of walks in the pool of walkers that several processes share.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_dws();

}  // namespace nearfar
