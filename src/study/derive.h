// From results to figures: what a study says about its runs, in numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/figure.h"
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
  /// "design least-tlb does not exist yet", "it has not been run", "it failed: …"; one entry for each reason and how
  /// many runs it keeps from being measured.
  const std::map<std::string, std::size_t>& reasons() const { return reasons_; }

 private:
  std::map<NamedRun, StoredResult> results_;
  std::map<std::string, std::size_t> reasons_;
};

/// The figures of a study, in its order. What was not measured is nothing; a mean is given only over what is complete.
std::vector<FigureData> derive(const Study& study, const StudyResults& results);

}  // namespace nearfar
