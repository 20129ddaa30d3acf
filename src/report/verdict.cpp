// Verdicts. The effect is looked at as well as the number: a speedup of 0.98 where 1.1 was published lies within 20 %,
// and is opposite; one of 1.00 lies even nearer, and is missed.
#include "report/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace nearfar {
namespace {

using Form = Published::Form;

constexpr double kMet = 0.05;            // of the published number
constexpr double kNoEffect = 0.005;      // of a ratio: less than this has no sign
constexpr double kNoEffectPoints = 0.5;  // of what is in per cent

bool is_lower_bound(Form form) { return form == Form::Above || form == Form::AtLeast; }
bool is_upper_bound(Form form) { return form == Form::Below || form == Form::AtMost; }
bool is_bound(Form form) { return is_lower_bound(form) || is_upper_bound(form); }

/// +1, -1, or 0 for a claim that says nothing about the direction.
int published_sign(Form form, double published, double neutral) {
  if (form == Form::Above || (is_lower_bound(form) && published > neutral)) return published >= neutral ? 1 : 0;
  if (form == Form::Below || (is_upper_bound(form) && published < neutral)) return published <= neutral ? -1 : 0;
  if (is_bound(form)) return 0;
  return published > neutral ? 1 : published < neutral ? -1 : 0;
}

/// How a measured effect stands to the published one. Both are distances from the value without effect.
struct Effect {
  int sign = 0;          ///< of the published one; 0: there is no direction to be right or wrong about
  double published = 0;  ///< in the direction of the sign, like the measured one
  double measured = 0;
  double none = 0;  ///< less than this is no effect

  bool is_opposite() const { return sign != 0 && measured < -none; }
  /// Some of what was published can be seen.
  bool is_seen() const { return sign == 0 || published <= none || measured > none; }
  bool is_half() const { return sign == 0 || published <= none || measured >= published / 2; }
};

Effect effect_of(const Claim& claim, double published, double measured) {
  const auto neutral = neutral_value(claim.quality);
  if (!neutral) return {};
  const int sign = published_sign(claim.published.form, published, *neutral);
  return {sign, sign * (published - *neutral), sign * (measured - *neutral),
          *neutral == 0 ? kNoEffectPoints : kNoEffect};
}

bool holds(Form form, double published, double measured) {
  switch (form) {
    case Form::Above: return measured > published;
    case Form::AtLeast: return measured >= published;
    case Form::Below: return measured < published;
    case Form::AtMost: return measured <= published;
    default: return false;
  }
}

/// "Never slower" has no direction to be opposite to, until it is slower by more than the band.
bool is_no_harm(const Claim& claim, double published) {
  const auto neutral = neutral_value(claim.quality);
  const Form form = claim.published.form;
  return neutral && is_bound(form) && published_sign(form, published, *neutral) == 0;
}

Verdict judge_one(const Claim& claim, double published, double measured) {
  if (!std::isfinite(measured)) return Verdict::NotMeasured;
  const Form form = claim.published.form;
  if (is_bound(form) && holds(form, published, measured)) return Verdict::Met;
  const double off = std::abs(measured - published);
  const bool near = off <= claim.band * std::abs(published);
  if (is_no_harm(claim, published)) return near ? Verdict::WithinBand : Verdict::Opposite;
  const Effect effect = effect_of(claim, published, measured);
  if (effect.is_opposite()) return Verdict::Opposite;
  const bool close = off <= std::max(kMet * std::abs(published), claim.published.rounding);
  if (!is_bound(form) && close && effect.is_half()) return Verdict::Met;
  return near && effect.is_seen() ? Verdict::WithinBand : Verdict::Missed;
}

/// The worst verdict of what lies in the interval. Noise is never called an effect, nor the opposite of one.
Verdict judge_interval(const Claim& claim, double published, const Interval& interval) {
  const auto neutral = neutral_value(claim.quality);
  const bool directed = neutral && published_sign(claim.published.form, published, *neutral) != 0;
  if (directed && interval.within_noise_of(*neutral)) return Verdict::WithinNoise;
  const std::array verdicts = {judge_one(claim, published, interval.low), judge_one(claim, published, interval.mean),
                               judge_one(claim, published, interval.high)};
  const Verdict worst = std::ranges::max(verdicts);
  const bool throughout = std::ranges::count(verdicts, worst) == std::ssize(verdicts);
  return worst == Verdict::Opposite && !throughout ? Verdict::Missed : worst;
}

/// The published number that belongs to measured number `i` of `count`.
std::optional<double> published_for(const Claim& claim, std::size_t i, std::size_t count) {
  const auto& values = claim.published.values;
  if (values.size() == 1) return values.front();
  return values.size() == count ? std::optional(values[i]) : std::nullopt;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Met: return "met";
    case Verdict::WithinBand: return "within the band";
    case Verdict::Missed: return "missed";
    case Verdict::WithinNoise: return "within noise";
    case Verdict::Opposite: return "opposite";
    case Verdict::NotJudged: return "not judged";
    case Verdict::NotMeasured: return "not measured";
  }
  return "";
}

Verdict judge(const Claim& claim, std::span<const double> measured, std::span<const Interval> intervals) {
  Verdict worst = measured.empty() ? Verdict::NotMeasured : Verdict::Met;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto published = published_for(claim, i, measured.size());
    const bool spread = i < intervals.size() && intervals[i].has_spread();
    const Verdict verdict = !published ? Verdict::NotMeasured
                            : spread   ? judge_interval(claim, *published, intervals[i])
                                       : judge_one(claim, *published, measured[i]);
    worst = std::max(worst, verdict);
  }
  return worst;
}

std::optional<double> ratio(const Claim& claim, std::span<const double> measured) {
  if (is_bound(claim.published.form)) return std::nullopt;
  std::optional<double> furthest;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto published = published_for(claim, i, measured.size());
    if (!published || *published == 0) return std::nullopt;
    const double each = measured[i] / *published;
    if (!furthest || std::abs(each - 1) > std::abs(*furthest - 1)) furthest = each;
  }
  return furthest;
}

}  // namespace nearfar
