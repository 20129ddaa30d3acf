#include "calibrate/under_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/error.h"
#include "config/words.h"
#include "report/claims_file.h"

namespace nearfar {
namespace {

/// The designs of the variants that a claim's series are of.
std::vector<std::string> designs_of(const Claim& claim) {
  std::vector<std::string> designs;
  if (claim.study.empty()) return designs;
  for (const StudyVariant& variant : read_study(claim.study).variants) {
    if (std::ranges::find(claim.series, variant.label) == claim.series.end()) continue;
    for (const std::string& name : split(variant.designs, '+')) designs.push_back(name);
  }
  return designs;
}

}  // namespace

void refuse_designs_under_test(const Calibration& calibration) {
  const std::vector<std::string> papers = paper_names();
  if (calibration.reference_designs.empty() || std::ranges::find(papers, calibration.id) == papers.end()) return;
  const Paper paper = read_papers({calibration.id}).front();
  for (const Claim& claim : paper.claims) {
    if (claim.role != Role::Result) continue;
    for (const std::string& design : designs_of(claim)) {
      if (std::ranges::find(calibration.reference_designs, design) == calibration.reference_designs.end()) continue;
      throw InputError(fmt::format(
          "The calibration {} has `{}` among its reference designs, but the claim {} is a result of it: what is to be "
          "shown must not choose the baseline.",
          calibration.id, design, claim.id));
    }
  }
}

}  // namespace nearfar
