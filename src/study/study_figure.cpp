#include "study/study_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "study/study_yaml.h"

namespace nearfar {
namespace {

constexpr std::string_view kChangeFromAlone = "change-from-alone";

const std::vector<std::string> kKeys = {"title",      "kind",     "value",     "values", "as",
                                        "against",    "variants", "workloads", "mean",   "groups",
                                        "categories", "only",     "unit",      "x",      "y"};
const std::vector<std::string> kKinds = {"bars", "lines", "stacked", "cdf", "heat"};
const std::vector<std::string> kRelations = {"value", "ratio", "gain", "reduction", "change"};
const std::vector<std::string> kMeans = {"arithmetic", "geometric", "none"};
const std::vector<std::string> kCategories = {"workloads", "variants"};
const std::vector<std::string> kOnly = {"means"};
constexpr std::size_t kLongestId = 100;

std::size_t choice(const YamlNode& figure, const std::string& key, const std::vector<std::string>& words) {
  const YamlNode* node = figure.find(key);
  return node == nullptr ? 0 : as_one_of({as_text(*node, key), node->place}, "`" + key + "`", words);
}

std::string text_or(const YamlNode& figure, const std::string& key, std::string otherwise) {
  const YamlNode* node = figure.find(key);
  return node == nullptr ? std::move(otherwise) : as_text(*node, key);
}

std::vector<std::string> labels_of(const Study& study) {
  std::vector<std::string> labels;
  for (const StudyVariant& variant : study.variants) labels.push_back(variant.label);
  return labels;
}

std::vector<std::string> some_of(const YamlNode& node, const std::string& key, const std::string& what,
                                 const std::vector<std::string>& all) {
  const std::vector<PlacedText> chosen = as_texts(node, key);
  refuse_repeats(chosen);
  std::vector<std::string> names;
  for (const PlacedText& text : chosen) names.push_back(all[as_one_of(text, what, all)]);
  return names;
}

class FigureReader {
 public:
  FigureReader(const YamlEntry& entry, const Study& study)
      : entry_(entry), node_(as_mapping(entry.value, entry.key)), study_(study) {}

