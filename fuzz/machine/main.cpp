// machine_fuzz: runs random legal machines in search of faults, and makes each fault it finds one command line.
//
//   machine_fuzz [--seed S] [--cases N] [--minutes M] [--jobs J] [--corpus FOLDER]
//   machine_fuzz --seed S --only I           one case of a campaign, with all that it says
//   machine_fuzz --replay FILES…             cases of the corpus
//
// Ends with 0 when nothing failed, with 1 when something did.
#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "config/error.h"
#include "config/words.h"
#include "coverage.h"
#include "draw.h"
#include "minimize.h"

namespace nearfar::fuzz {
namespace {

constexpr std::size_t kShown = 5;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t cases = std::numeric_limits<std::uint64_t>::max();
  double minutes = std::numeric_limits<double>::infinity();
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string corpus;
  std::optional<std::uint64_t> only;
  std::vector<std::string> replay;
};

Options parse_options(const std::vector<std::string>& words) {
  Options options;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--replay") {
      options.replay.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      return options;
    }
    if (++i == words.size()) throw InputError(fmt::format("`{}` is no option with a value.", option));
    const auto number = [&](std::uint64_t least, std::uint64_t most) {
      return parse_whole(option, words[i], least, most);
    };
    if (option == "--seed") {
      options.seed = number(0, kMost);
    } else if (option == "--cases") {
      options.cases = number(1, kMost);
    } else if (option == "--minutes") {
      options.minutes = static_cast<double>(number(1, 1'000'000));
    } else if (option == "--jobs") {
      options.jobs = static_cast<unsigned>(number(1, 1024));
    } else if (option == "--corpus") {
      options.corpus = words[i];
    } else if (option == "--only") {
      options.only = number(0, kMost);
    } else {
      throw InputError(fmt::format(
          "machine_fuzz has --seed, --cases, --minutes, --jobs, --corpus, --only and --replay, but no `{}`.", option));
    }
  }
  return options;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options) {}

  int run() {
    while (next_ < options_.cases && !is_over()) {
      if (running_.size() < options_.jobs) {
        const std::uint64_t number = next_++;
        start(
            number, [&](Report& report) { return Draw(options_.seed, number)(report); }, false);
      } else {
        finish_one();
      }
    }
    while (!running_.empty()) finish_one();
    fmt::print("{}", coverage_.summary());
    for (const auto& [signature, times] : failures_) fmt::print("{} times: {}\n", times, signature);
    fmt::print("{}\n", failures_.empty() ? "no failure" : fmt::format("{} different failures", failures_.size()));
    return failures_.empty() ? 0 : 1;
  }

 private:
  struct Running {
    std::uint64_t number;
    bool again;  ///< it timed out before and has ten times the time now
    std::unique_ptr<Trial> trial;
  };

  bool is_over() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return spent.count() > options_.minutes * 60;
  }

  void start(std::uint64_t number, const std::function<Case(Report&)>& make, bool again) {
    std::fflush(stdout);
    const unsigned seconds = again ? kMorePatience * usual_seconds() : usual_seconds();
    auto trial = std::make_unique<Trial>(make, all_variants(number), seconds);
    const pid_t pid = trial->pid();
    running_.emplace(pid, Running{number, again, std::move(trial)});
  }

  void finish_one() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    const auto found = running_.find(pid);
    if (found == running_.end()) return;
    const Running ended = std::move(found->second);
    running_.erase(found);
    Verdict verdict = ended.trial->finish(status);
    if (verdict.ending == Ending::TimedOut && !ended.again) {
      return start(
          ended.number, [&](Report&) { return verdict.subject; }, true);
    }
    if (ended.again) settle(verdict, ended.number);
    coverage_.add(verdict);
    if (verdict.ending == Ending::Failed) on_failure(verdict, ended.number);
    if (coverage_.cases() % 200 == 0) fmt::print("… {}", first_line(coverage_.summary()) + "\n");
  }

  /// A case that is only slow is told, so that draws and machine can be made quicker.
  static void settle(Verdict& second, std::uint64_t number) {
    if (second.ending == Ending::TimedOut) {
      second.ending = Ending::Failed;
    } else if (second.ending != Ending::Failed) {
      fmt::print("case {} is slow ({:.0f} s): {}\n", number, second.seconds, second.subject.command());
      second.ending = Ending::TimedOut;
    }
  }

  void on_failure(const Verdict& verdict, std::uint64_t number) {
    // The same failure again is counted; the first few are shown, in case they are different faults.
    const std::size_t before = failures_[verdict.signature()]++;
    if (before >= kShown) return;
    fmt::print("case {} failed after {:.0f} s: {}\n  {}\n", number, elapsed(), first_line(verdict.message),
               verdict.subject.command(verdict.variant));
    std::fflush(stdout);
    if (before > 0) return;
    const Verdict smallest = minimize(verdict);
    const std::string command = smallest.subject.command(smallest.variant);
    fmt::print("  smallest: {}\n  {}\n", command, first_line(smallest.message));
    if (!options_.corpus.empty()) keep(smallest, command, number);
  }

  void keep(const Verdict& failure, const std::string& command, std::uint64_t number) const {
    std::filesystem::create_directories(options_.corpus);
    const std::string path = fmt::format("{}/seed{}-case{}.txt", options_.corpus, options_.seed, number);
    std::ofstream file(path);
    file << "# " << first_line(failure.message) << "\n" << command << "\n";
    fmt::print("  written to {}\n", path);
  }

  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  const Options& options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::uint64_t next_ = 0;
  std::map<pid_t, Running> running_;
  std::map<std::string, std::size_t> failures_;  ///< by signature
  Coverage coverage_;
};

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::Ran: return "ran clean";
    case Ending::Refused: return "refused";
    case Ending::TooLarge: return "too large";
    case Ending::TimedOut: return "timed out";
    case Ending::Failed: return "failed";
  }
  return "";
}

void show(const std::string& name, const Verdict& verdict) {
  fmt::print("{}: {} ({:.2f} s)\n  {}\n", name, name_of(verdict.ending), verdict.seconds,
             verdict.subject.command(verdict.ending == Ending::Failed ? verdict.variant : Variant{}));
  if (!verdict.message.empty()) fmt::print("  {}\n", verdict.message);
}

int run_only(const Options& options) {
  const Trial trial([&](Report& report) { return Draw(options.seed, *options.only)(report); },
                    all_variants(*options.only), usual_seconds());
  Verdict verdict = trial.wait();
  if (verdict.ending == Ending::TimedOut) verdict = try_longer(verdict, all_variants(*options.only));
  show(fmt::format("case {}", *options.only), verdict);
  return verdict.ending == Ending::Failed ? 1 : 0;
}

int replay(const std::vector<std::string>& files) {
  int failures = 0;
  for (const std::string& path : files) {
    std::ifstream file(path);
    if (!file) throw InputError(fmt::format("`{}` cannot be read.", path));
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const Verdict verdict = try_case(parse_case(text), all_variants(0));
    show(path, verdict);
    failures += verdict.ending == Ending::Failed;
  }
  return failures > 0 ? 1 : 0;
}

int perform(const std::vector<std::string>& words) {
  const Options options = parse_options(words);
  if (!options.replay.empty()) return replay(options.replay);
  prepare_draws();
  return options.only ? run_only(options) : Campaign(options).run();
}

}  // namespace
}  // namespace nearfar::fuzz

int main(int argc, char** argv) {
  try {
    return nearfar::fuzz::perform({argv + 1, argv + argc});
  } catch (const nearfar::InputError& error) {
    fmt::print(stderr, "machine_fuzz: error: {}\n", error.what());
    return 2;
  }
}
