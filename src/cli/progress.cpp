// Progress line: written over itself, erased at the end.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "cli/numbers.h"

namespace nearfar {
namespace {

constexpr double kQuietSeconds = 0.5;
constexpr const char* kEraseLine = "\r\x1b[K";

/// The shell's prompt comes next: it begins on a line of its own.
void end_line(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, "\n", 1);
  raise(signal);  // for what it does without us: SA_RESETHAND has put that back
}

}  // namespace

std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string time_left_text(double seconds) {
  return seconds < 1 ? "less than 1 s left" : duration_text(seconds) + " left";
}

std::string progress_text(const std::string& label, const Progress& progress, double seconds, unsigned width) {
  const double share = progress.groups_total == 0
                           ? 0
                           : static_cast<double>(progress.groups_done) / static_cast<double>(progress.groups_total);
  std::string text = fmt::format("{}  {:3.0f} %", label, 100 * share);
  if (seconds > 0) text += fmt::format("  {} accesses/s", count_text(static_cast<double>(progress.accesses) / seconds));
  if (share > 0) text += "  " + time_left_text(seconds / share - seconds);
  return width > 0 && text.size() >= width ? text.substr(0, width - 1) : text;
}

ProgressLine::ProgressLine(std::string label, const Terminal& terminal)
    : label_(std::move(label)), terminal_(terminal), start_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
  if (!shown_) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  std::fputs(kEraseLine, stderr);
}

/// A signal that is ignored or handled elsewhere stays so.
void ProgressLine::mind_signals() {
  struct sigaction action {};
  action.sa_handler = end_line;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &action, nullptr);
  }
}

void ProgressLine::update(const Progress& progress) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (!terminal_.interactive || elapsed.count() < kQuietSeconds) return;
  if (!shown_) mind_signals();
  shown_ = true;
  const std::string text = progress_text(label_, progress, elapsed.count(), terminal_.width);
  fmt::print(stderr, "{}{}", kEraseLine, text);
  std::fflush(stderr);
}

void write_progress(int descriptor, const Progress& progress) {
  const std::string line = fmt::format("{} {} {}\n", progress.groups_done, progress.groups_total, progress.accesses);
  [[maybe_unused]] const ssize_t written = ::write(descriptor, line.data(), line.size());  // nobody may be listening
}

}  // namespace nearfar
