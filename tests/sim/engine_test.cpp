// The engine: partitions that talk at random do the same on any number of threads and with any length of window.
#include "sim/engine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>

namespace nearfar::engine_test {
namespace {

constexpr Cycle kLatency = 40;

std::uint64_t mix(std::uint64_t n) {
  n = (n ^ n >> 31) * 0x9e3779b97f4a7c15U;
  n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9U;
  return n ^ n >> 32;
}

struct Happening {
  Cycle when;
  std::uint16_t source;
  std::uint64_t what;

  bool operator==(const Happening&) const = default;
};

struct ToyEvent : Event {
  std::uint64_t value = 0;
};

/// Does what the hash of its history says: schedules events of its own, near and far, and sends messages. So whatever
/// differs once differs ever after.
class Toy {
 public:
  Toy(Partition& partition, std::size_t partitions, std::uint64_t seed)
      : partition_(partition), partitions_(partitions), state_(mix(seed + partition.device().value)) {
    event_ = partition.add_handler<&Toy::on_event>(this);
    partition.set_port<&Toy::on_event>(MessagePort::Network, this);
    for (Cycle i = 0; i < 3; ++i) schedule(i * 7, 60);
  }

  const std::vector<Happening>& log() const { return log_; }
  void throw_at(std::size_t happening) { throw_at_ = happening; }

 private:
  void on_event(ToyEvent* t) {
    log_.push_back({partition_.now(), t->source, t->value});
    if (log_.size() == throw_at_) throw std::runtime_error("happening " + std::to_string(throw_at_));
    ++partition_.progress().steps;
    state_ = mix(state_ ^ t->value ^ partition_.now() ^ t->source);
    const std::uint64_t left = t->value & 0xff;
    partition_.pool().release(t);
    if (left == 0) return;
    if (state_ % 3 == 0) schedule(delay(), left - 1);
    if (state_ % 5 < 3) send(left - 1);
  }

  Cycle delay() const { return state_ >> 8 & 0xf ? state_ >> 16 & 0x3f : 4000 + (state_ >> 16 & 0xff); }

  ToyEvent* make(std::uint64_t left) {
    auto* t = partition_.pool().allocate<ToyEvent>();
    t->value = (state_ & ~std::uint64_t{0xff}) | left;
    return t;
  }
  void schedule(Cycle after, std::uint64_t left) { partition_.schedule(make(left), event_, partition_.now() + after); }
  void send(std::uint64_t left) {
    const auto step = 1 + (state_ >> 24) % (partitions_ - 1);
    const auto to = static_cast<std::uint8_t>((partition_.device().value + step) % partitions_);
    partition_.post(make(left), DeviceId{to}, MessagePort::Network, partition_.now() + kLatency + (state_ >> 32 & 3));
  }

  Partition& partition_;
  std::size_t partitions_;
  std::uint64_t state_;
  HandlerId event_ = 0;
  std::size_t throw_at_ = 0;
  std::vector<Happening> log_;
};

/// Windows are shared among the threads however few events they have, unless told otherwise.
Engine::Options options(unsigned threads, Cycle window, Cycle watchdog = kNever, std::uint64_t share_from = 0) {
  Engine::Options all;
  all.window = window;
  all.threads = threads;
  all.watchdog = watchdog;
  all.share_from = share_from;
  return all;
}

struct Machine {
  Machine(std::size_t partitions, std::uint64_t seed) : engine(partitions) {
    for (std::size_t i = 0; i < partitions; ++i) {
      toys.push_back(std::make_unique<Toy>(engine.partition(i), partitions, seed));
    }
  }

  Engine::Outcome run(unsigned threads, Cycle window, std::uint64_t share_from = 0) {
    return engine.run(options(threads, window, kNever, share_from));
  }
  std::vector<std::vector<Happening>> logs() const {
    std::vector<std::vector<Happening>> all;
    for (const auto& toy : toys) all.push_back(toy->log());
    return all;
  }

