// From results to figures: what a study says about its runs, in numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/figure.h"
#include "study/store.h"
#include "study/study_file.h"

namespace nearfar {

/// The results of a study's runs, and why those that are missing are.
class StudyResults {
 public:
  StudyResults() = default;
  /// Looks up all runs at once.
  StudyResults(const std::vector<NamedRun>& runs, const ResultStore& store);

  void add(const NamedRun& run, StoredResult result) { results_[run] = std::move(result); }
  const StoredResult* find(const NamedRun& run) const;
  /// Why a run has no result: "design least-tlb does not exist yet", "runs that are still to be done", "MT … failed:
  /// …".
  std::string reason(const NamedRun& run) const;

 private:
  std::map<NamedRun, StoredResult> results_;
  std::map<NamedRun, std::string> reasons_;
};

/// The figures of a study, in its order. What was not measured is nothing; a mean is given only over what is complete.
std::vector<FigureData> derive(const Study& study, const StudyResults& results);

}  // namespace nearfar
