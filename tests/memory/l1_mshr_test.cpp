// The MSHRs of an L1 against a plain model: a list of who waits for each line.
#include "memory/cache/l1_mshr.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace nearfar::l1_mshr_test {
namespace {

PhysPage page_at(unsigned number) { return PhysPage{DeviceId{static_cast<std::uint16_t>(number % 3)}, number * 977U}; }

/// What was asked for at once, by line.
struct Asked {
  unsigned page;
  std::uint64_t lines;  // on their way
  std::uint32_t issued;
  std::uint16_t target;
};

struct Model {
  std::map<std::pair<unsigned, unsigned>, std::vector<std::uint16_t>> waiting;  // by page and line
  std::set<std::pair<unsigned, unsigned>> poisoned;
  std::vector<Asked> asked;

  std::uint64_t lines_of(unsigned page) const {
    std::uint64_t lines = 0;
    for (const auto& [line, who] : waiting) {
      if (line.first == page) lines |= std::uint64_t{1} << line.second;
    }
    return lines;
  }
};

constexpr std::uint32_t kCapacity = 24;

class PendingLinesTest : public ::testing::TestWithParam<unsigned> {
 protected:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  void ask(unsigned page, std::uint32_t now) {
    const auto target = static_cast<std::uint16_t>(draw(1000));
    L1MshrFile::Group* group = nullptr;
    for (unsigned n = 1 + draw(6); n > 0 && !file_.full(); --n) {
      const unsigned index = draw(64);
      if (model_.waiting.contains({page, index})) continue;
      if (group == nullptr) {
        group = &file_.begin(PhysLine{page_at(page), index}, target, now);
        model_.asked.push_back({page, 0, now, target});
      } else {
        file_.add(*group, PhysLine{page_at(page), index});
      }
      model_.asked.back().lines |= std::uint64_t{1} << index;
      model_.waiting[{page, index}] = {target};
    }
  }

  void merge(unsigned page) {
    const auto target = static_cast<std::uint16_t>(1000 + draw(1000));
    for (auto& [line, who] : model_.waiting) {
      if (line.first != page || draw(2) == 0) continue;
      const PhysLine at{page_at(page), line.second};
      for (unsigned times = draw(4) == 0 ? 2 : 1; times > 0; --times) {
        file_.merge(*file_.find(at), at, target);
        who.push_back(target);
      }
    }
  }

  void poison(unsigned page) {
    for (const auto& [line, who] : model_.waiting) {
      if (line.first != page || draw(3) != 0) continue;
      file_.find(PhysLine{page_at(page), line.second})->poisoned |= std::uint64_t{1} << line.second;
      model_.poisoned.insert(line);
    }
  }

  /// Some of the lines that were asked for at once come.
  void come() {
    if (model_.asked.empty()) return;
    const std::size_t which = draw(static_cast<unsigned>(model_.asked.size()));
    Asked& asked = model_.asked[which];
    std::uint64_t lines = asked.lines & (std::uint64_t{random_()} << 32 | random_());
    if (lines == 0) lines = asked.lines;
    std::multiset<std::pair<std::uint16_t, unsigned>> expected, told;  // who, and of which line
    std::uint64_t kept = 0;
    for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
      const std::pair line{asked.page, static_cast<unsigned>(std::countr_zero(rest))};
      for (const std::uint16_t who : model_.waiting.at(line)) expected.emplace(who, line.second);
      if (model_.poisoned.erase(line) == 0) kept |= rest & -rest;
      model_.waiting.erase(line);
    }
    L1MshrFile::Arrival arrival = file_.take(page_at(asked.page), lines);
    EXPECT_EQ(arrival.issued, asked.issued);
    EXPECT_EQ(arrival.target, asked.target);
    EXPECT_EQ(arrival.kept, kept);
    const auto tell = [&](std::uint16_t target, std::uint64_t come) {
      for (; come != 0; come &= come - 1) told.emplace(target, static_cast<unsigned>(std::countr_zero(come)));
    };
    tell(arrival.target, lines);
    while (!arrival.merged.empty()) {
      L1MshrFile::MergedLoad* merged = arrival.merged.pop();
      tell(merged->target, merged->lines);
      file_.release(merged);
    }
    EXPECT_EQ(told, expected);
    asked.lines &= ~lines;
    if (asked.lines == 0) model_.asked.erase(model_.asked.begin() + static_cast<std::ptrdiff_t>(which));
  }

  std::mt19937 random_{GetParam()};
  L1MshrFile file_{kCapacity};
  Model model_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, PendingLinesTest, ::testing::Range(0U, 8U));

TEST_P(PendingLinesTest, KnowWhoWaitsForWhat) {
  for (std::uint32_t now = 0; now < 4000; ++now) {
    const unsigned page = draw(6);
    switch (draw(5)) {
      case 0:
      case 1: ask(page, now); break;
      case 2: merge(page); break;
      case 3: poison(page); break;
      default: come(); break;
    }
    ASSERT_EQ(file_.used(), model_.waiting.size());
    ASSERT_EQ(file_.full(), model_.waiting.size() == kCapacity);
    ASSERT_EQ(file_.lines_of(page_at(page)), model_.lines_of(page));
  }
  file_.poison_all();
  for (const auto& [line, who] : model_.waiting) model_.poisoned.insert(line);
  while (!model_.asked.empty()) come();
  EXPECT_EQ(file_.used(), 0U);
}

}  // namespace
}  // namespace nearfar::l1_mshr_test
