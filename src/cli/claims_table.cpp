#include "cli/claims_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/table.h"
#include "config/words.h"

namespace nearfar {
namespace {

constexpr std::array kVerdicts = {Verdict::Met,      Verdict::WithinBand, Verdict::Missed,     Verdict::WithinNoise,
                                  Verdict::Opposite, Verdict::NotJudged,  Verdict::NotMeasured};

/// The claim without its paper's name, which stands above the table.
std::string short_name(const std::string& id, const std::string& paper) {
  return id.starts_with(paper + ".") ? id.substr(paper.size() + 1) : id;
}

/// "queue.gmmu 95.8 % → 93.10 %"
std::string mechanism(const Claim& claim, const std::vector<MeasuredClaim>& claims) {
  std::vector<std::string> parts;
  for (const std::string& id : claim.because) {
    const auto found = std::ranges::find_if(claims, [&](const auto& measured) { return measured.claim->id == id; });
    if (found == claims.end() || found->values.empty()) continue;
    parts.push_back(
        fmt::format("{} {} → {}", short_name(id, claim.paper), published_text(*found->claim), measured_text(*found)));
  }
  return join(parts, "; ");
}

std::string remark(const MeasuredClaim& measured, const std::vector<MeasuredClaim>& claims) {
  const std::string numbers = mechanism(*measured.claim, claims);
  return measured.note.empty() || numbers.empty() ? measured.note + numbers : measured.note + "; " + numbers;
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
    out += terminal.paint(Tint::Bold, paper.title) + "\n";
    Table table({{"claim"},
                 {"published", Align::Right},
                 {"measured", Align::Right},
                 {"ratio", Align::Right},
                 {"verdict", Align::Left, Tint::Bold},
                 {"mechanism: published → measured", Align::Left, Tint::Dim}},
                2);
    for (const MeasuredClaim& measured : claims) {
      if (measured.claim->paper != paper.id) continue;
      table.row({measured.claim->id, published_text(*measured.claim), measured_text(measured),
                 measured.ratio ? fmt::format("{:.2f}", *measured.ratio) : "",
                 std::string(verdict_name(measured.verdict)), remark(measured, claims)});
    }
    out += table.text(terminal) + "\n";
  }
  return out + tally(claims) + spread_note(claims);
}

}  // namespace nearfar
