// A calibration: what a paper leaves open about its baseline, with plausible values, and the published facts of that
// baseline which choose among them. One YAML file in calibrations/ (docs/calibration.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/settings.h"
#include "report/claim.h"
#include "study/expression.h"
#include "study/study_file.h"

namespace nearfar {

/// One plausible value of an open parameter.
struct OpenValue {
  std::string label;   ///< as the file has it: 16GB/s
  std::string source;  ///< why it is plausible
  Settings settings;
};

/// Values between two ends, of which any may be drawn.
struct OpenRange {
  double low = 0, high = 0;
  bool logarithmic = false;
  bool whole = false;             ///< only whole numbers
  std::string unit;               ///< behind the number: GB/s
  std::vector<std::string> keys;  ///< what the value is given to
  bool is_parameter = false;      ///< of workloads; else of the system
};

struct OpenParameter {
  std::string name;
  std::vector<OpenValue> values;   ///< empty where it is a range
  std::optional<OpenRange> range;  ///< nothing where it is a list
  std::string source;              ///< of a range

  /// How many values it can have; 0 is any number.
  std::size_t levels() const { return values.size(); }
};

/// What the file names, but cannot be drawn or measured, and why.
struct LeftOut {
  std::string name, reason;
};

/// A machine that facts are measured on: the reading with some of it set otherwise.
struct FactVariant {
  Settings settings;
  std::string design = "baseline";
};

/// Where the uncertainty of a published number comes from.
enum class Uncertainty : std::uint8_t { Figure, Text, Derived };
std::string_view uncertainty_name(Uncertainty uncertainty);

/// One published number of a fact: of a workload, or of several together.
struct Target {
  enum class Of : std::uint8_t { Workload, Mean, GeometricMean, Lowest, Highest };

  Of of = Of::Workload;
  std::string workload;  ///< of Of::Workload
  Published published;
  double sigma = 0;
};

struct Fact {
  std::string id, sentence, figure;
  std::string claim;  ///< the claim that says the same; may be empty
  Uncertainty uncertainty = Uncertainty::Figure;
  double discrepancy = 0;  ///< standard deviation of what the model leaves out; 0 where none is declared

  // How it is measured.
  bool speedup = false;                     ///< cycles of `against` over cycles
  std::optional<Expression> value;          ///< else this
  std::optional<Expression> against_value;  ///< of `against`, where it is not the same
  Relation relation = Relation::Value;
  std::string variant, against;        ///< names of variants; `against` is empty with Relation::Value
  std::vector<std::string> workloads;  ///< over which means are taken

  std::vector<Target> targets;
};

/// A fact and one of its published numbers, as a flat list has them.
struct TargetRef {
  std::size_t fact = 0, target = 0;
};

struct Calibration {
  std::string id;  ///< name of its file
  std::string title, system;
  std::string hash;  ///< SHA-256 of the file
  SizeClass size = SizeClass::Medium;
  std::vector<std::string> workloads;
  std::vector<std::string> parameters;  ///< windows, as --param takes them
  std::uint32_t repeat = 3;             ///< draws of readings that are near the facts
  double cutoff = 3;                    ///< implausibility above which a reading is ruled out
  std::vector<OpenParameter> open;
  std::vector<Fact> facts;
  std::vector<std::string> reference_designs;   ///< machines that are published facts of the baseline themselves
  std::map<std::string, FactVariant> variants;  ///< `baseline` among them
  std::vector<LeftOut> open_left_out;           ///< open, and not drawn
  std::vector<LeftOut> facts_left_out;          ///< published, and not measured
  std::vector<LeftOut> derived;                 ///< facts that follow from others, and are not counted again

  std::vector<TargetRef> targets() const;
  const Fact& fact_of(TargetRef ref) const { return facts[ref.fact]; }
  const Target& target_of(TargetRef ref) const { return facts[ref.fact].targets[ref.target]; }
};

/// "queue.host, mean", "miss-rate of PR".
std::string target_name(const Calibration& calibration, TargetRef ref);

}  // namespace nearfar
