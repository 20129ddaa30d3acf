// Splitting, joining and reading numbers.
#include "config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/error.h"

namespace nearfar {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_names(std::string_view what, std::string_view text) {
  std::vector<std::string> names = split(text, '+');
  if (std::ranges::find(names, "") == names.end()) return names;
  throw InputError(
      fmt::format("The name of a {} is missing{}.", what, text.empty() ? "" : fmt::format(" in `{}`", text)));
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::uint64_t parse_whole(std::string_view what, std::string_view text, std::uint64_t minimum, std::uint64_t maximum) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < minimum || value > maximum) {
    throw InputError(
        fmt::format("{} must be a whole number from {} to {}; `{}` is not.", what, minimum, maximum, text));
  }
  return value;
}

}  // namespace nearfar
