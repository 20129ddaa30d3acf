// Every pair of designs, found in the list of designs itself: either refused by both names, or it weathers storms on
// tiny machines of every kind that both fit, with the oracles on.
#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/siblings.h"
#include "designs/tiny_machine.h"

namespace nearfar::pairs_test {
namespace {

/// A design, or two that may be combined, on a kind of machine that has their seams.
struct Choice {
  Names designs;
  TranslationKind kind;
};

std::string refusal(const Names& designs) {
  try {
    choose_designs(designs);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 1;
constexpr std::size_t kSample = 5;  // sanitizers take ten times as long: one pair in so many
#else
constexpr std::uint64_t kSeeds = 2;
constexpr std::size_t kSample = 1;
#endif

std::vector<Choice> choices_of(std::size_t first) {
  std::vector<Choice> choices;
  const std::vector<Design>& designs = all_designs();
  const auto fits = [](const Design& design, TranslationKind kind) {
    const std::vector<const Design*> parts = choose_designs(Names{design.name});
    return std::ranges::all_of(
        parts, [&](const Design* part) { return std::ranges::find(part->systems, kind) != part->systems.end(); });
  };
  for (const TranslationKind kind :
       {TranslationKind::Ats, TranslationKind::Mmu, TranslationKind::Svm, TranslationKind::Mig}) {
    if (!fits(designs[first], kind)) continue;
    choices.push_back({{designs[first].name}, kind});
    for (std::size_t second = first + 1; second < designs.size(); ++second) {
      if ((first + second) % kSample != 0) continue;
      if (has_elder_sibling(designs[first]) || has_elder_sibling(designs[second])) continue;
      const Names names = {designs[first].name, designs[second].name};
      if (fits(designs[second], kind) && refusal(names).empty()) choices.push_back({names, kind});
    }
  }
  return choices;
}

std::string name_of(const Choice& choice) {
  std::string name = choice.designs.front();
  if (choice.designs.size() > 1) name += "+" + choice.designs.back();
  return name;
}

/// All pairs whose first design is this one.
class DesignPairs : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(All, DesignPairs, ::testing::Range<std::size_t>(0, all_designs().size()),
                         [](const auto& design) {
                           std::string name = all_designs()[design.param].name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(DesignPairs, LoseNothingInAStormAndNeverStop) {
  for (const Choice& choice : choices_of(GetParam())) {
    for (std::uint64_t i = 0; i < kSeeds; ++i) {
      const std::uint64_t seed = GetParam() + i * 13;
      // Instances of a GPU have an application each.
      const bool several =
          choice.kind == TranslationKind::Mig || (choice.kind != TranslationKind::Svm && seed % 2 == 1);
      SCOPED_TRACE(name_of(choice) + ", seed " + std::to_string(seed));
      const SystemSpec system = tiny_machine(choice.kind, choice.designs, seed);
      const Outcome run = simulate(system, storm_programs(seed, several));
      EXPECT_GT(run.result.accesses, 0U);
      expect_parts_add_up(run);
    }
  }
}

TEST_P(DesignPairs, AreRefusedByBothNames) {
  const Design& one = all_designs()[GetParam()];
  for (const Design& other : all_designs()) {
    const std::string error = refusal({one.name, other.name});
    if (error.empty()) continue;
    // A part may stand for its whole.
    const auto names = [&](const Design& design) {
      if (error.find("`" + design.name + "`") != std::string::npos) return true;
      return std::ranges::any_of(
          design.parts, [&](const std::string& part) { return error.find("`" + part + "`") != std::string::npos; });
    };
    EXPECT_TRUE(names(one) && names(other)) << error;
  }
}

}  // namespace
}  // namespace nearfar::pairs_test
