// The schema: every parameter of a system, declared once with its name, type, unit, range and a sentence.
//
// A Spec's `describe(Section&)` binds its fields; the default of a parameter is the value its field holds at that
// moment. Reading files, checking, `explain` and the error messages all work from these declarations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/quantity.h"

namespace nearfar {

/// The numbers a parameter may take: a range, its powers of two, or a few.
class Limits {
 public:
  Limits(std::uint64_t least, std::uint64_t most) : least_(least), most_(most) {}
  Limits(Bandwidth least, Bandwidth most) : Limits(least.bytes_per_second, most.bytes_per_second) {}
  Limits(Frequency least, Frequency most) : Limits(least.hertz, most.hertz) {}
  static Limits powers_of_two(std::uint64_t least, std::uint64_t most);
  static Limits one_of(std::vector<std::uint64_t> values);

  bool allow(std::uint64_t value) const;
  /// Completes "the value …" for one that is not allowed.
  std::string_view problem(std::uint64_t value) const;
  bool is_list() const { return !only_.empty(); }
  std::uint64_t least() const { return least_; }
  std::uint64_t most() const { return most_; }
  bool only_powers_of_two() const { return powers_of_two_; }
  const std::vector<std::uint64_t>& list() const { return only_; }
  std::string text(std::string (*format)(std::uint64_t)) const;

 private:
  std::uint64_t least_;
  std::uint64_t most_;
  bool powers_of_two_ = false;
  std::vector<std::uint64_t> only_;
};

/// A value that choosing an option gives to a parameter beside it.
struct Preset {
  std::string_view key;
  std::string_view text;
};

template <class Enum>
struct Option {
  std::string_view name;
  Enum value;
  std::span<const Preset> presets = {};
};

/// A parameter that is a number, for whoever chooses values by itself.
struct NumberDomain {
  Limits limits;
  std::uint64_t value;  ///< the present one
  std::string (*format)(std::uint64_t value);
};

/// What a parameter can be: reads and writes the bound field as text.
class Field {
 public:
  Field() = default;
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  virtual ~Field() = default;

  /// Throws BadValue when `text` can never be right. True when what it means depends on the clock.
  virtual bool check(std::string_view text) const = 0;
  /// Throws BadValue when `text` is not allowed.
  virtual void assign(std::string_view text, Frequency clock) = 0;
  virtual std::string text() const = 0;
  virtual std::string unit() const { return ""; }
  virtual std::string range() const = 0;
  /// Completes "it takes …".
  virtual std::string expects() const = 0;
  /// All values, where they are few: of a choice, a switch, or a number that is one of a list.
  virtual std::vector<std::string> choices() const { return {}; }
  /// Nothing, where the values are names.
  virtual std::optional<NumberDomain> number() const { return std::nullopt; }
  /// What the present choice gives to the parameters beside this one.
  virtual std::span<const Preset> presets() const { return {}; }
};

struct Parameter {
  std::string path;  ///< gpu.l2.size
  std::string sentence;
  std::string default_text;
  std::unique_ptr<Field> field;
};

/// A group of parameters, named by its path; the root is "".
struct SectionInfo {
  std::string path;
  std::string sentence;
  std::vector<std::string> keys;  ///< parameters and sections inside, in the order of declaration
};

/// "gpu.l2" and "size" give "gpu.l2.size"; at the root a key is a path.
std::string join_path(std::string_view section, std::string_view key);

class Schema {
 public:
  /// The Spec must outlive the schema and stay where it is: fields are bound by address.
  template <class Spec>
  explicit Schema(Spec& spec);

  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const SectionInfo* section(std::string_view path) const;
  /// Index into parameters().
  std::optional<std::size_t> find(std::string_view path) const;
  /// The frequency that turns ns into cycles.
  Frequency clock() const;

 private:
  friend class Section;

  void add_section(std::string path, std::string_view sentence);
  void add_parameter(const std::string& section, std::string_view key, std::string_view sentence,
                     std::unique_ptr<Field> field);

  std::vector<Parameter> parameters_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, SectionInfo, std::less<>> sections_;
  const Frequency* clock_ = nullptr;
};

/// What a Spec describes itself to.
class Section {
 public:
  void bytes(std::string_view key, Bytes& field, Limits limits, std::string_view sentence);
  void cycles(std::string_view key, Cycle& field, Limits limits, std::string_view sentence);
  void integer(std::string_view key, std::uint32_t& field, Limits limits, std::string_view unit,
               std::string_view sentence);
  /// The same, or `auto`: the field then holds 0 until whoever knows enough fills it in.
  void integer_or_auto(std::string_view key, std::uint32_t& field, Limits limits, std::string_view unit,
                       std::string_view sentence);
  void bytes_or_auto(std::string_view key, Bytes& field, Limits limits, std::string_view sentence);
  void bandwidth(std::string_view key, Bandwidth& field, Limits limits, std::string_view sentence);
  /// The core clock: the one frequency that all times of the system are counted in.
  void clock(std::string_view key, Frequency& field, Limits limits, std::string_view sentence);
  void flag(std::string_view key, bool& field, std::string_view sentence);
  template <class Enum>
  void choice(std::string_view key, Enum& field, std::vector<Option<Enum>> options, std::string_view sentence);

  Section group(std::string_view key, std::string_view sentence);
  template <class Spec>
  void child(std::string_view key, Spec& spec, std::string_view sentence) {
    Section inner = group(key, sentence);
    spec.describe(inner);
  }

 private:
  friend class Schema;
  /// An option without its type, so that the code for choices is written once.
  struct NamedOption {
    std::string name;
    std::span<const Preset> presets;
  };
  class ChoiceField;

  Section(Schema& schema, std::string path) : schema_(schema), path_(std::move(path)) {}
  void add_choice(std::string_view key, std::vector<NamedOption> options, std::function<std::size_t()> get,
                  std::function<void(std::size_t)> set, std::string_view sentence);

  Schema& schema_;
  std::string path_;
};

template <class Spec>
Schema::Schema(Spec& spec) {
  add_section("", "");
  Section root(*this, "");
  spec.describe(root);
}

template <class Enum>
void Section::choice(std::string_view key, Enum& field, std::vector<Option<Enum>> options, std::string_view sentence) {
  std::vector<NamedOption> names;
  names.reserve(options.size());
  for (const Option<Enum>& option : options) names.push_back({std::string(option.name), option.presets});
  auto get = [&field, options] {
    std::size_t i = 0;
    while (options.at(i).value != field) ++i;
    return i;
  };
  auto set = [&field, options](std::size_t i) { field = options.at(i).value; };
  add_choice(key, std::move(names), std::move(get), std::move(set), sentence);
}

}  // namespace nearfar
