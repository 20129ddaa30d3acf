// Layout of tables: measure all cells, then pad, paint and wrap them.
#include "cli/table.h"

#include <algorithm>
#include <cassert>

namespace nearfar {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 16;  // a column with less room than this is not worth breaking

std::string padded(const std::string& cell, std::size_t width, Align align, const Terminal& terminal, Tint tint) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  const std::string painted = terminal.paint(tint, cell);
  return align == Align::Left ? painted + space : space + painted;
}

/// Breaks a text between words into lines of at most `width` columns, where words allow.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += ' ' + word;
    } else {
      lines.push_back(word);
    }
    at = end + 1;
  }
  return lines;
}

void strip_trailing_spaces(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

void Table::row(std::vector<std::string> cells) {
  assert(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(const Terminal& terminal) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i]));
  }
  if (terminal.width == 0) return widths;
  std::size_t whole = indent_ + kGap * (widths.size() - 1);
  for (const std::size_t width : widths) whole += width;
  while (whole > terminal.width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].align == Align::Left && widths[i] > kNarrowest && (widest == nullptr || widths[i] >= *widest))
        widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --whole;
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, bool titles,
                        const Terminal& terminal) const {
  std::vector<std::vector<std::string>> parts;  // of each cell, its lines
  std::size_t lines = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool words = columns_[i].align == Align::Left && display_width(cells[i]) > widths[i];
    parts.push_back(words ? wrapped(cells[i], widths[i]) : std::vector{cells[i]});
    lines = std::max(lines, parts.back().size());
  }
  std::string result;
  for (std::size_t at = 0; at < lines; ++at) {
    std::string out(indent_, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = at < parts[i].size() ? parts[i][at] : "";
      const Tint tint = titles ? Tint::Bold : columns_[i].tint;
      const bool last_words = i + 1 == cells.size() && columns_[i].align == Align::Left;
      out += padded(cell, last_words ? 0 : widths[i], columns_[i].align, terminal, tint);
      if (i + 1 < cells.size()) out += std::string(kGap, ' ');
    }
    strip_trailing_spaces(out);
    result += out + '\n';
  }
  return result;
}

std::string Table::text(const Terminal& terminal) const {
  const auto column_widths = widths(terminal);
  std::string out;
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  if (std::ranges::any_of(titles, [](const std::string& title) { return !title.empty(); })) {
    out += line(titles, column_widths, true, terminal);
  }
  for (const auto& cells : rows_) out += cells.empty() ? "\n" : line(cells, column_widths, false, terminal);
  return out;
}

}  // namespace nearfar
