// What `reproduce` ends with when a claim comes out the wrong way round.
#pragma once

#include <stdexcept>

namespace nearfar {

/// Everything went well, but a verdict is "opposite": said on stderr, and by an exit code of its own.
class OppositeFound : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nearfar
