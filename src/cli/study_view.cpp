#include "cli/study_view.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/bars.h"
#include "cli/numbers.h"
#include "cli/progress.h"

namespace nearfar {
namespace {

constexpr std::size_t kMostRuns = 16;

/// Cut to the width of the terminal, so that a line stays one line.
std::string cut(std::string text, unsigned width) {
  while (width > 0 && display_width(text) >= width) {
    do {
      text.pop_back();
    } while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80);
  }
  return text;
}

}  // namespace

std::vector<std::string> study_lines(const StudyProgress& progress, const Terminal& terminal, std::size_t most_runs) {
  double share = static_cast<double>(progress.done + progress.failed);
  for (const ActiveRun& run : progress.active) share += run.share;
  const auto total = static_cast<double>(progress.total);
  std::string whole = fmt::format("{:<{}}  {}/{} done, {} running", bar(share, total, kNarrowBarWidth), kNarrowBarWidth,
                                  progress.done, progress.total, progress.active.size());
  if (progress.failed > 0) whole += fmt::format(", {} failed", progress.failed);
  if (progress.seconds_left > 0) whole += ", " + time_left_text(progress.seconds_left);
  std::vector<std::string> lines = {cut(whole, terminal.width)};
  for (const ActiveRun& run : progress.active) {
    if (lines.size() > most_runs) {
      lines.push_back(fmt::format("  and {} more", progress.active.size() - most_runs));
      break;
    }
    lines.push_back(cut(fmt::format("  {:3.0f} %  {}", 100 * run.share, run.label), terminal.width));
  }
  return lines;
}

void StudyView::update(const StudyProgress& progress) {
  if (!terminal_.interactive) {
    if (!progress.event.empty()) {
      fmt::print(stderr, "[{}/{}] {}\n", progress.done + progress.failed, progress.total, progress.event);
    }
    return;
  }
  erase();
  // Failures stay on the screen; what went well is only counted.
  if (progress.event.find("failed") != std::string::npos) fmt::print(stderr, "{}\n", progress.event);
  for (const std::string& line : study_lines(progress, terminal_, kMostRuns)) {
    fmt::print(stderr, "{}\n", line);
    ++shown_;
  }
  std::fflush(stderr);
}

void StudyView::erase() {
  if (shown_ > 0) fmt::print(stderr, "\x1b[{}A\x1b[J", shown_);
  shown_ = 0;
}

}  // namespace nearfar