  StudyFigure figure() {
    check_keys(node_, "a figure", kKeys);
    check_id();
    figure_.id = entry_.key;
    figure_.title = text_or(node_, "title", study_.title);
    figure_.kind = static_cast<FigureKind>(choice(node_, "kind", kKinds));
    read_values();
    read_relation();
    read_choices();
    read_means();
    read_labels();
    return std::move(figure_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at(entry_.key_place, message); }

  /// A figure's name becomes part of the names of its files.
  void check_id() const {
    const auto fits = [](char c) { return c != '/' && c != '\\' && static_cast<unsigned char>(c) >= ' '; };
    if (!entry_.key.empty() && entry_.key.size() <= kLongestId && std::ranges::all_of(entry_.key, fits)) return;
    fail(fmt::format("a figure's name becomes part of a file's name: at most {} characters, without `/` and `\\`.",
                     kLongestId));
  }

  /// Some statistics come with designs that do not exist yet; a study says so.
  bool is_expected(const std::string& name) const {
    return std::ranges::find(study_.expected, name) != study_.expected.end();
  }

  void check_histogram(const std::string& name, const Place& place) const {
    if (is_histogram(name) || is_expected(name)) return;
    fail_at(place, is_statistic(name) ? fmt::format("`{}` is one number, not a histogram.", name)
                                      : fmt::format("there is no histogram `{}`.{}", name, nearest_statistic(name)));
  }

  void check_name(const Expression::Name& name) const {
    if (name.histogram) return check_histogram(name.text, name.place);
    if (is_statistic(name.text) || is_expected(name.text)) return;
    if (const std::string now = renamed_statistic(name.text); !now.empty()) {
      fail_at(name.place, fmt::format("the statistic `{}` is now called `{}`.", name.text, now));
    }
    const std::string guess = nearest_statistic(name.text);
    fail_at(
        name.place, fmt::format("there is no statistic `{}`.{}", name.text, guess),
        guess.empty() ? "`nearfar list statistics` shows them all; those still to come are named in `expects`." : "");
  }

  StudyValue read_value(const YamlNode& node, const std::string& key) const {
    StudyValue value;
    const std::string text = as_text(node, key);
    if (figure_.kind == FigureKind::Cdf) {
      check_histogram(text, node.place);
      value.quantity = Quantity::Histogram;
      value.histogram = text;
    } else if (text == "speedup") {
      value.quantity = Quantity::Speedup;
    } else if (text == "weighted-speedup") {
      value.quantity = Quantity::WeightedSpeedup;
    } else if (text.starts_with(kChangeFromAlone)) {
      value.quantity = Quantity::ChangeFromAlone;
      value.application = application_of(text.substr(kChangeFromAlone.size()), node.place);
    } else {
      value.expression = Expression::parse(text, node.place);
      for (const Expression::Name& name : value.expression->names()) check_name(name);
    }
    return value;
  }

  /// What stands behind a change from alone: nothing, or .app<a>.
  std::optional<std::size_t> application_of(std::string_view text, const Place& place) const {
    if (text.empty()) return std::nullopt;
    constexpr std::string_view kWhose = ".app";
    std::size_t number = 0;
    const char* end = text.data() + text.size();
    const bool read = text.starts_with(kWhose) &&
                      std::from_chars(text.data() + kWhose.size(), end, number) == std::from_chars_result{end, {}};
    const auto has_it = [&](const std::string& workload) { return number < application_count(workload); };
    if (read && std::ranges::all_of(study_.workloads, has_it)) return number;
    fail_at(place,
            "a change from alone is `change-from-alone`, the mean over all applications, or that of one of "
            "them, as in `change-from-alone.app0` for the first.");
  }

  void read_values() {
    const YamlNode* one = node_.find("value");
    const YamlNode* several = node_.find("values");
    if ((one == nullptr) == (several == nullptr)) {
      fail(
          fmt::format("the figure `{}` needs either a `value` (speedup, weighted-speedup, change-from-alone, or "
                      "statistics such as iommu.tlb.hits / iommu.tlb.lookups) or several `values`.",
                      entry_.key));
    }
    if (one != nullptr) {
      figure_.values.push_back(read_value(*one, "value"));
    } else {
      for (const YamlEntry& entry : as_mapping(*several, "values").entries) {
        figure_.values.push_back(read_value(entry.value, entry.key));
        figure_.values.back().label = entry.key;
      }
      if (figure_.values.empty()) fail_at(several->place, "`values` takes a mapping of labels to values.");
    }
  }

  bool has(Quantity quantity) const {
    return std::ranges::find(figure_.values, quantity, &StudyValue::quantity) != figure_.values.end();
  }

  void read_relation() {
    const YamlNode* as = node_.find("as");
    figure_.relation = as != nullptr            ? static_cast<Relation>(choice(node_, "as", kRelations))
                       : has(Quantity::Speedup) ? Relation::Ratio
                                                : Relation::Value;
    if (figure_.kind == FigureKind::Cdf && figure_.relation != Relation::Value)
      fail_at(as->place, "a CDF shows values as they are.");
    if (has(Quantity::Speedup) && figure_.relation == Relation::Value)
      fail_at(as->place, "a speedup is always against something.");
    const YamlNode* against = node_.find("against");
    if (figure_.relation == Relation::Value) {
      if (against != nullptr) fail_at(against->place, "`against` needs `as: ratio`, `gain`, `reduction` or `change`.");
      return;
    }
    const std::vector<std::string> labels = labels_of(study_);
    figure_.against = against == nullptr
                          ? labels.front()
                          : labels[as_one_of({as_text(*against, "against"), against->place}, "variant", labels)];
  }

  void read_choices() {
    figure_.workloads = study_.workloads;
    if (const YamlNode* node = node_.find("workloads"))
      figure_.workloads = some_of(*node, "workloads", "workload in this study", study_.workloads);
    figure_.variants = labels_of(study_);
    if (figure_.relation != Relation::Value && figure_.variants.size() > 1)
      std::erase(figure_.variants, figure_.against);
    if (const YamlNode* node = node_.find("variants"))
      figure_.variants = some_of(*node, "variants", "variant", labels_of(study_));
    figure_.variants_across = choice(node_, "categories", kCategories) == 1;
    figure_.only_means = node_.find("only") != nullptr && choice(node_, "only", kOnly) == 0;
    const auto found = std::ranges::find_if(figure_.values, is_against_alone, &StudyValue::quantity);
    if (found == figure_.values.end()) return;
    const char* what = found->quantity == Quantity::WeightedSpeedup ? "weighted speedup" : "change from alone";
    for (const std::string& workload : figure_.workloads) {
      if (application_count(workload) < 2)
        fail(fmt::format("a {} is of several applications; {} is one.", what, workload));
    }
  }

  void read_means() {
    if (const YamlNode* node = node_.find("mean")) {
      for (const PlacedText& text : as_texts(*node, "mean")) {
        const std::size_t mean = as_one_of(text, "mean", kMeans);
        if (mean < 2) figure_.means.push_back(static_cast<Mean>(mean));
      }
    } else if (figure_.kind != FigureKind::Cdf && figure_.workloads.size() > 1) {
      figure_.means = {figure_.relation == Relation::Ratio ? Mean::Geometric : Mean::Arithmetic};
    }
    if (const YamlNode* node = node_.find("groups")) {
      for (const YamlEntry& group : as_mapping(*node, "groups").entries) {
        figure_.groups.push_back(
            {group.key, some_of(group.value, group.key, "workload in this figure", figure_.workloads)});
      }
      if (figure_.means.empty()) fail_at(node->place, "`groups` are what means are taken of; this figure has no mean.");
    }
    if (figure_.kind == FigureKind::Cdf && !figure_.means.empty())
      fail_at(node_.find("mean")->place, "a CDF has no mean.");
    if (figure_.only_means && figure_.means.empty()) fail_at(node_.find("only")->place, "`only: means` needs a mean.");
  }

  void read_labels() {
    const bool percent = figure_.relation == Relation::Gain || figure_.relation == Relation::Reduction ||
                         figure_.kind == FigureKind::Cdf;
    figure_.unit = text_or(node_, "unit", percent ? "%" : figure_.relation == Relation::Ratio ? "x" : "");
    figure_.x_label = text_or(node_, "x", "");
    figure_.y_label = text_or(node_, "y", has(Quantity::Speedup) ? "speedup over " + figure_.against : figure_.title);
  }

  const YamlEntry& entry_;
  const YamlNode& node_;
  const Study& study_;
  StudyFigure figure_;
};

}  // namespace

StudyFigure read_figure(const YamlEntry& entry, const Study& study) { return FigureReader(entry, study).figure(); }

}  // namespace nearfar
