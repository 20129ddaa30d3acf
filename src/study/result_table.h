// Results of many runs as one table, for other programs: a row a run, with what ran on what, each parameter in which
// the runs differ, and every statistic.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nearfar {

/// Nothing where a run does not have what the column is about.
using ResultCell = std::variant<std::monostate, std::uint64_t, double, std::string>;

struct ResultTable {
  std::vector<std::string> columns;
  std::vector<std::vector<ResultCell>> rows;  ///< a cell for each column
};

class ResultTableBuilder {
 public:
  /// A complete result, as `nearfar run --json` writes it.
  void add(std::string_view json);
  /// Rows by workload, size, system, designs, seed and the parameters that differ; statistics by name.
  ResultTable table() const;

 private:
  struct Row {
    std::vector<ResultCell> fixed;
    std::map<std::string_view, const ResultCell*> parameters;
    std::map<std::string_view, ResultCell> statistics;
  };

  std::string_view name(std::string_view text);
  const ResultCell* value(const std::string& text);
  std::vector<std::string_view> differing() const;

  std::vector<Row> rows_;
  std::set<std::string, std::less<>> names_;               ///< each once, however many runs have it
  std::map<std::string, ResultCell, std::less<>> values_;  ///< of parameters, by text
};

/// A header and a line a row.
std::string table_csv(const ResultTable& table);
/// An object a row; what a run does not have is left out.
std::string table_json_lines(const ResultTable& table);

}  // namespace nearfar