  Engine engine;
  std::vector<std::unique_ptr<Toy>> toys;
};

std::vector<std::vector<Happening>> logs_of(std::size_t partitions, std::uint64_t seed, unsigned threads, Cycle window,
                                            std::uint64_t share_from = 0) {
  Machine machine(partitions, seed);
  EXPECT_EQ(machine.run(threads, window, share_from), Engine::Outcome::Drained);
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < partitions; ++i) {
    EXPECT_EQ(machine.engine.partition(i).pool().live(), 0U);
    EXPECT_EQ(machine.engine.partition(i).next_time(), kNever);
    events += machine.toys[i]->log().size();
  }
  EXPECT_EQ(machine.engine.events(), events);
  return machine.logs();
}

RC_GTEST_PROP(Engine, LengthOfTheWindowChangesNothing, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto partitions = *rc::gen::inRange<std::size_t>(2, 13);
  const auto expected = logs_of(partitions, seed, 1, kLatency);
  for (const Cycle window : {Cycle{1}, Cycle{3}, Cycle{17}, kLatency - 1}) {
    RC_ASSERT(logs_of(partitions, seed, 1, window) == expected);
  }
}

RC_GTEST_PROP(Engine, ThreadsChangeNothing, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto partitions = *rc::gen::inRange<std::size_t>(2, 13);
  const auto expected = logs_of(partitions, seed, 1, kLatency);
  for (const unsigned threads : {2U, 3U, 4U, 9U}) {
    RC_ASSERT(logs_of(partitions, seed, threads, kLatency) == expected);
    RC_ASSERT(logs_of(partitions, seed, threads, 13) == expected);
    RC_ASSERT(logs_of(partitions, seed, threads, 13, 4) == expected);  // now shared, now alone
  }
}

/// Notes when its events are prepared and when they fire.
class Prepared {
 public:
  Prepared() : partition_(DeviceId{0}, 1) {
    const HandlerId handler = partition_.add_handler<&Prepared::on_event>(this);
    partition_.set_preparation<&Prepared::prepare, Prepared>(handler);
    for (const Cycle when : {7, 7, 9, 90}) {
      events_.emplace_back();
      events_.back().index = static_cast<std::uint32_t>(events_.size());
      partition_.schedule(&events_.back(), handler, when);
    }
  }
  std::string run(Cycle limit) {
    log_.clear();
    partition_.begin_window(0);
    partition_.run(limit);
    return log_;
  }

 private:
  void on_event(IndexEvent* t) { log_ += std::to_string(t->index) + "! "; }
  void prepare(const IndexEvent& t) const { log_ += std::to_string(t.index) + " "; }

  Partition partition_;
  std::deque<IndexEvent> events_;
  mutable std::string log_;
};

TEST(Preparation, IsOneEventAhead) {
  Prepared prepared;
  EXPECT_EQ(prepared.run(80), "2 1! 3 2! 3! ");
  EXPECT_EQ(prepared.run(160), "4! ");
}

TEST(Engine, SomethingHappensInTheToyMachine) {
  const auto logs = logs_of(4, 1, 1, kLatency);
  std::size_t local = 0;
  std::size_t messages = 0;
  for (const auto& log : logs) {
    for (const Happening& h : log) ++(h.source == kLocalSource ? local : messages);
  }
  EXPECT_GT(local, 100U);
  EXPECT_GT(messages, 100U);
}

TEST(Engine, SeedsTellRunsApart) { EXPECT_NE(logs_of(3, 1, 1, kLatency), logs_of(3, 2, 1, kLatency)); }

TEST(Engine, TimeOfAPartitionNeverGoesBack) {
  for (const auto& log : logs_of(4, 5, 1, kLatency)) {
    for (std::size_t i = 1; i < log.size(); ++i) {
      EXPECT_GE(log[i].when, log[i - 1].when);
      const bool message_in_same_cycle = log[i].when == log[i - 1].when && log[i].source != kLocalSource;
      EXPECT_TRUE(!message_in_same_cycle || log[i - 1].source <= log[i].source);
    }
  }
}

TEST(Engine, RunsAgainWhereItStopped) {
  Machine machine(2, 3);
  machine.run(1, kLatency);
  const std::uint64_t events = machine.engine.events();
  const std::uint64_t windows = machine.engine.windows();
  EXPECT_GT(windows, 0U);
  EXPECT_EQ(machine.run(1, kLatency), Engine::Outcome::Drained);
  EXPECT_EQ(machine.engine.events(), events);
}

TEST(Engine, ExceptionOfAHandlerComesOutOfRun) {
  Machine machine(4, 1);
  machine.toys[2]->throw_at(5);
  EXPECT_THROW(machine.run(1, kLatency), std::runtime_error);
}

TEST(Engine, ThreadsEndWhenAHandlerOfOneThrows) {
  for (const unsigned threads : {2U, 3U, 4U}) {
    for (std::size_t thrower = 0; thrower < 4; ++thrower) {
      Machine machine(4, 1);
      machine.toys[thrower]->throw_at(7);
      try {
        machine.run(threads, kLatency);
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "happening 7");
      }
    }
  }
}

