// The kinds of parameters: what each accepts, and how it is written.
#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>
#include <variant>

#include "config/nearest.h"
#include "config/units.h"

namespace nearfar {
namespace {

constexpr Frequency kUsualClock = 1000_MHz;

std::string plain(std::uint64_t value) { return fmt::format("{}", value); }
std::string as_bandwidth(std::uint64_t value) { return format_bandwidth({value}); }
std::string as_frequency(std::uint64_t value) { return format_frequency({value}); }

using MaybeNumber = std::optional<std::uint64_t>;
using MaybeClock = std::optional<Frequency>;

/// How one kind of number is read and written.
struct NumberKind {
  std::string_view noun;
  MaybeNumber (*parse)(std::string_view text, MaybeClock clock);
  std::string (*format)(std::uint64_t value);
};

constexpr NumberKind kInteger{"a whole number",
                              [](std::string_view t, MaybeClock) { return MaybeNumber(parse_integer(t)); }, plain};
constexpr NumberKind kBytes{"a size", [](std::string_view t, MaybeClock) { return MaybeNumber(parse_bytes(t)); },
                            format_bytes};
constexpr NumberKind kCycles{"a time in cycles", [](std::string_view t, MaybeClock c) { return parse_cycles(t, c); },
                             plain};
constexpr NumberKind kFrequency{
    "a frequency", [](std::string_view t, MaybeClock) { return MaybeNumber(parse_frequency(t).hertz); }, as_frequency};
constexpr NumberKind kBandwidth{"a bandwidth",
                                [](std::string_view t, MaybeClock c) {
                                  const auto parsed = parse_bandwidth(t, c);
                                  return parsed ? MaybeNumber(parsed->bytes_per_second) : std::nullopt;
                                },
                                as_bandwidth};

bool is_plain(std::string_view number) { return number.find_first_not_of("0123456789") == std::string_view::npos; }

class NumberField final : public Field {
 public:
  using Target = std::variant<std::uint32_t*, std::uint64_t*>;

  NumberField(const NumberKind& kind, Target target, Limits limits, std::string_view unit)
      : kind_(kind), target_(target), limits_(std::move(limits)), unit_(unit) {}

  bool check(std::string_view text) const override {
    const MaybeNumber value = kind_.parse(text, std::nullopt);
    if (value) check_limits(*value, text);
    return !value;
  }

  void assign(std::string_view text, Frequency clock) override {
    const std::uint64_t value = *kind_.parse(text, clock);
    check_limits(value, text);
    std::visit([&](auto* field) { *field = static_cast<std::remove_reference_t<decltype(*field)>>(value); }, target_);
  }

  std::string text() const override { return kind_.format(value()); }
  std::string unit() const override { return unit_; }
  std::string range() const override { return limits_.text(kind_.format); }
  std::string expects() const override {
    return limits_.is_list() ? range() : fmt::format("{}, {}", kind_.noun, range());
  }
  std::vector<std::string> choices() const override {
    std::vector<std::string> names;
    for (const std::uint64_t each : limits_.list()) names.push_back(kind_.format(each));
    return names;
  }
  std::optional<NumberDomain> number() const override { return NumberDomain{limits_, value(), kind_.format}; }

 private:
  std::uint64_t value() const {
    return std::visit([](const auto* field) { return std::uint64_t{*field}; }, target_);
  }

  void check_limits(std::uint64_t value, std::string_view text) const {
    if (limits_.allow(value)) return;
    const std::string meant = kind_.format(value) + (&kind_ == &kCycles && !is_plain(text) ? " cycles" : "");
    const std::string written =
        meant == text ? fmt::format("`{}`", text) : fmt::format("`{}`, which is {},", text, meant);
    throw BadValue(fmt::format("{} {}.", written, limits_.problem(value)));
  }

  const NumberKind& kind_;
  Target target_;
  Limits limits_;
  std::string unit_;
};

/// A number above zero, or `auto`, which depends on other parameters: 0 until it is filled in.
class AutoField final : public Field {
 public:
  AutoField(const NumberKind& kind, NumberField::Target field, Limits limits, std::string_view unit)
      : field_(field), number_(kind, field, std::move(limits), unit) {}

