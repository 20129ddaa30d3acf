// A value of an open parameter stands for what it sets. Most set the parameter's own key to the value as written; where
// that is not so, the file says what it sets.
#include "calibrate/open_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "designs/design.h"
#include "designs/names.h"
#include "study/study_yaml.h"

namespace nearfar {
namespace {

const std::vector<std::string> kOpenKeys = {"values", "range", "scale", "source", "settings", "missing"};
const std::vector<std::string> kSettingKeys = {"set", "param", "system", "size"};
const std::vector<std::string> kScales = {"linear", "log"};

enum class KeyKind : std::uint8_t { Override, Parameter, System, Size };

/// A message without where the command line would have had the mistake.
std::string message_at_hand(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  if (line.starts_with("--set: ")) line.erase(0, 7);
  return line;
}

std::vector<std::string> words_between(const std::string& text, const std::string& separator) {
  std::vector<std::string> words;
  std::size_t from = 0;
  for (;;) {
    const std::size_t at = text.find(separator, from);
    words.push_back(text.substr(from, at == std::string::npos ? at : at - from));
    if (at == std::string::npos) return words;
    from = at + separator.size();
  }
}

class OpenReader {
 public:
  OpenReader(const YamlEntry& entry, Calibration& calibration)
      : entry_(entry), node_(as_mapping(entry.value, entry.key)), calibration_(calibration) {}

  void read() {
    check_keys(node_, "an open parameter", kOpenKeys);
    parameter_.name = entry_.key;
    if (const YamlNode* missing = node_.find("missing")) {
      calibration_.open_left_out.push_back({entry_.key, as_text(*missing, "missing")});
      return;
    }
    const YamlNode *values = node_.find("values"), *range = node_.find("range");
    if ((values == nullptr) == (range == nullptr)) {
      fail_at(entry_.key_place,
              fmt::format("`{}` needs either `values`, each with its source, or a `range`.", entry_.key));
    }
    values != nullptr ? read_values(*values) : read_range(*range);
    calibration_.open.push_back(std::move(parameter_));
  }

 private:
  /// What kind of thing a key is; complains with the nearest where it is nothing.
  KeyKind kind_of(const std::string& key) const {
    if (key == "system") return KeyKind::System;
    if (key == "size") return KeyKind::Size;
    const auto machine = make_machine(calibration_.system, std::string(kBaseline), {});
    std::vector<std::string> known = {"system", "size"};
    for (const EffectiveParameter& parameter : machine.loaded.parameters) {
      if (parameter.path == key) return KeyKind::Override;
      known.push_back(parameter.path);
    }
    for (const std::string& workload : calibration_.workloads) {
      const std::vector<Application> applications = plan_applications(workload, {}, {workload});
      for (const ParameterSetting& setting : applications.front().parameters) {
        known.push_back(workload + "." + setting.name);
        if (known.back() == key) return KeyKind::Parameter;
      }
    }
    fail_at(entry_.key_place,
            fmt::format("`{}` is no parameter of the system `{}`, nor of a workload here.{}", key, calibration_.system,
                        did_you_mean(key, known)),
            "What a value sets can be said under `settings`; what cannot be drawn has `missing` with the reason.");
  }

  static void give(Settings& settings, const std::string& key, KeyKind kind, const std::string& value) {
    switch (kind) {
      case KeyKind::Override: settings.overrides.push_back(key + "=" + value); break;
      case KeyKind::Parameter: settings.parameters.push_back(key + "=" + value); break;
      case KeyKind::System: settings.system = value; break;
      case KeyKind::Size: settings.size = parse_size(value); break;
    }
  }

  Settings own_settings(const std::string& value, const Place& place) const {
    Settings settings;
    for (const std::string& key : words_between(entry_.key, " and ")) {
      const KeyKind kind = kind_of(key);
      check_here(place, [&] { give(settings, key, kind, value); });
    }
    return settings;
  }

  static Settings read_settings(const YamlNode& node, const std::string& key) {
    const YamlNode& mapping = as_mapping(node, key);
    check_keys(mapping, "`settings` of a value", kSettingKeys);
    Settings settings;
    if (const YamlNode* set = mapping.find("set")) settings.overrides = setting_texts(*set, "set");
    if (const YamlNode* param = mapping.find("param")) settings.parameters = setting_texts(*param, "param");
    if (const YamlNode* system = mapping.find("system")) settings.system = as_text(*system, "system");
    if (const YamlNode* size = mapping.find("size"))
      check_here(size->place, [&] { settings.size = parse_size(as_text(*size, "size")); });
    return settings;
  }

