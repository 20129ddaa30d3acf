// The key of a result: a hash of everything that the result depends on, and of nothing else. That is the model's
// sources, the effective configuration, the designs, each application with all its parameters and the content of its
// input, and the seed. Two names for one machine, or two sizes that are the same, give one key.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "study/experiment.h"

namespace nearfar {

/// A hash of the sources that results depend on, made when they were compiled. A rebuilt model never takes an old
/// result for its own.
std::string_view model_version();

/// One line for each parameter of the machine, and one for its designs.
std::string machine_text(const NamedSystem& machine);

/// One line for each application, and one for the seed. `hash_of` gives the hash of an input's content.
std::string program_text(std::span<const Application> applications, std::uint64_t seed,
                         const std::function<std::string(const std::string&)>& hash_of);

/// A hash of a machine with its designs, whatever the version of the model is, and whatever its runs are perturbed by.
std::string machine_key(const NamedSystem& machine);

std::string run_key(std::string_view machine_text, std::string_view program_text);

/// The key of a run that is at hand.
std::string run_key(const Report& report);

/// SHA-256 of a file's content; an InputError where it cannot be read.
std::string hash_file(const std::string& path);

}  // namespace nearfar
