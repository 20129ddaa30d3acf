// Whether a workload can run on a system at all: checked before a machine is built, or caches are passed over.
#pragma once

#include "config/system_spec.h"
#include "program/workload.h"
#include "translation/address_space.h"

namespace nearfar {

/// Throws InputError where a workload is not made for the `gpus` that it is to run on, a workgroup does not fit a
/// compute unit, or a copy cannot be made.
void check_workload(const Workload& workload, const SystemSpec& system, unsigned gpus);

/// Throws InputError where the memory model says nothing about what the workload's loads return, so that the oracles of
/// `--check` could not judge them.
void check_has_memory_model(const Workload& workload, const SystemSpec& system);

/// Throws InputError where a device has fewer frames than have been taken of it; the host is the one after the GPUs.
void check_memory(const FrameAllocator& frames, const SystemSpec& system, unsigned device);

}  // namespace nearfar