  bool check(std::string_view text) const override { return text == kAuto || number_.check(text); }
  void assign(std::string_view text, Frequency clock) override {
    if (text == kAuto) {
      std::visit([](auto* field) { *field = 0; }, field_);
    } else {
      number_.assign(text, clock);
    }
  }
  std::string text() const override { return number_.number()->value == 0 ? std::string(kAuto) : number_.text(); }
  std::string unit() const override { return number_.unit(); }
  std::string range() const override { return fmt::format("{}, or {}", kAuto, number_.range()); }
  std::string expects() const override { return fmt::format("`{}`, or {}", kAuto, number_.expects()); }
  std::optional<NumberDomain> number() const override { return number_.number(); }

 private:
  static constexpr std::string_view kAuto = "auto";

  NumberField::Target field_;
  NumberField number_;
};

/// "a", "a or b", "a, b or c".
std::string alternatives(std::span<const std::string> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " or " : ", ";
    list += names[i];
  }
  return list;
}

std::size_t find_name(std::span<const std::string> names, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    // Of "2MiB" the name "2M" is the nearest, though half of its letters are too many.
    const std::string_view plain = text.ends_with("iB") ? text.substr(0, text.size() - 2) : text;
    throw BadValue(text.empty() ? "there is no value."
                                : fmt::format("`{}` is none of them.{}", text, did_you_mean(plain, names)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

class FlagField final : public Field {
 public:
  explicit FlagField(bool& field) : field_(field) {}

  bool check(std::string_view text) const override {
    read(text);
    return false;
  }
  void assign(std::string_view text, Frequency) override { field_ = read(text); }
  std::string text() const override { return field_ ? "true" : "false"; }
  std::string range() const override { return "true or false"; }
  std::string expects() const override { return range(); }
  std::vector<std::string> choices() const override { return {"false", "true"}; }

 private:
  static bool read(std::string_view text) {
    static const std::vector<std::string> names = {"false", "true"};
    if (text == "yes" || text == "on" || text == "1") throw BadValue(fmt::format("write `true` for `{}`.", text));
    if (text == "no" || text == "off" || text == "0") throw BadValue(fmt::format("write `false` for `{}`.", text));
    return find_name(names, text) == 1;
  }

  bool& field_;
};

}  // namespace

Limits Limits::powers_of_two(std::uint64_t least, std::uint64_t most) {
  Limits limits(least, most);
  limits.powers_of_two_ = true;
  return limits;
}

Limits Limits::one_of(std::vector<std::uint64_t> values) {
  Limits limits(values.front(), values.back());
  limits.only_ = std::move(values);
  return limits;
}

bool Limits::allow(std::uint64_t value) const {
  if (!only_.empty()) return std::ranges::find(only_, value) != only_.end();
  return value >= least_ && value <= most_ && (!powers_of_two_ || std::has_single_bit(value));
}

std::string_view Limits::problem(std::uint64_t value) const {
  if (is_list()) return "is none of them";
  return value < least_ || value > most_ ? "is out of range" : "is not a power of two";
}

std::string Limits::text(std::string (*format)(std::uint64_t)) const {
  if (only_.empty()) {
    return fmt::format("{}{} to {}", powers_of_two_ ? "a power of two, " : "", format(least_), format(most_));
  }
  std::vector<std::string> names;
  for (const std::uint64_t value : only_) names.push_back(format(value));
  return alternatives(names);
}

class Section::ChoiceField final : public Field {
 public:
  ChoiceField(std::vector<NamedOption> options, std::function<std::size_t()> get, std::function<void(std::size_t)> set)
      : options_(std::move(options)), get_(std::move(get)), set_(std::move(set)) {
    for (const NamedOption& option : options_) names_.push_back(option.name);
  }

  bool check(std::string_view text) const override {
    find_name(names_, text);
    return false;
  }
  void assign(std::string_view text, Frequency) override { set_(find_name(names_, text)); }
  std::string text() const override { return names_[get_()]; }
  std::string range() const override { return alternatives(names_); }
  std::string expects() const override { return range(); }
  std::vector<std::string> choices() const override { return names_; }
  std::span<const Preset> presets() const override { return options_[get_()].presets; }

 private:
  std::vector<NamedOption> options_;
  std::vector<std::string> names_;
  std::function<std::size_t()> get_;
  std::function<void(std::size_t)> set_;
};

std::string join_path(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

const SectionInfo* Schema::section(std::string_view path) const {
  const auto found = sections_.find(path);
  return found == sections_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> Schema::find(std::string_view path) const {
  const auto found = index_.find(path);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

Frequency Schema::clock() const { return clock_ == nullptr ? kUsualClock : *clock_; }

void Schema::add_section(std::string path, std::string_view sentence) {
  SectionInfo info{path, std::string(sentence), {}};
  sections_.emplace(std::move(path), std::move(info));
}

void Schema::add_parameter(const std::string& section, std::string_view key, std::string_view sentence,
                           std::unique_ptr<Field> field) {
  const std::string path = join_path(section, key);
  sections_.at(section).keys.emplace_back(key);
  [[maybe_unused]] const bool added = index_.emplace(path, parameters_.size()).second;
  assert(added && "a parameter is declared once");
  std::string default_text = field->text();
  parameters_.push_back({path, std::string(sentence), std::move(default_text), std::move(field)});
}

void Section::bytes(std::string_view key, Bytes& field, Limits limits, std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence,
                        std::make_unique<NumberField>(kBytes, &field, std::move(limits), "bytes"));
}

void Section::cycles(std::string_view key, Cycle& field, Limits limits, std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence,
                        std::make_unique<NumberField>(kCycles, &field, std::move(limits), "cycles"));
}

void Section::integer(std::string_view key, std::uint32_t& field, Limits limits, std::string_view unit,
                      std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence, std::make_unique<NumberField>(kInteger, &field, std::move(limits), unit));
}

void Section::integer_or_auto(std::string_view key, std::uint32_t& field, Limits limits, std::string_view unit,
                              std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence, std::make_unique<AutoField>(kInteger, &field, std::move(limits), unit));
}

void Section::bytes_or_auto(std::string_view key, Bytes& field, Limits limits, std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence, std::make_unique<AutoField>(kBytes, &field, std::move(limits), "bytes"));
}

void Section::bandwidth(std::string_view key, Bandwidth& field, Limits limits, std::string_view sentence) {
  schema_.add_parameter(
      path_, key, sentence,
      std::make_unique<NumberField>(kBandwidth, &field.bytes_per_second, std::move(limits), "bytes/s"));
}

void Section::clock(std::string_view key, Frequency& field, Limits limits, std::string_view sentence) {
  assert(schema_.clock_ == nullptr && "a system has one core clock");
  schema_.clock_ = &field;
  schema_.add_parameter(path_, key, sentence,
                        std::make_unique<NumberField>(kFrequency, &field.hertz, std::move(limits), "Hz"));
}

void Section::flag(std::string_view key, bool& field, std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence, std::make_unique<FlagField>(field));
}

void Section::add_choice(std::string_view key, std::vector<NamedOption> options, std::function<std::size_t()> get,
                         std::function<void(std::size_t)> set, std::string_view sentence) {
  schema_.add_parameter(path_, key, sentence,
                        std::make_unique<ChoiceField>(std::move(options), std::move(get), std::move(set)));
}

Section Section::group(std::string_view key, std::string_view sentence) {
  Section inner(schema_, join_path(path_, key));
  // Two Specs may have parameters in one group; who comes first says what it is.
  if (schema_.section(inner.path_) != nullptr) return inner;
  schema_.sections_.at(path_).keys.emplace_back(key);
  schema_.add_section(inner.path_, sentence);
  return inner;
}

}  // namespace nearfar
