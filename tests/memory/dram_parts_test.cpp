// The parts of a DRAM channel against plain models of them: the scheduler's window, the bus, the activates of a rank,
// and the whole scheduler against one that is stepped cycle by cycle.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <optional>
#include <set>

#include "memory/dram/dram_activates.h"
#include "memory/dram/dram_bus.h"
#include "memory/dram/dram_openings.h"
#include "memory/dram/dram_window.h"
#include "memory/dram_harness.h"

namespace nearfar::dram_parts_test {
namespace {

/// The window as a list in order of age.
struct PlainWindow {
  struct Item {
    std::uint64_t what;
    std::uint32_t bank;
    std::uint32_t row;
    bool ready;
  };
  std::list<Item> items;
  std::vector<std::uint32_t> rows;
  std::vector<bool> ready;

  explicit PlainWindow(std::uint32_t banks) : rows(banks, 99), ready(banks, false) {}
};

RC_GTEST_PROP(DramWindow, AgreesWithAListInOrderOfAge, ()) {
  constexpr std::uint32_t kBanks = 6;
  DramWindow window(2, kBanks);
  PlainWindow plain(kBanks);
  std::uint64_t next = 0;
  for (const auto choice : *rc::gen::scale(8, rc::gen::arbitrary<std::vector<std::uint16_t>>())) {
    const std::uint32_t bank = choice / 8 % kBanks;
    const std::uint32_t row = choice / 64 % 3;
    if (choice % 8 < 4 && window.size() < DramWindow::kSlots) {
      const bool hit = plain.rows[bank] == row;
      DramRequest request;
      request.line = next;
      request.row = row;
      request.bank = static_cast<std::uint16_t>(bank);
      request.rank = static_cast<std::uint8_t>(bank / 3);
      window.add(request, hit, plain.ready[bank]);
      plain.items.push_back({next++, bank, row, hit && plain.ready[bank]});
    } else if (choice % 8 < 6 && !plain.items.empty()) {
      auto victim = plain.items.begin();
      std::advance(victim, choice / 8 % plain.items.size());
      std::uint32_t slot = DramWindow::kSlots;
      window.each(window.all(), [&](std::uint32_t s) { slot = window[s].line == victim->what ? s : slot; });
      window.remove(slot);
      plain.items.erase(victim);
    } else if (choice % 8 == 6) {
      window.set_row(bank, row);
      plain.rows[bank] = row;
      plain.ready[bank] = false;
      for (auto& item : plain.items) item.ready = item.bank == bank ? false : item.ready;
    } else {
      window.set_ready(bank);
      plain.ready[bank] = true;
      for (auto& item : plain.items) item.ready = item.ready || (item.bank == bank && item.row == plain.rows[bank]);
    }
    RC_ASSERT(window.size() == plain.items.size());
    auto expected = plain.items.begin();
    window.each(window.all(), [&](std::uint32_t slot) {
      RC_ASSERT(window[slot].line == expected->what);
      RC_ASSERT(window.is_hit(slot) == (plain.rows[expected->bank] == expected->row));
      RC_ASSERT((window.ready() >> slot & 1) == (expected->ready ? 1U : 0U));
      RC_ASSERT((window.of_bank(expected->bank) >> slot & 1) == 1U);
      RC_ASSERT((window.of_rank(expected->bank / 3) >> slot & 1) == 1U);
      ++expected;
    });
    if (!plain.items.empty()) {
      RC_ASSERT(window[window.oldest(window.all())].line == plain.items.front().what);
    }
  }
}

RC_GTEST_PROP(DramOpenings, GiveBanksInOrderOfReadiness, ()) {
  constexpr std::uint32_t kBanks = 7;
  DramOpenings openings(kBanks);
  std::set<std::pair<Cycle, std::uint32_t>> plain;
  for (const auto choice : *rc::gen::arbitrary<std::vector<std::uint16_t>>()) {
    const std::uint32_t bank = choice % kBanks;
    const auto in = std::find_if(plain.begin(), plain.end(), [&](const auto& entry) { return entry.second == bank; });
    if (in == plain.end()) {
      openings.add(bank, choice / 16);
      plain.insert({choice / 16, bank});
    } else if (choice % 2 == 0) {
      openings.remove(bank);
      plain.erase(in);
    } else {
      RC_ASSERT(openings.bank() == plain.begin()->second);
      openings.pop();
      plain.erase(plain.begin());
    }
    RC_ASSERT(openings.size() == plain.size());
    std::uint32_t i = 0;
    for (const auto& [ready, which] : plain) {
      RC_ASSERT(openings.bank(i) == which);
      RC_ASSERT(openings.ready(i++) == ready);
    }
  }
}

bool legal_activates(std::vector<Cycle> times, Cycle t_rrd, Cycle t_faw) {
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] - times[i - 1] < t_rrd) return false;
    if (i >= 4 && times[i] - times[i - 4] < t_faw) return false;
  }
  return true;
}

