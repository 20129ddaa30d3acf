// ASAP as a design: `asap`, in the GMMUs and in the host's MMU.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_asap();

}  // namespace nearfar
