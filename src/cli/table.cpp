// Layout of tables: measure all cells, then pad, paint and wrap them.
#include "cli/table.h"

#include <algorithm>
#include <cassert>

namespace nearfar {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 20;  // a last column with less room than this is not worth breaking

std::string padded(const std::string& cell, std::size_t width, Align align, const Terminal& terminal, Tint tint) {
  const std::string space(width - display_width(cell), ' ');
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

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i]));
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, bool titles,
                        const Terminal& terminal) const {
  std::string out(indent_, ' ');
  std::size_t start = indent_;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const Tint tint = titles ? Tint::Bold : columns_[i].tint;
    out += padded(cells[i], widths[i], columns_[i].align, terminal, tint) + std::string(kGap, ' ');
    start += widths[i] + kGap;
  }
  const Column& last = columns_.back();
  const Tint tint = titles ? Tint::Bold : last.tint;
  if (last.align == Align::Right || terminal.width < start + kNarrowest) {
    out += padded(cells.back(), last.align == Align::Right ? widths.back() : display_width(cells.back()), last.align,
                  terminal, tint);
    strip_trailing_spaces(out);
    return out + '\n';
  }
  std::string result;
  for (const std::string& part : wrapped(cells.back(), terminal.width - start)) {
    out += terminal.paint(tint, part);
    strip_trailing_spaces(out);
    result += out + '\n';
    out = std::string(start, ' ');
  }
  return result;
}

std::string Table::text(const Terminal& terminal) const {
  const auto column_widths = widths();
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
