#include "sim/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

namespace nearfar {
namespace {

/// Tells the core that its thread only waits, so that another one on the same core has it to itself.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How often a thread looks for what it waits for before it sleeps: some tens of microseconds, about what a window
/// takes. Longer it does not spin, since another process may want the core.
constexpr unsigned kSpins = 2000;

/// What is known of a window, or of a thread's share of it, when it has been run.
struct alignas(64) Bulletin {
  Cycle next = kNever;  ///< earliest event or message
  Partition::Progress progress;
  std::uint64_t events = 0;
  bool failed = false;
  bool computes = false;  ///< only where it was asked for; so is the next
  bool starves = false;

  void add(const Bulletin& other) {
    next = std::min(next, other.next);
    progress += other.progress;
    events += other.events;
    failed |= other.failed;
    computes |= other.computes;
    starves |= other.starves;
  }
};

/// A window to be run, and what its partitions are asked.
struct Task {
  std::uint64_t window = 0;
  Cycle end = 0;
  bool ask_computes = false;
  bool ask_starves = false;
};

/// Decides when a run is given up. Slow is not stuck: that follows from the bounds, which are the caller's.
class Watchdog {
 public:
  Watchdog(Cycle progress, Cycle oldest) : progress_(progress), oldest_(oldest) {}

  Engine::Outcome judge(const Bulletin& all) {
    if (all.progress.steps != steps_ || all.computes) {
      steps_ = all.progress.steps;
      since_ = all.next;
    }
    const bool asked = asking_;
    asking_ = all.next - since_ > progress_;
    if (asked && asking_) return Engine::Outcome::NoProgress;
    return all.starves ? Engine::Outcome::Starved : Engine::Outcome::Drained;
  }
  /// Adds what the partitions are to be asked in the window that begins at `now`.
  void ask(Task& task, Cycle now) {
    task.ask_computes = asking_;
    if (now < next_look_) return;
    task.ask_starves = oldest_ != kNever;
    next_look_ = oldest_ == kNever ? kNever : now + oldest_;
  }

 private:
  const Cycle progress_;
  const Cycle oldest_;
  std::uint64_t steps_ = ~std::uint64_t{0};
  Cycle since_ = 0;
  Cycle next_look_ = 0;
  bool asking_ = false;  ///< nothing has moved for so long that it has to be known whether anything computes
};

/// Whether to share a window among the threads. It decides by the host's clock and thus by chance, which is allowed:
/// who runs a partition changes nothing.
class Sharing {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Sharing(std::uint64_t share_from) : share_from_(share_from) {}

  bool worthwhile(std::uint64_t last_events) {
    recent_ += last_events - recent_ / 4;  // four times the mean
    if (recent_ < 4 * share_from_) return false;
    if (!alone_) return true;
    resumed_ = Clock::now();
    alone_ = resumed_ < until_;
    return !alone_;
  }
  /// The leader has slept from `begin` to now, waiting for others to end their share of `events`, each of which takes
  /// `per_event` seconds. Where that is far more than they need, the host has stopped one: others want its cores.
  void waited(Clock::time_point begin, std::uint64_t events, double per_event) {
    const Clock::time_point now = Clock::now();
    const auto lost = now - begin;
    const double expected = static_cast<double>(events) * per_event;
    if (std::chrono::duration<double>(lost).count() < kStopped + 4 * expected) return;
    patience_ = begin - resumed_ < 16 * lost ? std::min(patience_ * 2, 128) : 4;
    until_ = now + patience_ * lost;
    alone_ = true;
  }

 private:
  static constexpr double kStopped = 0.5e-3;  ///< seconds; a host's time slice is longer

  const std::uint64_t share_from_;
  std::uint64_t recent_ = 0;
  bool alone_ = false;
  int patience_ = 4;             ///< times as long alone as was lost
  Clock::time_point resumed_{};  ///< when sharing began again
  Clock::time_point until_{};    ///< until when it goes on alone
};

/// A partition's last call: whoever raises it runs the partition.
struct alignas(64) Claim {
  std::atomic<std::uint32_t> call{0};
};

/// One run: the state that its threads share, and the loops that they run.
class Session {
 public:
  Session(std::vector<std::unique_ptr<Partition>>& partitions, const std::vector<Watched*>& watched,
          const Engine::Options& options, unsigned threads)
      : partitions_(partitions),
        watched_(watched),
        options_(options),
        threads_(threads),
        spins_(threads <= std::thread::hardware_concurrency() ? kSpins : 0),
        watchdog_(options.watchdog, options.oldest),
        sharing_(options.share_from),
        bulletins_(threads),
        claims_(partitions.size()),
        errors_(partitions.size()) {
    for (auto& round : has_mail_) round.resize(partitions.size() * partitions.size());
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      partitions[p]->turn_outboxes(written_before(0));
      publish(p, bulletins_[0], written_before(0));
    }
  }

