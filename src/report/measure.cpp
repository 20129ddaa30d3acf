// Looking up series and categories by their labels.
#include "report/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "config/nearest.h"
#include "report/figure_text.h"

namespace nearfar {
namespace {

/// What a mean over a figure's categories is called there.
constexpr const char* kMeanCategories[] = {"mean", "geometric mean"};

/// Numbers of a figure: those that are there, and how many there should be.
struct Found {
  std::vector<double> values;
  std::size_t have = 0, wanted = 0;
  std::string problem;
};

const FigureData* figure_of(const Claim& claim, const std::vector<FigureData>& figures) {
  const auto found = std::ranges::find_if(
      figures, [&](const FigureData& figure) { return figure.study == claim.study && figure.id == claim.plot; });
  return found == figures.end() ? nullptr : &*found;
}

/// A note goes on after it, so it is one phrase.
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string near = nearest(name, candidates);
  return near.empty() ? "" : fmt::format(" (did you mean `{}`?)", near);
}

/// Why there is no figure.
std::string missing_figure(const Claim& claim, const std::vector<FigureData>& figures,
                           const std::vector<std::string>& studies) {
  std::vector<std::string> ids;
  for (const FigureData& figure : figures) {
    if (figure.study == claim.study) ids.push_back(figure.id);
  }
  if (!ids.empty()) return fmt::format("the study has no figure `{}`{}", claim.plot, suggestion(claim.plot, ids));
  const bool known = std::ranges::find(studies, claim.study) != studies.end();
  return fmt::format("study {} is not there{}", claim.study, known ? "" : suggestion(claim.study, studies));
}

/// Why numbers that were measured have no verdict.
std::string unjudged(const Claim& claim, const std::vector<double>& values) {
  const std::size_t published = claim.published.values.size();
  if (published == 1 || published == values.size()) return "a measured value is not a number";
  return fmt::format("{} numbers are published, but {} {} measured", published, values.size(),
                     values.size() == 1 ? "is" : "are");
}

/// One draw of repeated runs, or what they come to.
using Draw = std::optional<std::size_t>;

std::optional<double> value_at(const FigureSeries& series, std::size_t category, Draw draw) {
  if (!draw) return series.values[category];
  if (category >= series.draws.size() || *draw >= series.draws[category].size()) return std::nullopt;
  return series.draws[category][*draw];
}

/// The values of one series, those that are there.
Found values_of(const FigureData& figure, const std::string& label, const std::vector<std::string>& over, Draw draw) {
  Found found;
  found.wanted = over.size();
  const auto series = std::ranges::find(figure.series, label, &FigureSeries::label);
  if (series == figure.series.end()) {
    std::vector<std::string> labels;
    for (const FigureSeries& each : figure.series) labels.push_back(each.label);
    found.problem = fmt::format("the figure has no series `{}`{}", label, suggestion(label, labels));
    return found;
  }
  for (const std::string& name : over) {
    const auto category = std::ranges::find(figure.categories, name);
    if (category == figure.categories.end()) {
      found.problem = fmt::format("the figure has no category `{}`{}", name, suggestion(name, figure.categories));
      return found;
    }
    const auto value = value_at(*series, static_cast<std::size_t>(category - figure.categories.begin()), draw);
    if (value) found.values.push_back(*value);
  }
  return found;
}

std::vector<double> taken(Take take, const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  switch (take) {
    case Take::Mean:
      for (const double value : values) sum += value;
      return {sum / count};
    case Take::GeometricMean:
      for (const double value : values) sum += std::log(value);
      return {std::exp(sum / count)};
    case Take::Lowest: return {std::ranges::min(values)};
    case Take::Highest: return {std::ranges::max(values)};
    case Take::LowestAndHighest: return {std::ranges::min(values), std::ranges::max(values)};
    case Take::RatioOfMeans:  // of each series its mean; gather() divides them
      return taken(Take::Mean, values);
    case Take::Each: return values;
  }
  return {};
}

/// What the claim takes of its series. Several published numbers are one for each series; a single one is of all series
/// together.
Found gather(const Claim& claim, const FigureData& figure, Draw draw = std::nullopt) {
  const bool ratio = claim.take == Take::RatioOfMeans;
  const bool apart = ratio || claim.published.values.size() == claim.series.size();
  std::vector<std::vector<double>> pools(1);
  Found all;
  for (const std::string& label : claim.series) {
    const Found found = values_of(figure, label, claim.over, draw);
    if (!found.problem.empty()) return found;
    all.have += found.values.size(), all.wanted += found.wanted;
    if (apart && !pools.back().empty()) pools.emplace_back();
    pools.back().insert(pools.back().end(), found.values.begin(), found.values.end());
  }
  for (const auto& pool : pools) {
    if (pool.empty()) continue;
    for (const double value : taken(claim.take, pool)) all.values.push_back(value);
  }
  if (!ratio) return all;
  if (claim.series.size() != 2) {
    all.problem = "a ratio of means is of two series";
  } else if (all.values.size() == 2) {
    all.values = {all.values[0] / all.values[1]};
  }
  return all;
}

/// Of what the figure says about missing values, what is about this claim: its series, else its categories, else
/// anything.
std::string reason_of(const Claim& claim, const FigureData& figure) {
  constexpr std::string_view kPrefix = "not measured: ";
  const auto about = [&](const std::vector<std::string>& names) {
    return std::ranges::find_if(figure.notes, [&](const std::string& note) {
      return std::ranges::any_of(names, [&](const std::string& name) {
        return fmt::format(" {} ", note).find(fmt::format(" {} ", name)) != std::string::npos;
      });
    });
  };
  if (figure.notes.empty()) return "no value is there";
  auto note = about(claim.series);
  if (note == figure.notes.end()) note = about(claim.over);
  if (note == figure.notes.end()) note = figure.notes.begin();
  return note->starts_with(kPrefix) ? note->substr(kPrefix.size()) : *note;
}

/// The category a published number is drawn at: the only one it speaks of, or the figure's mean over all of them or
/// over a group of the same name.
std::optional<std::string> place_of(const Claim& claim, const FigureData& figure) {
  if (claim.over.size() == 1) return claim.over.front();
  if (claim.take != Take::Mean && claim.take != Take::GeometricMean) return std::nullopt;
  if (!claim.group.empty() && std::ranges::find(figure.categories, claim.group) != figure.categories.end()) {
    return claim.group;
  }
  std::size_t plain = 0;
  for (const std::string& category : figure.categories) {
    plain += std::ranges::find(kMeanCategories, category) == std::end(kMeanCategories) ? 1 : 0;
  }
  if (plain != claim.over.size()) return std::nullopt;
  for (const char* name : kMeanCategories) {
    if (std::ranges::find(figure.categories, name) != figure.categories.end()) return name;
  }
  return std::nullopt;
}

/// The figure's own mean over everything that the claim speaks of. It exists only when all was measured, and leaves out
/// values that have nothing to divide by.
std::optional<double> own_mean(const Claim& claim, const FigureData& figure, Draw draw = std::nullopt) {
  const char* name = claim.take == Take::Mean ? kMeanCategories[0] : kMeanCategories[1];
  if (claim.series.size() != 1 || place_of(claim, figure) != name) return std::nullopt;
  const Found found = values_of(figure, claim.series.front(), {name}, draw);
  return found.values.empty() ? std::nullopt : std::optional(found.values.front());
}

/// What the claim takes of one draw; nothing where that draw is not complete.
std::optional<std::vector<double>> taken_of(const Claim& claim, const FigureData& figure, std::size_t draw) {
  Found found = gather(claim, figure, draw);
  if (!found.problem.empty()) return std::nullopt;
  if (found.have == found.wanted) return std::move(found.values);
  const auto mean = own_mean(claim, figure, draw);
  return mean ? std::optional(std::vector{*mean}) : std::nullopt;
}

/// Intervals over the draws that are complete, one for each number that the claim takes.
std::vector<Interval> intervals_of(const Claim& claim, const FigureData& figure) {
  std::size_t draws = 0;
  for (const FigureSeries& series : figure.series) {
    for (const auto& each : series.draws) draws = std::max(draws, each.size());
  }
  std::vector<std::vector<double>> samples;  // by number
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto values = taken_of(claim, figure, draw);
    if (!values) continue;
    samples.resize(values->size());
    for (std::size_t i = 0; i < values->size(); ++i) samples[i].push_back((*values)[i]);
  }
  const bool ratios = claim.quality == Quality::Speedup || claim.quality == Quality::Ratio;
  std::vector<Interval> intervals;
  for (const std::vector<double>& each : samples) {
    const bool positive = std::ranges::all_of(each, [](double value) { return value > 0; });
    intervals.push_back(ratios && positive ? geometric_interval_of(each) : interval_of(each));
  }
  return intervals;
}

