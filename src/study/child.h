// A run in a process of its own: started, listened to, ended. It dies with this program, however this program dies.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace nearfar {

/// The option of `nearfar run` by which it tells how far it is, a line "groups done, groups in all, accesses" at a
/// time.
inline constexpr const char* kProgressOption = "--progress-fd";

struct ProgressLineValues {
  double share = 0;  ///< done, 0 to 1
  std::string last;  ///< the last whole line; the same as before: no progress
};
/// The last whole line of what a run has written.
ProgressLineValues parse_progress(const std::string& text);

class Child {
 public:
  /// `words` go to `program`; it is told to report its progress.
  Child(const std::string& program, std::vector<std::string> words);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Ends it if it has not ended.
  ~Child();

  int exit_descriptor() const { return exit_; }
  int progress_descriptor() const { return progress_; }
  int error_descriptor() const { return error_; }

  /// Reads what has arrived.
  void listen();
  /// True once it has ended; what is left to hear is heard.
  bool ended();
  void kill() const;

  double share() const { return share_; }
  double seconds() const;
  double seconds_since_progress() const;
  std::uint64_t resident_bytes() const;
  /// Whether it ended by itself, with exit code 0.
  bool succeeded() const;
  bool ended_by_signal() const;
  /// What it said, or how it ended.
  std::string error() const;

 private:
  using Clock = std::chrono::steady_clock;

  pid_t process_ = -1;
  int exit_ = -1, progress_ = -1, error_ = -1;
  bool ended_ = false;
  int status_ = 0;
  double share_ = 0;
  std::string progress_text_, last_line_, error_text_;
  Clock::time_point start_, last_progress_;
};

/// What a program that failed has said, without its own name in front; `otherwise` where it said nothing.
std::string complaint_of(const std::string& text, const std::string& otherwise);

}  // namespace nearfar
