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

/// All threads meet here once a window. They spin, since a window is some microseconds long, and give way to others
/// when one of them has been put to sleep by the host.
class SpinBarrier {
 public:
  explicit SpinBarrier(unsigned threads)
      : threads_(threads), spins_(threads <= std::thread::hardware_concurrency() ? 4000 : 0) {}

  void arrive_and_wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (unsigned spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
      spins < spins_ ? pause() : std::this_thread::yield();
    }
  }

 private:
  const unsigned threads_;
  const unsigned spins_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

/// What a thread tells the others at the end of a window.
struct alignas(64) Bulletin {
  Cycle next = kNever;  ///< earliest event or message of its partitions
  Partition::Progress progress;
  bool failed = false;
};

/// A window in which a partition has been taken by a thread.
struct alignas(64) Claim {
  std::atomic<std::uint64_t> windows{0};  ///< it has been taken in
};

/// One run: the state that its threads share, and the loop that each of them runs.
class Session {
 public:
  Session(std::vector<std::unique_ptr<Partition>>& partitions, const Engine::Options& options, unsigned threads)
      : partitions_(partitions), options_(options), threads_(threads), barrier_(threads), claims_(partitions.size()) {
    for (auto& round : bulletins_) round.resize(threads);
    for (auto& round : has_mail_) round.resize(partitions.size() * partitions.size());
    errors_.resize(threads);
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      partitions[p]->turn_outboxes(written_before(0));
      publish(p, bulletins_[0][0], written_before(0));
    }
  }

  void work(unsigned thread) {
    Watch watch;
    for (std::uint64_t window = 0;; ++window) {
      barrier_.arrive_and_wait();
      const Bulletin all = gather(window);
      if (thread == 0) windows_ = window;
      if (all.failed || all.next == kNever) return;
      if (gives_up(watch, all)) {
        if (thread == 0) outcome_ = Engine::Outcome::NoProgress;
        return;
      }
      if (thread == 0 && window % 64 == 0) tell_progress(all);
      if (options_.between_windows && window % kBetween == 0 && !meet_between_windows(thread)) return;
      run_window(thread, window, all.next + options_.window);
    }
  }

  Engine::Outcome finish() const {
    for (const std::exception_ptr& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
    return outcome_;
  }

  std::uint64_t windows() const { return windows_; }

 private:
  static constexpr std::uint64_t kBetween = 16;  ///< windows from one call of between_windows to the next

  struct Watch {
    std::uint64_t steps = ~std::uint64_t{0};
    Cycle since = 0;
  };

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

  Bulletin gather(std::uint64_t window) const {
    Bulletin all;
    for (const Bulletin& one : bulletins_[window % 2]) {
      all.next = std::min(all.next, one.next);
      all.progress += one.progress;
      all.failed = all.failed || one.failed;
    }
    return all;
  }

  bool gives_up(Watch& watch, const Bulletin& all) const {
    if (all.progress.steps != watch.steps) {
      watch = {all.progress.steps, all.next};
      return false;
    }
    return all.next - watch.since > options_.watchdog;
  }

  /// Runs partitions until all have been taken: this thread's own first, whose state its core is likely to hold, then
  /// what the others have left. What a partition does depends on its mail alone, so it is the same whoever runs it.
  void run_window(unsigned thread, std::uint64_t window, Cycle end) {
    Bulletin& mine = bulletins_[(window + 1) % 2][thread];
    mine = {};
    try {
      for (unsigned turn = 0; turn < threads_; ++turn) {
        for (std::size_t p = (thread + turn) % threads_; p < partitions_.size(); p += threads_) {
          if (take(p, window)) run_partition(p, window, end, mine);
        }
      }
    } catch (...) {
      errors_[thread] = std::current_exception();
    }
    mine.failed = errors_[thread] != nullptr;
  }

  bool take(std::size_t p, std::uint64_t window) {
    if (threads_ == 1) return true;
    return claims_[p].windows.compare_exchange_strong(window, window + 1, std::memory_order_relaxed);
  }

  void run_partition(std::size_t p, std::uint64_t window, Cycle end, Bulletin& bulletin) {
    Partition& partition = *partitions_[p];
    partition.begin_window(written_in(window), end);
    if (partition.crowded()) prefetch_mail(p, written_before(window));
    for (std::size_t source = 0; source < partitions_.size(); ++source) {
      std::uint8_t& mail = has_mail(written_before(window), p, source);
      if (mail != 0) partition.receive(partitions_[source]->outbox(written_before(window)));
      mail = 0;
    }
    partition.run(end);
    publish(p, bulletin, written_in(window));
  }

  void prefetch_mail(std::size_t p, std::size_t box) {
    for (const PrefetchStep step : {PrefetchStep::First, PrefetchStep::Second}) {
      for (std::size_t source = 0; source < partitions_.size(); ++source) {
        if (has_mail(box, p, source) != 0) partitions_[source]->outbox(box).prefetch(p, step);
      }
    }
  }

  /// The first thread does what is to be done between windows while the others wait; whether the run goes on.
  bool meet_between_windows(unsigned thread) {
    if (thread == 0) {
      try {
        options_.between_windows();
      } catch (...) {
        errors_[0] = std::current_exception();
        failed_between_ = true;
      }
    }
    barrier_.arrive_and_wait();
    return !failed_between_;
  }

  void tell_progress(const Bulletin& all) {
    if (!options_.on_progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_told_ < std::chrono::milliseconds(200)) return;
    last_told_ = now;
    try {
      options_.on_progress(all.progress, all.next);
    } catch (...) {
      errors_[0] = std::current_exception();  // the others wait at the barrier: this run ends there
    }
  }

  std::vector<std::unique_ptr<Partition>>& partitions_;
  const Engine::Options& options_;
  const unsigned threads_;
  SpinBarrier barrier_;
  std::array<std::vector<Bulletin>, 2> bulletins_;
  std::array<std::vector<std::uint8_t>, 2> has_mail_;  ///< by outbox, destination and source
  std::vector<Claim> claims_;
  std::vector<std::exception_ptr> errors_;
  std::chrono::steady_clock::time_point last_told_ = std::chrono::steady_clock::now();
  bool failed_between_ = false;  ///< written while the others wait
  Engine::Outcome outcome_ = Engine::Outcome::Drained;
  std::uint64_t windows_ = 0;
};

}  // namespace

Engine::Engine(std::size_t partitions) {
  for (std::size_t i = 0; i < partitions; ++i) {
    partitions_.push_back(std::make_unique<Partition>(DeviceId{static_cast<std::uint8_t>(i)}, partitions));
  }
}

Engine::Outcome Engine::run(const Options& options) {
  const auto threads = std::clamp<unsigned>(options.threads, 1, static_cast<unsigned>(partitions_.size()));
  Session session(partitions_, options, threads);
  {
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < threads; ++t) helpers.emplace_back([&session, t] { session.work(t); });
    session.work(0);
  }
  windows_ += session.windows();
  return session.finish();
}

std::uint64_t Engine::events() const {
  std::uint64_t sum = 0;
  for (const auto& partition : partitions_) sum += partition->events();
  return sum;
}

}  // namespace nearfar
