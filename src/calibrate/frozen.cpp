#include "calibrate/frozen.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>

#include "config/error.h"
#include "config/folder.h"
#include "config/words.h"
#include "config/yaml.h"
#include "designs/names.h"
#include "study/run_key.h"
#include "study/study_yaml.h"

namespace nearfar {
namespace {

const std::vector<std::string> kProvenanceKeys = {
    "calibration", "how",   "order",   "hash",           "model",         "frozen",        "wave",
    "size",        "tried", "reading", "implausibility", "ruled_out_all", "not_ruled_out", "system"};
const std::vector<std::string> kHows = {"nearfar calibrate", "by hand"};
const std::vector<std::string> kReadingKeys = {"set", "param", "system", "size", "max", "mean"};

std::string quoted(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '/' || c == '-' || c == '_' || c == '+';
  });
  return plain ? text : "\"" + text + "\"";
}

std::string mapping_text(const std::vector<std::string>& settings) {
  std::vector<std::string> parts;
  for (const std::string& text : settings) {
    const std::size_t equals = text.find('=');
    parts.push_back(fmt::format("{}: {}", quoted(text.substr(0, equals)), quoted(text.substr(equals + 1))));
  }
  return "{" + join(parts, ", ") + "}";
}

/// Keys with dots as YAML has them, one inside another.
struct Tree {
  std::string value;
  std::map<std::string, Tree> below;
};

void add_path(Tree& tree, const std::string& path, const std::string& value) {
  Tree* at = &tree;
  for (const std::string& word : split(path, '.')) at = &at->below[word];
  at->value = value;
}

void write_tree(const Tree& tree, unsigned indent, std::string& out) {
  for (const auto& [key, below] : tree.below) {
    fmt::format_to(std::back_inserter(out), "{:{}}{}:", "", indent, quoted(key));
    if (below.below.empty()) {
      out += " " + quoted(below.value) + "\n";
    } else {
      out += "\n";
      write_tree(below, indent + 2, out);
    }
  }
}

std::string reading_text(const Calibration& calibration, const ReadingOutcome& outcome) {
  const Settings settings = settings_of(calibration, outcome.reading);
  std::vector<std::string> parts;
  if (!settings.system.empty()) parts.push_back("system: " + quoted(settings.system));
  if (settings.size) parts.push_back("size: " + std::string(size_name(*settings.size)));
  if (!settings.overrides.empty()) parts.push_back("set: " + mapping_text(settings.overrides));
  if (!settings.parameters.empty()) parts.push_back("param: " + mapping_text(settings.parameters));
  parts.push_back(fmt::format("max: {:.2f}", outcome.all.max));
  parts.push_back(fmt::format("mean: {:.2f}", outcome.all.mean));
  return fmt::format("    {}: {{{}}}\n", quoted(outcome.reading.name), join(parts, ", "));
}

std::int64_t time_of(const YamlNode& node) {
  const std::string text = as_text(node, "frozen");
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') fail_at(node.place, "`frozen` takes a time such as 2026-03-01T12:00:00Z.");
  return timegm(&parts);
}

std::vector<std::string> frozen_settings(const YamlNode& mapping, const std::string& key) {
  std::vector<std::string> texts;
  const YamlNode* node = mapping.find(key);
  if (node == nullptr) return texts;
  for (const YamlEntry& entry : as_mapping(*node, key).entries)
    texts.push_back(entry.key + "=" + as_text(entry.value, entry.key));
  return texts;
}

FrozenReading frozen_reading(const YamlEntry& entry) {
  const YamlNode& mapping = as_mapping(entry.value, entry.key);
  check_keys(mapping, "a frozen reading", kReadingKeys);
  FrozenReading reading;
  reading.name = entry.key;
  reading.settings.overrides = frozen_settings(mapping, "set");
  reading.settings.parameters = frozen_settings(mapping, "param");
  if (const YamlNode* node = mapping.find("system")) reading.settings.system = as_text(*node, "system");
  if (const YamlNode* node = mapping.find("size")) reading.settings.size = parse_size(as_text(*node, "size"));
  return reading;
}

class FrozenReader {
 public:
  FrozenReader(const YamlNode& root, const std::string& shown_as) : root_(root) { frozen_.file = shown_as; }

  std::optional<Frozen> read() {
    const YamlNode* node = root_.find("provenance");
    if (node == nullptr) return std::nullopt;
    provenance_ = &as_mapping(*node, "provenance");
    check_keys(*provenance_, "`provenance`", kProvenanceKeys);
    frozen_.paper = as_text(need("calibration"), "calibration");
    const YamlNode& how = need("how");
    frozen_.by_hand = as_one_of({as_text(how, "how"), how.place}, "`how`", kHows) == 1;
    frozen_.time = time_of(need("frozen"));
    frozen_.system =
        frozen_.by_hand ? std::filesystem::path(frozen_.file).stem().string() : as_text(need("system"), "system");
    if (frozen_.by_hand) {
      frozen_.order = as_text(need("order"), "order");
    } else {
      frozen_.hash = as_text(need("hash"), "hash");
      frozen_.model = as_text(need("model"), "model");
      frozen_.tried = parse_whole("`tried`", as_text(need("tried"), "tried"), 1, 1'000'000);
    }
    read_readings();
    return std::move(frozen_);
  }

 private:
  const YamlNode& need(const std::string& key) const {
    const YamlNode* node = provenance_->find(key);
    if (node == nullptr) fail_at(provenance_->place, fmt::format("`provenance` lacks `{}`.", key));
    return *node;
  }

