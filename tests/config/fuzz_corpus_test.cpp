// Replays the corpus of the fuzzer, so that every preset (and its sanitizers) sees what fuzzing once needed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../../fuzz/config_fuzz.cpp"

namespace nearfar::fuzz_corpus_test {
namespace {

TEST(FuzzCorpus, EveryInputIsReadOrRefused) {
  setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1);
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NEARFAR_SOURCE_DIR "/fuzz/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().filename().string());
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
    ++inputs;
  }
  EXPECT_GE(inputs, 24U);
  unsetenv("NEARFAR_SYSTEMS");
}

}  // namespace
}  // namespace nearfar::fuzz_corpus_test
