// What a store knows about papers and studies: everything that a report is made of, without any run.
#pragma once

#include <vector>

#include "report/claim.h"
#include "report/report_page.h"
#include "study/store.h"
#include "study/study_file.h"

namespace nearfar {

/// The studies that the claims of these papers name and that exist, each once, by name.
std::vector<std::string> claimed_studies(const std::vector<Paper>& papers);

/// A study on the inputs of which the store knows most: its own size, or a smaller one that more of its runs have
/// results of, as after `nearfar study --quick`.
Study most_measured(Study study, const ResultStore& store);

/// Figures with what was published in them, claims with their verdicts, machines and runs.
ReportContent collect(std::vector<Paper> papers, const std::vector<Study>& studies, const ResultStore& store);

/// All figures of all studies that have values, in their order.
std::vector<FigureData> all_figures(const ReportContent& content);

}  // namespace nearfar
