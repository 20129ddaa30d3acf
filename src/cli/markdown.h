// Pages in Markdown: text that stands for itself, and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nearfar::markdown {

/// Text in which no character means anything but itself.
std::string plain(std::string_view text);
/// A name as it is typed: between backticks; "" stays "".
std::string code(std::string_view text);
/// Cells are Markdown already.
std::string table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows);

}  // namespace nearfar::markdown
