// The version, as CMakeLists.txt states it.
#pragma once

#include <string_view>

namespace nearfar {

std::string_view version();

}  // namespace nearfar
