// The whole-system check: values that are each right but do not go together.
#pragma once

#include <string>

#include "config/configuration.h"
#include "config/system_spec.h"

namespace nearfar {

/// Throws an InputError that names the keys in conflict and where each value came from.
void check_system(const SystemSpec& spec, const Configuration& configuration);

/// What is possible, and probably not meant: a sentence or two, or nothing.
std::string system_remark(const SystemSpec& spec);

/// What the credits of this system's links have to cover.
LinkSpec::CreditLoop credit_loop(const SystemSpec& spec);

}  // namespace nearfar
