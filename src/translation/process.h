// A running application, as every device sees it: its program, its address space and its GPUs.
#pragma once

#include <memory>
#include <vector>

#include "program/kernel_arguments.h"
#include "program/workload.h"
#include "translation/address_space.h"

namespace nearfar {

struct Process {
  std::shared_ptr<const Workload> workload;
  const WithKernelArguments* arguments = nullptr;  ///< it, where its wavefronts load kernel arguments
  std::vector<Step> steps;                         ///< the workload's, with what the management of memory adds
  std::unique_ptr<AddressSpace> space;
  std::unique_ptr<AddressSpace> host_copy;  ///< the host's own copy of all buffers, where it has one
  unsigned first_gpu = 0;
  unsigned gpus = 1;

  /// Where the host finds a page: in its own copy, or where it is.
  const AddressSpace& host_space() const { return host_copy ? *host_copy : *space; }
};

}  // namespace nearfar
