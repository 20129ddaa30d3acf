#include "trace/bytes.h"

#include <fmt/format.h>

namespace nearfar {

std::uint64_t ByteReader::number(std::uint64_t minimum, std::uint64_t maximum, std::string_view what) {
  const std::uint64_t value = number();
  if (value < minimum || value > maximum) {
    fail(fmt::format("{} is {}, but must be from {} to {}", what, value, minimum, maximum));
  }
  return value;
}

std::size_t ByteReader::count(std::string_view what, std::size_t most) {
  const std::uint64_t many = number();
  if (many > most) fail(fmt::format("{} {} are announced, and at most {} are possible", many, what, most));
  if (many > left()) fail(fmt::format("{} {} are announced, but only {} bytes follow", many, what, left()));
  return static_cast<std::size_t>(many);
}

std::string ByteReader::text() {
  const auto bytes = take(count("characters"));
  return {bytes.begin(), bytes.end()};
}

}  // namespace nearfar
