// The line on stderr that says how far a long run is.
#pragma once

#include <chrono>
#include <string>

#include "cli/terminal.h"
#include "machine/run.h"

namespace nearfar {

/// "MT  43 %  3.20 M accesses/s  12 s left", cut to `width` columns (0: whole).
std::string progress_text(const std::string& label, const Progress& progress, double seconds, unsigned width);

/// Shown only when stderr is a terminal and the run has lasted half a second; gone when this is destroyed.
class ProgressLine {
 public:
  ProgressLine(std::string label, const Terminal& terminal);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void update(const Progress& progress);

 private:
  std::string label_;
  Terminal terminal_;
  std::chrono::steady_clock::time_point start_;
  bool shown_ = false;
};

}  // namespace nearfar
