#include "study/statistic.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {
namespace {

const StatValue* value_named(const RunResult& result, std::string_view name) {
  const auto& all = result.statistics;
  const auto found =
      std::ranges::lower_bound(all, name, {}, [](const StatValue& value) -> std::string_view { return value.name; });
  return found == all.end() || found->name != name ? nullptr : &*found;
}

}  // namespace

std::optional<double> find_statistic(const RunResult& result, std::string_view name) {
  const StatValue* value = value_named(result, name);
  return value == nullptr ? std::nullopt : std::optional(value->as_double());
}

std::uint64_t count_statistic(const RunResult& result, std::string_view name) {
  const StatValue* value = value_named(result, name);
  return value == nullptr ? 0 : value->count;
}

std::optional<double> histogram_sum(const RunResult& result, std::string_view name) {
  const std::optional<double> mean = find_statistic(result, fmt::format("{}.mean", name));
  if (!mean) return std::nullopt;
  const std::string bins = fmt::format("{}.below_", name);
  double samples = 0;
  auto bin = std::ranges::lower_bound(result.statistics, bins, {}, &StatValue::name);
  for (; bin != result.statistics.end() && bin->name.starts_with(bins); ++bin) samples += bin->as_double();
  return *mean * samples;
}

}  // namespace nearfar