/// What is said of numbers that are not known well; nothing of those that are.
std::string imprecision(const Claim& claim, const std::vector<Interval>& intervals) {
  const bool points = claim.unit == "%";
  double widest = 0;
  std::size_t repeats = 0;
  for (const Interval& interval : intervals) {
    if (!interval.has_spread() || is_precise(claim, interval)) continue;
    const double half = points ? interval.half_width() : 100 * interval.half_width() / std::abs(interval.mean);
    if (half > widest) widest = half, repeats = interval.count;
  }
  if (widest == 0) return "";
  return fmt::format("known to ±{:.1f} {} only ({} repeats)", widest, points ? "points" : "%", repeats);
}

/// Puts the means over draws in the place of what was taken of means, and says where they are not known well.
void take_intervals(MeasuredClaim& measured, const FigureData& figure) {
  std::vector<Interval> intervals = intervals_of(*measured.claim, figure);
  if (intervals.size() != measured.values.size()) return;
  for (std::size_t i = 0; i < intervals.size(); ++i) measured.values[i] = intervals[i].mean;
  measured.intervals = std::move(intervals);
  const std::string note = imprecision(*measured.claim, measured.intervals);
  if (!note.empty()) measured.note += (measured.note.empty() ? "" : "; ") + note;
}

/// A mean whose verdict one workload decides: "missed without BS (1.062×)".
void warn_of_outliers(MeasuredClaim& measured, const FigureData& figure) {
  const Claim& claim = *measured.claim;
  const bool mean = claim.take == Take::Mean || claim.take == Take::GeometricMean;
  if (!mean || claim.over.size() < 3 || measured.values.size() != 1 || measured.verdict == Verdict::NotMeasured) return;
  // As the means stand: what the interval of the whole says is not known of a part.
  const Found whole = gather(claim, figure);
  if (!whole.problem.empty() || whole.values.size() != 1) return;
  const bool reproduced = is_reproduced(judge(claim, whole.values));
  std::vector<std::string> deciding;
  for (const std::string& name : claim.over) {
    Claim rest = claim;
    std::erase(rest.over, name);
    const Found found = gather(rest, figure);
    if (!found.problem.empty() || found.have < found.wanted || found.values.size() != 1) return;
    const Verdict verdict = judge(rest, found.values);
    if (is_reproduced(verdict) == reproduced) continue;
    deciding.push_back(
        fmt::format("{} without {} ({})", verdict_name(verdict), name, value_text(found.values.front(), claim.unit)));
  }
  if (!deciding.empty()) measured.warnings.push_back(fmt::format("{}", fmt::join(deciding, ", ")));
}

