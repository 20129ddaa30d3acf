// Laying levels over each other, and saying precisely what is wrong with a word in one of them.
#include "config/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "config/error.h"
#include "config/nearest.h"
#include "config/units.h"

namespace nearfar {
namespace {

constexpr std::size_t kLongestWord = 80;

unsigned explicit_rank(unsigned level) { return 2 * level; }
/// One below what is given explicitly at the level that made the choice; defaults are at level 0.
unsigned preset_rank(unsigned choice_rank) { return choice_rank == 0 ? 0 : choice_rank - 1; }

std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::string_view last_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::string section_name(const SectionInfo& section) {
  return section.path.empty() ? "a system" : fmt::format("`{}`", section.path);
}

/// Keys of hostile length are not repeated whole.
std::string shortened(std::string_view key) {
  if (key.size() <= kLongestWord) return std::string(key);
  std::size_t end = kLongestWord;
  while (end > 0 && (static_cast<unsigned char>(key[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{}…", key.substr(0, end));
}

}  // namespace

void Configuration::add_file(const YamlNode& root, unsigned level, std::span<const std::string> not_parameters) {
  assert(level > 0);
  add_mapping(root, "", level, not_parameters);
}

void Configuration::add_mapping(const YamlNode& mapping, const std::string& section, unsigned level,
                                std::span<const std::string> not_parameters) {
  const SectionInfo& info = *schema_.section(section);
  for (const YamlEntry& entry : mapping.entries) {
    if (std::ranges::find(not_parameters, entry.key) != not_parameters.end()) continue;
    const std::string path = join_path(section, entry.key);
    if (std::ranges::find(info.keys, entry.key) == info.keys.end()) {
      fail_at(entry.key_place, unknown_key(entry.key, info, not_parameters));
    }
    if (const auto parameter = schema_.find(path)) {
      add_value(entry, *parameter, level);
    } else if (entry.value.kind == YamlNode::Kind::Mapping) {
      add_mapping(entry.value, path, level, {});
    } else {
      fail_at(entry.value.place,
              fmt::format("`{}` is a section, not a value; its keys are {}.", path, keys_of(*schema_.section(path))));
    }
  }
}

void Configuration::add_value(const YamlEntry& entry, std::size_t parameter, unsigned level) {
  if (entry.value.kind != YamlNode::Kind::Scalar) {
    const char* found = entry.value.kind == YamlNode::Kind::Mapping ? "a mapping" : "a list";
    const Parameter& p = schema_.parameters()[parameter];
    fail_at(entry.value.place, fmt::format("`{}` takes {}: {} is no value.", p.path, p.field->expects(), found));
  }
  offer(parameter, {explicit_rank(level), entry.value.text, entry.value.place, entry.value.place.origin()});
}

void Configuration::add_override(const std::string& text, unsigned level) {
  assert(level > 0);
  const auto source = make_source(text, "--set", Source::Kind::Override);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail_at({source, 0, text.size()}, "an override is a path, `=` and a value, such as `gpu.l2.size=4MiB`.");
  }
  std::size_t begin = 0;
  std::string section;
  while (true) {
    const std::size_t end = std::min(text.find('.', begin), equals);
    const std::string key = text.substr(begin, end - begin);
    const std::string path = join_path(section, key);
    const Place place{source, begin, end - begin};
    const SectionInfo& info = *schema_.section(section);
    if (std::ranges::find(info.keys, key) == info.keys.end()) fail_at(place, unknown_key(key, info, {}));
    const auto parameter = schema_.find(path);
    if (parameter && end < equals) {
      fail_at({source, end, equals - end}, fmt::format("`{}` is a value, not a section; nothing is inside it.", path));
    }
    if (parameter) {
      const Place value{source, equals + 1, text.size() - equals - 1};
      return offer(*parameter, {explicit_rank(level), text.substr(equals + 1), value, value.origin()});
    }
    if (end == equals) {
      fail_at({source, 0, equals},
              fmt::format("`{}` is a section, not a value; its keys are {}.", path, keys_of(*schema_.section(path))));
    }
    section = path;
    begin = end + 1;
  }
}

void Configuration::offer(std::size_t parameter, Setting setting) {
  if (setting.text.size() > kLongestWord) fail_value(parameter, setting, "this is too long for a value.");
  try {
    setting.depends_on_clock = schema_.parameters()[parameter].field->check(setting.text);
  } catch (const BadValue& problem) {
    fail_value(parameter, setting, problem.what());
  }
  std::optional<Setting>& last = settings_[parameter];
  if (!last || setting.rank >= last->rank) last = std::move(setting);
}

void Configuration::resolve() {
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    if (settings_[i] && !settings_[i]->depends_on_clock) assign(i);
  }
  offer_presets();
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    if (settings_[i]) assign(i);
  }
}

void Configuration::offer_presets() {
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const Parameter& choice = schema_.parameters()[i];
    const unsigned rank = settings_[i] ? settings_[i]->rank : 0;
    const Place place = settings_[i] ? settings_[i]->place : Place{};
    for (const Preset& preset : choice.field->presets()) {
      const auto target = schema_.find(join_path(parent_of(choice.path), preset.key));
      assert(target && "a preset names a parameter beside its choice");
      const std::string origin = fmt::format("{} {}", last_of(choice.path), choice.field->text());
      offer(*target, {preset_rank(rank), std::string(preset.text), place, origin});
    }
  }
}

void Configuration::assign(std::size_t parameter) {
  const Setting& setting = *settings_[parameter];
  try {
    schema_.parameters()[parameter].field->assign(setting.text, schema_.clock());
  } catch (const BadValue& problem) {
    fail_value(parameter, setting, problem.what());
  }
}

void Configuration::fail_value(std::size_t parameter, const Setting& setting, std::string_view problem) const {
  const Parameter& p = schema_.parameters()[parameter];
  const std::string message = fmt::format("`{}` takes {}: {}", p.path, p.field->expects(), problem);
  if (setting.place.source) fail_at(setting.place, message);
  throw InputError(fmt::format("{}: {}", setting.origin, message));
}

std::string Configuration::keys_of(const SectionInfo& section) const {
  return fmt::format("{}", fmt::join(section.keys, ", "));
}

std::string Configuration::unknown_key(std::string_view key, const SectionInfo& section,
                                       std::span<const std::string> also_right) const {
  std::vector<std::string> candidates = section.keys;
  candidates.insert(candidates.end(), also_right.begin(), also_right.end());
  if (key.empty()) {
    return fmt::format("a key is missing; those of {} are {}.", section_name(section), fmt::join(candidates, ", "));
  }
  const bool is_path = key.find('.') != std::string_view::npos;
  if (is_path && (schema_.find(key) || schema_.section(key) != nullptr)) {
    return fmt::format("`{}` is a path for --set; in a file its parts are nested keys.", key);
  }
  const std::string start = fmt::format("{} has no key `{}`.", section_name(section), shortened(key));
  const std::string hint = did_you_mean(key, candidates);
  if (!hint.empty()) return start + hint;
  for (const Parameter& parameter : schema_.parameters()) {
    const std::string_view parent = parent_of(parameter.path);
    if (last_of(parameter.path) == key) return fmt::format("{} Did you mean `{}`?", start, parameter.path);
    if (last_of(parent) == key) return fmt::format("{} Did you mean `{}`?", start, parent);
  }
  return fmt::format("{} Its keys are {}.", start, fmt::join(candidates, ", "));
}

std::string Configuration::origin(std::size_t parameter) const {
  return settings_[parameter] ? settings_[parameter]->origin : "default";
}

std::string Configuration::typed(std::size_t parameter) const {
  const std::optional<Setting>& setting = settings_[parameter];
  return setting && setting->depends_on_clock ? setting->text : "";
}

void Configuration::fail(std::initializer_list<std::string> paths, std::string_view message) const {
  std::vector<std::string> lines;
  const Setting* most_derived = nullptr;
  for (const std::string& path : paths) {
    const std::size_t i = schema_.find(path).value();
    lines.push_back(fmt::format("  {} = {} ({})", path, schema_.parameters()[i].field->text(), origin(i)));
    const std::optional<Setting>& setting = settings_[i];
    if (!setting || !setting->place.source) continue;
    if (most_derived == nullptr || setting->rank > most_derived->rank) most_derived = &*setting;
  }
  const std::string list = fmt::format("{}", fmt::join(lines, "\n"));
  if (most_derived != nullptr) fail_at(most_derived->place, message, list);
  throw InputError(fmt::format("{}\n{}", message, list));
}

}  // namespace nearfar
