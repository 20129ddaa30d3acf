// What designs do together: every combination of some designs on some workloads, taken apart into what each does and
// what pairs of them do beyond that. Effects are logarithms of speedups, so that independent designs add up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "study/figure.h"

namespace nearfar {

/// One combination: bit i of `members` is design i.
struct Combination {
  std::uint32_t members = 0;
  std::string label;                            ///< "baseline", "idyll+trans-fw"
  std::string refused;                          ///< why it cannot be built; empty when it can
  std::vector<std::optional<double>> cycles;    ///< by workload; nothing where it was not measured
  std::vector<std::optional<double>> speedups;  ///< against no design, by workload
  std::optional<double> mean;                   ///< geometric, over all workloads
  /// Of repeated runs: their cycles by workload and draw, of which `cycles` are the geometric means.
  std::vector<std::vector<double>> repeats{};
  std::vector<std::optional<Interval>> intervals{};  ///< of the speedups, each draw against its own
  std::optional<Interval> mean_interval{};
};

/// How a pair gets on, by its interaction alone.
enum class Relationship : std::uint8_t {
  AddUp,        ///< together they are worth the product of what each is worth
  Reinforce,    ///< more than the product
  Overlap,      ///< less than the product, but no worse than the better one alone
  Fight,        ///< worse than the better one alone
  WithinNoise,  ///< more or less than the product, but not by more than noise
  Refused,      ///< they cannot be combined
  Unknown,      ///< not measured
};

std::string relationship_name(Relationship relationship);

/// All effects are factors: 1.2 is 20 % faster.
struct DesignEffect {
  std::optional<double> alone;                     ///< against no design
  std::optional<double> average;                   ///< over all combinations of the others with which it was measured
  std::vector<std::optional<double>> by_workload;  ///< alone
  std::optional<Interval> alone_interval{}, average_interval{};  ///< of repeated runs
};

struct PairEffect {
  std::size_t first = 0, second = 0;
  std::optional<double> interaction;  ///< what the pair alone is worth over the product of both
  std::optional<double> average;      ///< the same, over all combinations of the others with which it was measured
  std::vector<std::optional<double>> by_workload;  ///< of the pair alone
  Relationship relationship = Relationship::Unknown;
  std::optional<Interval> interaction_interval{}, average_interval{};  ///< of repeated runs
};

struct Composition {
  static constexpr double kThreshold = 0.02;  ///< factors within 2 % of 1 are no interaction

  std::vector<std::string> designs, workloads;
  std::vector<Combination> combinations;  ///< all subsets, by their bits
  std::vector<DesignEffect> effects;      ///< by design
  std::vector<PairEffect> pairs;          ///< (0,1), (0,2), (1,2), …
};

/// Bits of `members` as a design is named: "baseline", "a+b".
std::string combination_label(const std::vector<std::string>& designs, std::uint32_t members);

/// Fills in everything that follows from the cycles and refusals of `combinations`; from their repeats, where there are
/// any, the cycles too.
void analyse(Composition& composition);

/// Those that are refused for a reason of their own: they contain no other that is refused.
std::vector<const Combination*> least_refused(const Composition& composition);

/// Bars of all combinations, and the heat map of pairs.
std::vector<FigureData> composition_figures(const Composition& composition);

}  // namespace nearfar
