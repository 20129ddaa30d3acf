// Two answers to one question.
#include "report/knee.h"

#include <algorithm>

namespace nearfar {

Knee find_knee(std::span<const double> performance) {
  Knee knee;
  if (performance.size() < 2) return knee;
  const double best = std::ranges::max(performance), worst = std::ranges::min(performance);
  if (best <= worst * (1 + Knee::kFlat)) return knee;
  const auto near = std::ranges::find_if(performance, [&](double value) { return value >= best * (1 - Knee::kNear); });
  knee.rising = near + 1 == performance.end();
  if (!knee.rising) knee.enough = static_cast<std::size_t>(near - performance.begin());
  double farthest = Knee::kBend;
  for (std::size_t i = 1; i + 1 < performance.size(); ++i) {
    const double along = static_cast<double>(i) / static_cast<double>(performance.size() - 1);
    const double above = (performance[i] - worst) / (best - worst) - along;
    if (above <= farthest) continue;
    farthest = above;
    knee.bend = i;
  }
  return knee;
}

}  // namespace nearfar
