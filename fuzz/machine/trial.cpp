// What happens in the child, and what its end means.
#include "trial.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "config/error.h"
#include "config/words.h"
#include "declared.h"
#include "study/experiment.h"

namespace nearfar::fuzz {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr rlim_t kMostMemory = rlim_t{6} << 30;

constexpr std::string_view kDifference = "statistics differ";

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <std::size_t size>
void copy(char (&to)[size], std::string_view from) {
  const std::size_t length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

std::string value_text(const StatValue& value) {
  return value.real ? fmt::format("{}", value.ratio) : fmt::format("{}", value.count);
}

/// The first number that differs; empty where there is none.
std::string difference(const RunResult& one, const RunResult& other) {
  const auto unequal = [](std::string_view name, std::uint64_t a, std::uint64_t b) {
    return a == b ? "" : fmt::format("{} is {} and {}", name, a, b);
  };
  for (const std::string& found :
       {unequal("cycles", one.cycles, other.cycles), unequal("instructions", one.instructions, other.instructions),
        unequal("accesses", one.accesses, other.accesses),
        unequal("launches", one.launches.size(), other.launches.size()),
        unequal("statistics", one.statistics.size(), other.statistics.size()),
        unequal("series", one.series.size(), other.series.size())}) {
    if (!found.empty()) return found;
  }
  for (std::size_t i = 0; i < one.statistics.size(); ++i) {
    const StatValue &a = one.statistics[i], &b = other.statistics[i];
    if (a.name != b.name) return fmt::format("statistic {} is {} and {}", i, a.name, b.name);
    if (value_text(a) != value_text(b)) return fmt::format("{} is {} and {}", a.name, value_text(a), value_text(b));
  }
  for (std::size_t i = 0; i < one.launches.size(); ++i) {
    if (one.launches[i].end != other.launches[i].end) {
      return unequal(fmt::format("the end of launch {}", i), one.launches[i].end, other.launches[i].end);
    }
  }
  for (std::size_t i = 0; i < one.series.size(); ++i) {
    if (one.series[i].values != other.series[i].values) return fmt::format("series {} differs", one.series[i].name);
  }
  return {};
}

void note_choices(const LoadedSystem& loaded, std::span<const std::string> designs, Report& report) {
  const std::vector<Declared> declared = declared_parameters(designs);
  for (const EffectiveParameter& parameter : loaded.parameters) {
    const auto found = std::ranges::find(declared, parameter.path, &Declared::path);
    if (found != declared.end() && found->is_choice()) report.note_choice(parameter.path + "=" + parameter.value);
  }
}

bool is_sentence(std::string_view text) { return std::ranges::count(text, ' ') >= 2; }

RunResult run_variant(const Case& subject, const NamedSystem& machine, const std::vector<Application>& applications,
                      Experiment experiment, const Variant& variant) {
  experiment.check = variant.check;
  experiment.threads = variant.threads;
  return perform(subject.workload, applications, experiment, machine, nullptr).result;
}

/// The case is read and made once, then run in all variants. An InputError is a refusal unless a variant ran before.
void carry_out(const Case& subject, std::span<const Variant> variants, Report& report) {
  Experiment experiment;
  experiment.size = SizeClass::Small;
  experiment.parameters = subject.parameters;
  experiment.seed = subject.seed;
  std::optional<RunResult> first;
  try {
    const NamedSystem machine = make_machine(
        subject.system, subject.designs.empty() ? "baseline" : join(subject.designs, "+"), subject.overrides);
    note_choices(machine.loaded, subject.designs, report);
    const auto applications = make_applications(subject.workload, experiment, {subject.workload});
    check_fits(subject.workload, applications, machine);
    for (const Variant& variant : variants) {
      report.in_variant(variant);
      RunResult result = run_variant(subject, machine, applications, experiment, variant);
      if (!first) {
        first = std::move(result);
      } else if (const std::string found = difference(*first, result); !found.empty()) {
        return report.end(Ending::Failed, fmt::format("{} between `{}` and `{}`: {}", kDifference,
                                                      variants.front().options(), variant.options(), found));
      }
    }
  } catch (const InputError& error) {
    if (!is_sentence(error.what())) return report.end(Ending::Failed, "refused without a sentence");
    if (first) return report.end(Ending::Failed, fmt::format("refused after it ran: {}", error.what()));
    return report.end(Ending::Refused, error.what());
  }
  report.end(Ending::Ran, "");
}

/// A sanitizer needs more address space than any limit, and more time.
void limit_child(unsigned seconds) {
  const rlimit processor{seconds, seconds + 5};
  setrlimit(RLIMIT_CPU, &processor);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!kSanitized) {
    const rlimit memory{kMostMemory, kMostMemory};
    setrlimit(RLIMIT_AS, &memory);
  }
  alarm(10 * seconds);
}

[[noreturn]] void be_child(const std::function<Case(Report&)>& make, std::span<const Variant> variants,
                           unsigned seconds, int output, Report& report) {
  limit_child(seconds);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  try {
    const Case subject = make(report);
    report.trying(subject);
    carry_out(subject, variants, report);
  } catch (const SimulationError& error) {
    report.end(Ending::Failed, error.what());
  } catch (const std::bad_alloc&) {
    report.end(Ending::TooLarge, "more memory than a trial gets");
  } catch (const std::exception& error) {
    report.end(Ending::Failed, fmt::format("an exception that nothing expects: {}", error.what()));
  }
  _exit(0);
}

std::string read_all(int file) {
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

/// The line of a crash's output that says most: a failed assertion, or what a sanitizer found.
std::string telling_line(const std::string& said) {
  for (const std::string_view mark : {"SUMMARY: ", "runtime error: ", "Assertion ", "ERROR: ", "terminate called"}) {
    for (const std::string& line : split(said, '\n')) {
      if (line.find(mark) != std::string::npos) return line;
    }
  }
  return said.substr(0, said.find('\n'));
}

}  // namespace

std::string Verdict::signature() const {
  if (is_difference()) return message.substr(0, message.find(':'));
  std::string text = message.substr(0, message.find('\n'));
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text.substr(0, 160);
}

bool Verdict::is_difference() const { return message.starts_with(kDifference); }

void Report::trying(const Case& subject) { copy(command_, subject.command()); }
void Report::in_variant(const Variant& variant) { variant_ = variant; }

void Report::note_choice(std::string_view text) {
  if (choices_length_ + text.size() + 2 > kLongest) return;
  if (choices_length_ > 0) choices_[choices_length_++] = '\n';
  std::memcpy(choices_ + choices_length_, text.data(), text.size());
  choices_length_ += text.size();
}

void Report::end(Ending ending, std::string_view message) {
  ending_ = ending;
  copy(message_, message);
  ended_ = true;
}

unsigned usual_seconds() { return kSanitized ? 120 : 20; }

Trial::Trial(const std::function<Case(Report&)>& make, std::span<const Variant> variants, unsigned seconds)
    : output_(memfd_create("trial", MFD_CLOEXEC)), seconds_(seconds), start_(now()) {
  // Fresh pages are zero: nothing tried, nothing ended.
  void* shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || output_ < 0) throw std::bad_alloc();
  report_ = static_cast<Report*>(shared);
  report_->variant_ = {};
  pid_ = fork();
  if (pid_ < 0) throw std::bad_alloc();
  if (pid_ == 0) be_child(make, variants, seconds, output_, *report_);
}