/// As early as any legal place behind the fourth-last of those it remembers (eight), and always legal.
RC_GTEST_PROP(DramActivates, TakeTheFirstLegalPlace, ()) {
  const auto t_rrd = *rc::gen::inRange<Cycle>(0, 8);
  const auto t_faw = t_rrd + *rc::gen::inRange<Cycle>(0, 30);
  DramActivates activates;
  std::vector<Cycle> placed;
  Cycle now = 0;
  for (const auto step : *rc::gen::scale(2, rc::gen::arbitrary<std::vector<std::uint8_t>>())) {
    now += step % 16;
    const Cycle from = now + step / 16 * 4;
    std::vector<Cycle> sorted = placed;
    std::sort(sorted.begin(), sorted.end());
    Cycle expected = from;
    if (sorted.size() >= 5) expected = std::max(expected, sorted[sorted.size() - 5] + t_rrd);
    for (;; ++expected) {
      std::vector<Cycle> with = placed;
      with.push_back(expected);
      if (legal_activates(with, t_rrd, t_faw)) break;
    }
    const Cycle got = activates.place(from, t_rrd, t_faw);
    RC_ASSERT(got == expected);
    placed.push_back(got);
  }
}

/// Bursts never overlap, keep the turn-around, and begin no later than behind all others.
RC_GTEST_PROP(DramBus, BurstsKeepApart, ()) {
  const auto rate = *rc::gen::element<std::uint64_t>(16'000'000'000, 62'500'000'000, 19'200'000'000, 3'333'333'333);
  const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 4);
  DramBus bus(64, rate, kTestClock, ranks, true);
  struct Burst {
    std::uint64_t begin, end;
    BusDirection direction;
    std::uint32_t rank;
  };
  const std::uint64_t burst = bus.burst().cycle() * bus.parts() + bus.burst().part();
  std::vector<Burst> booked;
  Cycle now = 0;
  for (const auto step : *rc::gen::scale(2, rc::gen::arbitrary<std::vector<std::uint16_t>>())) {
    now += step % 8;
    const Cycle from = now + step / 8 % 32;
    const auto direction = step / 256 % 16 == 0 ? BusDirection::Write : BusDirection::Read;
    const std::uint32_t rank = step / 4096 % ranks;
    const ExactTime start = bus.earliest(from, direction, rank);
    const ExactTime limit(bus.free().cycle() + bus.turn_around(), bus.free().part());
    RC_ASSERT(start >= ExactTime(from));
    RC_ASSERT(start <= std::max(ExactTime(from), limit));
    const ExactTime end = bus.book(start, direction, rank, now);
    booked.push_back(
        {start.cycle() * bus.parts() + start.part(), end.cycle() * bus.parts() + end.part(), direction, rank});
    RC_ASSERT(booked.back().end - booked.back().begin == burst);
    for (std::size_t i = 0; i + 1 < booked.size(); ++i) {
      const Burst& a = booked[i].begin < booked.back().begin ? booked[i] : booked.back();
      const Burst& b = booked[i].begin < booked.back().begin ? booked.back() : booked[i];
      const bool turns = a.direction != b.direction || a.rank != b.rank;
      RC_ASSERT(b.begin >= a.end + (turns ? bus.turn_around() * bus.parts() : 0));
    }
  }
}

/// FR-FCFS as it is told, one command a cycle: the oldest request whose row is open and whose column command is legal,
/// else the oldest whose activate or precharge is legal (a row that a waiting request hits stays open). One channel,
/// one rank, reads only, whole cycles.
class SteppedDram {
 public:
  explicit SteppedDram(const DramSpec& spec) : spec_(spec), banks_(spec.banks) {}

