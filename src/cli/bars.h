// Horizontal bars in the terminal, an eighth of a character exact.
#pragma once

#include <string>

namespace nearfar {

/// Characters of the longest bar: beside other columns, as what a table is about, in a line that moves.
inline constexpr unsigned kBarWidth = 30, kWideBarWidth = 40, kNarrowBarWidth = 20;

/// A bar for `value` where `maximum` takes `width` characters. Values outside [0, maximum] are cut; what is above zero
/// always shows.
std::string bar(double value, double maximum, unsigned width);

/// The same, and a line from its end to where `high` lies: "███▍──┤". Without a line where that is no further on.
std::string bar_with_whisker(double value, double high, double maximum, unsigned width);

}  // namespace nearfar
