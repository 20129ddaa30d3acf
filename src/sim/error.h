// Thrown when a run cannot go on: no progress, a violated invariant. The text says who waits for what, or what broke.
#pragma once

#include <stdexcept>

namespace nearfar {

class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nearfar
