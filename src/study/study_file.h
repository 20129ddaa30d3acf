// A study: workloads on variants of a machine, and the figures to make of the results. One YAML file (docs/studies.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/expression.h"
#include "study/figure.h"
#include "study/named_run.h"

namespace nearfar {

/// One column of the grid: everything of a run but its workload and its seed.
struct StudyVariant {
  std::string label;
  SizeClass size = SizeClass::Medium;
  std::vector<std::string> parameters;
  std::string input;
  std::string system;
  std::string designs = "baseline";
  std::vector<std::string> overrides;
};

/// What is taken of a run.
enum class Quantity : std::uint8_t {
  Statistic,        ///< an expression
  Speedup,          ///< one over its cycles
  WeightedSpeedup,  ///< of several applications: the sum of each one's cycles alone on one GPU over its cycles here
  ChangeFromAlone,  ///< of several applications: the change of performance against each alone in %, of one or the mean
  Histogram,        ///< the distribution of a histogram statistic, for a CDF
};

/// Whether it sets applications against each of them alone.
constexpr bool is_against_alone(Quantity quantity) {
  return quantity == Quantity::WeightedSpeedup || quantity == Quantity::ChangeFromAlone;
}

/// How it is set against the same of the variant `against`.
enum class Relation : std::uint8_t {
  Value,      ///< not at all
  Ratio,      ///< x / b
  Gain,       ///< 100 (x / b - 1), in %
  Reduction,  ///< 100 (1 - x / b), in %
  Change,     ///< x - b
};

enum class Mean : std::uint8_t { Arithmetic, Geometric };

struct StudyValue {
  std::string label;  ///< empty when a figure has one value
  Quantity quantity = Quantity::Statistic;
  std::optional<Expression> expression;
  std::string histogram;
  std::optional<std::size_t> application;  ///< of a change from alone: whose; the mean of all where none is named
};

/// Some workloads of which a mean is shown too.
struct WorkloadGroup {
  std::string label;
  std::vector<std::string> workloads;
};

struct StudyFigure {
  std::string id, title, x_label, y_label, unit;
  FigureKind kind = FigureKind::Bars;
  std::vector<StudyValue> values;
  Relation relation = Relation::Value;
  std::string against;                 ///< label of a variant; empty with Relation::Value
  std::vector<std::string> variants;   ///< labels
  std::vector<std::string> workloads;  ///< whose values are shown
  std::vector<Mean> means;             ///< over `workloads`, and over each group
  std::vector<WorkloadGroup> groups;
  bool variants_across = false;  ///< variants along the axis, workloads as series; else the other way round
  bool only_means = false;
};

struct Study {
  std::string id;  ///< name of its file
  std::string title, description;
  std::vector<std::string> workloads;
  std::map<std::string, std::string> names;  ///< what workloads are called in figures, where it is not their name
  std::vector<std::string> expected;         ///< statistics and designs that may not exist yet
  std::vector<StudyVariant> variants;
  std::vector<std::uint64_t> seeds;
  std::uint32_t repeat = 1;  ///< how often each run is repeated, with draws 0, 1, … of perturbations
  std::vector<StudyFigure> figures;
  std::optional<SizeClass> other_size;  ///< where the command line chose another than the file says
};

/// What the command line says over a study.
struct StudyChanges {
  std::optional<SizeClass> size;
  std::optional<std::uint32_t> repeat{};
  bool whole = false;  ///< without the study's window
};

/// `name` is a file's path (ends in .yaml) or the name of a file in studies/. Every mistake is an InputError that
/// points at it and names the nearest right word. A design that does not exist is none where `expects` names it: its
/// runs are not measurable yet.
Study read_study(const std::string& name, const StudyChanges& changes = {});
/// The same for a text in memory.
Study read_study_text(const std::string& text, const std::string& shown_as, const StudyChanges& changes = {});

struct StudySummary {
  std::string name, path, title;
};
/// The studies in studies/, by name.
std::vector<StudySummary> list_studies();
/// The same where there must be some: a folder without any is an InputError.
std::vector<StudySummary> need_studies();

/// The run of one cell.
NamedRun cell_run(const Study& study, const std::string& workload, const StudyVariant& variant, std::uint64_t seed,
                  std::uint32_t draw = 0);
/// Application `index` of several, alone on one GPU of a variant's system without designs and what is set of them: what
/// a weighted speedup is measured against.
NamedRun alone_run(const Study& study, const std::string& workload, std::size_t index, const StudyVariant& variant,
                   std::uint64_t seed, std::uint32_t draw = 0);
/// All runs that the figures need, each once.
std::vector<NamedRun> study_runs(const Study& study);
/// How many applications "MT", "FIR+KM" or "W1" is.
std::size_t application_count(const std::string& workload);

/// What a workload is called in figures.
std::string shown_name(const Study& study, const std::string& workload);

const StudyVariant& variant_of(const Study& study, const std::string& label);

}  // namespace nearfar
