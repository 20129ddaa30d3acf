// Reads a study whole and checks it whole: a mistake in the last variant must not be found after an hour of runs.
#include "study/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "config/error.h"
#include "config/folder.h"
#include "config/nearest.h"
#include "config/words.h"
#include "designs/names.h"
#include "study/study_figure.h"
#include "study/study_yaml.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kStudyKeys = {"title",    "description", "system",    "design", "size",    "input",
                                             "set",      "param",       "workloads", "names",  "expects", "seeds",
                                             "variants", "grid",        "figures",   "repeat", "window"};
const std::vector<std::string> kVariantKeys = {"system", "design", "size", "input", "set", "param"};
const std::vector<std::string> kGridKeys = {"system", "design", "size", "set", "param"};

/// "key: value" of `set` or `param`, joined as the command line takes it.
struct Setting {
  std::string text;
  Place place;
};

/// A variant while it is read, with the places of what may turn out to be wrong.
struct Draft {
  StudyVariant variant;
  Place place;                             ///< of its label
  Place system_place;                      ///< nowhere while it has none
  SizeClass own_size = SizeClass::Medium;  ///< what the file says
  std::vector<Setting> overrides, parameters;
};

/// An error's first line, without where the command line would have had it.
std::string first_line(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  if (line.starts_with("--set: ")) line.erase(0, 7);
  return line;
}

std::string value_of(const YamlEntry& entry) {
  if (entry.value.kind != YamlNode::Kind::Scalar || entry.value.text.empty()) {
    fail_at(entry.value.place, fmt::format("`{}` takes one value here; several go into `grid`.", entry.key));
  }
  return entry.value.text;
}

/// Later settings of one key replace earlier ones.
void merge(std::vector<Setting>& settings, const YamlEntry& entry, const std::string& value) {
  std::erase_if(settings, [&](const Setting& other) { return other.text.starts_with(entry.key + "="); });
  settings.push_back({entry.key + "=" + value, entry.key_place});
}

/// Runs `check`; an InputError becomes one that points at `place`.
void check_at(const Place& place, const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError& error) {
    fail_at(place, first_line(error.what()));
  }
}

bool fails(const std::function<void()>& check) {
  try {
    check();
    return false;
  } catch (const InputError&) {
    return true;
  }
}

class StudyReader {
 public:
  StudyReader(YamlNode root, std::string id, const StudyChanges& changes) : root_(std::move(root)), changes_(changes) {
    study_.id = std::move(id);
  }

  Study study() {
    check_keys(root_, "a study", kStudyKeys);
    study_.title = as_text(required("title", "title: Speedup of ideal walkers"), "title");
    if (const YamlNode* node = root_.find("description")) study_.description = as_text(*node, "description");
    read_workloads();
    read_names();
    read_seeds();
    read_repeat();
    read_variants();
    read_figures();
    return std::move(study_);
  }

 private:
  const YamlNode& required(const std::string& key, const std::string& example) const {
    const YamlNode* node = root_.find(key);
    if (node == nullptr) fail_at(root_.place, fmt::format("a study needs `{}`, such as `{}`.", key, example));
    return *node;
  }

  void read_workloads() {
    workloads_ = as_texts(required("workloads", "workloads: [MT, PR]"), "workloads");
    refuse_repeats(workloads_);
    for (const PlacedText& workload : workloads_) {
      study_.workloads.push_back(workload.text);
      check_at(workload.place, [&] { plan_applications(workload.text, {}, {workload.text}); });
    }
  }

  void read_names() {
    if (const YamlNode* node = root_.find("names")) {
      for (const YamlEntry& entry : as_mapping(*node, "names").entries) {
        as_one_of({entry.key, entry.key_place}, "workload in this study", study_.workloads);
        study_.names[entry.key] = as_text(entry.value, entry.key);
      }
    }
    if (const YamlNode* node = root_.find("expects")) {
      for (const PlacedText& text : as_texts(*node, "expects")) study_.expected.push_back(text.text);
    }
  }

  void read_seeds() {
    study_.seeds = {1};
    const YamlNode* node = root_.find("seeds");
    if (node == nullptr) return;
    study_.seeds.clear();
    const std::vector<PlacedText> texts = as_texts(*node, "seeds");
    refuse_repeats(texts);
    for (const PlacedText& text : texts) {
      check_at(text.place, [&] { study_.seeds.push_back(parse_whole("a seed", text.text, 0, ~std::uint64_t{0})); });
    }
  }

  void read_repeat() {
    if (const YamlNode* node = root_.find("repeat")) {
      check_at(node->place, [&] {
        study_.repeat = static_cast<std::uint32_t>(parse_whole("`repeat`", as_text(*node, "repeat"), 1, kMostRepeats));
      });
    }
    study_.repeat = changes_.repeat.value_or(study_.repeat);
  }

