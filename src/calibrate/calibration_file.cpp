// Reads a calibration whole and checks it whole: every value of every open parameter makes a machine, every fact has
// statistics that exist, and no fact needs a design that is not a machine of the baseline.
#include "calibrate/calibration_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "calibrate/open_file.h"
#include "config/error.h"
#include "config/folder.h"
#include "config/nearest.h"
#include "config/words.h"
#include "designs/names.h"
#include "study/sha256.h"
#include "study/study_yaml.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

/// What was measured by hand and why stays in the file as it was recorded; nothing here reads it.
const std::vector<std::string> kRecordKeys = {"readings", "comparisons", "rule",        "chosen",
                                              "findings", "provenance",  "second_pass", "probes"};
const std::vector<std::string> kCalibrationKeys = {"title",  "system", "size",     "workloads", "windows",
                                                   "repeat", "cutoff", "variants", "open",      "reference_designs",
                                                   "facts"};
const std::vector<std::string> kFactVariantKeys = {"set", "param", "design", "system"};
/// What says how a fact is measured. Where a fact has `run`, these are looked for there first.
const std::vector<std::string> kMeasureKeys = {"value", "as",     "against",   "against_value", "variant", "set",
                                               "param", "design", "workloads", "published",     "sigma"};
const std::vector<std::string> kFactKeys = {"sentence",    "figure",  "claim", "uncertainty", "measure",
                                            "discrepancy", "missing", "role",  "run"};
const std::vector<std::string> kFactRelations = {"value", "ratio", "gain", "reduction", "change"};
const std::vector<std::string> kUncertainties = {"figure", "text", "derived"};
const std::vector<std::string> kMeasures = {"run", "functional"};
const std::vector<std::string> kFactRoles = {"fact", "derived"};
constexpr const char* kBaselineVariant = "baseline";

struct Together {
  const char* name;
  Target::Of of;
};
constexpr Together kTogether[] = {{"mean", Target::Of::Mean},
                                  {"geometric mean", Target::Of::GeometricMean},
                                  {"lowest", Target::Of::Lowest},
                                  {"highest", Target::Of::Highest}};

double number_of(const YamlNode& node, std::string_view key, bool zero) {
  const std::string text = as_text(node, key);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) &&
                    (value > 0 || (zero && value == 0));
  if (!good)
    fail_at(node.place, fmt::format("`{}` takes a number {}0; `{}` is not.", key, zero ? "from " : "above ", text));
  return value;
}

/// A fact while it is read: where each key that says how it is measured stands.
class FactReader {
 public:
  FactReader(const YamlEntry& entry, Calibration& calibration)
      : entry_(entry), node_(as_mapping(entry.value, entry.key)), calibration_(calibration) {}

  void read() {
    check();
    fact_.id = entry_.key;
    fact_.sentence = as_text(need("sentence"), "sentence");
    if (const YamlNode* node = find("figure")) fact_.figure = as_text(*node, "figure");
    if (const YamlNode* node = find("claim")) fact_.claim = as_text(*node, "claim");
    if (const YamlNode* node = find("missing"))
      return calibration_.facts_left_out.push_back({fact_.id, as_text(*node, "missing")});
    if (is_derived()) return calibration_.derived.push_back({fact_.id, fact_.sentence});
    if (is_functional() && run_ == nullptr) {
      return calibration_.facts_left_out.push_back(
          {fact_.id, "measured by `nearfar functional`; it has no `run` that says how a run measures it"});
    }
    read_uncertainty();
    read_value();
    read_variant();
    read_relation();
    read_workloads();
    read_targets();
    calibration_.facts.push_back(std::move(fact_));
  }

 private:
  void check() {
    std::vector<std::string> known = kFactKeys;
    known.insert(known.end(), kMeasureKeys.begin(), kMeasureKeys.end());
    check_keys(node_, "a fact", known);
    run_ = node_.find("run");
    if (run_ != nullptr) check_keys(as_mapping(*run_, "run"), "`run`", kMeasureKeys);
    const YamlNode* measure = find("measure");
    functional_ =
        measure != nullptr && as_one_of({as_text(*measure, "measure"), measure->place}, "`measure`", kMeasures) == 1;
  }

  const YamlNode* find(std::string_view key) const { return node_.find(key); }

  const YamlNode& need(const std::string& key) const {
    const YamlNode* node = node_.find(key);
    if (node == nullptr) fail_at(entry_.key_place, fmt::format("the fact `{}` lacks `{}`.", entry_.key, key));
    return *node;
  }