/// Two partitions that play ball for ever.
class Ball {
 public:
  Ball(Partition& partition, std::uint8_t other) : partition_(partition), other_(other) {
    partition.set_port<&Ball::on_ball>(MessagePort::Network, this);
  }
  void serve() { on_ball(partition_.pool().allocate<Event>()); }
  void stop_progress_at(Cycle when) { stop_ = when; }
  void drop() { dropped_ = true; }
  Cycle last() const { return last_; }

 private:
  void on_ball(Event* t) {
    last_ = partition_.now();
    if (last_ < stop_) ++partition_.progress().steps;
    if (dropped_) {
      partition_.pool().release(t);
      return;
    }
    partition_.post(t, DeviceId{other_}, MessagePort::Network, partition_.now() + kLatency);
  }

  Partition& partition_;
  std::uint8_t other_;
  Cycle stop_ = 10'000;
  Cycle last_ = 0;
  bool dropped_ = false;
};

void expect_watchdog_barks(unsigned threads) {
  Engine engine(2);
  Ball left(engine.partition(0), 1);
  Ball right(engine.partition(1), 0);
  left.serve();
  EXPECT_EQ(engine.run(options(threads, kLatency, 5000)), Engine::Outcome::NoProgress);
  const Cycle end = std::max(left.last(), right.last());
  EXPECT_GE(end, 10'000U + 5000 - 2 * kLatency);
  EXPECT_LE(end, 10'000U + 5000 + 2 * kLatency);
}

TEST(Engine, WatchdogEndsARunWithoutProgress) { expect_watchdog_barks(1); }
TEST(Engine, WatchdogEndsARunWithoutProgressOnTwoThreads) { expect_watchdog_barks(2); }

/// A device that answers the watchdog as it is told to.
class Asked final : public Watched {
 public:
  bool computes() const override {
    ++asked;
    return asked <= computing_for;
  }
  bool starves() override { return ++looks == starving_at; }

  mutable unsigned asked = 0;
  unsigned computing_for = 0;  ///< so many times asked
  unsigned looks = 0;
  unsigned starving_at = 0;
};

TEST(Engine, WhileADeviceComputesARunIsNotGivenUp) {
  for (const unsigned threads : {1U, 2U}) {
    Engine engine(2);
    Ball left(engine.partition(0), 1);
    Ball right(engine.partition(1), 0);
    Asked device;
    device.computing_for = 10;
    engine.watch(1, device);
    left.serve();
    EXPECT_EQ(engine.run(options(threads, kLatency, 5000)), Engine::Outcome::NoProgress);
    EXPECT_EQ(device.asked, 11U);
    const Cycle end = std::max(left.last(), right.last());
    EXPECT_GE(end, 10'000U + 11 * 5000 - 2 * kLatency);
    EXPECT_LE(end, 10'000U + 11 * (5000 + 4 * kLatency));
  }
}

TEST(Engine, ADeviceIsAskedForOldRequestsOnceEachBound) {
  for (const unsigned threads : {1U, 2U}) {
    Engine engine(2);
    Ball left(engine.partition(0), 1);
    Ball right(engine.partition(1), 0);
    left.stop_progress_at(kNever);
    right.stop_progress_at(kNever);
    Asked device;
    device.starving_at = 8;
    engine.watch(0, device);
    left.serve();
    Engine::Options watching = options(threads, kLatency, 5000);
    watching.oldest = 20'000;
    EXPECT_EQ(engine.run(watching), Engine::Outcome::Starved);
    EXPECT_EQ(device.looks, 8U);
    EXPECT_GE(std::max(left.last(), right.last()), 7 * 20'000U);
    EXPECT_LE(std::max(left.last(), right.last()), 7 * (20'000U + 2 * kLatency) + 2 * kLatency);
  }
}

/// Runs until the ball has been thrown so many times; the answer is in seconds of the host.
double play(unsigned threads, Cycle until, std::uint64_t share_from, std::uint64_t& shared) {
  Engine engine(2);
  Ball left(engine.partition(0), 1);
  Ball right(engine.partition(1), 0);
  left.stop_progress_at(until);
  right.stop_progress_at(until);
  left.serve();
  right.serve();  // a ball of its own: both have something to do in every window
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(engine.run(options(threads, kLatency, 1000, share_from)), Engine::Outcome::NoProgress);
  shared = engine.shared_windows();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Engine, ThreadsAreNotCalledToWindowsWithFewEvents) {
  std::uint64_t shared = 1;
  play(2, 40'000, 3, shared);
  EXPECT_EQ(shared, 0U);
  play(2, 40'000, 1, shared);
  EXPECT_GT(shared, 0U);
}

/// Counts the windows in which a partition is run.
struct Windows final : NetworkPort {
  explicit Windows(Partition& of) : partition(of) { partition.set_network(this); }
  void arrive(Event* message) override { partition.deliver(message); }
  void all_arrived(Cycle) override {}
  void end_window(Cycle) override { ++run; }
  Cycle next_time() const override { return kNever; }

  Partition& partition;
  std::uint64_t run = 0;
};

TEST(Engine, APartitionWithoutEventsAndMailIsNotRun) {
  constexpr std::size_t kPartitions = 130;  // more than a word of bits has
  for (const unsigned threads : {1U, 3U}) {
    Engine engine(kPartitions);
    Ball left(engine.partition(1), kPartitions - 1);
    Ball right(engine.partition(kPartitions - 1), 1);
    Ball loner(engine.partition(65), 65);
    std::deque<Windows> windows;
    for (std::size_t p = 0; p < kPartitions; ++p) windows.emplace_back(engine.partition(p));
    left.stop_progress_at(40'000);
    right.stop_progress_at(40'000);
    left.serve();
    EXPECT_EQ(engine.run(options(threads, kLatency, 1000, 1)), Engine::Outcome::NoProgress);
    EXPECT_GT(engine.windows(), 500U);
    for (std::size_t p = 0; p < kPartitions; ++p) {
      if (p == 1 || p == kPartitions - 1) {
        EXPECT_GE(windows[p].run, engine.windows() / 2 - 2) << p;
        EXPECT_LE(windows[p].run, engine.windows() / 2 + 5) << p << ": only when the ball is there";
      } else {
        EXPECT_LE(windows[p].run, 3U) << p << ": only when it is asked whether it computes";
      }
    }
  }
}

/// Other processes want all cores, more than once. A thread that is stopped must not hold up the others for long, nor
/// may those who wait spin: on threads that meet in every window this took a hundred times as long as on one.
TEST(Engine, ThreadsBesideOtherLoadAreNotMuchSlowerThanOne) {
  std::atomic<bool> over = false;
  std::vector<std::jthread> others;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    others.emplace_back([&over] {
      while (!over.load(std::memory_order_relaxed)) {
      }
    });
  }
  constexpr Cycle kEnd = 60'000 * kLatency;
  std::uint64_t shared = 0;
  const double one = play(1, kEnd, 0, shared);
  const double two = play(2, kEnd, 0, shared);  // each of these tiny windows is worth sharing, it is told
  over = true;
  EXPECT_GT(shared, 0U);
  EXPECT_LT(two, 20 * one + 1) << one;
  RecordProperty("one_ms", static_cast<int>(one * 1e3));
  RecordProperty("two_ms", static_cast<int>(two * 1e3));
}

TEST(Engine, ProgressIsToldFromTimeToTime) {
  Engine engine(2);
  Ball left(engine.partition(0), 1);
  Ball right(engine.partition(1), 0);
  left.stop_progress_at(kNever);
  right.stop_progress_at(kNever);
  left.serve();
  std::vector<Cycle> told;
  std::uint64_t steps = 0;
  const auto tell = [&](const Partition::Progress& progress, Cycle now) {
    EXPECT_GE(progress.steps, steps);
    steps = progress.steps;
    told.push_back(now);
    if (told.size() == 2) left.drop();
  };
  Engine::Options told_of = options(1, kLatency);
  told_of.on_progress = tell;
  EXPECT_EQ(engine.run(told_of), Engine::Outcome::Drained);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_LT(told[0], told[1]);
}

}  // namespace
}  // namespace nearfar::engine_test
