#include "cli/claims_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/table.h"
#include "config/bibliography.h"
#include "config/words.h"

namespace nearfar {
namespace {

constexpr std::array kVerdicts = {Verdict::Met,      Verdict::WithinBand, Verdict::Missed,     Verdict::WithinNoise,
                                  Verdict::Opposite, Verdict::NotJudged,  Verdict::NotMeasured};

/// "GMMU queue wait 95.8 % → 93.10 %"
std::string mechanism(const Claim& claim, const std::vector<MeasuredClaim>& claims) {
  std::vector<std::string> parts;
  for (const std::string& id : claim.because) {
    const auto found = std::ranges::find_if(claims, [&](const auto& measured) { return measured.claim->id == id; });
    if (found == claims.end() || found->values.empty()) continue;
    parts.push_back(
        fmt::format("{} {} → {}", found->claim->sentence, published_text(*found->claim), measured_text(*found)));
  }
  return join(parts, "; ");
}

/// What the verdict on a result means for its paper, where the verdict does not say it; of others what they are.
std::string words(const MeasuredClaim& measured) {
  if (measured.verdict == Verdict::NotJudged && measured.claim->role == Role::Result) return "";
  return outcome_text(measured);
}

std::string remark(const MeasuredClaim& measured, const std::vector<MeasuredClaim>& claims) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) parts.push_back(part);
  };
  add(measured.note);
  add(words(measured));
  const std::string range = range_text(measured);
  add(range.empty() ? "" : range + " over readings");
  for (const std::string& warning : measured.warnings) add("WARNING: " + warning);
  const std::string numbers = mechanism(*measured.claim, claims);
  add(numbers.empty() ? "" : "by, published → measured: " + numbers);
  return join(parts, "; ");
}

/// Only results count: facts of the baseline choose the reading, and what is derived follows from them.
std::string results_tally(const std::vector<MeasuredClaim>& claims) {
  std::size_t results = 0, reproduced = 0, reproducible = 0, not_measured = 0;
  for (const MeasuredClaim& measured : claims) {
    if (measured.claim->role != Role::Result) continue;
    ++results;
    if (measured.verdict == Verdict::NotMeasured || measured.verdict == Verdict::NotJudged) {
      ++not_measured;
    } else if (is_reproduced(measured.verdict)) {
      ++reproduced;
    } else if (!measured.readings.reproducing.empty()) {
      ++reproducible;
    }
  }
  const auto count = [&](Role role) {
    return std::ranges::count_if(claims, [&](const MeasuredClaim& measured) { return measured.claim->role == role; });
  };
  return fmt::format(
      "{} are results of designs: {} reproduced, {} reproducible under another reading, {} not, {} without a verdict. "
      "Not "
      "counted: {} facts of baselines, {} derived, {} indicative.\n",
      results, reproduced, reproducible, results - reproduced - reproducible - not_measured, not_measured,
      count(Role::Fact), count(Role::Derived), count(Role::Indicative));
}

/// Which reading of each paper's baseline is measured on.
std::string readings_note(const std::vector<Paper>& papers, const std::vector<MeasuredClaim>& claims) {
  std::string out;
  for (const Paper& paper : papers) {
    const auto found = std::ranges::find_if(claims, [&](const MeasuredClaim& measured) {
      return measured.claim->paper == paper.id && !measured.readings.reading.empty();
    });
    if (found != claims.end())
      out += fmt::format("{} is measured on reading {}; {} are not ruled out.\n", paper.title, found->readings.reading,
                         found->readings.remaining);
  }
  return out;
}

std::string tally(const std::vector<MeasuredClaim>& claims) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    const auto count = std::ranges::count(claims, verdict, &MeasuredClaim::verdict);
    if (count == 0 && verdict == Verdict::NotJudged) continue;  // only small inputs have it
    parts.push_back(fmt::format("{} {}", count, verdict_name(verdict)));
  }
  return fmt::format("{} claims: {}\n", claims.size(), join(parts, ", "));
}

/// Says of numbers that come from one run of each kind that nothing is known of their spread.
std::string spread_note(const std::vector<MeasuredClaim>& claims) {
  const std::size_t count = without_spread(claims);
  if (count == 0) return "";
  return fmt::format("{} measured without repeats: it is not known how far {} by chance (--repeat N).\n",
                     count == 1 ? "1 claim is" : fmt::format("{} claims are", count),
                     count == 1 ? "its numbers move" : "their numbers move");
}

}  // namespace

std::string claims_table(const std::vector<Paper>& papers, const std::vector<MeasuredClaim>& claims,
                         const Terminal& terminal) {
  std::string out;
  for (const Paper& paper : papers) {
    out += terminal.paint(Tint::Bold, paper.title);
    if (!paper.paper.empty()) out += "  " + terminal.paint(Tint::Dim, short_citation(paper.paper));
    out += "\n";
    Table table({{"claim"},
                 {"published", Align::Right},
                 {"measured", Align::Right},
                 {"ratio", Align::Right},
                 {"verdict", Align::Left, Tint::Bold},
                 {"remarks", Align::Left, Tint::Dim}},
                2);
    for (const bool whole : {true, false}) {  // what is measured comes first
      for (const MeasuredClaim& measured : claims) {
        if (measured.claim->paper != paper.id || (measured.verdict != Verdict::NotMeasured) != whole) continue;
        table.row({measured.claim->sentence, published_text(*measured.claim), measured_text(measured),
                   measured.ratio ? fmt::format("{:.2f}", *measured.ratio) : "",
                   std::string(verdict_name(measured.verdict)), remark(measured, claims)});
      }
    }
    out += table.text(terminal) + "\n";
  }
  return out + tally(claims) + results_tally(claims) + readings_note(papers, claims) + spread_note(claims);
}

}  // namespace nearfar
