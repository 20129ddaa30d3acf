// Claims over readings: each result as the frozen baseline gives it, and as the interval over the readings that the
// facts do not rule out.
#pragma once

#include <vector>

#include "calibrate/frozen.h"
#include "report/claim.h"
#include "report/measure.h"

namespace nearfar {

/// The studies of these papers on their frozen readings; those of papers without one as they are.
std::vector<Study> on_frozen(std::vector<Study> studies, const std::vector<Paper>& papers,
                             const std::vector<Frozen>& frozen);

/// The runs of the result claims of these papers on all readings that are not ruled out.
std::vector<NamedRun> runs_on_readings(const std::vector<Study>& studies, const std::vector<Paper>& papers,
                                       const std::vector<Frozen>& frozen);

/// Adds to claims that were measured on frozen readings what the others give, as far as the store knows. A result
/// whose order was not kept becomes one that is not measured. `studies` are as their files have them.
void add_readings(std::vector<MeasuredClaim>& claims, const std::vector<Study>& studies,
                  const std::vector<Paper>& papers, const std::vector<Frozen>& frozen, const ResultStore& store);

}  // namespace nearfar
