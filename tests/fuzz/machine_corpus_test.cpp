// Runs what the machine fuzzer once found, in all variants: each case must run clean, or be refused with a sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "trial.h"

namespace nearfar::machine_corpus_test {
namespace {

const std::string kCorpus = NEARFAR_SOURCE_DIR "/fuzz/machine/corpus";

std::vector<std::string> corpus() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class MachineCorpus : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cases, MachineCorpus, ::testing::ValuesIn(corpus()), [](const auto& name) {
  std::string text = name.param;
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
});

TEST_P(MachineCorpus, RunsCleanOrIsRefused) {
  setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1);
  std::ifstream file(kCorpus + "/" + GetParam() + ".txt");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const fuzz::Case subject = fuzz::parse_case(text);
  const fuzz::Verdict verdict = fuzz::try_case(subject, fuzz::all_variants(0));
  EXPECT_TRUE(verdict.ending == fuzz::Ending::Ran || verdict.ending == fuzz::Ending::Refused)
      << subject.command(verdict.variant) << "\n"
      << verdict.message;
}

}  // namespace
}  // namespace nearfar::machine_corpus_test
