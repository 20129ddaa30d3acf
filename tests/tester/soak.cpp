#include "tester/soak.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <list>
#include <system_error>

namespace nearfar::tester {
namespace {

using Clock = std::chrono::steady_clock;

/// An episode's time is that of the processor, which other load does not change. So many times as long by the clock,
/// and it sleeps.
constexpr int kAsleep = 60;

/// What an episode's process sends back; the text of a failure follows.
struct Answer {
  Counts counts;
  std::uint64_t text_bytes = 0;
  ProtocolCoverage coverage;
};

struct Outcome {
  Answer answer;
  std::string failure;  ///< "" if there was none
};

void write_all(int to, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t wrote = ::write(to, at, bytes);
    if (wrote < 0) ::_exit(3);
    at += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void run_and_answer(std::uint64_t seed, const Cuts& cuts, int to) {
  Answer answer;
  std::string failure;
  try {
    answer.counts = count_episode(draw_episode(seed, cuts), answer.coverage);
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure.empty()) failure = "an exception that says nothing";
  }
  answer.text_bytes = failure.size();
  write_all(to, &answer, sizeof answer);
  write_all(to, failure.data(), failure.size());
  ::_exit(0);
}

/// An episode under way in a process of its own.
class Child {
 public:
  Child(std::uint64_t seed, const Cuts& cuts, std::chrono::seconds at_most)
      : seed_(seed), at_most_(at_most), until_(Clock::now() + kAsleep * at_most) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
      ::close(ends[0]);
      const auto seconds = static_cast<rlim_t>(at_most.count());
      const rlimit limit{seconds, seconds + 1};
      ::setrlimit(RLIMIT_CPU, &limit);
      run_and_answer(seed, cuts, ends[1]);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(from_);
  }

  std::uint64_t seed() const { return seed_; }
  int from() const { return from_; }
  bool late() const { return Clock::now() >= until_; }

  /// Takes what has come; false while there may be more.
  bool take() {
    char some[4096];
    const ssize_t got = ::read(from_, some, sizeof some);
    if (got > 0) text_.append(some, static_cast<std::size_t>(got));
    return got == 0;
  }

  /// Everything has come.
  Outcome outcome() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    Outcome outcome;
    if (text_.size() >= sizeof(Answer)) std::memcpy(&outcome.answer, text_.data(), sizeof(Answer));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
      outcome = give_up();
    } else if (WIFSIGNALED(status)) {
      outcome.failure =
          fmt::format("the process died of signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0 || text_.size() < sizeof(Answer)) {
      outcome.failure = fmt::format("the process ended with code {} and no answer", WEXITSTATUS(status));
    } else {
      outcome.failure = text_.substr(sizeof(Answer));
    }
    return outcome;
  }
  Outcome give_up() const { return {{}, fmt::format("the episode has not ended after {} seconds", at_most_.count())}; }

 private:
  std::uint64_t seed_;
  std::chrono::seconds at_most_;
  Clock::time_point until_;
  pid_t pid_ = 0;
  int from_ = -1;
  std::string text_;
};

