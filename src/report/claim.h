// A claim: a number that a paper published, and where the same number is measured here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

/// A published number as it is written: `1.24`, `1.056..2.4`, `>70`, `>=1.0`, `<1.0`, `about 1.0`, `3.9 6.1 5.8`.
struct Published {
  enum class Form : std::uint8_t { Number, Range, Above, AtLeast, Below, AtMost, Several };

  Form form = Form::Number;
  std::vector<double> values;  ///< two of a range; one of all others but several
  double rounding = 0;         ///< half of the last digit that was written
  std::string text;
};

/// Nothing when `text` is none of these.
std::optional<Published> parse_published(std::string_view text);

/// What kind of number it is: that decides which value means "no effect".
enum class Quality : std::uint8_t {
  Speedup,    ///< cycles before over cycles after: 1 is no effect
  Ratio,      ///< of any two numbers: 1 is no effect
  Reduction,  ///< in per cent of what it was: 0 is no effect
  Gain,       ///< in per cent: 0 is no effect
  Change,     ///< a difference: 0 is no effect
  Share,      ///< of a whole, in per cent: no value means no effect
  Count,      ///< likewise
};

/// The value without effect, where there is one.
std::optional<double> neutral_value(Quality quality);

/// How one number is made of the values in a figure.
enum class Take : std::uint8_t {
  Mean,
  GeometricMean,
  Lowest,
  Highest,
  LowestAndHighest,
  RatioOfMeans,  ///< the mean of the first series over that of the second
  Each,          ///< every one of them, each with its own published number or all with the same
};

/// What a claim is worth as evidence.
enum class Role : std::uint8_t {
  Fact,        ///< of the baseline: readings are chosen by it, so meeting it shows nothing about a design
  Derived,     ///< follows by arithmetic from facts and another claim
  Result,      ///< of a design: what is to be reproduced
  Indicative,  ///< of a design, by a measurement that is not the paper's own
};

std::string_view role_name(Role role);

struct Claim {
  std::string id;        ///< trans-fw.queue.gmmu
  std::string paper;     ///< trans-fw
  std::string sentence;  ///< what is claimed, in a few words
  std::string figure;    ///< in the paper
  Published published;
  std::string unit;
  Quality quality = Quality::Speedup;
  double band = 0.2;  ///< how far off counts as near, as a share of the published number

  // Where it is measured; without a study it is not measured yet.
  std::string study;                ///< file in studies/
  std::string plot;                 ///< id of the study's figure
  std::vector<std::string> series;  ///< labels in that figure
  std::vector<std::string> over;    ///< categories of that figure
  std::string group;                ///< what they are called together, where they are
  Take take = Take::Mean;
  Role role = Role::Result;
  std::string bound;  ///< claim about an ideal machine that no design can beat; may be empty

  std::vector<std::string> because;  ///< claims whose numbers are the mechanism behind this one
};

/// A paper and its claims: one file in claims/.
struct Paper {
  std::string id;     ///< name of the file
  std::string title;  ///< what it is called
  std::string paper;  ///< as in config/bibliography.h, or ""
  /// The publication whose figures the claims name, where it is another than the paper.
  std::string figures_of;
  std::vector<Claim> claims;
};

}  // namespace nearfar
