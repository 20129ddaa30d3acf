#include "study/result_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nearfar::result_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

/// A result with all that is asked of one.
Json result(const std::string& workload, const std::string& key, const Json& configuration, const Json& statistics) {
  return {{"version", "1"},
          {"model", "m"},
          {"key", key},
          {"workload", workload},
          {"size", "small"},
          {"system", "ideal"},
          {"designs", Json::array()},
          {"seed", 1},
          {"cycles", 10},
          {"instructions", 20},
          {"accesses", 30},
          {"host_seconds", 0.5},
          {"peak_rss_bytes", 40},
          {"parameters", {{"width", 64}}},
          {"applications", {{{"workload", workload}}}},
          {"configuration", configuration},
          {"statistics", statistics}};
}

ResultTable table_of(const std::vector<Json>& results) {
  ResultTableBuilder builder;
  for (const Json& each : results) builder.add(each.dump());
  return builder.table();
}

std::vector<ResultCell> column(const ResultTable& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name) - table.columns.begin();
  std::vector<ResultCell> cells;
  for (const auto& row : table.rows) cells.push_back(row.at(static_cast<std::size_t>(found)));
  return cells;
}

TEST(ResultTable, HasTheParametersThatDifferAndAllStatistics) {
  const ResultTable table =
      table_of({result("MT", "b", {{"gpus", "16"}, {"gpu.clock", "1GHz"}}, {{"a", 1}, {"c", 0.1}}),
                result("MT", "a", {{"gpus", "2"}, {"gpu.clock", "1GHz"}}, {{"a", 3}, {"b", 4}})});
  EXPECT_THAT(table.columns, ElementsAre("workload", "applications", "size", "system", "designs", "seed", "input",
                                         "set.gpus", "key", "model", "version", "cycles", "instructions", "accesses",
                                         "host_seconds", "peak_rss_bytes", "a", "b", "c"));
  EXPECT_THAT(column(table, "set.gpus"), ElementsAre(ResultCell(std::uint64_t{2}), ResultCell(std::uint64_t{16})))
      << "in the order of numbers, whatever the keys are";
  EXPECT_THAT(column(table, "c"), ElementsAre(ResultCell(), ResultCell(0.1)));
}

TEST(ResultTable, AParameterThatNotAllHaveDiffers) {
  const ResultTable table = table_of({result("MT", "a", {{"gpus", "2"}}, {{"a", 1}}),
                                      result("MT", "b", {{"gpus", "2"}, {"idyll.size", "32KiB"}}, {{"a", 1}})});
  EXPECT_THAT(column(table, "set.idyll.size"), ElementsAre(ResultCell(), ResultCell("32KiB")));
  Json mixed = result("FIR+MT", "c", {{"gpus", "2"}}, {{"a", 1}});
  mixed["parameters"] = {{"FIR.n", 8}, {"MT.width", 64}};
  const ResultTable with_mix = table_of({result("MT", "a", {{"gpus", "2"}}, {{"a", 1}}), mixed});
  EXPECT_THAT(column(with_mix, "param.FIR.n"), ElementsAre(ResultCell(std::uint64_t{8}), ResultCell()));
  EXPECT_THAT(column(with_mix, "param.width"), ElementsAre(ResultCell(), ResultCell(std::uint64_t{64})));
}

TEST(ResultTable, DoesNotDependOnTheOrderOfResults) {
  const Json a = result("MT", "a", {{"gpus", "2"}}, {{"a", 1}}), b = result("PR", "b", {{"gpus", "4"}}, {{"b", 1}});
  EXPECT_EQ(table_csv(table_of({a, b})), table_csv(table_of({b, a})));
}

TEST(ResultTable, NumbersLoseNothing) {
  const double third = 1.0 / 3;
  const std::uint64_t large = (std::uint64_t{1} << 53) + 1;
  const ResultTable table = table_of({result("MT", "a", {{"x", "2"}}, {{"large", large}, {"third", third}})});
  const std::string csv = table_csv(table), lines = table_json_lines(table);
  EXPECT_THAT(csv, HasSubstr(",9007199254740993,0.3333333333333333\n"));
  const Json parsed = Json::parse(lines);
  EXPECT_EQ(parsed["large"], large);
  EXPECT_EQ(parsed["third"], third);
}

TEST(ResultTable, QuotesWhatNeedsIt) {
  Json odd = result("trace:a,\"b\".nft", "a", {{"x", "2"}}, {{"a", 1}});
  const ResultTable table = table_of({odd});
  EXPECT_THAT(table_csv(table), HasSubstr("\n\"trace:a,\"\"b\"\".nft\","));
  EXPECT_THAT(table_json_lines(table), StartsWith("{\"workload\":\"trace:a,\\\"b\\\".nft\","));
}

}  // namespace
}  // namespace nearfar::result_table_test
