// CSV as RFC 4180 has it.
#pragma once

#include <string>
#include <string_view>

namespace nearfar {

/// A field as it stands in a line: quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace nearfar
