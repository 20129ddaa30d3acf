// From figures to claims: the numbers that a claim speaks of, and the marks that claims leave in figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/claim.h"
#include "report/verdict.h"
#include "study/figure.h"

namespace nearfar {

/// How a claim comes out under the readings of the baseline that its facts do not rule out.
struct UnderReadings {
  std::string reading;                      ///< the frozen one; empty where none is frozen
  double low = 0, high = 0;                 ///< over all that were measured
  std::size_t measured = 0, remaining = 0;  ///< readings with a number, and readings that are not ruled out
  std::vector<std::string> reproducing;     ///< those under which it is met or within its band, beside the frozen one
};

struct MeasuredClaim {
  const Claim* claim = nullptr;
  Verdict verdict = Verdict::NotMeasured;
  std::vector<double> values;           ///< as many as `take` makes; of what there is, where something is missing
  std::optional<double> ratio;          ///< measured / published
  std::string note;                     ///< why it is not measured: "no study yet", "7 of 9 values"
  std::vector<Interval> intervals{};    ///< of the values, where runs were repeated; else empty
  std::vector<std::string> warnings{};  ///< why its number should be doubted: "faster than its ideal bound on MT"
  UnderReadings readings{};
};

/// Whether the number is met or within its band.
bool is_reproduced(Verdict verdict);

/// The verdict on a result in words: "reproduced", "reproducible under reading 1.017", "not under any of 6 readings
/// tried". Of facts and derived claims, which are not counted, what they are.
std::string outcome_text(const MeasuredClaim& measured);

/// "0.99× to 1.31× (6 of 8 readings)"; nothing where fewer than two readings were measured.
std::string range_text(const MeasuredClaim& measured);

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
