#include "config/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/error.h"
#include "designs/names.h"

namespace nearfar::words_test {
namespace {

using ::testing::ElementsAre;

TEST(Words, SplitsAtEverySeparator) {
  EXPECT_THAT(split("a,b,c", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split("a,,c", ','), ElementsAre("a", "", "c"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

RC_GTEST_PROP(Words, JoiningUndoesSplitting, (const std::string& text)) {
  RC_ASSERT(join(split(text, '+'), "+") == text);
}

TEST(Words, ReadsWholeNumbersInRange) {
  EXPECT_EQ(parse_whole("--seed", "18446744073709551615", 0, ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(parse_whole("--threads", "1", 1, 8), 1U);
}

TEST(Words, RefusesEverythingElse) {
  for (const char* text : {"", "-1", "+1", "1.5", "1e3", " 1", "1 ", "0x10", "9", "18446744073709551616", "one"}) {
    try {
      parse_whole("--threads", text, 0, 8);
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), "--threads must be a whole number from 0 to 8; `" + std::string(text) + "` is not.");
    }
  }
}

TEST(Designs, TheBaselineHasNone) { EXPECT_TRUE(parse_designs("baseline").empty()); }

TEST(Designs, UnknownOnesNameTheNearest) {
  try {
    parse_designs("basline");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("There is no design `basline`. Did you mean `baseline`?"));
  }
}

TEST(Designs, TheBaselineStandsAlone) { EXPECT_THROW(parse_designs("baseline+baseline"), InputError); }

}  // namespace
}  // namespace nearfar::words_test
