// How far a study is, for a person who watches it: a few lines that are written over on a terminal, one line for each
// event elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "study/runner.h"

namespace nearfar {

/// The lines of the view: first the whole, then each run that is under way, at most `most_runs` of them.
std::vector<std::string> study_lines(const StudyProgress& progress, const Terminal& terminal, std::size_t most_runs);

class StudyView {
 public:
  explicit StudyView(const Terminal& terminal) : terminal_(terminal) {}
  StudyView(const StudyView&) = delete;
  StudyView& operator=(const StudyView&) = delete;
  ~StudyView() { erase(); }

  void update(const StudyProgress& progress);

 private:
  void erase();

  Terminal terminal_;
  std::size_t shown_ = 0;  ///< lines on the screen
};

}  // namespace nearfar