  /// A key that says how the fact is measured: in `run` where there is one. What is published, how well it is known and
  /// of which workloads stands for both.
  const YamlNode* how(const std::string& key) const {
    if (run_ == nullptr) return node_.find(key);
    const YamlNode* node = run_->find(key);
    const bool shared = key == "published" || key == "sigma" || key == "workloads";
    return node == nullptr && shared ? node_.find(key) : node;
  }

  bool is_functional() const { return functional_; }

  bool is_derived() const {
    const YamlNode* role = find("role");
    return role != nullptr && as_one_of({as_text(*role, "role"), role->place}, "role of a fact", kFactRoles) == 1;
  }

  void read_uncertainty() {
    if (const YamlNode* node = find("uncertainty")) {
      fact_.uncertainty = static_cast<Uncertainty>(
          as_one_of({as_text(*node, "uncertainty"), node->place}, "`uncertainty`", kUncertainties));
    }
    if (const YamlNode* node = find("discrepancy")) fact_.discrepancy = number_of(*node, "discrepancy", true);
  }

  static Expression expression_of(const YamlNode& node, const std::string& key) {
    Expression expression = Expression::parse(as_text(node, key), node.place);
    for (const Expression::Name& name : expression.names()) {
      if (name.histogram ? is_histogram(name.text) : is_statistic(name.text)) continue;
      const std::string now = renamed_statistic(name.text);
      fail_at(name.place, now.empty()
                              ? fmt::format("there is no {} `{}`.{}", name.histogram ? "histogram" : "statistic",
                                            name.text, nearest_statistic(name.text))
                              : fmt::format("the statistic `{}` is now called `{}`.", name.text, now));
    }
    return expression;
  }

  void read_value() {
    const YamlNode* node = how("value");
    if (node == nullptr) {
      fail_at(entry_.key_place, fmt::format("the fact `{}` lacks `value`: speedup, or statistics such as "
                                            "100 * iommu.tlb.hits / iommu.tlb.lookups.",
                                            entry_.key));
    }
    fact_.speedup = as_text(*node, "value") == "speedup";
    if (!fact_.speedup) fact_.value = expression_of(*node, "value");
    if (const YamlNode* other = how("against_value")) {
      if (fact_.speedup) fail_at(other->place, "a speedup is of cycles on both sides; it has no `against_value`.");
      fact_.against_value = expression_of(*other, "against_value");
    }
  }

  /// A variant by its name, or one that the fact describes itself.
  void read_variant() {
    fact_.variant = kBaselineVariant;
    const bool own = how("set") != nullptr || how("param") != nullptr || how("design") != nullptr;
    if (const YamlNode* node = how("variant")) {
      if (own) fail_at(node->place, "a fact has a `variant`, or `set`, `param` and `design` of its own, not both.");
      fact_.variant = variant_name(*node, "variant");
      return;
    }
    if (!own) return;
    fact_.variant = "fact " + fact_.id;
    FactVariant variant;
    if (const YamlNode* node = how("design")) variant.design = reference_design(*node, calibration_.reference_designs);
    if (const YamlNode* node = how("set")) variant.settings.overrides = setting_texts(*node, "set");
    if (const YamlNode* node = how("param")) variant.settings.parameters = setting_texts(*node, "param");
    check_settings(variant.settings, variant.design, calibration_, entry_.key_place);
    calibration_.variants[fact_.variant] = std::move(variant);
  }

  std::string variant_name(const YamlNode& node, const std::string& key) const {
    std::vector<std::string> names;
    for (const auto& [name, variant] : calibration_.variants) {
      if (!name.starts_with("fact ")) names.push_back(name);
    }
    return names[as_one_of({as_text(node, key), node.place}, "variant", names)];
  }

  void read_relation() {
    fact_.relation = fact_.speedup ? Relation::Ratio : Relation::Value;
    if (const YamlNode* as = how("as")) {
      fact_.relation = static_cast<Relation>(as_one_of({as_text(*as, "as"), as->place}, "`as`", kFactRelations));
      if (fact_.speedup && fact_.relation == Relation::Value)
        fail_at(as->place, "a speedup is always against something.");
    }
    const YamlNode* against = how("against");
    if (fact_.relation == Relation::Value) {
      if (against != nullptr) fail_at(against->place, "`against` needs `as: ratio`, `gain`, `reduction` or `change`.");
      return;
    }
    fact_.against = against == nullptr ? kBaselineVariant : variant_name(*against, "against");
    if (fact_.against == fact_.variant && !fact_.against_value)
      fail_at(entry_.key_place,
              fmt::format("the fact `{}` sets the variant `{}` against itself.", fact_.id, fact_.against));
  }

