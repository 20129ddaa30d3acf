// Pages of HTML that need nothing from elsewhere: style and script are in them, figures are drawn in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/figure.h"

namespace nearfar {

std::string_view page_style();   ///< page.css
std::string_view page_script();  ///< page.js

struct PageSection {
  std::string id, title;  ///< plain text
  std::string html;
};

/// `lead` is HTML under the title.
std::string page_html(const std::string& title, const std::string& lead, const std::vector<PageSection>& sections);

/// The figure with its notes, and its numbers as a table that opens.
std::string figure_html(const FigureData& figure);

/// Cells are HTML; columns from `first_number` on are numbers.
std::string table_html(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
                       std::size_t first_number);

}  // namespace nearfar
