#include "calibrate/calibration.h"

#include <fmt/format.h>

namespace nearfar {
namespace {

std::string of_text(const Target& target) {
  switch (target.of) {
    case Target::Of::Workload: return "of " + target.workload;
    case Target::Of::Mean: return "in the mean";
    case Target::Of::GeometricMean: return "in the geometric mean";
    case Target::Of::Lowest: return "at the lowest";
    case Target::Of::Highest: return "at the highest";
  }
  return "";
}

}  // namespace

std::string_view uncertainty_name(Uncertainty uncertainty) {
  switch (uncertainty) {
    case Uncertainty::Figure: return "read off a figure";
    case Uncertainty::Text: return "stated in the text";
    case Uncertainty::Derived: return "derived";
  }
  return "";
}

std::vector<TargetRef> Calibration::targets() const {
  std::vector<TargetRef> refs;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    for (std::size_t j = 0; j < facts[i].targets.size(); ++j) refs.push_back({i, j});
  }
  return refs;
}

std::string target_name(const Calibration& calibration, TargetRef ref) {
  const Fact& fact = calibration.fact_of(ref);
  return fact.targets.size() == 1 ? fact.id : fmt::format("{} {}", fact.id, of_text(calibration.target_of(ref)));
}

}  // namespace nearfar
