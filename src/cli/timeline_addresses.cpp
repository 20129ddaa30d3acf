#include "cli/timeline_addresses.h"

#include <fmt/format.h>

#include <charconv>

#include "config/error.h"
#include "config/nearest.h"
#include "config/units.h"
#include "config/words.h"

namespace nearfar {
namespace {

constexpr std::string_view kBuffer = "buffer:";

[[noreturn]] void refuse_address(const std::string& text) {
  throw InputError(
      fmt::format("--timeline-address takes a range FROM-TO in decimal or hexadecimal, such as 0x1000-0x1fff, or a "
                  "buffer, such as buffer:NAME or buffer:NAME+OFFSET:LENGTH, or several with commas; `{}` is neither.",
                  text));
}

/// Bytes: plain, hexadecimal, or with a unit.
std::uint64_t parse_amount(const std::string& text, std::string_view amount) {
  if (const auto digits = parse_digits(amount)) return *digits;
  try {
    return parse_bytes(amount);
  } catch (const BadValue& error) {
    throw InputError(fmt::format("--timeline-address {}: {}", text, error.what()));
  }
}

TimelineAddress parse_buffer(const std::string& text) {
  TimelineAddress address{.text = text};
  std::string_view rest = std::string_view(text).substr(kBuffer.size());
  const std::size_t plus = rest.find('+');
  address.buffer = rest.substr(0, plus);
  if (address.buffer.empty() || address.buffer.find(':') != std::string::npos) refuse_address(text);
  if (plus == std::string_view::npos) return address;
  rest.remove_prefix(plus + 1);
  const std::size_t colon = rest.find(':');
  address.offset = parse_amount(text, rest.substr(0, colon));
  if (colon != std::string_view::npos) address.length = parse_amount(text, rest.substr(colon + 1));
  return address;
}

[[noreturn]] void refuse_buffer(const TimelineAddress& address, const std::vector<Application>& applications) {
  std::vector<std::string> names, workloads;
  for (const Application& application : applications) {
    workloads.push_back(application.name);
    for (const Buffer& buffer : application.workload->buffers()) names.push_back(buffer.name);
  }
  const std::string hint = did_you_mean(address.buffer, names);
  throw InputError(fmt::format("--timeline-address {}: {} {} no buffer `{}`{}", address.text, join(workloads, ", "),
                               workloads.size() == 1 ? "has" : "have", address.buffer,
                               hint.empty() ? fmt::format("; there are {}.", join(names, ", ")) : "." + hint));
}

TimelineRange range_in(const TimelineAddress& address, const Buffer& buffer, unsigned process) {
  const std::uint64_t length = address.length.value_or(buffer.bytes - std::min(address.offset, buffer.bytes));
  if (address.offset >= buffer.bytes || length == 0 || length > buffer.bytes - address.offset) {
    throw InputError(fmt::format("--timeline-address {}: the buffer `{}` has {} bytes, and these are not among them.",
                                 address.text, buffer.name, buffer.bytes));
  }
  const std::uint64_t first = buffer.base.value + address.offset;
  return {first, first + length - 1, process};
}

}  // namespace

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, hexadecimal ? 16 : 10);
  return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_number_range(std::string_view text) {
  const std::size_t separator = text.find_first_of("-:");
  if (separator == std::string_view::npos) return std::nullopt;
  const auto first = parse_digits(text.substr(0, separator)), last = parse_digits(text.substr(separator + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

std::vector<TimelineAddress> parse_addresses(const std::string& text) {
  std::vector<TimelineAddress> addresses;
  if (text.empty()) return addresses;
  for (const std::string& part : split(text, ',')) {
    if (part.starts_with(kBuffer)) {
      addresses.push_back(parse_buffer(part));
      continue;
    }
    const auto range = parse_number_range(part);
    if (!range) refuse_address(part);
    addresses.push_back({.text = part, .range = {range->first, range->second}});
  }
  return addresses;
}

std::vector<TimelineRange> find_addresses(const std::vector<TimelineAddress>& addresses,
                                          const std::vector<Application>& applications) {
  std::vector<TimelineRange> ranges;
  for (const TimelineAddress& address : addresses) {
    if (address.buffer.empty()) {
      ranges.push_back(address.range);
      continue;
    }
    bool found = false;
    for (unsigned a = 0; a < applications.size(); ++a) {
      for (const Buffer& buffer : applications[a].workload->buffers()) {
        if (buffer.name != address.buffer) continue;
        ranges.push_back(range_in(address, buffer, a));
        found = true;
      }
    }
    if (!found) refuse_buffer(address, applications);
  }
  return ranges;
}

}  // namespace nearfar
