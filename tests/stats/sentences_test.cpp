// What is said of statistics and parameters: each text is read alone, in a table, beside its name.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema.h"
#include "config/system_spec.h"
#include "designs/design.h"

namespace nearfar::sentences_test {
namespace {

constexpr std::size_t kShortest = 20;

/// Words that point to another row of the table.
constexpr std::array<std::string_view, 14> kBackReferences = {
    " these",     "these ",         "the same",       "among them", " of it,",        " of it ",
    "of them",    " that they did", "that did not, ", "such a ",    "those that did", "distribution of that",
    "part of it", "that wait."};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// What is wrong with a sentence, or "".
std::string problem(std::string_view sentence) {
  if (sentence.size() < kShortest) return "too short";
  if (std::isupper(static_cast<unsigned char>(sentence.front())) == 0) return "no capital letter";
  if (!sentence.ends_with('.') || sentence.ends_with("..")) return "no period";
  if (sentence.find(". ") != std::string_view::npos) return "more than one sentence";
  for (const std::string_view words : kBackReferences) {
    if (lower(sentence).find(words) != std::string::npos) return "points elsewhere: \"" + std::string(words) + "\"";
  }
  return "";
}

/// A system with the parameters of each design in turn, since not all designs go together.
std::vector<SystemSpec> systems() {
  std::vector<SystemSpec> out(1);
  for (const Design& design : all_designs()) {
    if (design.make == nullptr) continue;
    out.emplace_back().plug_ins.push_back(design.make());
  }
  return out;
}

TEST(Sentences, OfStatisticsStandAlone) {
  const std::vector<StatInfo> statistics = list_all_statistics();
  EXPECT_GT(statistics.size(), 500U);
  for (const StatInfo& statistic : statistics) {
    EXPECT_EQ(problem(statistic.sentence), "") << statistic.name << ": " << statistic.sentence;
  }
}

TEST(Sentences, OfParametersStandAlone) {
  std::vector<SystemSpec> specs = systems();
  EXPECT_GT(specs.size(), 5U);
  for (SystemSpec& spec : specs) {
    const Schema schema(spec);
    for (const Parameter& parameter : schema.parameters()) {
      EXPECT_EQ(problem(parameter.sentence), "") << parameter.path << ": " << parameter.sentence;
    }
  }
}

/// More values than these follow a rule, which their sentence says, as of the layouts of GPU instances.
constexpr std::size_t kMostNamed = 16;

TEST(Sentences, OfChoicesNameEveryValue) {
  const std::vector<std::string> switches = {"false", "true"};
  for (SystemSpec& spec : systems()) {
    const Schema schema(spec);
    for (const Parameter& parameter : schema.parameters()) {
      const std::vector<std::string> choices = parameter.field->choices();
      if (parameter.field->number() || choices == switches) continue;
      if (choices.size() > kMostNamed) continue;
      for (const std::string& choice : choices) {
        EXPECT_NE(parameter.sentence.find(choice), std::string::npos)
            << parameter.path << " does not say what `" << choice << "` is: " << parameter.sentence;
      }
    }
  }
}

TEST(Sentences, WhatIsWrongIsSeen) {
  EXPECT_EQ(problem("Lookups of the L2 TLB that hit."), "");
  EXPECT_EQ(problem("Capacity."), "too short");
  EXPECT_EQ(problem("lookups of the L2 TLB that hit."), "no capital letter");
  EXPECT_EQ(problem("Lookups of the L2 TLB that hit"), "no period");
  EXPECT_EQ(problem("Lookups of the L2 TLB. Largest."), "more than one sentence");
  EXPECT_NE(problem("Bytes of these, headers included."), "");
  EXPECT_NE(problem("Dirty lines among them, written to memory."), "");
  EXPECT_NE(problem("Part of it in the home's DRAM."), "");
  EXPECT_NE(problem("Lookups that did not, merged ones included."), "");
}

}  // namespace
}  // namespace nearfar::sentences_test
