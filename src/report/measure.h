// From figures to claims: the numbers that a claim speaks of, and the marks that claims leave in figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/claim.h"
#include "report/verdict.h"
#include "study/figure.h"

namespace nearfar {

struct MeasuredClaim {
  const Claim* claim = nullptr;
  Verdict verdict = Verdict::NotMeasured;
  std::vector<double> values;         ///< as many as `take` makes; of what there is, where something is missing
  std::optional<double> ratio;        ///< measured / published
  std::string note;                   ///< why it is not measured: "no study yet", "7 of 9 values"
  std::vector<Interval> intervals{};  ///< of the values, where runs were repeated; else empty
};

/// Whether a number is known to ±2 %; of what is in per cent, to ±2 points.
bool is_precise(const Claim& claim, const Interval& interval);
/// How many claims rest on one run of each kind, so that nothing is known of their spread.
std::size_t without_spread(const std::vector<MeasuredClaim>& claims);

/// `figures` are those of the studies looked at, out of all `studies` that there are; the claims stay where they are.
std::vector<MeasuredClaim> measure_claims(const std::vector<Paper>& papers, const std::vector<FigureData>& figures,
                                          const std::vector<std::string>& studies = {});

/// Adds what claims say to the figures that measure them.
void mark_published(std::vector<FigureData>& figures, const std::vector<Paper>& papers);

/// "1.41×", "1.06× to 2.31×", "3.9, 6.0, 5.9", of repeated runs "1.41× ±0.02": nothing measured is "–".
std::string measured_text(const MeasuredClaim& measured);
/// "1.24×", ">70 %".
std::string published_text(const Claim& claim);

}  // namespace nearfar
