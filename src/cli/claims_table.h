// Claims on the terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "report/claim.h"
#include "report/measure.h"

namespace nearfar {

/// For each paper a table: published, measured, ratio, verdict, and the numbers of the mechanism beside speedups. Then
/// how many there are of each verdict.
std::string claims_table(const std::vector<Paper>& papers, const std::vector<MeasuredClaim>& claims,
                         const Terminal& terminal);

}  // namespace nearfar
