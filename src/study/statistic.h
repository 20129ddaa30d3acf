// One statistic of a result by its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/run.h"

namespace nearfar {

/// Nothing where the result does not have it.
std::optional<double> find_statistic(const RunResult& result, std::string_view name);
/// The same for a count, exactly; 0 where the result does not have it.
std::uint64_t count_statistic(const RunResult& result, std::string_view name);
/// The sum of the samples of a histogram.
std::optional<double> histogram_sum(const RunResult& result, std::string_view name);

}  // namespace nearfar