/// A design that is faster than a machine which should bound it: "faster than its bound on MT (3.1× over 2.4×)".
void warn_of_beaten_bound(MeasuredClaim& measured, const Claim& bound, const std::vector<FigureData>& figures) {
  const Claim& claim = *measured.claim;
  const FigureData *own = figure_of(claim, figures), *other = figure_of(bound, figures);
  if (own == nullptr || other == nullptr || claim.series.empty() || bound.series.empty()) return;
  const auto value = [](const FigureData& figure, const std::string& series, const std::string& category) {
    const Found found = values_of(figure, series, {category}, std::nullopt);
    return found.problem.empty() && !found.values.empty() ? std::optional(found.values.front()) : std::nullopt;
  };
  std::vector<std::string> beaten;
  for (const std::string& name : claim.over) {
    const auto design = value(*own, claim.series.front(), name), ideal = value(*other, bound.series.front(), name);
    constexpr double kMore = 1.01;  // less is noise
    if (!design || !ideal || !(*design > kMore * *ideal)) continue;
    beaten.push_back(
        fmt::format("{} ({} over {})", name, value_text(*design, claim.unit), value_text(*ideal, bound.unit)));
  }
  if (!beaten.empty())
    measured.warnings.push_back(fmt::format("faster than its ideal bound {} on {}", bound.id, fmt::join(beaten, ", ")));
}

