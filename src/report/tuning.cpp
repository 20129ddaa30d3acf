// Curves, planes and what is said of them.
#include "report/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/words.h"

namespace nearfar {
namespace {

/// Draw by draw, the geometric mean over curves.
std::vector<std::vector<double>> mean_draws(const std::vector<TunedCurve>& curves) {
  std::vector<std::vector<double>> mean = curves.front().draws;
  for (std::size_t point = 0; point < mean.size(); ++point) {
    for (std::size_t draw = 0; draw < mean[point].size(); ++draw) {
      double sum = 0;
      for (const TunedCurve& curve : curves) sum += std::log(curve.draws[point][draw]);
      mean[point][draw] = std::exp(sum / static_cast<double>(curves.size()));
    }
  }
  return mean;
}

TunedCurve mean_of(const std::vector<TunedCurve>& curves) {
  TunedCurve mean;
  mean.label = "geometric mean";
  for (std::size_t point = 0; point < curves.front().speedups.size(); ++point) {
    double sum = 0;
    for (const TunedCurve& curve : curves) sum += std::log(curve.speedups[point]);
    mean.speedups.push_back(std::exp(sum / static_cast<double>(curves.size())));
  }
  mean.draws = mean_draws(curves);
  return mean;
}

/// Each draw's speedups over the same draw of the cheapest point.
std::vector<std::vector<double>> paired(const std::vector<std::vector<double>>& cycles) {
  std::vector<std::vector<double>> speedups = cycles;
  for (std::vector<double>& point : speedups) {
    for (std::size_t draw = 0; draw < point.size(); ++draw) point[draw] = cycles.front()[draw] / point[draw];
  }
  return speedups;
}

/// The cycles of a point: of repeated runs their geometric mean, so that ratios of such are means of ratios.
void take_means(Tuning& tuning) {
  tuning.cycles.clear();
  for (const auto& points : tuning.repeats) {
    auto& row = tuning.cycles.emplace_back();
    for (const std::vector<double>& draws : points) row.push_back(geometric_interval_of(draws).mean);
  }
}

/// Steps from the cheapest point, along both parameters.
std::size_t steps_to(const Tuning& tuning, std::size_t point) {
  const std::size_t columns = tuning.parameters[1].settings.size();
  return point / columns + point % columns;
}

Knee knee_of_plane(const Tuning& tuning, const TunedCurve& curve) {
  Knee knee;
  const std::vector<double>& speedups = curve.speedups;
  const auto [lowest, highest] = std::ranges::minmax_element(speedups);
  const double best = *highest, worst = *lowest;
  const auto best_at = static_cast<std::size_t>(highest - speedups.begin());
  if (best <= worst * (1 + Knee::kFlat)) return knee;
  if (curve.alike(best_at, static_cast<std::size_t>(lowest - speedups.begin()))) return knee;
  for (std::size_t point = 0; point < speedups.size(); ++point) {
    if (speedups[point] < best * (1 - Knee::kNear) && !curve.alike(point, best_at)) continue;
    const bool first = !knee.enough;
    const std::size_t steps = steps_to(tuning, point), before = first ? 0 : steps_to(tuning, *knee.enough);
    if (first || steps < before || (steps == before && speedups[point] > speedups[*knee.enough])) knee.enough = point;
  }
  // One step less along either parameter is not near the best; at the edge there is no step more to compare with.
  const std::size_t columns = tuning.parameters[1].settings.size();
  knee.rising =
      *knee.enough / columns + 1 == tuning.parameters[0].settings.size() || *knee.enough % columns + 1 == columns;
  if (knee.rising) knee.enough.reset();
  return knee;
}

/// "; the knee is at 4", of one parameter.
std::string bend_text(const Tuning& tuning, const Knee& knee) {
  if (tuning.parameters.size() != 1) return "";
  return knee.bend ? fmt::format("; the knee is at {}", tuning.label(*knee.bend)) : "; there is no knee";
}

std::string rising_sentence(const Tuning& tuning, const TunedCurve& curve) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(curve.speedups) - curve.speedups.begin());
  return fmt::format("{}: it still rises at the edge of the sweep; {} is the best of these, and more may be better{}.",
                     curve.label, join(tuning.overrides(best), " "), bend_text(tuning, curve.knee));
}

}  // namespace

std::size_t Tuning::points() const {
  std::size_t count = 1;
  for (const TunedParameter& parameter : parameters) count *= parameter.settings.size();
  return count;
}

std::vector<std::string> Tuning::overrides(std::size_t point) const {
  std::vector<std::string> out(parameters.size());
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const TunedParameter& parameter = parameters[i];
    out[i] = fmt::format("{}={}", parameter.key, parameter.settings[point % parameter.settings.size()]);
    point /= parameter.settings.size();
  }
  return out;
}

std::string Tuning::label(std::size_t point) const {
  std::vector<std::string> parts = overrides(point);
  for (std::string& part : parts) part.erase(0, part.find('=') + 1);
  return join(parts, ", ");
}

