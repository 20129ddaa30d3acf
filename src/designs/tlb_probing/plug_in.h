// TLB probing as a design: a prober in every GPU.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_tlb_probing();

}  // namespace nearfar
