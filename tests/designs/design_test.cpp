// Designs by name: what they set, where they fit, and which cannot be combined.
#include "designs/design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "config/error.h"
#include "designs/registry.h"
#include "machine/script.h"

namespace nearfar::design_test {
namespace {

const char* system_of(TranslationKind kind) {
  switch (kind) {
    case TranslationKind::Ats: return "ats-4gpu";
    case TranslationKind::Mmu: return "mmu-4gpu";
    case TranslationKind::Svm: return "svm-1gpu";
    case TranslationKind::Mig: return "mig-a100";
    case TranslationKind::Ideal: break;
  }
  return "ideal-4gpu";
}

std::string error_of(const std::vector<std::string>& names) {
  try {
    choose_designs(names);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Designs, AreSortedAndExplained) {
  EXPECT_TRUE(std::ranges::is_sorted(all_designs(), {}, &Design::name));
  for (const Design& design : all_designs()) {
    EXPECT_TRUE(design.sentence.ends_with('.')) << design.name;
    EXPECT_TRUE(!design.settings.empty() || design.make != nullptr || !design.parts.empty()) << design.name;
  }
}

TEST(Designs, ChangeEverySystemTheyFit) {
  for (const Design& design : all_designs()) {
    for (const TranslationKind kind : design.systems) {
      std::vector<std::string> settings = design.needs;
      const LoadedSystem plain = load_system(system_of(kind), settings);
      settings.insert(settings.end(), design.settings.begin(), design.settings.end());
      const LoadedSystem changed = load_system(system_of(kind), settings);
      EXPECT_NO_THROW(check_designs(choose_designs(std::vector{design.name}), plain));
      const bool same = std::ranges::equal(plain.parameters, changed.parameters, {}, &EffectiveParameter::value,
                                           &EffectiveParameter::value);
      EXPECT_TRUE(!same || design.name == "on-touch" || design.settings.empty())
          << design.name << " on " << system_of(kind);
    }
  }
}

TEST(Designs, OnOneSeamAreRefusedByName) {
  const std::string error = error_of({"on-touch", "replication"});
  EXPECT_NE(error.find("on-touch"), std::string::npos) << error;
  EXPECT_NE(error.find("replication"), std::string::npos) << error;
  EXPECT_NE(error.find("placement"), std::string::npos) << error;
  EXPECT_NE(error_of({"ideal-walkers", "ideal-walkers"}), "");
}

TEST(Designs, HaveAReadmeEach) {
  for (const Design& design : all_designs()) {
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::path(NEARFAR_SOURCE_DIR) / design.readme))
        << design.name << ": " << design.readme;
  }
}

TEST(Designs, CannotHaveANameThatIsTakenOrMeansSomethingElse) {
  DesignRegistry registry;
  const std::size_t before = registry.all().size();
  for (const char* name : {"idyll", "baseline", "", "a+b", "a,b", "a b"}) {
    EXPECT_THROW(registry.add({.name = name, .sentence = "A design."}), InputError) << name;
  }
  EXPECT_EQ(registry.all().size(), before);
  registry.add({.name = "another", .sentence = "A design."});
  EXPECT_TRUE(std::ranges::is_sorted(registry.all(), {}, &Design::name));
  EXPECT_EQ(registry.all().size(), before + 1);
}

TEST(Designs, ListEveryStatisticOnce) {
  const std::vector<StatInfo> all = list_all_statistics();
  EXPECT_EQ(std::ranges::adjacent_find(all, {}, &StatInfo::name), all.end());
}

TEST(Designs, OnDifferentSeamsCompose) {
  EXPECT_EQ(error_of({"first-touch", "ideal-walkers", "ideal-pw-cache", "zero-latency-invalidation"}), "");
}

TEST(Designs, NeedASystemThatHasTheirSeams) {
  const auto chosen = choose_designs(std::vector<std::string>{"infinite-iommu-tlb"});
  EXPECT_THROW(check_designs(chosen, load_system("mmu-4gpu", {})), InputError);
  EXPECT_NO_THROW(check_designs(chosen, load_system("ats-4gpu", {})));
}

TEST(Designs, NameTheSystemOfTheirStudyWhereItIsNotTheUsualOne) {
  for (const Design& design : all_designs()) {
    if (design.system.empty()) continue;
    EXPECT_NO_THROW(load_system_with(std::vector{design.name}, design.system, {})) << design.name;
  }
}

}  // namespace
}  // namespace nearfar::design_test