  /// The first thread: window after window.
  void lead() {
    for (windows_ = 0;; ++windows_) {
      Bulletin all;
      for (const Bulletin& one : bulletins_) all.add(one);
      if (all.failed || between_error_ || all.next == kNever) break;
      outcome_ = watchdog_.judge(all);
      if (outcome_ != Engine::Outcome::Drained) break;
      if (windows_ % 64 == 0) tell_progress(all);
      if (options_.between_windows && windows_ % kBetween == 0 && !meet_between_windows()) break;
      Task task{windows_, all.next + options_.window};
      watchdog_.ask(task, all.next);
      for (Bulletin& one : bulletins_) one = {};
      if (threads_ > 1 && sharing_.worthwhile(all.events)) {
        share(task);
      } else {
        for (std::size_t p = 0; p < partitions_.size(); ++p) run_partition(p, task, bulletins_[0]);
      }
    }
    over_.store(true, std::memory_order_relaxed);
    call_others();
  }

  /// The other threads: sleep until they are called.
  void help(unsigned thread) {
    std::uint32_t seen = 0;
    for (;;) {
      wait_until(calls_, [&](std::uint32_t calls) { return calls != seen; });
      seen = calls_.load(std::memory_order_acquire);
      if (over_.load(std::memory_order_relaxed)) return;
      run_claimed(thread, seen);
    }
  }

