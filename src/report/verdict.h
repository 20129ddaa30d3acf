// How a measured number stands beside the published one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "report/claim.h"
#include "stats/interval.h"

namespace nearfar {

/// From best to worst. docs/reproduction.md has the same words for people.
enum class Verdict : std::uint8_t {
  Met,          ///< a bound holds; a number is within 5 %, or what rounding allows, and so is half of the effect
  WithinBand,   ///< not further off than the claim's band, and some of the effect is there
  Missed,       ///< further off, or no effect
  WithinNoise,  ///< an effect was published, and what is measured of it cannot be told from none
  Opposite,     ///< the effect has the wrong sign
  NotJudged,    ///< measured, but on inputs of another size than the claim's study has
  NotMeasured,  ///< no study, no result, or not of everything that the claim speaks of
};

std::string_view verdict_name(Verdict verdict);

/// Of all measured numbers together: the worst of them. Published are one for all, or one for each; anything else is
/// NotMeasured. `intervals` are those of the numbers, or none: a number is then as good as its whole interval is, and
/// opposite only where all of that is.
Verdict judge(const Claim& claim, std::span<const double> measured, std::span<const Interval> intervals = {});

/// measured / published; of several, the one that is furthest off. Nothing for bounds and where published is zero.
std::optional<double> ratio(const Claim& claim, std::span<const double> measured);

}  // namespace nearfar
