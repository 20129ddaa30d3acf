// Memory: what an unloaded access costs, what a saturated channel carries, who goes first, and that nobody is
// forgotten.
#include "memory/dram/dram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <pcg_random.hpp>
#include <string>

#include "memory/dram_harness.h"

namespace nearfar::dram_test {
namespace {

using testing::ElementsAre;

constexpr DramStandard kStandards[] = {DramStandard::Hbm, DramStandard::Gddr5, DramStandard::Ddr3_1600,
                                       DramStandard::Ddr4_2400};

DramSpec standard_channel(DramStandard standard, Frequency clock = 1000_MHz) {
  DramSpec spec = one_channel();
  spec.set_standard(standard, clock);
  return spec;
}

/// ceil(lines × line / bandwidth) in cycles.
Cycle transfer_cycles(const DramSpec& spec, std::uint64_t lines, std::uint64_t clock = kTestClock) {
  const auto bytes = static_cast<unsigned __int128>(lines) * kTestLineBytes * clock;
  const std::uint64_t rate = spec.channel_bandwidth.bytes_per_second;
  return static_cast<Cycle>((bytes + rate - 1) / rate);
}

std::vector<DramStep> reads_at(Cycle at, std::uint64_t first, std::uint64_t count) {
  std::vector<DramStep> steps;
  for (std::uint64_t i = 0; i < count; ++i) steps.push_back({at, first + i, false});
  return steps;
}

class DramOfStandard : public testing::TestWithParam<std::tuple<DramStandard, Frequency>> {
 protected:
  DramOfStandard() : clock_(std::get<1>(GetParam())), spec_(standard_channel(std::get<0>(GetParam()), clock_)) {}
  Cycle burst() const { return transfer_cycles(spec_, 1, clock_.hertz); }

  Frequency clock_;
  DramSpec spec_;
};

TEST_P(DramOfStandard, UnloadedReadCostsTheSumOfItsParts) {
  DramHarness harness(spec_, clock_.hertz);
  const Cycle apart = 10'000;
  harness.play({{0, line_at(spec_, 0, 0, 0), false},
                {apart, line_at(spec_, 0, 0, 1), false},
                {2 * apart, line_at(spec_, 1, 0, 0), false}});
  const Cycle open = spec_.controller_latency + spec_.t_cl + burst();
  EXPECT_EQ(harness.completion(0), spec_.t_rcd + open);
  EXPECT_EQ(harness.completion(1) - apart, open);
  EXPECT_EQ(harness.completion(2) - 2 * apart, spec_.t_rp + spec_.t_rcd + open);
  const DramStats& stats = harness.dram().stats();
  EXPECT_EQ(stats.row_closed, 1U);
  EXPECT_EQ(stats.row_hits, 1U);
  EXPECT_EQ(stats.row_conflicts, 1U);
  EXPECT_EQ(stats.read_wait_cycles, 0U);
  EXPECT_EQ(harness.partition().events(), 6U) << "one event for each script step and one for each answer";
}

TEST_P(DramOfStandard, SaturatedChannelCarriesExactlyItsBandwidth) {
  DramHarness harness(spec_, clock_.hertz);
  const std::uint64_t lines = 5000;
  harness.play(reads_at(0, 0, lines));
  const std::uint64_t rank_lines = spec_.banks * spec_.row / kTestLineBytes;
  const std::uint64_t changes_of_rank = spec_.ranks == 1 ? 0 : (lines - 1) / rank_lines;
  EXPECT_EQ(harness.last_completion(), spec_.controller_latency + spec_.t_rcd + spec_.t_cl +
                                           transfer_cycles(spec_, lines, clock_.hertz) +
                                           changes_of_rank * harness.banked().bus().turn_around());
}

TEST_P(DramOfStandard, ConflictWaitsForTheRowToHaveBeenOpenLongEnough) {
  DramHarness harness(spec_, clock_.hertz);
  harness.play({{0, line_at(spec_, 0, 0, 0), false}, {1, line_at(spec_, 1, 0, 0), false}});
  const Cycle close = std::max(spec_.t_ras, spec_.t_rcd + spec_.t_rtp);
  EXPECT_EQ(harness.completion(1), close + spec_.t_rp + spec_.t_rcd + spec_.t_cl + burst() + spec_.controller_latency);
}

INSTANTIATE_TEST_SUITE_P(Standards, DramOfStandard,
                         testing::Combine(testing::ValuesIn(kStandards),
                                          testing::Values(1000_MHz, 2000_MHz, 1337_MHz)));

/// Keeps `outstanding` reads on their way in every channel.
class ClosedLoop : public DramClient {
 public:
  ClosedLoop(const DramSpec& spec, bool random, std::uint64_t reads, unsigned outstanding)
      : partition_(DeviceId{0}, 1),
        dram_(make_dram(partition_, spec, kTestLineBytes, kTestClock, *this)),
        done_(partition_.add_handler<&ClosedLoop::on_done>(this)),
        random_(random),
        lines_(spec.capacity / kTestLineBytes),
        left_(reads) {
    for (unsigned i = 0; i < outstanding * spec.channels; ++i) issue(partition_.pool().allocate<Event>());
    partition_.run(kNever);
  }
  void dram_has_room() override {}

