// Two answers to one question.
#include "report/knee.h"

#include <algorithm>

namespace nearfar {

Knee find_knee(std::span<const double> performance, const Alike& alike) {
  Knee knee;
  if (performance.size() < 2) return knee;
  const auto [lowest, highest] = std::ranges::minmax_element(performance);
  const auto best_at = static_cast<std::size_t>(highest - performance.begin());
  const auto worst_at = static_cast<std::size_t>(lowest - performance.begin());
  const double best = *highest, worst = *lowest;
  const auto within_noise = [&](std::size_t a, std::size_t b) { return a != b && alike && alike(a, b); };
  if (best <= worst * (1 + Knee::kFlat) || within_noise(best_at, worst_at)) return knee;
  std::size_t near = 0;
  while (performance[near] < best * (1 - Knee::kNear) && !within_noise(near, best_at)) ++near;
  knee.rising = near + 1 == performance.size();
  if (!knee.rising) knee.enough = near;
  double farthest = Knee::kBend;
  for (std::size_t i = 1; i + 1 < performance.size(); ++i) {
    const double along = static_cast<double>(i) / static_cast<double>(performance.size() - 1);
    const double above = (performance[i] - worst) / (best - worst) - along;
    if (above <= farthest || within_noise(i, 0)) continue;
    farthest = above;
    knee.bend = i;
  }
  return knee;
}

}  // namespace nearfar
