// A running application, as every device sees it: its program, its address space and its GPUs.
#pragma once

#include <memory>

#include "program/workload.h"
#include "translation/address_space.h"

namespace nearfar {

struct Process {
  std::shared_ptr<const Workload> workload;
  std::unique_ptr<AddressSpace> space;
  unsigned first_gpu = 0;
  unsigned gpus = 1;
};

}  // namespace nearfar