MeasuredClaim measure(const Claim& claim, const std::vector<FigureData>& figures,
                      const std::vector<std::string>& studies) {
  MeasuredClaim measured;
  measured.claim = &claim;
  if (claim.study.empty()) {
    measured.note = "no study measures it yet";
    return measured;
  }
  const FigureData* figure = figure_of(claim, figures);
  if (figure == nullptr) {
    measured.note = missing_figure(claim, figures, studies);
    return measured;
  }
  Found found = gather(claim, *figure);
  if (!found.problem.empty()) {
    measured.note = found.problem;
    return measured;
  }
  measured.values = std::move(found.values);
  if (const auto mean = own_mean(claim, *figure); mean && found.have < found.wanted) {
    measured.values = {*mean};
    measured.note = fmt::format("mean of {} of {}: the others have nothing to divide by", found.have, found.wanted);
  } else if (found.have < found.wanted) {
    measured.note = found.have == 0 ? reason_of(claim, *figure)
                                    : fmt::format("{} of {} values are there", found.have, found.wanted);
    return measured;
  }
  take_intervals(measured, *figure);
  measured.verdict = judge(claim, measured.values, measured.intervals);
  measured.ratio = ratio(claim, measured.values);
  if (measured.verdict == Verdict::NotMeasured && measured.note.empty()) {
    measured.note = unjudged(claim, measured.values);
  }
  warn_of_outliers(measured, *figure);
  return measured;
}

}  // namespace

bool is_reproduced(Verdict verdict) { return verdict == Verdict::Met || verdict == Verdict::WithinBand; }

std::string outcome_text(const MeasuredClaim& measured) {
  const Claim& claim = *measured.claim;
  if (claim.role == Role::Fact) return "fact of the baseline";
  if (claim.role == Role::Derived) return "derived, not counted";
  if (claim.role == Role::Indicative) return "indicative, not counted";
  if (measured.verdict == Verdict::NotMeasured || measured.verdict == Verdict::NotJudged)
    return std::string(verdict_name(measured.verdict));
  const UnderReadings& under = measured.readings;
  if (is_reproduced(measured.verdict))
    return under.reading.empty() ? "reproduced on the system as it is" : "reproduced";
  if (!under.reproducing.empty())
    return fmt::format("reproducible under reading {}", fmt::join(under.reproducing, ", "));
  if (under.reading.empty()) return "not on the system as it is";
  return fmt::format("not under any of {} readings tried", std::max<std::size_t>(1, under.measured));
}

std::string range_text(const MeasuredClaim& measured) {
  const UnderReadings& under = measured.readings;
  if (under.measured < 2) return "";
  return fmt::format("{} to {} ({} of {} readings)", value_text(under.low, measured.claim->unit),
                     value_text(under.high, measured.claim->unit), under.measured, under.remaining);
}

std::vector<MeasuredClaim> measure_claims(const std::vector<Paper>& papers, const std::vector<FigureData>& figures,
                                          const std::vector<std::string>& studies) {
  std::vector<MeasuredClaim> out;
  for (const Paper& paper : papers) {
    for (const Claim& claim : paper.claims) {
      out.push_back(measure(claim, figures, studies));
      const auto bound = std::ranges::find(paper.claims, claim.bound, &Claim::id);
      if (bound != paper.claims.end()) warn_of_beaten_bound(out.back(), *bound, figures);
    }
  }
  return out;
}

void mark_published(std::vector<FigureData>& figures, const std::vector<Paper>& papers) {
  for (FigureData& figure : figures) {
    for (const Paper& paper : papers) {
      for (const Claim& claim : paper.claims) {
        if (claim.study != figure.study || claim.plot != figure.id) continue;
        const auto place = place_of(claim, figure);
        if (!place) continue;
        const auto& values = claim.published.values;
        for (std::size_t i = 0; i < claim.series.size(); ++i) {
          const double value = values.size() == claim.series.size() ? values[i] : values.front();
          figure.published.push_back({claim.id, claim.series[i], *place, value, value, published_text(claim)});
        }
      }
    }
  }
}

bool is_precise(const Claim& claim, const Interval& interval) {
  constexpr double kKnown = 0.02;
  return interval.half_width() <= (claim.unit == "%" ? 100 * kKnown : kKnown * std::abs(interval.mean));
}

std::size_t without_spread(const std::vector<MeasuredClaim>& claims) {
  return static_cast<std::size_t>(std::ranges::count_if(claims, [](const MeasuredClaim& measured) {
    return measured.verdict != Verdict::NotMeasured && std::ranges::none_of(measured.intervals, &Interval::has_spread);
  }));
}

std::string measured_text(const MeasuredClaim& measured) {
  if (measured.values.empty()) return "–";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < measured.values.size(); ++i) {
    parts.push_back(value_text(measured.values[i], measured.claim->unit));
    if (i < measured.intervals.size() && measured.intervals[i].has_spread())
      parts.back() += " ±" + half_width_text(measured.intervals[i]);
  }
  return fmt::format("{}", fmt::join(parts, measured.claim->take == Take::LowestAndHighest ? " to " : ", "));
}

std::string published_text(const Claim& claim) { return claim.published.text + unit_suffix(claim.unit); }

}  // namespace nearfar
