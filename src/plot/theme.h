// The colours of all pictures, as classes of a style sheet: light, and dark where the reader's screen is.
#pragma once

#include <cstddef>
#include <string>

namespace nearfar::plot {

/// Colours of series; a figure with more goes round.
inline constexpr std::size_t kSeriesColours = 8;

/// The rules for one file: light, then dark for readers who ask for dark.
std::string style_sheet();

/// The same for a page whose root may say `data-theme="light"` or `"dark"`. Print is light.
std::string page_style_sheet();

std::string fill_class(std::size_t series);    ///< of a series' bars and marks: `f3`
std::string stroke_class(std::size_t series);  ///< of its curve: `c3`

}  // namespace nearfar::plot
