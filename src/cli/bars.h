// Horizontal bars in the terminal, an eighth of a character exact.
#pragma once

#include <string>

namespace nearfar {

/// A bar for `value` where `maximum` takes `width` characters. Values outside [0, maximum] are cut; what is above zero
/// always shows.
std::string bar(double value, double maximum, unsigned width);

}  // namespace nearfar
