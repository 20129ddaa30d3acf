// A person's mistake in what they gave us: one clear sentence, exit code 2, nothing half-written.
#pragma once

#include <stdexcept>

namespace nearfar {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nearfar
