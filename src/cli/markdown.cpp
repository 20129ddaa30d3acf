#include "cli/markdown.h"

#include "config/words.h"

namespace nearfar::markdown {

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '|':
      case '*':
      case '_':
      case '[':
      case ']':
      case '\\':
        out += '\\';
        out += c;
        break;
      default: out += c;
    }
  }
  return out;
}

std::string code(std::string_view text) {
  if (text.empty()) return "";
  std::string out = "`";
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out + "`";
}

std::string table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows) {
  const auto line = [](const std::vector<std::string>& cells) { return "| " + join(cells, " | ") + " |\n"; };
  std::string out = line(titles) + line(std::vector<std::string>(titles.size(), "---"));
  for (const std::vector<std::string>& row : rows) out += line(row);
  return out;
}

}  // namespace nearfar::markdown
