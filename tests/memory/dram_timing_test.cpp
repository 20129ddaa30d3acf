// The banked DRAM against the rules of its standard: on random machines and random requests every command is legal,
// every request is served once, and the counters add up.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>

#include "memory/dram_checker.h"
#include "memory/dram_harness.h"

namespace nearfar::dram_timing_test {
namespace {

template <class T>
T in_range(T low, T high) {
  return *rc::gen::inRange<T>(low, static_cast<T>(high + 1));
}

DramSpec any_spec() {
  DramSpec spec;
  spec.channels = in_range(1U, 5U);
  spec.ranks = in_range(1U, 3U);
  spec.banks = in_range(1U, 9U);
  spec.row = kTestLineBytes << in_range(0U, 4U);
  spec.channel_bandwidth = Bandwidth{*rc::gen::element<std::uint64_t>(62'500'000'000, 19'200'000'000, 16'000'000'000,
                                                                      7'000'000'000, 3'333'333'333, 128'000'000'000)};
  spec.controller_latency = in_range<Cycle>(0, 40);
  spec.t_cl = in_range<Cycle>(0, 20);
  spec.t_rcd = in_range<Cycle>(0, 20);
  spec.t_rp = in_range<Cycle>(0, 20);
  spec.t_ras = spec.t_rcd + in_range<Cycle>(0, 30);
  spec.t_rrd = in_range<Cycle>(0, 8);
  spec.t_faw = spec.t_rrd + in_range<Cycle>(0, 40);
  spec.t_wr = in_range<Cycle>(0, 20);
  spec.t_wtr = in_range<Cycle>(0, 12);
  spec.t_rtp = in_range<Cycle>(0, 10);
  spec.t_rfc = in_range<Cycle>(0, 60);
  spec.t_refi = spec.t_rfc + in_range<Cycle>(100, 500);
  spec.refresh = *rc::gen::arbitrary<bool>();
  spec.scheduler = *rc::gen::element(DramScheduler::FrFcfs, DramScheduler::FrFcfs, DramScheduler::Fcfs);
  spec.read_queue = in_range(1U, 40U);
  spec.write_queue = in_range(2U, 70U);
  spec.write_high = in_range(1U, spec.write_queue);
  spec.write_low = in_range(0U, spec.write_high - 1);
  spec.channel_index = *rc::gen::element(IndexHash::Modulo, IndexHash::Xor);
  return spec;
}

/// Bursts of requests with pauses between them, over few enough lines for rows to be hit and to be fought over.
std::vector<DramStep> any_steps() {
  const auto lines = *rc::gen::element<std::uint64_t>(8, 64, 512, 100'000);
  const auto pause = *rc::gen::element<Cycle>(1, 8, 60, 500);
  const auto writes = in_range(0, 10);
  const auto steps =
      *rc::gen::scale(5, rc::gen::container<std::vector<std::tuple<std::uint32_t, std::uint32_t, int>>>(
                             rc::gen::tuple(rc::gen::inRange<std::uint32_t>(0, 1000),
                                            rc::gen::inRange<std::uint32_t>(0, 1'000'000), rc::gen::inRange(0, 10))));
  std::vector<DramStep> result;
  Cycle at = 0;
  for (const auto& [gap, line, kind] : steps) {
    // Most come together: one in four waits.
    if (gap % 4 == 0) at += gap % pause;
    result.push_back({at, line % lines, kind < writes});
  }
  return result;
}

struct Expected {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
};

class Played {
 public:
  Played(const DramSpec& spec, const std::vector<DramStep>& steps, bool polite)
      : harness_(spec),
        checker_(spec, harness_.banked().bus().parts(), harness_.banked().bus().burst(),
                 harness_.banked().bus().turn_around()) {
    harness_.banked().observe(&checker_);
    if (polite) harness_.be_polite();
    harness_.play(steps);
  }

  DramHarness& harness() { return harness_; }
  const DramChecker& checker() const { return checker_; }
  const DramStats& stats() { return harness_.dram().stats(); }
  DramMap::Place place(const DramStep& step) { return harness_.banked().map().place(line_number(step.number)); }
  std::uint64_t count(DramCommand command) const {
    const auto& all = checker_.commands();
    return static_cast<std::uint64_t>(
        std::count_if(all.begin(), all.end(), [&](const auto& c) { return c.command == command; }));
  }

 private:
  DramHarness harness_;
  DramChecker checker_;
};

void check_conservation(Played& played, const std::vector<DramStep>& steps) {
  Expected expected;
  for (const DramStep& step : steps) ++(step.write ? expected.writes : expected.reads);
  const DramStats& stats = played.stats();
  RC_ASSERT(stats.reads == expected.reads);
  RC_ASSERT(stats.writes == expected.writes);
  RC_ASSERT(played.harness().answers().size() == expected.reads);
  RC_ASSERT(played.harness().refused() == 0U);
  RC_ASSERT(played.harness().dram().pending() == 0U);
  RC_ASSERT(played.harness().partition().pool().live() == 0U);
  RC_ASSERT(played.count(DramCommand::Write) == expected.writes);
  RC_ASSERT(played.count(DramCommand::Read) <= expected.reads);
  const std::uint64_t bursts = played.count(DramCommand::Read) + played.count(DramCommand::Write);
  RC_ASSERT(stats.row_hits + stats.row_closed + stats.row_conflicts == bursts);
  RC_ASSERT(stats.read_bytes == expected.reads * kTestLineBytes);
  RC_ASSERT(stats.write_bytes == expected.writes * kTestLineBytes);
  std::uint64_t cycles = 0;
  for (const DramAnswer& answer : played.harness().answers()) cycles += answer.complete - steps[answer.step].at;
  RC_ASSERT(stats.read_wait_cycles + stats.read_service_cycles == cycles);
}

/// Each read answers when its data are complete and the controller has passed them on, or comes from the write queue.
void check_answers(Played& played, const std::vector<DramStep>& steps, const DramSpec& spec) {
  std::multimap<Cycle, DramCommandTime> data;
  for (const DramCommandTime& c : played.checker().commands()) {
    if (c.command == DramCommand::Read) data.insert({c.end.ceil() + spec.controller_latency, c});
  }
  std::size_t forwarded = 0;
  for (const DramAnswer& answer : played.harness().answers()) {
    const DramStep& step = steps[answer.step];
    const DramMap::Place place = played.place(step);
    auto [first, last] = data.equal_range(answer.complete);
    const auto match = std::find_if(first, last, [&](const auto& entry) {
      return entry.second.channel == place.channel && entry.second.bank == place.bank && entry.second.row == place.row;
    });
    if (match != last) {
      data.erase(match);
      continue;
    }
    RC_ASSERT(answer.complete == step.at + spec.controller_latency);
    ++forwarded;
  }
  RC_ASSERT(data.empty());
  RC_ASSERT(forwarded + played.count(DramCommand::Read) == played.stats().reads);
}

/// Reads of one row are answered in the order in which they came, but for those from the write queue.
void check_order(Played& played, const std::vector<DramStep>& steps, const DramSpec& spec) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Cycle> last;
  std::vector<DramAnswer> answers = played.harness().answers();
  std::sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  std::stable_sort(answers.begin(), answers.end(),
                   [&](const auto& a, const auto& b) { return steps[a.step].at < steps[b.step].at; });
  for (const DramAnswer& answer : answers) {
    if (answer.complete == steps[answer.step].at + spec.controller_latency) continue;
    const DramMap::Place place = played.place(steps[answer.step]);
    Cycle& before = last[{place.channel, place.bank, place.row}];
    RC_ASSERT(answer.complete >= before);
    before = answer.complete;
  }
}

RC_GTEST_PROP(DramTiming, EveryCommandIsLegalAndEveryRequestServedOnce, ()) {
  const DramSpec spec = any_spec();
  const std::vector<DramStep> steps = any_steps();
  Played played(spec, steps, *rc::gen::arbitrary<bool>());
  const std::string violation = played.checker().violation();
  RC_LOG() << violation;
  RC_ASSERT(violation.empty());
  check_conservation(played, steps);
  check_answers(played, steps, spec);
  check_order(played, steps, spec);
}

/// Dense requests on a real machine: long runs with full windows, drains and conflicts.
void check_dense(DramSpec spec, std::uint64_t lines, unsigned writes_percent, std::uint64_t seed) {
  spec.channels = 2;
  std::vector<DramStep> steps;
  std::uint64_t random = seed;
  for (std::size_t i = 0; i < 3000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    steps.push_back({i, (random >> 33) % lines, (random >> 20) % 100 < writes_percent});
  }
  Played played(spec, steps, true);
  EXPECT_EQ(played.checker().violation(), "");
  EXPECT_EQ(played.harness().answers().size(), played.stats().reads);
  EXPECT_EQ(played.stats().reads + played.stats().writes, steps.size());
  EXPECT_EQ(played.harness().dram().pending(), 0U);
}

TEST(DramTiming, DenseLoadsOfAllStandardsAreLegal) {
  for (const auto standard :
       {DramStandard::Hbm, DramStandard::Gddr5, DramStandard::Ddr3_1600, DramStandard::Ddr4_2400}) {
    for (const unsigned writes : {0U, 30U, 80U}) {
      for (const std::uint64_t lines : {std::uint64_t{500}, std::uint64_t{1} << 20}) {
        DramSpec spec;
        spec.set_standard(standard, 1000_MHz);
        spec.refresh = writes == 30;
        check_dense(spec, lines, writes, lines + writes);
      }
    }
  }
}

/// The checker must be able to complain: a model that ignores one rule is caught.
TEST(DramTiming, TheCheckerCatchesEachRule) {
  DramSpec lax;
  lax.channels = 1;
  lax.t_rcd = lax.t_rp = lax.t_rrd = lax.t_wr = lax.t_wtr = lax.t_rtp = 0;
  lax.t_ras = 1;
  lax.t_faw = 0;
  std::vector<DramStep> steps;
  for (std::uint64_t i = 0; i < 400; ++i) steps.push_back({i, i * 37 % 40'000 * 32, i % 5 < 2});
  for (auto field : {&DramSpec::t_rcd, &DramSpec::t_rp, &DramSpec::t_ras, &DramSpec::t_rrd, &DramSpec::t_faw,
                     &DramSpec::t_wr, &DramSpec::t_wtr, &DramSpec::t_rtp}) {
    DramSpec strict = lax;
    strict.*field = 60;
    DramHarness harness(lax);
    const DramBus& bus = harness.banked().bus();
    DramChecker checker(strict, bus.parts(), bus.burst(), bus.turn_around());
    harness.banked().observe(&checker);
    harness.play(steps);
    EXPECT_NE(checker.violation(), "");
  }
}

}  // namespace
}  // namespace nearfar::dram_timing_test