bool TunedCurve::alike(std::size_t a, std::size_t b) const {
  if (draws.empty() || a == b) return a == b;
  std::vector<double> ratios;
  for (std::size_t draw = 0; draw < draws[a].size(); ++draw) ratios.push_back(draws[a][draw] / draws[b][draw]);
  return geometric_interval_of(ratios).holds(1);
}

void find_knees(Tuning& tuning) {
  tuning.curves.clear();
  if (!tuning.repeats.empty()) take_means(tuning);
  for (std::size_t w = 0; w < tuning.workloads.size(); ++w) {
    TunedCurve& curve = tuning.curves.emplace_back();
    curve.label = tuning.workloads[w];
    for (const double cycles : tuning.cycles[w]) curve.speedups.push_back(tuning.cycles[w].front() / cycles);
    if (!tuning.repeats.empty() && tuning.repeats[w].front().size() > 1) curve.draws = paired(tuning.repeats[w]);
  }
  if (tuning.curves.size() > 1) tuning.curves.push_back(mean_of(tuning.curves));
  for (TunedCurve& curve : tuning.curves) {
    for (std::size_t point = 0; point < curve.draws.size(); ++point) {
      curve.intervals.push_back(geometric_interval_of(curve.draws[point]));
      curve.speedups[point] = curve.intervals[point].mean;
    }
    const auto alike = [&](std::size_t a, std::size_t b) { return curve.alike(a, b); };
    curve.knee = tuning.parameters.size() == 1 ? find_knee(curve.speedups, alike) : knee_of_plane(tuning, curve);
  }
}

std::string knee_sentence(const Tuning& tuning, const TunedCurve& curve) {
  const double best = std::ranges::max(curve.speedups), worst = std::ranges::min(curve.speedups);
  if (curve.knee.rising) return rising_sentence(tuning, curve);
  if (!curve.knee.enough) {
    const bool noise = best > worst * (1 + Knee::kFlat);
    return fmt::format("{}: it hardly matters (all settings are within {:.1f} %{}).", curve.label,
                       100 * (best / worst - 1), noise ? ", which is within noise" : "");
  }
  std::string out = fmt::format("{}: {} is enough, the cheapest within {:g} % of the best{}", curve.label,
                                join(tuning.overrides(*curve.knee.enough), " "), 100 * Knee::kNear,
                                curve.draws.empty() ? "" : " or within its noise");
  return out + bend_text(tuning, curve.knee) + ".";
}

std::vector<FigureData> tuning_figures(const Tuning& tuning) {
  std::vector<FigureData> figures;
  const auto figure_of = [&](FigureKind kind, const std::string& id, const std::string& title) -> FigureData& {
    FigureData& figure = figures.emplace_back();
    figure.id = id, figure.title = title, figure.kind = kind, figure.unit = "x", figure.neutral = 1;
    return figure;
  };
  if (tuning.parameters.size() == 1) {
    FigureData& figure = figure_of(FigureKind::Lines, "sweep", "Speedup over " + join(tuning.overrides(0), " "));
    figure.x_label = tuning.parameters[0].key, figure.y_label = "speedup";
    figure.categories = tuning.parameters[0].settings;
    for (const TunedCurve& curve : tuning.curves) {
      figure.series.push_back({curve.label, {curve.speedups.begin(), curve.speedups.end()}, curve.intervals});
      figure.notes.push_back(knee_sentence(tuning, curve));
    }
    // Only of the last curve, which stands for all: marks of many would cover each other.
    const TunedCurve& whole = tuning.curves.back();
    if (whole.knee.enough) figure.marks.push_back({whole.label, *whole.knee.enough, "enough"});
    if (whole.knee.bend) figure.marks.push_back({whole.label, *whole.knee.bend, "knee"});
    return figures;
  }
  const TunedParameter &rows = tuning.parameters[0], &columns = tuning.parameters[1];
  for (std::size_t i = 0; i < tuning.curves.size(); ++i) {
    const TunedCurve& curve = tuning.curves[i];
    FigureData& figure = figure_of(FigureKind::Heat, fmt::format("plane-{}", i + 1),
                                   fmt::format("{}: speedup over {}", curve.label, join(tuning.overrides(0), " ")));
    figure.x_label = columns.key;
    figure.categories = columns.settings;
    for (std::size_t row = 0; row < rows.settings.size(); ++row) {
      FigureSeries& series = figure.series.emplace_back();
      series.label = fmt::format("{}={}", rows.key, rows.settings[row]);
      for (std::size_t column = 0; column < columns.settings.size(); ++column) {
        const std::size_t point = row * columns.settings.size() + column;
        series.values.emplace_back(curve.speedups[point]);
        if (!curve.intervals.empty()) series.intervals.push_back(curve.intervals[point]);
      }
    }
    if (curve.knee.enough) {
      figure.marks.push_back({figure.series[*curve.knee.enough / columns.settings.size()].label,
                              *curve.knee.enough % columns.settings.size(), "enough"});
    }
    figure.notes.push_back(knee_sentence(tuning, curve));
  }
  return figures;
}

}  // namespace nearfar
