// The engine: partitions that talk at random do the same on any number of threads and with any length of window.
#include "sim/engine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <stdexcept>
#include <string>

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

/// Does what the hash of its history says: schedules events of its own, near and far, and sends messages. So whatever
/// differs once differs ever after.
class Toy {
 public:
  Toy(Partition& partition, std::size_t partitions, std::uint64_t seed)
      : partition_(partition), partitions_(partitions), state_(mix(seed + partition.device().value)) {
    event_ = partition.add_handler<&Toy::on_event>(this);
    partition.set_port<&Toy::on_event>(MessagePort::Fabric, this);
    for (Cycle i = 0; i < 3; ++i) schedule(i * 7, 60);
  }

  const std::vector<Happening>& log() const { return log_; }
  void throw_at(std::size_t happening) { throw_at_ = happening; }

 private:
  void on_event(Transaction* t) {
    log_.push_back({partition_.now(), t->source, t->mask});
    if (log_.size() == throw_at_) throw std::runtime_error("happening " + std::to_string(throw_at_));
    ++partition_.progress().steps;
    state_ = mix(state_ ^ t->mask ^ partition_.now() ^ t->source);
    const std::uint64_t left = t->mask & 0xff;
    partition_.pool().give(t);
    if (left == 0) return;
    if (state_ % 3 == 0) schedule(delay(), left - 1);
    if (state_ % 5 < 3) send(left - 1);
  }

  Cycle delay() const { return state_ >> 8 & 0xf ? state_ >> 16 & 0x3f : 4000 + (state_ >> 16 & 0xff); }

  Transaction* make(std::uint64_t left) {
    Transaction* t = partition_.pool().take();
    *t = {};
    t->mask = (state_ & ~std::uint64_t{0xff}) | left;
    return t;
  }
  void schedule(Cycle after, std::uint64_t left) { partition_.schedule(make(left), event_, partition_.now() + after); }
  void send(std::uint64_t left) {
    const auto step = 1 + (state_ >> 24) % (partitions_ - 1);
    const auto to = static_cast<std::uint8_t>((partition_.device().value + step) % partitions_);
    partition_.post(make(left), DeviceId{to}, MessagePort::Fabric, partition_.now() + kLatency + (state_ >> 32 & 3));
  }

  Partition& partition_;
  std::size_t partitions_;
  std::uint64_t state_;
  HandlerId event_ = 0;
  std::size_t throw_at_ = 0;
  std::vector<Happening> log_;
};

struct Machine {
  Machine(std::size_t partitions, std::uint64_t seed) : engine(partitions) {
    for (std::size_t i = 0; i < partitions; ++i) {
      toys.push_back(std::make_unique<Toy>(engine.partition(i), partitions, seed));
    }
  }

  Engine::Outcome run(unsigned threads, Cycle window, Cycle watchdog = kNever) {
    return engine.run({.window = window, .threads = threads, .watchdog = watchdog, .on_progress = {}});
  }
  std::vector<std::vector<Happening>> logs() const {
    std::vector<std::vector<Happening>> all;
    for (const auto& toy : toys) all.push_back(toy->log());
    return all;
  }

  Engine engine;
  std::vector<std::unique_ptr<Toy>> toys;
};

std::vector<std::vector<Happening>> logs_of(std::size_t partitions, std::uint64_t seed, unsigned threads,
                                            Cycle window) {
  Machine machine(partitions, seed);
  EXPECT_EQ(machine.run(threads, window), Engine::Outcome::Drained);
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
  }
}

/// Notes when its events are prepared and when they fire.
class Prepared {
 public:
  explicit Prepared(std::size_t partitions) : partition_(DeviceId{0}, partitions) {
    const HandlerId handler = partition_.add_handler<&Prepared::on_event>(this);
    partition_.set_preparation<&Prepared::prepare, Prepared>(handler);
    for (const Cycle when : {7, 7, 9, 90}) {
      events_.emplace_back();
      events_.back().user = static_cast<std::uint32_t>(events_.size());
      partition_.schedule(&events_.back(), handler, when);
    }
  }
  std::string run(Cycle limit) {
    log_.clear();
    partition_.begin_window(0, limit);
    partition_.run(limit);
    return log_;
  }

 private:
  void on_event(Transaction* t) { log_ += std::to_string(t->user) + "! "; }
  void prepare(const Transaction& t, PrefetchStep step) const {
    log_ += std::to_string(t.user) + "abc"[static_cast<unsigned>(step)] + " ";
  }

  Partition partition_;
  std::deque<Transaction> events_;
  mutable std::string log_;
};

TEST(Preparation, IsOneEventAheadWherePartitionsAreFew) {
  Prepared few(8);
  EXPECT_EQ(few.run(80), "2a 1! 3a 2! 3! ");
  EXPECT_EQ(few.run(160), "4! ");
}

TEST(Preparation, IsInStepsAtTheStartOfAWindowInACrowd) {
  Prepared crowd(9);
  EXPECT_EQ(crowd.run(80), "1a 2a 3a 1b 2b 3b 1c 2c 3c 1! 2! 3! ");
  EXPECT_EQ(crowd.run(160), "4a 4b 4c 4! ");
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
    partition.set_port<&Ball::on_ball>(MessagePort::Fabric, this);
  }
  void serve() { on_ball(partition_.pool().take()); }
  void stop_progress_at(Cycle when) { stop_ = when; }
  void drop() { dropped_ = true; }
  Cycle last() const { return last_; }

 private:
  void on_ball(Transaction* t) {
    last_ = partition_.now();
    if (last_ < stop_) ++partition_.progress().steps;
    if (dropped_) {
      partition_.pool().give(t);
      return;
    }
    partition_.post(t, DeviceId{other_}, MessagePort::Fabric, partition_.now() + kLatency);
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
  const Engine::Options options{.window = kLatency, .threads = threads, .watchdog = 5000, .on_progress = {}};
  EXPECT_EQ(engine.run(options), Engine::Outcome::NoProgress);
  const Cycle end = std::max(left.last(), right.last());
  EXPECT_GE(end, 10'000U + 5000 - 2 * kLatency);
  EXPECT_LE(end, 10'000U + 5000 + 2 * kLatency);
}

TEST(Engine, WatchdogEndsARunWithoutProgress) { expect_watchdog_barks(1); }
TEST(Engine, WatchdogEndsARunWithoutProgressOnTwoThreads) { expect_watchdog_barks(2); }

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
  EXPECT_EQ(engine.run({.window = kLatency, .threads = 1, .watchdog = kNever, .on_progress = tell}),
            Engine::Outcome::Drained);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_LT(told[0], told[1]);
}

}  // namespace
}  // namespace nearfar::engine_test
