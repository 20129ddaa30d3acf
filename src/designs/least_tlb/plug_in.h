// least-TLB as a design: its parts in the IOMMU and in every GPU.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

std::shared_ptr<PlugIn> make_least_tlb();

}  // namespace nearfar
