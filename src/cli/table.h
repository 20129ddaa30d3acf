// Aligned tables for the terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace nearfar {

enum class Align : std::uint8_t { Left, Right };

/// Columns are as wide as their widest cell and two spaces apart. On a terminal that is too narrow, columns of words
/// (those to the left) become narrower, the widest first, and their cells are broken between words.
class Table {
 public:
  struct Column {
    std::string title;  ///< no line of titles when all are empty
    Align align = Align::Left;
    Tint tint = Tint::Plain;
  };

  explicit Table(std::vector<Column> columns, unsigned indent = 0) : columns_(std::move(columns)), indent_(indent) {}

  /// Missing cells at the end are empty.
  void row(std::vector<std::string> cells);
  void blank_line() { rows_.emplace_back(); }
  std::string text(const Terminal& terminal) const;

 private:
  std::vector<std::size_t> widths(const Terminal& terminal) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, bool titles,
                   const Terminal& terminal) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty one is a blank line
  unsigned indent_;
};

}  // namespace nearfar
