// Results of one study have some hundred parameters in common: names and values of parameters are kept once.
#include "study/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "config/words.h"
#include "designs/names.h"
#include "stats/csv.h"

namespace nearfar {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The columns that every run has, in the order of Row::fixed.
constexpr std::array kFixed{"workload", "applications", "size",     "system",       "designs",
                            "seed",     "input",        "key",      "model",        "version",
                            "cycles",   "instructions", "accesses", "host_seconds", "peak_rss_bytes"};
/// By which rows are ordered before anything else: as many of the first.
constexpr std::size_t kOrdering = 7;

std::string design_names(const OrderedJson& names, const char* otherwise) {
  std::vector<std::string> words;
  for (const OrderedJson& each : names) words.push_back(each.get<std::string>());
  return words.empty() ? otherwise : join(words, "+");
}

std::string applications_text(const OrderedJson& applications) {
  std::vector<std::string> words;
  for (const OrderedJson& each : applications) words.push_back(each.at("workload").get<std::string>());
  return join(words, "+");
}

ResultCell cell_of(const OrderedJson& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

template <class Number>
std::optional<Number> whole_text_as(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A parameter's value is a number where all of its text is one: "16", but not "2MiB" or "xor".
ResultCell parameter_cell(const std::string& text) {
  if (const auto whole = whole_text_as<std::uint64_t>(text)) return *whole;
  if (const auto real = whole_text_as<double>(text); real && text.find_first_of("0123456789") == 0) return *real;
  return text;
}

std::string cell_text(const ResultCell& cell) {
  if (const auto* whole = std::get_if<std::uint64_t>(&cell)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

}  // namespace

std::string_view ResultTableBuilder::name(std::string_view text) {
  const auto found = names_.find(text);
  return found != names_.end() ? *found : *names_.emplace(text).first;
}

const ResultCell* ResultTableBuilder::value(const std::string& text) {
  const auto found = values_.find(text);
  return found != values_.end() ? &found->second : &values_.emplace(text, parameter_cell(text)).first->second;
}

void ResultTableBuilder::add(std::string_view json) {
  const OrderedJson result = OrderedJson::parse(json);
  Row& row = rows_.emplace_back();
  for (const std::string_view column : kFixed) {
    if (column == "designs") {
      row.fixed.emplace_back(design_names(result.at("designs"), kBaseline.data()));
    } else if (column == "applications") {
      row.fixed.emplace_back(applications_text(result.at("applications")));
    } else if (column == "input" && !result.contains("input")) {
      row.fixed.emplace_back();
    } else {
      row.fixed.push_back(cell_of(result.at(std::string(column))));
    }
  }
  for (const auto& [path, text] : result.at("configuration").items()) {
    row.parameters.emplace(name("set." + path), value(text.get<std::string>()));
  }
  for (const auto& [path, number] : result.at("parameters").items()) {
    row.parameters.emplace(name("param." + path), value(number.dump()));
  }
  for (const auto& [path, number] : result.at("statistics").items())
    row.statistics.emplace(name(path), cell_of(number));
}

std::vector<std::string_view> ResultTableBuilder::differing() const {
  std::map<std::string_view, std::pair<const ResultCell*, std::size_t>> seen;  // its first value, and how many have it
  std::set<std::string_view> differ;
  for (const Row& row : rows_) {
    for (const auto& [path, value] : row.parameters) {
      auto& [first, times] = seen.try_emplace(path, value, 0).first->second;
      ++times;
      if (first != value) differ.insert(path);
    }
  }
  for (const auto& [path, first] : seen) {
    if (first.second != rows_.size()) differ.insert(path);
  }
  return {differ.begin(), differ.end()};
}

ResultTable ResultTableBuilder::table() const {
  ResultTable table;
  const std::vector<std::string_view> parameters = differing();
  std::set<std::string_view> statistics;
  for (const Row& row : rows_) {
    for (const auto& [path, value] : row.statistics) statistics.insert(path);
  }
  table.columns.assign(kFixed.begin(), kFixed.end());
  table.columns.insert(table.columns.begin() + kOrdering, parameters.begin(), parameters.end());
  table.columns.insert(table.columns.end(), statistics.begin(), statistics.end());
  for (const Row& row : rows_) {
    auto& cells = table.rows.emplace_back(row.fixed.begin(), row.fixed.begin() + kOrdering);
    for (const std::string_view path : parameters) {
      const auto found = row.parameters.find(path);
      cells.push_back(found == row.parameters.end() ? ResultCell{} : *found->second);
    }
    cells.insert(cells.end(), row.fixed.begin() + kOrdering, row.fixed.end());
    for (const std::string_view path : statistics) {
      const auto found = row.statistics.find(path);
      cells.push_back(found == row.statistics.end() ? ResultCell{} : found->second);
    }
  }
  std::ranges::sort(table.rows);
  return table;
}

std::string table_csv(const ResultTable& table) {
  std::string out;
  const auto line = [&](const auto& cells, const auto& text) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) out += ',';
      out += csv_field(text(cells[i]));
    }
    out += '\n';
  };
  line(table.columns, [](const std::string& column) { return column; });
  for (const auto& row : table.rows) line(row, cell_text);
  return out;
}

std::string table_json_lines(const ResultTable& table) {
  std::string out;
  for (const auto& row : table.rows) {
    OrderedJson object = OrderedJson::object();
    auto& fields = object.get_ref<OrderedJson::object_t&>();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (const auto* whole = std::get_if<std::uint64_t>(&row[i])) fields.emplace_back(table.columns[i], *whole);
      if (const auto* real = std::get_if<double>(&row[i])) fields.emplace_back(table.columns[i], *real);
      if (const auto* text = std::get_if<std::string>(&row[i])) fields.emplace_back(table.columns[i], *text);
    }
    out += object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  }
  return out;
}

}  // namespace nearfar
