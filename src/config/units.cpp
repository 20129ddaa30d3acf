// Decimal numbers with units, in exact integer arithmetic.
#include "config/units.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "config/nearest.h"

namespace nearfar {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kFemtosecondsPerSecond = 1'000'000'000'000'000;
constexpr unsigned kMostDecimals = 15;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array kByteUnits = {Unit{"B", 1}, Unit{"KiB", 1_KiB}, Unit{"MiB", 1_MiB}, Unit{"GiB", 1_GiB},
                                   Unit{"TiB", 1024 * 1_GiB}};
constexpr std::array kFrequencyUnits = {Unit{"Hz", 1}, Unit{"kHz", 1'000}, Unit{"MHz", 1'000'000},
                                        Unit{"GHz", 1'000'000'000}};
constexpr std::array kBandwidthUnits = {Unit{"B/s", 1}, Unit{"kB/s", 1'000}, Unit{"MB/s", 1'000'000},
                                        Unit{"GB/s", 1'000'000'000}, Unit{"TB/s", 1'000'000'000'000}};
constexpr Unit kPerCycle{"B/cycle", 1};
constexpr std::array kTimeUnits = {Unit{"ps", 1'000}, Unit{"ns", 1'000'000}, Unit{"us", 1'000'000'000},
                                   Unit{"ms", 1'000'000'000'000}, Unit{"s", kFemtosecondsPerSecond}};

/// Digits and a unit: `digits` / 10^`decimals`.
struct Number {
  std::uint64_t digits = 0;
  unsigned decimals = 0;
  std::string_view text;
  std::string_view amount;  // the text without its unit
  std::string_view unit;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_digit(Number& number, char c) {
  const auto digit = static_cast<std::uint64_t>(c - '0');
  if (number.digits > (~std::uint64_t{0} - digit) / 10) {
    throw BadValue(fmt::format("`{}` has too many digits.", number.text));
  }
  number.digits = number.digits * 10 + digit;
}

void refuse_separators(std::string_view text, std::string_view rest) {
  if (rest.size() < 2 || !is_digit(rest[1])) return;
  if (rest[0] != '_' && rest[0] != '\'' && rest[0] != ',') return;
  throw BadValue(fmt::format("`{}` has a separator between its digits; write the digits alone.", text));
}

Number parse_number(std::string_view text) {
  if (text.empty()) throw BadValue("there is no value.");
  if (text[0] == '-') throw BadValue(fmt::format("`{}` is negative.", text));
  Number number;
  number.text = text;
  std::size_t i = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) append_digit(number, text[i]);
  if (i == 0) throw BadValue(fmt::format("`{}` is not a number.", text));
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) {
    const std::size_t point = i;
    for (++i; i < text.size() && is_digit(text[i]); ++i) append_digit(number, text[i]);
    number.decimals = static_cast<unsigned>(i - point - 1);
    if (number.decimals > kMostDecimals) throw BadValue(fmt::format("`{}` has too many decimals.", text));
  }
  number.amount = text.substr(0, i);
  refuse_separators(text, text.substr(i));
  while (i < text.size() && text[i] == ' ') ++i;
  number.unit = text.substr(i);
  return number;
}

Wide power_of_ten(unsigned exponent) {
  Wide power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

/// number × factor, when that is whole.
std::uint64_t exactly(const Number& number, std::uint64_t factor, std::string_view of_what) {
  const Wide scaled = Wide{number.digits} * factor;
  const Wide divisor = power_of_ten(number.decimals);
  if (scaled % divisor != 0) throw BadValue(fmt::format("`{}` is not a whole number{}.", number.text, of_what));
  if (scaled / divisor > ~std::uint64_t{0}) throw BadValue(fmt::format("`{}` is too large.", number.text));
  return static_cast<std::uint64_t>(scaled / divisor);
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

[[noreturn]] void refuse_unit(const Number& number, std::span<const Unit> units, std::string_view extra = "") {
  std::vector<std::string> names;
  std::string list;
  for (const Unit& unit : units) names.emplace_back(unit.name);
  if (!extra.empty()) names.emplace_back(extra);
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  const std::string hint = did_you_mean(number.unit, names);
  if (number.unit.empty()) throw BadValue(fmt::format("`{}` has no unit; the units are {}.", number.text, list));
  throw BadValue(hint.empty() ? fmt::format("`{}` is not one of the units {}.", number.unit, list)
                              : fmt::format("`{}` is not a unit here.{}", number.unit, hint));
}

/// Powers of 1000 for sizes and of 1024 for rates are refused by name: both are usual mistakes, and a silent one
/// would shift every result.
void refuse_wrong_base(const Number& number, std::span<const std::pair<std::string_view, std::string_view>> pairs,
                       std::string_view why) {
  for (const auto& [wrong, right] : pairs) {
    if (number.unit != wrong) continue;
    throw BadValue(fmt::format("`{}` is not a unit here, {}. Did you mean `{}{}`?", wrong, why, number.amount, right));
  }
}

/// The largest unit that needs at most three decimals and four digits before them; else the smallest.
std::string format_decimal(std::uint64_t value, std::span<const Unit> units) {
  for (std::size_t i = units.size(); i-- > 1;) {
    const std::uint64_t factor = units[i].factor;
    if (value < factor || value / factor > 9999 || value % (factor / 1000) != 0) continue;
    std::string text = fmt::format("{}.{:03}", value / factor, value % factor / (factor / 1000));
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text + std::string(units[i].name);
  }
  return fmt::format("{}{}", value, units[0].name);
}

}  // namespace

std::uint64_t parse_integer(std::string_view text) {
  const Number number = parse_number(text);
  if (!number.unit.empty() || number.decimals > 0) throw BadValue(fmt::format("`{}` is not a whole number.", text));
  return number.digits;
}

Bytes parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kDecimal = {{{"kB", "KiB"},
                                                                                              {"KB", "KiB"},
                                                                                              {"MB", "MiB"},
                                                                                              {"GB", "GiB"},
                                                                                              {"TB", "TiB"},
                                                                                              {"k", "KiB"},
                                                                                              {"K", "KiB"},
                                                                                              {"M", "MiB"},
                                                                                              {"G", "GiB"},
                                                                                              {"T", "TiB"}}};
  const Number number = parse_number(text);
  if (number.unit.empty()) return exactly(number, 1, " of bytes");
  refuse_wrong_base(number, kDecimal, "because sizes are powers of 1024");
  const Unit* unit = find_unit(kByteUnits, number.unit);
  if (unit == nullptr) refuse_unit(number, kByteUnits);
  return exactly(number, unit->factor, " of bytes");
}

Frequency parse_frequency(std::string_view text) {
  const Number number = parse_number(text);
  const Unit* unit = find_unit(kFrequencyUnits, number.unit);
  if (unit == nullptr) refuse_unit(number, kFrequencyUnits);
  return {exactly(number, unit->factor, " of hertz")};
}

std::optional<Bandwidth> parse_bandwidth(std::string_view text, std::optional<Frequency> clock) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOther = {{{"KiB/s", "kB/s"},
                                                                                           {"MiB/s", "MB/s"},
                                                                                           {"GiB/s", "GB/s"},
                                                                                           {"TiB/s", "TB/s"},
                                                                                           {"KB/s", "kB/s"},
                                                                                           {"GB", "GB/s"},
                                                                                           {"MB", "MB/s"},
                                                                                           {"TB", "TB/s"}}};
  const Number number = parse_number(text);
  if (number.unit == kPerCycle.name) {
    if (!clock) return std::nullopt;
    return Bandwidth{exactly(number, clock->hertz, " of bytes a second")};
  }
  refuse_wrong_base(number, kOther, "because rates are bytes a second in powers of 1000");
  const Unit* unit = find_unit(kBandwidthUnits, number.unit);
  if (unit == nullptr) refuse_unit(number, kBandwidthUnits, kPerCycle.name);
  return Bandwidth{exactly(number, unit->factor, " of bytes a second")};
}

std::optional<Cycle> parse_cycles(std::string_view text, std::optional<Frequency> clock) {
  const Number number = parse_number(text);
  if (number.unit.empty() || number.unit == "cycles" || number.unit == "cycle") {
    return exactly(number, 1, " of cycles");
  }
  const Unit* unit = find_unit(kTimeUnits, number.unit);
  if (unit == nullptr) refuse_unit(number, kTimeUnits, "cycles");
  const std::uint64_t femtoseconds = exactly(number, unit->factor, " of femtoseconds");
  if (!clock) return std::nullopt;
  const Wide cycles = (Wide{femtoseconds} * clock->hertz + kFemtosecondsPerSecond / 2) / kFemtosecondsPerSecond;
  if (cycles > ~std::uint64_t{0}) throw BadValue(fmt::format("`{}` is too large.", text));
  return static_cast<Cycle>(cycles);
}

std::string format_bytes(Bytes bytes) {
  for (std::size_t i = kByteUnits.size(); i-- > 0;) {
    const Unit& unit = kByteUnits[i];
    if (bytes >= unit.factor && bytes % unit.factor == 0) return fmt::format("{}{}", bytes / unit.factor, unit.name);
  }
  return "0B";
}

std::string format_frequency(Frequency frequency) { return format_decimal(frequency.hertz, kFrequencyUnits); }

std::string format_bandwidth(Bandwidth bandwidth) {
  return format_decimal(bandwidth.bytes_per_second, kBandwidthUnits);
}

}  // namespace nearfar