  /// Repeats decide the draw of every run.
  void check_draw(const Setting& setting) const {
    if (study_.repeat == 1 || !setting.text.starts_with(std::string(kDrawKey) + "=")) return;
    fail_at(setting.place,
            fmt::format("`{}` is decided by the {} repeats of this study; give one of them.", kDrawKey, study_.repeat));
  }

  void read_into(Draft& draft, const YamlNode& mapping) const {
    if (const YamlNode* node = mapping.find("system")) {
      draft.variant.system = as_text(*node, "system");
      draft.system_place = node->place;
    }
    if (const YamlNode* node = mapping.find("design")) set_design(draft, {as_text(*node, "design"), node->place});
    if (const YamlNode* node = mapping.find("size")) set_size(draft, {as_text(*node, "size"), node->place});
    if (const YamlNode* node = mapping.find("input")) draft.variant.input = as_text(*node, "input");
    for (const auto& [key, settings] : {std::pair{"set", &draft.overrides}, std::pair{"param", &draft.parameters}}) {
      if (const YamlNode* node = mapping.find(key)) {
        for (const YamlEntry& entry : as_mapping(*node, key).entries) merge(*settings, entry, value_of(entry));
      }
    }
  }

  /// Parameters of single workloads that cut the study's own size; other sizes are whole.
  void read_window(Draft& draft) const {
    const YamlNode* window = root_.find("window");
    if (window == nullptr) return;
    const YamlNode& entries = as_mapping(*window, "window");
    if (changes_.whole || changes_.size) return;
    for (const YamlEntry& entry : entries.entries) merge(draft.parameters, entry, value_of(entry));
  }

  void set_design(Draft& draft, const PlacedText& text) const {
    const std::vector<std::string> names = split(text.text, '+');
    if (std::ranges::find(names, "") != names.end()) {
      fail_at(text.place, "designs are named as a or a+b; one of the names is empty.");
    }
    for (const std::string& name : missing_designs(text.text)) {
      if (std::ranges::find(study_.expected, name) == study_.expected.end()) refuse_design(name, text.place);
    }
    draft.variant.designs = text.text;
  }

  [[noreturn]] static void refuse_design(const std::string& name, const Place& place) {
    std::vector<std::string> known;
    for (const DesignInfo& design : list_designs()) known.push_back(design.name);
    const std::string guess = did_you_mean(name, known);
    fail_at(place, fmt::format("there is no design `{}`.{}", name, guess),
            guess.empty() ? "`nearfar list designs` shows them all; those still to come are named in `expects`." : "");
  }

  void set_size(Draft& draft, const PlacedText& text) const {
    check_at(text.place, [&] { draft.own_size = parse_size(text.text); });
    draft.variant.size = changes_.size.value_or(draft.own_size);
  }

  std::vector<Draft> drafts() const {
    Draft common;
    common.variant.size = changes_.size.value_or(common.own_size);
    read_into(common, root_);
    read_window(common);
    const YamlNode* variants = root_.find("variants");
    if (variants == nullptr) return {common};
    std::vector<Draft> out;
    for (const YamlEntry& entry : as_mapping(*variants, "variants").entries) {
      const YamlNode& mapping = as_mapping(entry.value, entry.key);
      check_keys(mapping, "a variant", kVariantKeys);
      Draft draft = common;
      draft.variant.label = entry.key;
      draft.place = entry.key_place;
      read_into(draft, mapping);
      out.push_back(std::move(draft));
    }
    if (out.empty()) fail_at(variants->place, "`variants` takes a mapping of labels to what is changed.");
    return out;
  }

  /// Every draft with every value of one dimension.
  static std::vector<Draft> crossed(const std::vector<Draft>& drafts, const std::vector<PlacedText>& values,
                                    const std::string& label_prefix,
                                    const std::function<void(Draft&, const PlacedText&)>& apply) {
    std::vector<Draft> out;
    for (const Draft& draft : drafts) {
      for (const PlacedText& value : values) {
        Draft next = draft;
        apply(next, value);
        next.place = value.place;
        if (values.size() > 1) {
          if (!next.variant.label.empty()) next.variant.label += ", ";
          next.variant.label += label_prefix + value.text;
        }
        out.push_back(std::move(next));
      }
    }
    return out;
  }

  std::vector<Draft> over_grid(std::vector<Draft> drafts) const {
    const YamlNode* grid = root_.find("grid");
    if (grid == nullptr) return drafts;
    check_keys(as_mapping(*grid, "grid"), "a grid", kGridKeys);
    for (const YamlEntry& entry : grid->entries) {
      if (entry.key == "set" || entry.key == "param") {
        for (const YamlEntry& setting : as_mapping(entry.value, entry.key).entries) {
          drafts = crossed(drafts, as_texts(setting.value, setting.key), setting.key + "=",
                           [&](Draft& draft, const PlacedText& value) {
                             merge(entry.key == "set" ? draft.overrides : draft.parameters, setting, value.text);
                           });
        }
        continue;
      }
      drafts = crossed(drafts, as_texts(entry.value, entry.key), "", [&](Draft& draft, const PlacedText& value) {
        if (entry.key == "size") return set_size(draft, value);
        if (entry.key == "design") return set_design(draft, value);
        draft.variant.system = value.text;
        draft.system_place = value.place;
      });
    }
    return drafts;
  }