  void read_values(const YamlNode& values) {
    const YamlNode* settings = node_.find("settings");
    if (settings != nullptr) check_labels(as_mapping(*settings, "settings"), as_mapping(values, "values"));
    for (const YamlEntry& entry : as_mapping(values, "values").entries) {
      OpenValue value;
      value.label = entry.key;
      value.source = as_text(entry.value, entry.key);
      const YamlNode* own = settings == nullptr ? nullptr : settings->find(entry.key);
      value.settings = own != nullptr ? read_settings(*own, entry.key) : own_settings(entry.key, entry.key_place);
      check_settings(value.settings, std::string(kBaseline), calibration_,
                     own != nullptr ? own->place : entry.key_place);
      parameter_.values.push_back(std::move(value));
    }
    if (parameter_.values.empty()) fail_at(values.place, "`values` takes a mapping of values to their sources.");
  }

  static void check_labels(const YamlNode& settings, const YamlNode& values) {
    std::vector<std::string> labels;
    for (const YamlEntry& entry : values.entries) labels.push_back(entry.key);
    for (const YamlEntry& entry : settings.entries) as_one_of({entry.key, entry.key_place}, "value", labels);
  }

  struct End {
    double value = 0;
    std::string unit;
    bool whole = false;
  };

  static End end_of(const std::string& text, const Place& place) {
    End end;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), end.value);
    if (error != std::errc{} || !std::isfinite(end.value))
      fail_at(place, fmt::format("`range` takes two numbers such as 16GB/s..300GB/s; `{}` is none.", text));
    end.unit = std::string(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    end.whole = text.find('.') == std::string::npos;
    return end;
  }

  void read_range(const YamlNode& node) {
    const std::vector<std::string> ends = words_between(as_text(node, "range"), "..");
    if (ends.size() != 2) fail_at(node.place, "`range` takes two numbers such as 16GB/s..300GB/s.");
    const End low = end_of(ends[0], node.place), high = end_of(ends[1], node.place);
    if (low.unit != high.unit)
      fail_at(node.place,
              fmt::format("both ends of a `range` have the same unit; these have `{}` and `{}`.", low.unit, high.unit));
    if (!(low.value < high.value)) fail_at(node.place, "the lower end of a `range` stands first.");
    OpenRange range{
        .low = low.value, .high = high.value, .whole = low.whole && high.whole, .unit = low.unit, .keys = {}};
    if (const YamlNode* scale = node_.find("scale"))
      range.logarithmic = as_one_of({as_text(*scale, "scale"), scale->place}, "`scale`", kScales) == 1;
    if (range.logarithmic && !(range.low > 0)) fail_at(node.place, "a `range` with `scale: log` is above 0.");
    const YamlNode* source = node_.find("source");
    if (source == nullptr) fail_at(entry_.key_place, fmt::format("the range of `{}` lacks its `source`.", entry_.key));
    parameter_.source = as_text(*source, "source");
    range.keys = words_between(entry_.key, " and ");
    range.is_parameter = kind_of(range.keys.front()) == KeyKind::Parameter;
    for (const std::string& end : ends) {
      const Settings settings = own_settings(end, node.place);
      check_settings(settings, std::string(kBaseline), calibration_, node.place);
    }
    parameter_.range = std::move(range);
  }

  const YamlEntry& entry_;
  const YamlNode& node_;
  Calibration& calibration_;
  OpenParameter parameter_;
};

}  // namespace

void check_here(const Place& place, const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError& error) {
    fail_at(place, message_at_hand(error.what()));
  }
}

void read_open(const YamlEntry& entry, Calibration& calibration) { OpenReader(entry, calibration).read(); }

std::vector<std::string> setting_texts(const YamlNode& node, const std::string& key) {
  std::vector<std::string> texts;
  for (const YamlEntry& entry : as_mapping(node, key).entries)
    texts.push_back(entry.key + "=" + as_text(entry.value, entry.key));
  return texts;
}

void check_settings(const Settings& settings, const std::string& design, const Calibration& calibration,
                    const Place& place) {
  check_here(place, [&] {
    make_machine(settings.system.empty() ? calibration.system : settings.system, design, settings.overrides);
    Experiment experiment;
    experiment.size = settings.size.value_or(calibration.size);
    experiment.parameters = settings.parameters;
    if (settings.parameters.empty()) return;
    for (const std::string& workload : calibration.workloads)
      plan_applications(workload, experiment, calibration.workloads);
  });
}

std::string reference_design(const YamlNode& node, const std::vector<std::string>& reference_designs) {
  const std::string designs = as_text(node, "design");
  refuse_unknown_designs(designs, node.place);
  for (const std::string& name : split(designs, '+')) {
    if (name == kBaseline || std::ranges::find(reference_designs, name) != reference_designs.end()) continue;
    fail_at(node.place,
            fmt::format("a calibration runs the baseline only, and `{}` is not among its `reference_designs`.", name),
            "A machine whose numbers the paper publishes as facts of the baseline is named there, with the figure.");
  }
  return designs;
}

void refuse_unknown_designs(const std::string& designs, const Place& place) {
  std::vector<std::string> known;
  for (const DesignInfo& design : list_designs()) known.push_back(design.name);
  for (const std::string& name : missing_designs(designs))
    fail_at(place, fmt::format("there is no design `{}`.{}", name, did_you_mean(name, known)));
}

}  // namespace nearfar
