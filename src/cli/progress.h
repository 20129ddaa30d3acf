// The line on stderr that says how far a long run is.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <string>

#include "cli/terminal.h"
#include "machine/run.h"

namespace nearfar {

/// "40 s", "3 min 20 s" or "2 h 5 min".
std::string duration_text(double seconds);
/// The same, "left"; "less than 1 s left".
std::string time_left_text(double seconds);

/// "MT  43 %  3.20 M accesses/s  12 s left", cut to `width` columns (0: whole).
std::string progress_text(const std::string& label, const Progress& progress, double seconds, unsigned width);

/// Shown only when stderr is a terminal and the run has lasted half a second; gone when this is destroyed. When a
/// signal ends the program the line is ended too.
class ProgressLine {
 public:
  ProgressLine(std::string label, const Terminal& terminal);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void update(const Progress& progress);

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

  void mind_signals();

  std::string label_;
  Terminal terminal_;
  std::chrono::steady_clock::time_point start_;
  bool shown_ = false;
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// For a program that watches this one: how far the run is, in one line.
void write_progress(int descriptor, const Progress& progress);

}  // namespace nearfar
