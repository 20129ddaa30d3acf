// What a management of memory does for a program: the program's steps with the transfers between the host's copy of its
// buffers and that of the GPUs laid in between. The program says what the host and kernels do with its buffers, and
// knows nothing of copies.
#pragma once

#include <vector>

#include "program/memory_spec.h"
#include "program/workload.h"

namespace nearfar {

/// memcpy: before a launch, pages that the host has written since they were copied last go to the GPUs (before the
/// first launch all, or all that kernels may read); before the host touches a page, or at the end, what kernels may
/// have written goes to the host. software-um: all pages begin in GPU memory; a buffer goes to the host before the host
/// touches it, to the GPUs before the next launch if it was touched, and all buffers go to the host after the launch.
/// The others add nothing.
std::vector<Step> managed_steps(const Workload& workload, const MemorySpec& memory);

}  // namespace nearfar
