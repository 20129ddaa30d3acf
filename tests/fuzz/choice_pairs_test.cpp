// Every pair of values of two choice parameters, and every design with every value, on small machines of each kind of
// translation: refused with a sentence, or it runs clean under the oracles. A sample of them, unless all are asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "declared.h"
#include "designs/design.h"
#include "designs/siblings.h"
#include "trial.h"

namespace nearfar::choice_pairs_test {
namespace {

using fuzz::Case;
using fuzz::Declared;
using fuzz::Ending;
using fuzz::Variant;
using fuzz::Verdict;

/// Few pages and little work, but shared by the GPUs and written: each a launch or more of loads, stores and barriers.
struct Program {
  const char* workload;
  std::vector<std::string> parameters;
};
const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"MT", {"width=64"}},
      {"ST", {"rows=18", "columns=66", "iterations=2"}},
      {"NW", {"n=64"}},
      {"Hist", {"width=256"}},
  };
  return all;
}

const std::vector<std::string> kSystems = {"mmu-4gpu", "ats-4gpu", "mmu-4gpu-counters", "svm-1gpu", "ideal-4gpu"};
constexpr std::size_t kTests = 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kSample = 21;  // sanitizers take ten times as long
#else
constexpr std::size_t kSample = 7;
#endif

/// One case in so many is tried: all of them take a quarter of an hour, which `./test pairs` gives them.
std::size_t sampled_every() { return std::getenv("NEARFAR_EVERY_PAIR") == nullptr ? kSample : 1; }

Case small_case(const std::string& system, std::size_t turn) {
  Case made;
  const Program& program = programs()[turn % programs().size()];
  made.workload = program.workload;
  made.parameters = program.parameters;
  made.system = system;
  // An instance of a GPU has one program, and slices of a seventh.
  const bool instances = system == "mig-a100";
  if (instances) {
    made.overrides.push_back("mig.instances=2g");
  } else if (system != "svm-1gpu") {
    made.overrides.push_back("gpus=2");
  }
  for (const char* setting : {instances ? "gpu.shader_arrays=7" : "gpu.shader_arrays=1", "gpu.cus_per_array=2",
                              "gpu.l2.size=64KiB", "gpu.l2_tlb.entries=32", "gpu.l2_tlb.ways=4"}) {
    made.overrides.emplace_back(setting);
  }
  return made;
}

/// One that the design changes.
std::string system_of(const Design& design, std::size_t turn) {
  const std::vector<const Design*> parts = choose_designs(std::vector{design.name});
  const std::vector<TranslationKind>& kinds = parts.front()->systems;
  switch (kinds[turn / kTests % kinds.size()]) {
    case TranslationKind::Ats: return "ats-4gpu";
    case TranslationKind::Svm: return "svm-1gpu";
    case TranslationKind::Mig: return "mig-a100";
    case TranslationKind::Ideal: return "ideal-4gpu";
    default: return turn % 2 == 0 ? "mmu-4gpu" : "mmu-4gpu-counters";
  }
}

std::vector<Declared> choices_of(const std::vector<std::string>& designs) {
  std::vector<Declared> all = fuzz::declared_parameters(designs);
  // Layouts of GPU instances are many, and machines of other kinds refuse each of them alike.
  std::erase_if(all, [](const Declared& declared) { return !declared.is_choice() || declared.choices.size() > 16; });
  return all;
}

/// The settings of all pairs of values of two parameters.
std::vector<std::pair<std::string, std::string>> all_pairs(const std::vector<Declared>& choices) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (const std::string& one : choices[i].choices) {
        for (const std::string& other : choices[j].choices) {
          pairs.emplace_back(choices[i].path + "=" + one, choices[j].path + "=" + other);
        }
      }
    }
  }
  return pairs;
}

struct Count {
  std::size_t ran = 0;
  std::size_t refused = 0;
};

void try_case(const Case& subject, Count& count) {
  const Variant checked{true, 1};
  const Verdict verdict = fuzz::try_case(subject, std::span(&checked, 1));
  count.ran += verdict.ending == Ending::Ran;
  count.refused += verdict.ending == Ending::Refused;
  EXPECT_TRUE(verdict.ending == Ending::Ran || verdict.ending == Ending::Refused) << subject.command(checked) << "\n"
                                                                                  << verdict.message;
}

/// Each pair is tried on one of the systems, in turn; the pairs are split into several tests, so that they can run side
/// by side.
class ChoicePairs : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1); }
  bool is_here(std::size_t turn) const { return turn % kTests == GetParam() && turn / kTests % sampled_every() == 0; }
  const std::string& system() const { return kSystems[GetParam() % kSystems.size()]; }
};

std::string test_name(const ::testing::TestParamInfo<std::size_t>& test) {
  std::string name = kSystems[test.param % kSystems.size()] + "_" + std::to_string(test.param / kSystems.size());
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, ChoicePairs, ::testing::Range<std::size_t>(0, kTests), test_name);

/// Else a refusal would say nothing about a pair.
TEST_P(ChoicePairs, BeginWithMachinesThatRun) {
  Count count;
  for (std::size_t i = 0; i < programs().size(); ++i) try_case(small_case(system(), i), count);
  EXPECT_EQ(count.ran, programs().size());
}

TEST_P(ChoicePairs, RunCleanOrAreRefused) {
  const auto pairs = all_pairs(choices_of({}));
  Count count;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!is_here(i)) continue;
    Case subject = small_case(system(), i / kTests);
    subject.overrides.push_back(pairs[i].first);
    subject.overrides.push_back(pairs[i].second);
    try_case(subject, count);
  }
  EXPECT_GT(count.ran, count.refused);
}

class DesignChoices : public ChoicePairs {};
INSTANTIATE_TEST_SUITE_P(All, DesignChoices, ::testing::Range<std::size_t>(0, kTests), test_name);

TEST_P(DesignChoices, RunCleanOrAreRefused) {
  Count count;
  std::size_t turn = 0;
  for (const Design& design : all_designs()) {
    if (has_elder_sibling(design)) continue;
    for (const Declared& choice : choices_of({design.name})) {
      for (const std::string& value : choice.choices) {
        if (!is_here(turn++)) continue;
        Case subject = small_case(system_of(design, turn), turn / kTests);
        subject.designs = {design.name};
        subject.overrides.insert(subject.overrides.end(), design.needs.begin(), design.needs.end());
        subject.overrides.push_back(choice.path + "=" + value);
        try_case(subject, count);
      }
    }
  }
  EXPECT_GT(count.ran, count.refused);
}

}  // namespace
}  // namespace nearfar::choice_pairs_test
