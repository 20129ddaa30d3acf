// The whole-system check: values that are each right but do not go together.
#pragma once

#include "config/configuration.h"
#include "machine/system_spec.h"

namespace nearfar {

/// Throws an InputError that names the keys in conflict and where each value came from.
void check_system(const SystemSpec& spec, const Configuration& configuration);

}  // namespace nearfar
