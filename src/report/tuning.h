// A sweep of one or two values of a system, and its knees.
#pragma once

#include <string>
#include <vector>

#include "report/knee.h"
#include "study/figure.h"

namespace nearfar {

struct TunedParameter {
  std::string key;
  std::vector<std::string> settings;  ///< from the cheapest to the dearest
};

/// Speedups over the cheapest point, of one workload or of all.
struct TunedCurve {
  std::string label;
  std::vector<double> speedups;  ///< by point; of repeated runs the geometric mean over draws
  Knee knee;
  std::vector<std::vector<double>> draws{};  ///< by point and draw, each draw against its own; empty: not repeated
  std::vector<Interval> intervals{};         ///< by point, likewise

  /// Whether two points differ by no more than noise does.
  bool alike(std::size_t a, std::size_t b) const;
};

struct Tuning {
  std::vector<std::string> workloads;
  std::vector<TunedParameter> parameters;                   ///< one or two
  std::vector<std::vector<double>> cycles;                  ///< by workload, then by point
  std::vector<std::vector<std::vector<double>>> repeats{};  ///< of repeated runs: cycles by workload, point and draw
  std::vector<TunedCurve> curves;                           ///< by workload; of several, then their geometric mean

  /// Points are all settings, those of the second parameter changing faster.
  std::size_t points() const;
  std::vector<std::string> overrides(std::size_t point) const;  ///< as --set takes them
  std::string label(std::size_t point) const;                   ///< "8", or "8, 64"
};

/// Fills in the curves from the cycles, and those from the repeats where there are any. With two parameters, a point is
/// enough when it is near the best and no point near the best has fewer steps from the cheapest, unless it lies at the
/// edge, where the plane still rises; such a plane has no bend.
void find_knees(Tuning& tuning);

/// "MT: iommu.walkers=8 is enough (within 5 % of the best); the knee is at 4."
std::string knee_sentence(const Tuning& tuning, const TunedCurve& curve);

/// One figure of all curves; of two parameters, a heat map for each curve.
std::vector<FigureData> tuning_figures(const Tuning& tuning);

}  // namespace nearfar
