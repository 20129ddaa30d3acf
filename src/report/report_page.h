// The report: one page with every claim, every figure, the machines, and what the runs cost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/claim.h"
#include "report/measure.h"
#include "report/stored_machine.h"
#include "study/figure.h"

namespace nearfar {

/// A study as the page shows it.
struct ReportedStudy {
  std::string id, title, description;
  std::string size{};                          ///< of its inputs: "medium"; several as "small, medium"
  std::string other_size{};                    ///< "small" where inputs are not those of the study: nothing is judged
  std::vector<FigureData> figures;             ///< with the published values marked
  std::size_t runs = 0, measured = 0;          ///< runs it needs, and those that have a result
  std::map<std::string, std::size_t> missing;  ///< why runs have none, and how many
};

/// A machine that results were measured on; `values` is nothing but what differs from `base`, when it has one.
struct ReportedMachine {
  std::string name, base;
  std::vector<MachineValue> values;
};

struct ReportedRun {
  std::string label, version, model;
  std::uint64_t seed = 0, cycles = 0, instructions = 0, accesses = 0, peak_rss_bytes = 0;
  double host_seconds = 0;
};

struct ReportContent {
  bool asked = false;  ///< for these papers and studies by name: what is not measured of them is said too
  std::string version, model, database;
  std::vector<Paper> papers;
  std::vector<MeasuredClaim> claims;
  std::vector<ReportedStudy> studies;
  std::vector<ReportedMachine> machines;
  std::vector<ReportedRun> runs;
};

/// Whether anything of it is measured. Studies share runs, so one may have results and nothing to show yet.
bool has_values(const FigureData& figure);
bool has_values(const ReportedStudy& study);

/// "GMMU queue wait: 95.8 % → 93.1 %" for each claim behind this one.
std::vector<std::string> mechanism_texts(const Claim& claim, const std::vector<MeasuredClaim>& claims);

std::string report_html(const ReportContent& content);

}  // namespace nearfar
