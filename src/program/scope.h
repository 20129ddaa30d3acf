// Scopes of synchronization.
#pragma once

#include <cstdint>

namespace nearfar {

/// Among whom a fence orders memory: the wavefronts of a workgroup, of a GPU, or of all GPUs. An atomic acts at the
/// home of its line and is seen by all, whatever its scope.
enum class Scope : std::uint8_t { Workgroup, Gpu, System };

}  // namespace nearfar