  double fraction_of_peak(const DramSpec& spec) {
    const double peak = static_cast<double>(spec.channel_bandwidth.bytes_per_second) * spec.channels;
    return static_cast<double>(dram_->stats().read_bytes) * static_cast<double>(kTestClock) /
           (static_cast<double>(partition_.now()) * peak);
  }
  double events_per_read() {
    return static_cast<double>(partition_.events()) / static_cast<double>(dram_->stats().reads);
  }

 private:
  void issue(Event* t) {
    if (left_ == 0) {
      partition_.pool().release(t);
      return;
    }
    --left_;
    dram_->read(line_number(random_ ? (std::uint64_t{rng_()} << 10 ^ rng_()) % lines_ : next_++), t, done_, 0);
  }
  void on_done(Event* t) { issue(t); }

  Partition partition_;
  std::unique_ptr<Dram> dram_;
  HandlerId done_;
  bool random_;
  std::uint64_t lines_;
  std::uint64_t left_;
  std::uint64_t next_ = 0;
  pcg32_fast rng_{3};
};

TEST(DramBandwidth, StreamingReachesThePeakOfEveryStandard) {
  for (const DramStandard standard : kStandards) {
    DramSpec spec;
    spec.set_standard(standard, 1000_MHz);
    spec.channels = 4;
    ClosedLoop load(spec, false, 100'000, 96);
    RecordProperty("streaming_" + std::to_string(static_cast<int>(standard)),
                   std::to_string(load.fraction_of_peak(spec)));
    EXPECT_GE(load.fraction_of_peak(spec), 0.99);
    EXPECT_LE(load.events_per_read(), 1.25);
  }
}

TEST(DramBandwidth, RandomReadsStayWithinWhatBanksAndActivatesAllow) {
  for (const DramStandard standard : kStandards) {
    DramSpec spec;
    spec.set_standard(standard, 1000_MHz);
    spec.channels = 4;
    ClosedLoop load(spec, true, 40'000, 64);
    const double burst =
        static_cast<double>(kTestLineBytes) * kTestClock / static_cast<double>(spec.channel_bandwidth.bytes_per_second);
    const double by_activates = 4 * burst * spec.ranks / static_cast<double>(spec.t_faw);
    const double by_banks = burst * spec.ranks * spec.banks / static_cast<double>(spec.t_ras + spec.t_rp);
    const double bound = std::min({1.0, by_activates, by_banks});
    const double got = load.fraction_of_peak(spec);
    RecordProperty("random_" + std::to_string(static_cast<int>(standard)), std::to_string(got));
    EXPECT_LE(got, bound * 1.001);
    EXPECT_GE(got, bound * 0.8);
    EXPECT_LE(load.events_per_read(), 1.4);
  }
}

/// Fills the bus far enough ahead that what follows has to wait, on row 0 of bank 0.
std::vector<DramStep> busy_start(const DramSpec& spec) { return reads_at(0, line_at(spec, 0, 0, 0), 16); }

TEST(DramScheduler, RowHitPassesAnOlderConflictUnderFrFcfsOnly) {
  for (const bool first_ready : {true, false}) {
    DramSpec spec = one_channel();
    spec.scheduler = first_ready ? DramScheduler::FrFcfs : DramScheduler::Fcfs;
    std::vector<DramStep> steps = busy_start(spec);
    steps.push_back({0, line_at(spec, 5, 0, 0), false});
    steps.push_back({0, line_at(spec, 0, 0, 20), false});
    DramHarness harness(spec);
    harness.play(steps);
    EXPECT_EQ(harness.completion(17) < harness.completion(16), first_ready);
  }
}

TEST(DramScheduler, AmongHitsAndAmongConflictsTheOldestGoesFirst) {
  DramSpec spec = one_channel();
  std::vector<DramStep> steps = busy_start(spec);
  steps.push_back({0, line_at(spec, 5, 1, 0), false});
  steps.push_back({0, line_at(spec, 6, 1, 0), false});
  steps.push_back({0, line_at(spec, 0, 0, 20), false});
  steps.push_back({0, line_at(spec, 0, 0, 21), false});
  DramHarness harness(spec);
  harness.play(steps);
  EXPECT_LT(harness.completion(16), harness.completion(17));
  EXPECT_LT(harness.completion(18), harness.completion(19));
}

TEST(DramScheduler, BanksArePreparedInParallel) {
  const DramSpec spec = one_channel();
  DramHarness harness(spec);
  harness.play({{0, line_at(spec, 0, 0, 0), false}, {0, line_at(spec, 0, 1, 0), false}});
  EXPECT_EQ(harness.completion(1) - harness.completion(0), std::max(spec.t_rrd, transfer_cycles(spec, 1)));
}

TEST(DramScheduler, ReadThatIsReadySoonerIsNotHeldUpByOneCommittedBefore) {
  const DramSpec spec = one_channel();
  DramHarness harness(spec);
  const Cycle later = 1000;
  harness.play({{0, line_at(spec, 0, 0, 0), false},
                {0, line_at(spec, 0, 1, 0), false},
                {later, line_at(spec, 1, 0, 0), false},        // conflict
                {later + 1, line_at(spec, 0, 1, 1), false}});  // hit in another bank
  EXPECT_EQ(harness.completion(3), later + 1 + spec.controller_latency + spec.t_cl + transfer_cycles(spec, 1));
  EXPECT_EQ(harness.completion(2),
            later + spec.controller_latency + spec.t_rp + spec.t_rcd + spec.t_cl + transfer_cycles(spec, 1));
}

/// Reads one row for ever; counts how many of its reads are answered between the coming of another row's read and its
/// answer.
class Flood : public DramClient {
 public:
  explicit Flood(const DramSpec& spec)
      : partition_(DeviceId{0}, 1),
        dram_(partition_, spec, kTestLineBytes, kTestClock, *this),
        hit_(partition_.add_handler<&Flood::on_hit>(this)),
        other_(partition_.add_handler<&Flood::on_other>(this)),
        spec_(spec) {
    for (unsigned i = 0; i < 2 * spec.read_queue; ++i) on_hit(partition_.pool().allocate<Event>());
    partition_.run(5000);
    Event* t = partition_.pool().allocate<Event>();
    answered_ = 0;
    dram_.read(line_number(line_at(spec, 9, 0, 0)), t, other_, 0);
    partition_.run(kNever);
  }
  void dram_has_room() override {}
  std::uint64_t passed() const { return passed_; }
  std::uint32_t limit() const { return dram_.pass_limit(); }

 private:
  void on_hit(Event* t) {
    ++answered_;
    if (passed_ != 0) {
      partition_.pool().release(t);
      return;
    }
    dram_.read(line_number(line_at(spec_, 0, 0, answered_ % 32)), t, hit_, 0);
  }
  void on_other(Event* t) {
    passed_ = answered_;
    partition_.pool().release(t);
  }

  Partition partition_;
  BankedDram dram_;
  HandlerId hit_;
  HandlerId other_;
  DramSpec spec_;
  std::uint64_t answered_ = 0;
  std::uint64_t passed_ = 0;
};

TEST(DramScheduler, HitsCannotStarveAnotherRowForEver) {
  const DramSpec spec = one_channel();
  Flood flood(spec);
  EXPECT_GE(flood.passed(), flood.limit());
  // Before it were those on their way, in the window or waiting for it, and while its row is opened hits go on.
  EXPECT_LE(flood.passed(), flood.limit() + 2 * spec.read_queue + 30);
}

/// Lengths of the runs of bursts in one direction, reads positive and writes negative, in order of time.
class Turns : public DramObserver {
 public:
  void command(const DramCommandTime& c) override {
    if (c.command == DramCommand::Read || c.command == DramCommand::Write) bursts_.emplace(c.begin, c.command);
  }
  std::vector<int> runs() const {
    std::vector<int> result;
    for (const auto& [begin, command] : bursts_) {
      const int step = command == DramCommand::Read ? 1 : -1;
      if (result.empty() || result.back() * step < 0) {
        result.push_back(step);
      } else {
        result.back() += step;
      }
    }
    return result;
  }

 private:
  std::multimap<ExactTime, DramCommand> bursts_;
};

std::vector<DramStep> writes_at(Cycle at, std::uint64_t first, std::uint64_t count) {
  std::vector<DramStep> steps = reads_at(at, first, count);
  for (DramStep& step : steps) step.write = true;
  return steps;
}

std::vector<DramStep> operator+(std::vector<DramStep> a, const std::vector<DramStep>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<int> turns_of(const DramSpec& spec, const std::vector<DramStep>& steps, bool polite) {
  DramHarness harness(spec);
  Turns turns;
  harness.banked().observe(&turns);
  if (polite) harness.be_polite();
  harness.play(steps);
  EXPECT_EQ(harness.dram().pending(), 0U);
  EXPECT_EQ(harness.refused(), 0U);
  return turns.runs();
}

TEST(DramWrites, ADrainBeginsAtTheHighMarkAndEndsAtTheLowOne) {
  const DramSpec spec = one_channel();
  const std::vector<DramStep> reads = reads_at(0, line_at(spec, 2, 2, 0), 400);
  EXPECT_THAT(turns_of(spec, writes_at(0, 0, spec.write_high) + reads, false),
              ElementsAre(-static_cast<int>(spec.write_high - spec.write_low), 400, -static_cast<int>(spec.write_low)));
  EXPECT_THAT(turns_of(spec, writes_at(0, 0, spec.write_high - 1) + reads, false),
              ElementsAre(400, -static_cast<int>(spec.write_high - 1)));
}

TEST(DramWrites, AreDrainedWithoutBeingAskedWhenNoReadWaits) {
  const DramSpec spec = one_channel();
  EXPECT_THAT(turns_of(spec, writes_at(0, 0, 3), false), ElementsAre(-3));
}

TEST(DramWrites, NeitherKindStarvesTheOther) {
  const DramSpec spec = one_channel();
  const std::vector<int> turns =
      turns_of(spec, writes_at(0, 0, 1000) + reads_at(0, line_at(spec, 4, 3, 0), 1000), true);
  // The first drain begins before the first read comes; the last turns have nobody to share with.
  ASSERT_GT(turns.size(), 20U);
  for (std::size_t i = 1; i + 2 < turns.size(); ++i) {
    EXPECT_LE(turns[i], static_cast<int>(spec.write_high - spec.write_low));
    EXPECT_GE(turns[i], -static_cast<int>(spec.write_queue - spec.write_low));
  }
}

TEST(DramWrites, ReadOfAWaitingWriteIsAnsweredFromTheQueue) {
  const DramSpec spec = one_channel();
  DramHarness harness(spec);
  harness.play({{0, 7, true}, {1, 7, false}, {1, 8, false}, {5000, 7, false}});
  EXPECT_EQ(harness.completion(1), 1 + spec.controller_latency);
  EXPECT_GT(harness.completion(2), 1 + spec.controller_latency);
  EXPECT_GT(harness.completion(3), 5000 + spec.controller_latency) << "the write has left the queue";
}

TEST(DramReads, WhatTheCallerAddsComesOnTop) {
  for (const DramModel model : {DramModel::Banked, DramModel::Fixed}) {
    DramSpec spec = one_channel();
    spec.model = model;
    const std::vector<DramStep> steps = {{0, 7, true}, {1, 7, false}, {1, 8, false}, {2000, 9, false}};
    DramHarness plain(spec);
    plain.play(steps);
    DramHarness slower(spec);
    slower.add_to_reads(33);
    slower.play(steps);
    for (const std::size_t step : {1U, 2U, 3U}) EXPECT_EQ(slower.completion(step), plain.completion(step) + 33);
    EXPECT_EQ(slower.dram().stats().read_service_cycles, plain.dram().stats().read_service_cycles);
  }
}

TEST(DramWrites, ReadOfAWriteBehindTheWindowIsAnsweredFromTheQueueToo) {
  const DramSpec spec = one_channel();
  DramHarness harness(spec);
  const std::uint64_t last = 3 * spec.write_queue - 1;
  harness.play(writes_at(0, 0, last + 1) + std::vector<DramStep>{{0, last, false}});
  EXPECT_EQ(harness.completion(last + 1), spec.controller_latency);
}

TEST(DramWrites, RefusalIsRememberedAndRoomIsToldOnce) {
  const DramSpec spec = one_channel();
  DramHarness harness(spec);
  const PhysLine line = line_number(0);
  for (std::uint32_t i = 0; i < spec.write_queue + 20; ++i) {
    harness.dram().write(line_number(line_at(spec, i, 0, 0)));
  }
  EXPECT_FALSE(harness.dram().can_write(line));
  EXPECT_FALSE(harness.dram().can_write(line));
  EXPECT_EQ(harness.calls_of_room(), 0U);
  harness.partition().run(kNever);
  EXPECT_EQ(harness.calls_of_room(), 1U);
  EXPECT_TRUE(harness.dram().can_write(line));
  EXPECT_EQ(harness.dram().pending(), 0U);
}

TEST(DramWrites, RoomThatNobodyAskedForIsNotTold) {
  const DramSpec spec = one_channel();
  DramHarness harness(spec);
  harness.play(writes_at(0, 0, 500));
  EXPECT_EQ(harness.calls_of_room(), 0U);
}

TEST(DramWrites, ManyWritesOfARefusedClientGetThrough) {
  DramSpec spec = one_channel();
  spec.channels = 3;
  DramHarness harness(spec);
  harness.be_polite();
  harness.play(writes_at(0, 0, 5000));
  EXPECT_EQ(harness.dram().stats().writes, 5000U);
  EXPECT_EQ(harness.refused(), 0U);
  EXPECT_LE(harness.partition().events() - 5000, 5000U * 4 / 10) << "events per write";
  EXPECT_LE(harness.partition().now(), transfer_cycles(spec, 5000 / 3) * 21 / 20 + 200) << "and at the bus's spacing";
}

TEST(DramRefresh, CostsItsTimeAndNoMore) {
  DramSpec spec = one_channel();
  const std::uint64_t lines = 20'000;
  Cycle plain = 0;
  for (const bool refresh : {false, true}) {
    spec.refresh = refresh;
    DramHarness harness(spec);
    harness.play(reads_at(0, 0, lines));
    const std::uint64_t refreshes = harness.dram().stats().refreshes;
    if (!refresh) {
      EXPECT_EQ(refreshes, 0U);
      plain = harness.last_completion();
      continue;
    }
    EXPECT_EQ(refreshes, harness.last_completion() / spec.t_refi);
    const Cycle extra = harness.last_completion() - plain;
    EXPECT_GE(extra, refreshes * spec.t_rfc);
    EXPECT_LE(extra, refreshes * (spec.t_rfc + spec.t_rp + spec.t_rcd + spec.t_cl + spec.t_ras));
  }
}

TEST(DramRefresh, IdleMemoryIsRefreshedTooAndItsRowsAreClosed) {
  DramSpec spec = one_channel();
  spec.refresh = true;
  DramHarness harness(spec);
  const Cycle later = 10 * spec.t_refi + 2 * spec.t_rfc;
  harness.play({{0, 0, false}, {later, 1, false}});
  EXPECT_EQ(harness.completion(1) - later, spec.controller_latency + spec.t_rcd + spec.t_cl + transfer_cycles(spec, 1));
  EXPECT_EQ(harness.dram().stats().refreshes, 10U);
}

RC_GTEST_PROP(DramDeterminism, TheSameScriptGivesTheSameAnswers, ()) {
  DramSpec spec;
  spec.channels = 3;
  spec.set_standard(DramStandard::Ddr4_2400, 1000_MHz);
  std::vector<DramStep> steps;
  for (const auto number : *rc::gen::scale(5, rc::gen::arbitrary<std::vector<std::uint16_t>>())) {
    steps.push_back({steps.size() / 3, number, number % 3 == 0});
  }
  DramHarness first(spec), second(spec);
  first.play(steps);
  second.play(steps);
  RC_ASSERT(first.answers() == second.answers());
}

DramSpec fixed_channel() {
  DramSpec spec = one_channel();
  spec.model = DramModel::Fixed;
  spec.latency = 200;
  spec.channel_bandwidth = Bandwidth{62'500'000'000};
  return spec;
}

TEST(FixedDram, UnloadedReadCostsLatencyAndTransferRoundedUpOnce) {
  DramHarness harness(fixed_channel());
  harness.play({{0, 0, false}, {1000, 1, false}});
  EXPECT_EQ(harness.completion(0), 202U);
  EXPECT_EQ(harness.completion(1), 1202U);
  EXPECT_EQ(harness.dram().stats().read_wait_cycles, 0U);
}

TEST(FixedDram, SaturatedChannelCarriesExactlyItsBandwidth) {
  const DramSpec spec = fixed_channel();
  DramHarness harness(spec);
  harness.play(reads_at(0, 0, 10'000));
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    EXPECT_EQ(harness.completion(i), spec.latency + transfer_cycles(spec, i + 1));
  }
  EXPECT_EQ(harness.dram().stats().bus_busy_cycles, 10'000U * 64 * 10 / 625);
}

TEST(FixedDram, WritesTakeTheirTimeAndHoldUpReadsBehindThem) {
  const DramSpec spec = fixed_channel();
  DramHarness harness(spec);
  harness.play(writes_at(0, 0, 30) + reads_at(0, 3, 1));
  EXPECT_EQ(harness.completion(30), spec.latency + transfer_cycles(spec, 31));
  EXPECT_EQ(harness.partition().events(), 32U) << "no event for a write";
}

TEST(FixedDram, ChannelsWorkSideBySide) {
  DramSpec spec = fixed_channel();
  spec.channels = 7;
  DramHarness harness(spec);
  harness.play(reads_at(0, 0, 7));
  for (std::uint64_t i = 0; i < 7; ++i) EXPECT_EQ(harness.completion(i), 202U);
}

TEST(FixedDram, RefusesWritesBeyondItsQueueAndTellsOfRoom) {
  const DramSpec spec = fixed_channel();
  DramHarness harness(spec);
  harness.be_polite();
  harness.play(writes_at(0, 0, 10 * spec.write_queue));
  EXPECT_EQ(harness.dram().stats().writes, 10 * spec.write_queue);
  EXPECT_EQ(harness.refused(), 0U);
  EXPECT_GE(harness.calls_of_room(), 9U);
  EXPECT_LE(harness.calls_of_room(), 30U);
  EXPECT_EQ(harness.partition().pool().live(), 0U);
}

TEST(FixedDram, WaitAndServiceAddUp) {
  const DramSpec spec = fixed_channel();
  DramHarness harness(spec);
  harness.play(reads_at(5, 0, 100));
  std::uint64_t sum = 0;
  for (const DramAnswer& answer : harness.answers()) sum += answer.complete - 5;
  EXPECT_EQ(harness.dram().stats().read_wait_cycles + harness.dram().stats().read_service_cycles, sum);
}

}  // namespace
}  // namespace nearfar::dram_test
