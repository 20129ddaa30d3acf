// A trial: a case run in a child process, in each of its variants, so that a crash, a sanitizer's report or a run
// without end is a verdict like any other.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "case.h"

namespace nearfar::fuzz {

enum class Ending : std::uint8_t {
  Ran,       ///< all variants ended, with equal statistics
  Refused,   ///< the machine said in a sentence what is wrong
  TooLarge,  ///< it needs more memory than a trial gets
  TimedOut,  ///< it may be slow, or it may never end
  Failed,
};

struct Verdict {
  Ending ending = Ending::Failed;
  Case subject;
  Variant variant;                   ///< of a failure: in which it showed
  std::string message;               ///< what the machine, the comparison or the sanitizer said
  std::vector<std::string> choices;  ///< of a case that was read: the effective values of choice parameters
  unsigned refusals = 0;             ///< configurations that were refused while the case was drawn
  double seconds = 0;

  /// The same for failures that are probably the same fault: the message's first line without its numbers.
  std::string signature() const;
  bool is_difference() const;  ///< two variants have different statistics
};

/// What a child tells its parent, in memory that both share: what is written there stays when the child crashes.
class Report {
 public:
  void trying(const Case& subject);
  void in_variant(const Variant& variant);
  void refused() { ++refusals_; }
  void note_choice(std::string_view text);
  void end(Ending ending, std::string_view message);

 private:
  friend class Trial;
  static constexpr std::size_t kLongest = 1 << 16;

  bool ended_;
  Ending ending_;
  Variant variant_;
  unsigned refusals_;
  std::size_t choices_length_;
  char command_[kLongest];
  char message_[kLongest];
  char choices_[kLongest];
};

/// A child process at work on a case, from its start to its verdict.
class Trial {
 public:
  /// `make` is called in the child; it may say in the report what it tries. The child ends after `seconds` of
  /// processor time, or ten times that by the clock.
  Trial(const std::function<Case(Report&)>& make, std::span<const Variant> variants, unsigned seconds);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial();

  pid_t pid() const { return pid_; }
  /// Reads the verdict of a child that has ended with this status of waitpid().
  Verdict finish(int status) const;
  /// Waits for the child.
  Verdict wait() const;

 private:
  Verdict judge(int status, const std::string& said) const;

  pid_t pid_ = -1;
  int output_ = -1;
  Report* report_ = nullptr;
  unsigned seconds_;
  double start_ = 0;
};

/// Those that every case must pass. The oracles run on 1, 2 or 3 threads in turn.
std::vector<Variant> all_variants(std::uint64_t turn);

/// A whole trial of one case. One that takes too long is tried again with more patience, and fails if it does not end
/// then either.
Verdict try_case(const Case& subject, std::span<const Variant> variants);
Verdict try_longer(const Verdict& timed_out, std::span<const Variant> variants);

/// Processor time of a trial, all variants together; and how many times that a second try has.
unsigned usual_seconds();
inline constexpr unsigned kMorePatience = 10;

}  // namespace nearfar::fuzz
