// Replays the corpus of the fuzzer of traces, so that every preset (and its sanitizers) sees what fuzzing once needed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../../fuzz/trace_fuzz.cpp"

namespace nearfar::trace_corpus_test {
namespace {

TEST(TraceFuzzCorpus, EveryInputIsReadOrRefused) {
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NEARFAR_SOURCE_DIR "/fuzz/trace_corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().filename().string());
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
    ++inputs;
  }
  EXPECT_GE(inputs, 24U);
}

}  // namespace
}  // namespace nearfar::trace_corpus_test
