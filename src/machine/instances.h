// The instances that a GPU is cut into (MIG): each is a device of its own, with its part of everything that the whole
// GPU has.
#pragma once

#include "config/configuration.h"
#include "config/system_spec.h"

namespace nearfar {

/// There are as many devices as instances: sets `gpus`. Throws an InputError where a layout was chosen for a machine
/// without instances, or another number of GPUs for one with them.
void count_instances(SystemSpec& spec, const Configuration& configuration);

/// Throws an InputError where a GPU cannot be cut, or its instances would not be alone.
void check_instances(const SystemSpec& spec, const Configuration& configuration);

/// The system as one instance sees it: `gpu` is its part of the whole GPU.
SystemSpec system_of_instance(const SystemSpec& whole, unsigned instance);

}  // namespace nearfar
