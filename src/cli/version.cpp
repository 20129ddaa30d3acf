// In a file of its own: a new version recompiles nothing else.
#include "cli/version.h"

namespace nearfar {

std::string_view version() { return NEARFAR_VERSION; }

}  // namespace nearfar
