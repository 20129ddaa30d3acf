// Addresses as --timeline-address takes them: ranges, and buffers of the workloads by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "study/experiment.h"

namespace nearfar {

/// Digits and nothing else: no sign, no space, and no octal, which nobody means by a leading zero.
std::optional<std::uint64_t> parse_digits(std::string_view text);

/// "FROM-TO" or "FROM:TO", each end included.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_number_range(std::string_view text);

/// A range, or "buffer:NAME", "buffer:NAME+OFFSET", "buffer:NAME+OFFSET:LENGTH".
struct TimelineAddress {
  std::string text;  ///< as it was typed
  TimelineRange range{};
  std::string buffer{};  ///< empty: the range
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};
};

/// Several, with commas between them. What is none is an InputError.
std::vector<TimelineAddress> parse_addresses(const std::string& text);

/// The addresses themselves. A buffer that no application has, and bytes beyond its end, are InputErrors.
std::vector<TimelineRange> find_addresses(const std::vector<TimelineAddress>& addresses,
                                          const std::vector<Application>& applications);

}  // namespace nearfar