  void read_workloads() {
    fact_.workloads = calibration_.workloads;
    const YamlNode* node = how("workloads");
    if (node == nullptr) return;
    fact_.workloads.clear();
    for (const PlacedText& text : as_texts(*node, "workloads")) {
      as_one_of(text, "workload in this calibration", calibration_.workloads);
      fact_.workloads.push_back(text.text);
    }
  }

  void read_targets() {
    const YamlNode* published = how("published");
    if (published == nullptr) fail_at(entry_.key_place, fmt::format("the fact `{}` lacks `published`.", fact_.id));
    const YamlNode* sigma = how("sigma");
    if (sigma == nullptr) {
      fail_at(entry_.key_place,
              fmt::format("the fact `{}` lacks `sigma`, the standard deviation of what is published.", fact_.id));
    }
    for (const YamlEntry& entry : as_mapping(*published, "published").entries) {
      Target target;
      read_subject(entry, target);
      read_published(entry, target);
      target.sigma = sigma_of(*sigma, entry);
      fact_.targets.push_back(std::move(target));
    }
    if (fact_.targets.empty())
      fail_at(published->place, "`published` takes a mapping such as {mean: 4.1} or {MT: 34.3}.");
  }

  void read_subject(const YamlEntry& entry, Target& target) const {
    for (const Together& each : kTogether) {
      if (entry.key == each.name) return void(target.of = each.of);
    }
    std::vector<std::string> names = fact_.workloads;
    for (const Together& each : kTogether) names.emplace_back(each.name);
    as_one_of({entry.key, entry.key_place}, "workload of this fact", names);
    target.workload = entry.key;
  }

  static void read_published(const YamlEntry& entry, Target& target) {
    const auto read = parse_published(as_text(entry.value, entry.key));
    if (!read || read->form == Published::Form::Several) {
      fail_at(entry.value.place,
              fmt::format("`published` takes a number, a range `1.1..2.4`, or a bound such as `>70` or "
                          "`<1.0`; `{}` is none.",
                          entry.value.text));
    }
    target.published = *read;
  }

  static double sigma_of(const YamlNode& sigma, const YamlEntry& entry) {
    if (sigma.kind != YamlNode::Kind::Mapping) return number_of(sigma, "sigma", false);
    const YamlNode* own = sigma.find(entry.key);
    if (own == nullptr) fail_at(sigma.place, fmt::format("`sigma` says nothing of `{}`.", entry.key));
    return number_of(*own, "sigma", false);
  }

  const YamlEntry& entry_;
  const YamlNode& node_;
  Calibration& calibration_;
  const YamlNode* run_ = nullptr;
  bool functional_ = false;
  Fact fact_;
};

class CalibrationReader {
 public:
  CalibrationReader(const std::shared_ptr<const Source>& source, std::string id, std::optional<SizeClass> size)
      : root_(parse_yaml(source, {"calibration", "calibrations", "title: Trans-FW", "write them out"})), size_(size) {
    calibration_.id = std::move(id);
    Sha256 hash;
    hash.add(source->text);
    calibration_.hash = hash.digits();
  }

  Calibration calibration() {
    std::vector<std::string> known = kCalibrationKeys;
    known.insert(known.end(), kRecordKeys.begin(), kRecordKeys.end());
    check_keys(root_, "a calibration", known);
    calibration_.title = as_text(required("title", "title: Trans-FW"), "title");
    read_system();
    read_numbers();
    read_workloads();
    read_reference_designs();
    read_variants();
    for (const YamlEntry& entry : as_mapping(required("open", "open: {link.bandwidth: {values: {…}}}"), "open").entries)
      read_open(entry, calibration_);
    for (const YamlEntry& entry : as_mapping(required("facts", "facts: {queue: {…}}"), "facts").entries)
      FactReader(entry, calibration_).read();
    return std::move(calibration_);
  }

 private:
  const YamlNode& required(const std::string& key, const std::string& example) const {
    const YamlNode* node = root_.find(key);
    if (node == nullptr) fail_at(root_.place, fmt::format("a calibration needs `{}`, such as `{}`.", key, example));
    return *node;
  }