  void read_readings() {
    const YamlNode& node = need("not_ruled_out");
    std::vector<std::string> names;
    for (const YamlEntry& entry : as_mapping(node, "not_ruled_out").entries) {
      frozen_.readings.push_back(frozen_reading(entry));
      names.push_back(entry.key);
    }
    const YamlNode& chosen = need("reading");
    const std::size_t index =
        as_one_of({as_text(chosen, "reading"), chosen.place}, "reading in `not_ruled_out`", names);
    std::rotate(frozen_.readings.begin(), frozen_.readings.begin() + static_cast<std::ptrdiff_t>(index),
                frozen_.readings.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  }

  const YamlNode& root_;
  const YamlNode* provenance_ = nullptr;
  Frozen frozen_;
};

std::optional<Frozen> frozen_in(const std::shared_ptr<const Source>& source, const std::string& shown_as) {
  const YamlNode root = parse_yaml(source);
  return FrozenReader(root, shown_as).read();
}

bool is_reference(const std::string& designs, const std::vector<std::string>& reference_designs) {
  return std::ranges::all_of(split(designs, '+'), [&](const std::string& name) {
    return name == kBaseline || std::ranges::find(reference_designs, name) != reference_designs.end();
  });
}

}  // namespace

std::string time_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string frozen_text(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                        const CalibrationAnalysis& analysis, std::size_t tried, std::int64_t time) {
  const ReadingOutcome& chosen = outcomes[*analysis.chosen];
  const Settings settings = settings_of(calibration, chosen.reading);
  unsigned waves = 0;
  for (const ReadingOutcome& outcome : outcomes) waves = std::max(waves, outcome.reading.wave);
  std::string out = fmt::format(
      "# The reading of {0}'s baseline that its published facts choose, frozen by `nearfar calibrate {1} --freeze`. A\n"
      "# design that runs on it is measured only if it had not run with these values before that time.\n"
      "base: {2}\ndescription: {3}\n\n"
      "provenance:\n  calibration: {1}\n  how: nearfar calibrate\n  system: {13}\n  hash: {4}\n  model: \"{5}\"\n  "
      "frozen: \"{6}\"\n"
      "  size: {7}\n  wave: {8}\n  tried: {9}\n  reading: {10}\n  implausibility: {{max: {11:.2f}, mean: {12:.2f}}}\n",
      calibration.title, calibration.id, settings.system.empty() ? calibration.system : settings.system,
      quoted(fmt::format("Frozen reading {} of the baseline of {}.", chosen.reading.name, calibration.title)),
      calibration.hash, model_version(), time_text(time), size_name(calibration.size), waves, tried,
      quoted(chosen.reading.name), chosen.all.max, chosen.all.mean, calibration.system);
  if (analysis.all_ruled_out) {
    out += fmt::format(
        "  ruled_out_all: \"every reading is above {:g} standard deviations in some fact; below are those "
        "within {:g} times the lowest mean\"\n",
        calibration.cutoff, kComparable);
  }
  out += "  not_ruled_out:\n";
  for (const std::size_t i : analysis.remaining) out += reading_text(calibration, outcomes[i]);
  Tree tree;
  for (const std::string& text : settings.overrides) {
    const std::size_t equals = text.find('=');
    add_path(tree, text.substr(0, equals), text.substr(equals + 1));
  }
  if (!tree.below.empty()) out += "\n";
  write_tree(tree, 0, out);
  return out;
}

std::optional<Frozen> read_frozen_text(const std::string& text, const std::string& shown_as) {
  return frozen_in(make_source(text, shown_as), shown_as);
}

std::vector<Frozen> read_frozen() {
  const SearchPath systems("systems", "NEARFAR_SYSTEMS");
  std::vector<Frozen> all;
  for (const std::string& name : systems.names()) {
    const NamedFile file = *systems.find(name);
    auto frozen = frozen_in(read_source(file.path.string(), file.shown), file.shown);
    if (!frozen) continue;
    const auto other = std::ranges::find(all, frozen->paper, &Frozen::paper);
    if (other != all.end()) {
      throw InputError(fmt::format("{} and {} are both frozen readings of {}; a reading is frozen once.", other->file,
                                   frozen->file, frozen->paper));
    }
    all.push_back(std::move(*frozen));
  }
  return all;
}

Study on_reading(Study study, const Frozen& frozen, const FrozenReading& reading) {
  for (StudyVariant& variant : study.variants) {
    if (variant.system != frozen.system) continue;
    if (!reading.settings.system.empty()) variant.system = reading.settings.system;
    if (reading.settings.size && !study.other_size) variant.size = *reading.settings.size;
    variant.overrides = merged_texts(reading.settings.overrides, variant.overrides);
    variant.parameters = merged_texts(reading.settings.parameters, variant.parameters);
  }
  return study;
}

std::optional<std::string> broken_order(const Frozen& frozen, const Study& study,
                                        const std::vector<std::string>& reference_designs, const ResultStore& store) {
  if (frozen.by_hand || study.other_size) return std::nullopt;
  std::optional<FirstRun> first;
  for (const StudyVariant& variant : study.variants) {
    if (is_reference(variant.designs, reference_designs) || !missing_designs(variant.designs).empty()) continue;
    const std::vector<std::string> machines = {
        machine_key(make_machine(variant.system, variant.designs, variant.overrides))};
    const auto found = store.first_run(machines, std::string(size_name(variant.size)));
    if (found && (!first || found->time < first->time)) first = found;
  }
  if (!first || first->time >= frozen.time) return std::nullopt;
  return fmt::format("the reading was frozen at {}, after {} had run with it ({} on {})", time_text(frozen.time),
                     first->designs, first->workload, time_text(first->time));
}

}  // namespace nearfar