  Engine::Outcome finish() const {
    if (between_error_) std::rethrow_exception(between_error_);
    for (const std::exception_ptr& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
    return outcome_;
  }

  std::uint64_t windows() const { return windows_; }
  std::uint64_t shared_windows() const { return shared_windows_; }

 private:
  static constexpr std::uint64_t kBetween = 16;  ///< windows from one call of between_windows to the next

  /// The outbox that partitions write in a window, and the one that was written in the window before it.
  static std::size_t written_in(std::uint64_t window) { return window % 2; }
  static std::size_t written_before(std::uint64_t window) { return (window + 1) % 2; }

  /// Whether `destination` finds mail of `source` in outbox `box`. By destination, so that each reads one short row.
  std::uint8_t& has_mail(std::size_t box, std::size_t destination, std::size_t source) {
    return has_mail_[box][destination * partitions_.size() + source];
  }

  /// Tells the others of a partition's mail in outbox `box`, and adds what they have to know to a bulletin.
  void publish(std::size_t p, Bulletin& bulletin, std::size_t box) {
    Partition& partition = *partitions_[p];
    for (const DeviceId to : partition.outbox(box).destinations()) has_mail(box, to.value, p) = 1;
    bulletin.next = std::min({bulletin.next, partition.next_time(), partition.take_earliest_sent()});
    bulletin.progress += partition.progress();
  }

  /// Looks at an atomic for a short time, then sleeps until it is as wished; whoever changes it has to notify. False if
  /// it slept.
  template <class Wish>
  bool wait_until(std::atomic<std::uint32_t>& word, Wish wish) const {
    for (unsigned spins = 0; spins < spins_; ++spins) {
      if (wish(word.load(std::memory_order_acquire))) return true;
      pause();
    }
    for (std::uint32_t value = word.load(std::memory_order_acquire); !wish(value);
         value = word.load(std::memory_order_acquire)) {
      word.wait(value, std::memory_order_acquire);
    }
    return false;
  }

  void call_others() {
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    calls_.notify_all();
  }

  /// Runs a window on all threads that come to the call. It ends when all partitions have been run, by whomever.
  void share(const Task& task) {
    ++shared_windows_;
    window_.store(task.window, std::memory_order_relaxed);
    end_.store(task.end, std::memory_order_relaxed);
    asked_.store((task.ask_computes ? 1U : 0U) | (task.ask_starves ? 2U : 0U), std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    call_others();
    const Sharing::Clock::time_point begin = Sharing::Clock::now();
    run_claimed(0, calls_.load(std::memory_order_relaxed));
    const Sharing::Clock::time_point end = Sharing::Clock::now();
    const auto all = static_cast<std::uint32_t>(partitions_.size());
    if (wait_until(finished_, [all](std::uint32_t finished) { return finished == all; })) return;
    std::uint64_t events = 0;
    for (unsigned t = 1; t < threads_; ++t) events += bulletins_[t].events;
    const std::uint64_t own = bulletins_[0].events;
    const double seconds = std::chrono::duration<double>(end - begin).count();
    sharing_.waited(end, events, own == 0 ? 0.0 : seconds / static_cast<double>(own));
  }

  /// Runs partitions until all have been taken: this thread's own first, whose state its core is likely to hold, then
  /// what the others have left. What a partition does depends on its mail alone, so it is the same whoever runs it.
  ///
  /// A thread may be late and see the task of a later call, or none of its partitions left. Who gets a partition of a
  /// call has seen the task of that call: it is changed only when all of its partitions have been run.
  void run_claimed(unsigned thread, std::uint32_t call) {
    const unsigned asked = asked_.load(std::memory_order_relaxed);
    const Task task{window_.load(std::memory_order_relaxed), end_.load(std::memory_order_relaxed), (asked & 1U) != 0,
                    (asked & 2U) != 0};
    std::uint32_t ran = 0;
    for (unsigned turn = 0; turn < threads_; ++turn) {
      for (std::size_t p = (thread + turn) % threads_; p < partitions_.size(); p += threads_) {
        std::uint32_t before = call - 1;
        if (!claims_[p].call.compare_exchange_strong(before, call, std::memory_order_relaxed)) continue;
        run_partition(p, task, bulletins_[thread]);
        ++ran;
      }
    }
    if (ran == 0) return;
    if (finished_.fetch_add(ran, std::memory_order_acq_rel) + ran == partitions_.size()) finished_.notify_one();
  }

  /// An exception is kept by partition, so that the same one comes out on any number of threads.
  void run_partition(std::size_t p, const Task& task, Bulletin& bulletin) {
    try {
      run_window(p, task, bulletin);
    } catch (...) {
      errors_[p] = std::current_exception();
      bulletin.failed = true;
    }
  }

  void run_window(std::size_t p, const Task& task, Bulletin& bulletin) {
    Partition& partition = *partitions_[p];
    const std::size_t arrived = written_before(task.window);
    const std::uint64_t events = partition.events();
    if (watched_[p] != nullptr) {
      if (task.ask_computes) bulletin.computes |= watched_[p]->computes();
      if (task.ask_starves) bulletin.starves |= watched_[p]->starves();
    }
    partition.begin_window(written_in(task.window));
    for (std::size_t source = 0; source < partitions_.size(); ++source) {
      std::uint8_t& mail = has_mail(arrived, p, source);
      if (mail != 0) partition.receive(partitions_[source]->outbox(arrived));
      mail = 0;
    }
    partition.run(task.end);
    publish(p, bulletin, written_in(task.window));
    bulletin.events += partition.events() - events;
  }

  /// Does what is to be done between windows; whether the run goes on.
  bool meet_between_windows() {
    try {
      options_.between_windows();
    } catch (...) {
      between_error_ = std::current_exception();
    }
    return between_error_ == nullptr;
  }

  void tell_progress(const Bulletin& all) {
    if (!options_.on_progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_told_ < std::chrono::milliseconds(200)) return;
    last_told_ = now;
    try {
      options_.on_progress(all.progress, all.next);
    } catch (...) {
      between_error_ = std::current_exception();  // the run ends after this window
    }
  }

  std::vector<std::unique_ptr<Partition>>& partitions_;
  const std::vector<Watched*>& watched_;
  const Engine::Options& options_;
  const unsigned threads_;
  const unsigned spins_;
  Watchdog watchdog_;
  Sharing sharing_;
  std::vector<Bulletin> bulletins_;                    ///< by thread: of the partitions that it ran
  std::array<std::vector<std::uint8_t>, 2> has_mail_;  ///< by outbox, destination and source
  std::vector<Claim> claims_;
  std::vector<std::exception_ptr> errors_;  ///< by partition
  std::exception_ptr between_error_;
  std::chrono::steady_clock::time_point last_told_ = std::chrono::steady_clock::now();
  Engine::Outcome outcome_ = Engine::Outcome::Drained;
  std::uint64_t windows_ = 0;
  std::uint64_t shared_windows_ = 0;

  alignas(64) std::atomic<std::uint32_t> calls_{0};  ///< windows to which the others have been called
  std::atomic<std::uint64_t> window_{0};             ///< what they are called to; so are the next three
  std::atomic<Cycle> end_{0};
  std::atomic<unsigned> asked_{0};
  std::atomic<bool> over_{false};
  alignas(64) std::atomic<std::uint32_t> finished_{0};  ///< partitions that have been run in this call
};

}  // namespace

Engine::Engine(std::size_t partitions) : watched_(partitions, nullptr) {
  for (std::size_t i = 0; i < partitions; ++i) {
    partitions_.push_back(std::make_unique<Partition>(DeviceId{static_cast<std::uint16_t>(i)}, partitions));
  }
}

Engine::Outcome Engine::run(const Options& options) {
  const auto threads = std::clamp<unsigned>(options.threads, 1, static_cast<unsigned>(partitions_.size()));
  Session session(partitions_, watched_, options, threads);
  {
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < threads; ++t) helpers.emplace_back([&session, t] { session.help(t); });
    session.lead();
  }
  windows_ += session.windows();
  shared_windows_ += session.shared_windows();
  return session.finish();
}

std::uint64_t Engine::events() const {
  std::uint64_t sum = 0;
  for (const auto& partition : partitions_) sum += partition->events();
  return sum;
}

}  // namespace nearfar
