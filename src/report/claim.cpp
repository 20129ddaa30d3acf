// Reading published numbers.
#include "report/claim.h"

#include <charconv>
#include <cmath>

namespace nearfar {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

/// Half of the last digit of a number as written: 0.05 of "86.1".
double rounding_of(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10, -static_cast<double>(decimals));
}

bool add_number(Published& published, std::string_view text) {
  const auto value = number(trimmed(text));
  if (!value) return false;
  published.values.push_back(*value);
  published.rounding = std::max(published.rounding, rounding_of(trimmed(text)));
  return true;
}

struct Prefix {
  std::string_view text;
  Published::Form form;
};

}  // namespace

std::optional<Published> parse_published(std::string_view text) {
  using enum Published::Form;
  // The longer ones first: `>=` begins with `>`.
  constexpr Prefix kPrefixes[] = {{">=", AtLeast}, {"<=", AtMost}, {">", Above}, {"<", Below}, {"about ", Number}};
  Published published;
  std::string_view rest = trimmed(text);
  published.text = rest;
  for (const Prefix& prefix : kPrefixes) {
    if (!rest.starts_with(prefix.text)) continue;
    published.form = prefix.form;
    return add_number(published, rest.substr(prefix.text.size())) ? std::optional(published) : std::nullopt;
  }
  if (const std::size_t dots = rest.find(".."); dots != std::string_view::npos) {
    published.form = Range;
    const bool good = add_number(published, rest.substr(0, dots)) && add_number(published, rest.substr(dots + 2)) &&
                      published.values[0] <= published.values[1];
    return good ? std::optional(published) : std::nullopt;
  }
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (!add_number(published, rest.substr(0, end))) return {};
    rest = trimmed(rest.substr(end));
  }
  if (published.values.empty()) return {};
  if (published.values.size() > 1) published.form = Several;
  return published;
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::Fact: return "fact";
    case Role::Derived: return "derived";
    case Role::Result: return "result";
    case Role::Indicative: return "indicative";
  }
  return "";
}

std::optional<double> neutral_value(Quality quality) {
  switch (quality) {
    case Quality::Speedup:
    case Quality::Ratio: return 1;
    case Quality::Reduction:
    case Quality::Gain:
    case Quality::Change: return 0;
    case Quality::Share:
    case Quality::Count: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace nearfar