/// Waits for one of the children to end, or not to; it leaves the list.
Outcome wait_for_one(std::list<Child>& children, std::uint64_t& seed) {
  for (;;) {
    std::vector<pollfd> fds;
    for (const Child& child : children) fds.push_back({child.from(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), 200);
    std::size_t i = 0;
    for (auto child = children.begin(); child != children.end(); ++child, ++i) {
      const bool ended = fds[i].revents != 0 && child->take();
      if (!ended && !child->late()) continue;
      Outcome outcome = ended ? child->outcome() : child->give_up();
      seed = child->seed();
      children.erase(child);
      return outcome;
    }
  }
}

std::vector<Cuts> smaller(const Cuts& from, const Episode& now) {
  std::vector<Cuts> tries;
  const auto reduce = [&](std::optional<unsigned> Cuts::*field, unsigned value) {
    for (const unsigned to : {1U, value / 4, value / 2, value - value / 4, value - 1}) {
      if (to == 0 || to >= value) continue;
      Cuts cuts = from;
      cuts.*field = to;
      tries.push_back(cuts);
    }
  };
  reduce(&Cuts::launches, now.program.launches);
  reduce(&Cuts::groups, now.program.groups);
  reduce(&Cuts::operations, now.program.operations);
  reduce(&Cuts::waves, now.program.waves);
  reduce(&Cuts::gpus, now.gpus);
  for (std::size_t a = 0; a < kActions.size(); ++a) {
    const bool last = std::ranges::count(now.program.weights, 0) + 1 == static_cast<std::ptrdiff_t>(kActions.size());
    if (now.program.weights[a] == 0 || last) continue;
    Cuts cuts = from;
    cuts.without.emplace_back(kActions[a]);
    tries.push_back(cuts);
  }
  return tries;
}

/// Takes away what can be taken away while the episode still fails.
void shrink(Failure& failure, const SoakOptions& options) {
  const Clock::time_point until = Clock::now() + options.shrink_time;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Cuts& cuts : smaller(failure.cuts, draw_episode(failure.seed, failure.cuts))) {
      if (Clock::now() >= until) return;
      const std::optional<std::string> message = failure_of(failure.seed, cuts, options.try_time);
      if (!message) continue;
      failure.cuts = cuts;
      failure.cut_message = *message;
      moved = true;
      break;
    }
  }
}

}  // namespace

std::optional<std::string> failure_of(std::uint64_t seed, const Cuts& cuts, std::chrono::seconds at_most) {
  std::list<Child> children;
  children.emplace_back(seed, cuts, at_most);
  Outcome outcome = wait_for_one(children, seed);
  if (outcome.failure.empty()) return std::nullopt;
  return outcome.failure;
}

SoakResult soak(const SoakOptions& options, const Report& report) {
  SoakResult result;
  const Clock::time_point begin = Clock::now();
  std::list<Child> children;
  std::uint64_t started = 0;
  const auto may_start = [&] {
    return children.size() < options.jobs && started < options.episodes && result.accesses < options.accesses &&
           result.stores < options.stores && Clock::now() - begin < options.time &&
           (options.go_on || result.failures.empty());
  };
  for (;;) {
    while (may_start()) children.emplace_back(options.seed + started++, options.cuts, options.episode_time);
    if (children.empty()) break;
    std::uint64_t seed = 0;
    const Outcome outcome = wait_for_one(children, seed);
    if (!outcome.failure.empty()) {
      result.failures.push_back({seed, outcome.failure, result.accesses, options.cuts, outcome.failure});
    }
    ++result.episodes;
    result.accesses += outcome.answer.counts.accesses;
    if (outcome.answer.counts.stores != 0) {
      const Episode episode = draw_episode(seed, options.cuts);
      result.stores += outcome.answer.counts.stores;
      result.stores_by[episode.designs.empty() ? "baseline" : episode.designs.front()] += outcome.answer.counts.stores;
    }
    result.coverage.add(outcome.answer.coverage);
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (report) report(result);
  }
  std::ranges::sort(result.failures, {}, &Failure::seed);
  if (!options.go_on && !result.failures.empty()) shrink(result.failures.front(), options);
  return result;
}

std::string describe(const Failure& failure) {
  std::string text = fmt::format("episode {} failed after {} accesses of others: {}\n", failure.seed,
                                 failure.accesses_before, failure.message);
  text += describe(draw_episode(failure.seed));
  text += fmt::format("the smallest episode found that fails: {}\n", failure.cut_message);
  text += describe(draw_episode(failure.seed, failure.cuts));
  return text + fmt::format("to see it again: random_tester --episode {}{}\n", failure.seed, failure.cuts.text());
}

}  // namespace nearfar::tester
