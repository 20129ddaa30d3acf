#include "sim/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
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
  Cycle next = kNever;  ///< earliest message sent; of a whole window, earliest event or message
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

/// The last call that a partition has been offered in, and whether somebody has taken it: whoever takes it runs it.
class alignas(64) Claim {
 public:
  void offer(std::uint32_t call) { state_.store(2 * std::uint64_t{call}, std::memory_order_relaxed); }
  bool take(std::uint32_t call) {
    std::uint64_t offered = 2 * std::uint64_t{call};
    return state_.load(std::memory_order_relaxed) == offered &&
           state_.compare_exchange_strong(offered, offered + 1, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> state_{1};
};

/// Who has mail from whom, a bit each: what partitions have sent in one window. Several threads may note mail at once;
/// a row is read and cleared by whoever runs its destination, a window later.
class Mail {
 public:
  explicit Mail(std::size_t partitions)
      : words_((partitions + 63) / 64), senders_(partitions * words_), any_(partitions) {}

  /// `alone` if no other thread notes mail now.
  void note(std::size_t destination, std::size_t source, bool alone) {
    std::atomic<std::uint64_t>& word = senders_[destination * words_ + source / 64];
    const std::uint64_t bit = std::uint64_t{1} << (source % 64);
    if (alone) {
      word.store(word.load(std::memory_order_relaxed) | bit, std::memory_order_relaxed);
    } else {
      word.fetch_or(bit, std::memory_order_relaxed);
    }
    any_[destination].store(1, std::memory_order_relaxed);
  }
  bool any(std::size_t destination) const { return any_[destination].load(std::memory_order_relaxed) != 0; }

  /// Visits the senders of mail to a partition in their order, and forgets them.
  template <class Visit>
  void take(std::size_t destination, Visit visit) {
    if (!any(destination)) return;
    any_[destination].store(0, std::memory_order_relaxed);
    for (std::size_t w = 0; w < words_; ++w) {
      std::atomic<std::uint64_t>& word = senders_[destination * words_ + w];
      std::uint64_t left = word.load(std::memory_order_relaxed);
      if (left == 0) continue;
      word.store(0, std::memory_order_relaxed);
      for (; left != 0; left &= left - 1) visit(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }

 private:
  std::size_t words_;  ///< of a row
  std::vector<std::atomic<std::uint64_t>> senders_;
  std::vector<std::atomic<std::uint8_t>> any_;
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
        mail_{Mail(partitions.size()), Mail(partitions.size())},
        next_(partitions.size()),
        busy_(partitions.size()),
        claims_(partitions.size()),
        errors_(partitions.size()) {
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      partitions[p]->turn_outboxes(written_before(0));
      progress_ += partitions[p]->progress();
      publish(p, bulletins_[0], written_before(0));
    }
  }

  /// The first thread: window after window.
  void lead() {
    for (windows_ = 0;; ++windows_) {
      Bulletin all;
      for (const Bulletin& one : bulletins_) all.add(one);
      for (const Cycle next : next_) all.next = std::min(all.next, next);
      progress_ += all.progress;
      all.progress = progress_;
      if (all.failed || between_error_ || all.next == kNever) break;
      outcome_ = watchdog_.judge(all);
      if (outcome_ != Engine::Outcome::Drained) break;
      if (windows_ % 64 == 0) tell_progress(all);
      if (options_.between_windows && windows_ % kBetween == 0 && !meet_between_windows()) break;
      Task task{windows_, all.next + options_.window};
      watchdog_.ask(task, all.next);
      for (Bulletin& one : bulletins_) one = {};
      find_busy(task);
      alone_ = threads_ == 1 || !sharing_.worthwhile(all.events) || busy_count_ < 2;
      if (alone_) {
        for (std::size_t i = 0; i < busy_count_; ++i) run_partition(busy(i), task, bulletins_[0]);
      } else {
        share(task);
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

  /// Tells the others of a partition's mail in outbox `box`, and when it is to be run next.
  void publish(std::size_t p, Bulletin& bulletin, std::size_t box) {
    Partition& partition = *partitions_[p];
    for (const DeviceId to : partition.outbox(box).destinations()) mail_[box].note(to.value, p, alone_);
    next_[p] = partition.next_time();
    bulletin.next = std::min(bulletin.next, partition.take_earliest_sent());
  }

  /// Lists the partitions that have something to do in a window. One without events and mail would do nothing: it costs
  /// nothing, but for a look at when it is to be run next.
  void find_busy(const Task& task) {
    const bool all = task.ask_computes || task.ask_starves;
    const Mail& mail = mail_[written_before(task.window)];
    std::size_t count = 0;
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      if (!all && next_[p] >= task.end && !mail.any(p)) continue;
      busy_[count++].store(static_cast<std::uint32_t>(p), std::memory_order_relaxed);
    }
    busy_count_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  }
  std::size_t busy(std::size_t i) const { return busy_[i].load(std::memory_order_relaxed); }

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

  /// Runs a window on all threads that come to the call. It ends when all busy partitions have been run, by whomever.
  void share(const Task& task) {
    ++shared_windows_;
    const std::uint32_t count = busy_count_.load(std::memory_order_relaxed);
    const std::uint32_t call = calls_.load(std::memory_order_relaxed) + 1;
    for (std::size_t i = 0; i < count; ++i) claims_[busy(i)].offer(call);
    window_.store(task.window, std::memory_order_relaxed);
    end_.store(task.end, std::memory_order_relaxed);
    asked_.store((task.ask_computes ? 1U : 0U) | (task.ask_starves ? 2U : 0U), std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    call_others();
    const Sharing::Clock::time_point begin = Sharing::Clock::now();
    run_claimed(0, call);
    const Sharing::Clock::time_point end = Sharing::Clock::now();
    if (wait_until(finished_, [count](std::uint32_t finished) { return finished == count; })) return;
    std::uint64_t events = 0;
    for (unsigned t = 1; t < threads_; ++t) events += bulletins_[t].events;
    const std::uint64_t own = bulletins_[0].events;
    const double seconds = std::chrono::duration<double>(end - begin).count();
    sharing_.waited(end, events, own == 0 ? 0.0 : seconds / static_cast<double>(own));
  }

  /// Runs partitions until all have been taken: this thread's own first, whose state its core is likely to hold, then
  /// what the others have left. What a partition does depends on its mail alone, so it is the same whoever runs it.
  ///
  /// A thread may be late and see the task and the partitions of a later call, or none left. Who takes a partition of a
  /// call has seen the task of that call: it is changed only when all partitions that were offered have been run.
  void run_claimed(unsigned thread, std::uint32_t call) {
    const unsigned asked = asked_.load(std::memory_order_relaxed);
    const Task task{window_.load(std::memory_order_relaxed), end_.load(std::memory_order_relaxed), (asked & 1U) != 0,
                    (asked & 2U) != 0};
    const std::uint32_t count = busy_count_.load(std::memory_order_relaxed);
    std::uint32_t ran = 0;
    for (unsigned turn = 0; turn < threads_; ++turn) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t p = busy(i);
        if (p % threads_ != (thread + turn) % threads_ || !claims_[p].take(call)) continue;
        run_partition(p, task, bulletins_[thread]);
        ++ran;
      }
    }
    if (ran == 0) return;
    if (finished_.fetch_add(ran, std::memory_order_acq_rel) + ran == count) finished_.notify_one();
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
    const Partition::Progress progress = partition.progress();
    if (watched_[p] != nullptr) {
      if (task.ask_computes) bulletin.computes |= watched_[p]->computes();
      if (task.ask_starves) bulletin.starves |= watched_[p]->starves();
    }
    partition.begin_window(written_in(task.window));
    mail_[arrived].take(p, [&](std::size_t source) { partition.receive(partitions_[source]->outbox(arrived)); });
    partition.run(task.end);
    publish(p, bulletin, written_in(task.window));
    bulletin.events += partition.events() - events;
    bulletin.progress += partition.progress() - progress;
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
  std::vector<Bulletin> bulletins_;               ///< by thread: of the partitions that it ran
  std::array<Mail, 2> mail_;                      ///< by outbox
  std::vector<Cycle> next_;                       ///< by partition: its earliest event or arrival
  Partition::Progress progress_;                  ///< of all partitions
  bool alone_ = true;                             ///< no other thread runs a partition now
  std::vector<std::atomic<std::uint32_t>> busy_;  ///< partitions with something to do in this window
  std::atomic<std::uint32_t> busy_count_{0};
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