Trial::~Trial() {
  close(output_);
  munmap(report_, sizeof(Report));
}

Verdict Trial::wait() const {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return finish(status);
}

Verdict Trial::finish(int status) const {
  Verdict verdict = judge(status, read_all(output_));
  if (report_->command_[0] != '\0') verdict.subject = parse_case(report_->command_);
  verdict.variant = report_->variant_;
  verdict.refusals = report_->refusals_;
  if (report_->choices_length_ > 0) {
    verdict.choices = split(std::string_view(report_->choices_, report_->choices_length_), '\n');
  }
  verdict.seconds = now() - start_;
  return verdict;
}

Verdict Trial::judge(int status, const std::string& said) const {
  Verdict verdict;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && report_->ended_) {
    verdict.ending = report_->ending_;
    verdict.message = report_->message_;
    return verdict;
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU || signal == SIGALRM) {
    verdict.ending = Ending::TimedOut;
    verdict.message = fmt::format("it does not end within {} s", seconds_);
    return verdict;
  }
  const std::string how = signal != 0 ? fmt::format("signal {} ({})", signal, strsignal(signal))
                                      : fmt::format("exit code {}", WEXITSTATUS(status));
  verdict.ending = Ending::Failed;
  verdict.message = fmt::format("a crash, {}: {}\n{}", how, telling_line(said), said);
  return verdict;
}

std::vector<Variant> all_variants(std::uint64_t turn) {
  return {{true, static_cast<unsigned>(1 + turn % 3)}, {false, 1}, {false, 2}, {false, 3}};
}

Verdict try_case(const Case& subject, std::span<const Variant> variants) {
  const Trial trial([&](Report&) { return subject; }, variants, usual_seconds());
  const Verdict verdict = trial.wait();
  return verdict.ending == Ending::TimedOut ? try_longer(verdict, variants) : verdict;
}

Verdict try_longer(const Verdict& timed_out, std::span<const Variant> variants) {
  const Trial trial([&](Report&) { return timed_out.subject; }, variants, kMorePatience * usual_seconds());
  Verdict verdict = trial.wait();
  if (verdict.ending == Ending::TimedOut) verdict.ending = Ending::Failed;
  return verdict;
}

}  // namespace nearfar::fuzz