  void read_system() {
    const YamlNode& node = required("system", "system: mmu-4gpu");
    calibration_.system = as_text(node, "system");
    check_here(node.place, [&] { make_machine(calibration_.system, std::string(kBaseline), {}); });
  }

  void read_numbers() {
    const YamlNode& size = required("size", "size: small");
    check_here(size.place, [&] { calibration_.size = parse_size(as_text(size, "size")); });
    calibration_.size = size_.value_or(calibration_.size);
    if (const YamlNode* node = root_.find("repeat")) {
      check_here(node->place, [&] {
        calibration_.repeat =
            static_cast<std::uint32_t>(parse_whole("`repeat`", as_text(*node, "repeat"), 1, kMostRepeats));
      });
    }
    if (const YamlNode* node = root_.find("cutoff")) calibration_.cutoff = number_of(*node, "cutoff", false);
  }

  void read_workloads() {
    const std::vector<PlacedText> workloads = as_texts(required("workloads", "workloads: [MT, PR]"), "workloads");
    refuse_repeats(workloads);
    for (const PlacedText& workload : workloads) {
      check_here(workload.place, [&] { plan_applications(workload.text, {}, {workload.text}); });
      calibration_.workloads.push_back(workload.text);
    }
    const YamlNode* windows = root_.find("windows");
    if (windows == nullptr) return;
    for (const YamlEntry& workload : as_mapping(*windows, "windows").entries) {
      as_one_of({workload.key, workload.key_place}, "workload in this calibration", calibration_.workloads);
      for (const YamlEntry& entry : as_mapping(workload.value, workload.key).entries) {
        const std::string text = fmt::format("{}.{}={}", workload.key, entry.key, as_text(entry.value, entry.key));
        Settings settings;
        settings.parameters = {text};
        check_settings(settings, std::string(kBaseline), calibration_, entry.key_place);
        if (!size_) calibration_.parameters.push_back(text);
      }
    }
  }

  void read_reference_designs() {
    const YamlNode* node = root_.find("reference_designs");
    if (node == nullptr) return;
    for (const YamlEntry& entry : as_mapping(*node, "reference_designs").entries) {
      as_text(entry.value, entry.key);
      refuse_unknown_designs(entry.key, entry.key_place);
      calibration_.reference_designs.push_back(entry.key);
    }
  }

  void read_variants() {
    calibration_.variants[kBaselineVariant] = {};
    const YamlNode* node = root_.find("variants");
    if (node == nullptr) return;
    for (const YamlEntry& entry : as_mapping(*node, "variants").entries) {
      const YamlNode& mapping = as_mapping(entry.value, entry.key);
      check_keys(mapping, "a variant", kFactVariantKeys);
      FactVariant variant;
      if (const YamlNode* design = mapping.find("design"))
        variant.design = reference_design(*design, calibration_.reference_designs);
      if (const YamlNode* system = mapping.find("system")) variant.settings.system = as_text(*system, "system");
      if (const YamlNode* set = mapping.find("set")) variant.settings.overrides = setting_texts(*set, "set");
      if (const YamlNode* param = mapping.find("param")) variant.settings.parameters = setting_texts(*param, "param");
      check_settings(variant.settings, variant.design, calibration_, entry.key_place);
      calibration_.variants[entry.key] = std::move(variant);
    }
  }

  YamlNode root_;
  std::optional<SizeClass> size_;
  Calibration calibration_;
};

SearchPath calibrations_path() { return {"calibrations", "NEARFAR_CALIBRATIONS"}; }

}  // namespace

Calibration read_calibration(const std::string& name, std::optional<SizeClass> size) {
  if (is_yaml_path(name))
    return CalibrationReader(read_source(name, name), fs::path(name).stem().string(), size).calibration();
  const SearchPath calibrations = calibrations_path();
  const auto file = calibrations.find(name);
  if (!file) {
    const std::vector<std::string> names = calibrations.names();
    throw InputError(
        fmt::format("There is no calibration `{}` in {}.{} There are {}; a file is named by a path that "
                    "ends in .yaml.",
                    name, calibrations.text(), did_you_mean(name, names), fmt::join(names, ", ")));
  }
  return CalibrationReader(read_source(file->path.string(), file->shown), name, size).calibration();
}

Calibration read_calibration_text(const std::string& text, const std::string& shown_as, std::optional<SizeClass> size) {
  return CalibrationReader(make_source(text, shown_as), fs::path(shown_as).stem().string(), size).calibration();
}

std::vector<std::string> calibration_names() { return calibrations_path().names(); }

}  // namespace nearfar