  Cycle last_completion(const std::vector<DramStep>& steps) {
    const Cycle burst = 64 * kTestClock / spec_.channel_bandwidth.bytes_per_second;
    std::list<DramStep> waiting(steps.begin(), steps.end());
    for (Cycle now = 0; !waiting.empty(); ++now) step(waiting, now, burst);
    return bus_free_ + spec_.controller_latency;
  }

 private:
  struct Bank {
    std::optional<std::uint64_t> row;
    Cycle activated = 0;
    Cycle may_close = 0;
    Cycle may_open = 0;
  };

  std::uint64_t bank_of(const DramStep& s) const { return s.number / columns() % spec_.banks; }
  std::uint64_t row_of(const DramStep& s) const { return s.number / columns() / spec_.banks; }
  std::uint64_t columns() const { return spec_.row / kTestLineBytes; }
  bool hits(const DramStep& s) const { return banks_[bank_of(s)].row == row_of(s); }

  void step(std::list<DramStep>& waiting, Cycle now, Cycle burst) {
    std::vector<std::list<DramStep>::iterator> window;
    for (auto i = waiting.begin(); i != waiting.end() && window.size() < spec_.read_queue; ++i) {
      if (i->at <= now) window.push_back(i);
    }
    for (const auto i : window) {
      Bank& bank = banks_[bank_of(*i)];
      if (!hits(*i) || now < bank.activated + spec_.t_rcd || now + spec_.t_cl < bus_free_) continue;
      bus_free_ = now + spec_.t_cl + burst;
      bank.may_close = std::max(bank.may_close, now + spec_.t_rtp);
      waiting.erase(i);
      return;
    }
    for (const auto i : window) {
      Bank& bank = banks_[bank_of(*i)];
      const bool wanted = std::any_of(window.begin(), window.end(),
                                      [&](const auto k) { return bank_of(*k) == bank_of(*i) && hits(*k); });
      if (wanted) continue;
      if (bank.row ? close(bank, now) : open(bank, row_of(*i), now)) return;
    }
  }

  bool close(Bank& bank, Cycle now) {
    if (now < bank.may_close) return false;
    bank.row.reset();
    bank.may_open = now + spec_.t_rp;
    return true;
  }

  bool open(Bank& bank, std::uint64_t row, Cycle now) {
    const std::size_t n = activates_.size();
    if (now < bank.may_open || (n >= 1 && now < activates_[n - 1] + spec_.t_rrd)) return false;
    if (n >= 4 && now < activates_[n - 4] + spec_.t_faw) return false;
    activates_.push_back(now);
    bank.row = row;
    bank.activated = now;
    bank.may_close = now + spec_.t_ras;
    return true;
  }

  DramSpec spec_;
  std::vector<Bank> banks_;
  std::vector<Cycle> activates_;
  Cycle bus_free_ = 0;
};

TEST(DramScheduler, AgreesWithASteppedOneOnHowLongALoadTakes) {
  const DramSpec spec = one_channel();
  double worst = 1;
  double sum = 0;
  constexpr int kLoads = 40;
  std::uint64_t random = 1;
  for (int load = 0; load < kLoads; ++load) {
    const std::uint64_t lines = std::uint64_t{64} << load % 14;
    const Cycle gap = static_cast<Cycle>(load / 14) * 5;
    std::vector<DramStep> steps;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      steps.push_back({i * gap, (random >> 33) % lines, false});
    }
    DramHarness harness(spec);
    harness.play(steps);
    const double ratio =
        static_cast<double>(harness.last_completion()) / static_cast<double>(SteppedDram(spec).last_completion(steps));
    worst = std::max({worst, ratio, 1 / ratio});
    sum += ratio;
  }
  RecordProperty("mean_ratio", std::to_string(sum / kLoads));
  RecordProperty("worst_ratio", std::to_string(worst));
  EXPECT_LE(worst, 1.05);
  EXPECT_NEAR(sum / kLoads, 1, 0.01);
}

}  // namespace
}  // namespace nearfar::dram_parts_test
