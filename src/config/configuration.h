// A configuration: the schema of a Spec, and for each parameter the last word said about it, with who said it.
//
// Levels go from the oldest base file to the overrides; a higher level wins, and within one level the later word.
// What a choice presets (`dram.standard`) ranks just below the level that made the choice: any single key given
// there, or in a more derived file, still wins over it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema.h"
#include "config/source.h"
#include "config/yaml.h"

namespace nearfar {

class Configuration {
 public:
  /// Binds to `spec`, which must outlive this and stay where it is.
  template <class Spec>
  explicit Configuration(Spec& spec) : schema_(spec), settings_(schema_.parameters().size()) {}

  /// Takes the keys of a file's root mapping, apart from those in `not_parameters`. Levels start at 1.
  void add_file(const YamlNode& root, unsigned level, std::span<const std::string> not_parameters);
  /// Takes "path=value".
  void add_override(const std::string& text, unsigned level);
  /// Decides all values and writes them into the Spec. Times are rounded here, and nowhere else.
  void resolve();

  const Schema& schema() const { return schema_; }
  /// "default", "standard hbm", "systems/base.yaml:12:9" or "--set".
  std::string origin(std::size_t parameter) const;
  /// What was written, when the value depends on the clock: 106.7ns.
  std::string typed(std::size_t parameter) const;

  /// Throws an InputError about values that do not go together; it points at the most derived of them, and lists
  /// all with where each came from.
  [[noreturn]] void fail(std::initializer_list<std::string> paths, std::string_view message) const;

 private:
  struct Setting {
    unsigned rank = 0;
    std::string text;
    Place place;  // nowhere for a preset of a default choice
    std::string origin;
    bool depends_on_clock = false;
  };

  void add_mapping(const YamlNode& mapping, const std::string& section, unsigned level,
                   std::span<const std::string> not_parameters);
  void add_value(const YamlEntry& entry, std::size_t parameter, unsigned level);
  void offer(std::size_t parameter, Setting setting);
  void offer_presets();
  void assign(std::size_t parameter);
  [[noreturn]] void fail_value(std::size_t parameter, const Setting& setting, std::string_view problem) const;
  std::string keys_of(const SectionInfo& section) const;
  std::string unknown_key(std::string_view key, const SectionInfo& section,
                          std::span<const std::string> also_right) const;

  Schema schema_;
  std::vector<std::optional<Setting>> settings_;
};

}  // namespace nearfar