  void read_variants() {
    std::set<std::string> labels;
    for (Draft& draft : over_grid(drafts())) {
      for (const Setting& setting : draft.overrides) {
        check_draw(setting);
        draft.variant.overrides.push_back(setting.text);
      }
      for (const Setting& setting : draft.parameters) draft.variant.parameters.push_back(setting.text);
      if (draft.variant.label.empty()) draft.variant.label = draft.variant.designs;
      if (!draft.system_place.source) fail_at(root_.place, "a study needs a `system`, for all or in each variant.");
      if (!labels.insert(draft.variant.label).second) {
        fail_at(draft.place, fmt::format("two variants are called `{}`.", draft.variant.label));
      }
      check_machine(draft);
      check_programs(draft);
      if (draft.variant.size != draft.own_size) study_.other_size = draft.variant.size;
      study_.variants.push_back(draft.variant);
    }
  }

  /// Points at what is wrong with a machine: its system, one of its settings, or all of it together.
  void check_machine(const Draft& draft) const {
    const StudyVariant& variant = draft.variant;
    // A design that does not exist yet may bring parameters that are unknown until it does.
    const bool exists = missing_designs(variant.designs).empty();
    const std::vector<std::string> known = exists ? variant.overrides : std::vector<std::string>{};
    const auto make = [&](const std::vector<std::string>& settings) {
      make_machine(variant.system, exists ? variant.designs : std::string(kBaseline), settings);
    };
    if (!fails([&] { make(known); })) return;
    check_at(draft.system_place, [&] { make_machine(variant.system, std::string(kBaseline), {}); });
    for (const Setting& setting : draft.overrides) check_at(setting.place, [&] { make({setting.text}); });
    check_at(draft.place.source ? draft.place : draft.system_place, [&] { make(known); });
  }

  void check_programs(const Draft& draft) const {
    Experiment experiment;
    experiment.size = draft.variant.size;
    experiment.input = draft.variant.input;
    for (const Setting& setting : draft.parameters) {
      experiment.parameters = {setting.text};
      check_at(setting.place, [&] {
        for (const PlacedText& workload : workloads_) plan_applications(workload.text, experiment, study_.workloads);
      });
    }
  }

  void read_figures() {
    const YamlNode& figures = as_mapping(required("figures", "figures: {speedup: {value: speedup}}"), "figures");
    if (figures.entries.empty())
      fail_at(root_.find("figures")->place, "`figures` takes a mapping of names to figures.");
    for (const YamlEntry& entry : figures.entries) study_.figures.push_back(read_figure(entry, study_));
  }

  YamlNode root_;
  StudyChanges changes_;
  Study study_;
  std::vector<PlacedText> workloads_;
};

constexpr YamlSubject kSubject = {"study", "studies", "title: …", "write them out"};

SearchPath studies_path() { return {"studies", "NEARFAR_STUDIES"}; }

}  // namespace

Study read_study(const std::string& name, const StudyChanges& changes) {
  if (is_yaml_path(name)) {
    return StudyReader(parse_yaml(read_source(name, name), kSubject), fs::path(name).stem().string(), changes).study();
  }
  const SearchPath folders = studies_path();
  const auto file = folders.find(name);
  if (!file) {
    throw InputError(
        fmt::format("There is no study `{}` in {}.{} `nearfar list studies` shows them all; a file is named by "
                    "a path that ends in .yaml.",
                    name, folders.text(), did_you_mean(name, folders.names())));
  }
  return StudyReader(parse_yaml(read_source(file->path.string(), file->shown), kSubject), name, changes).study();
}

Study read_study_text(const std::string& text, const std::string& shown_as, const StudyChanges& changes) {
  return StudyReader(parse_yaml(make_source(text, shown_as), kSubject), fs::path(shown_as).stem().string(), changes)
      .study();
}

std::vector<StudySummary> list_studies() {
  std::vector<StudySummary> studies;
  const SearchPath folders = studies_path();
  for (const std::string& name : folders.names()) {
    const std::string path = folders.find(name)->path.string();
    try {
      const YamlNode root = parse_yaml(read_source(path, path), kSubject);
      const YamlNode* title = root.find("title");
      studies.push_back({name, path, title == nullptr ? "" : title->text});
    } catch (const InputError& error) {
      studies.push_back({name, path, "Cannot be read: " + first_line(error.what())});
    }
  }
  return studies;
}

std::vector<StudySummary> need_studies() {
  std::vector<StudySummary> studies = list_studies();
  if (!studies.empty()) return studies;
  throw InputError(
      fmt::format("The folder {} has no studies: a study is a file that ends in .yaml.", studies_path().text()));
}

}  // namespace nearfar
