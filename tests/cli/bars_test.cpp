#include "cli/bars.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/terminal.h"

namespace nearfar::bars_test {
namespace {

TEST(Bars, AreAnEighthOfACharacterExact) {
  EXPECT_EQ(bar(4, 4, 4), "████");
  EXPECT_EQ(bar(2, 4, 4), "██");
  EXPECT_EQ(bar(2.5, 4, 4), "██▌");
  EXPECT_EQ(bar(1.125, 4, 4), "█▏");
  EXPECT_EQ(bar(3.875, 4, 4), "███▉");
}

TEST(Bars, ShowWhatIsAboveZeroAndNothingElse) {
  EXPECT_EQ(bar(0, 4, 4), "");
  EXPECT_EQ(bar(-1, 4, 4), "");
  EXPECT_EQ(bar(1e-9, 4, 4), "▏");
  EXPECT_EQ(bar(1, 0, 4), "");
}

TEST(Bars, AreCutAtTheirMaximum) { EXPECT_EQ(bar(100, 4, 4), "████"); }

RC_GTEST_PROP(Bars, NeverLeaveTheirWidthAndGrowWithTheValue, ()) {
  const auto width = *rc::gen::inRange(1U, 60U);
  const double small = *rc::gen::inRange(0, 1000), large = small + *rc::gen::inRange(0, 1000);
  RC_ASSERT(display_width(bar(large, 1500, width)) <= width);
  RC_ASSERT(display_width(bar(small, 1500, width)) <= display_width(bar(large, 1500, width)));
}

TEST(Bars, HaveWhiskersUpToTheUpperEnd) {
  EXPECT_EQ(bar_with_whisker(2, 4, 4, 4), "██─┤");
  EXPECT_EQ(bar_with_whisker(1.5, 4, 4, 4), "█▌─┤");
  EXPECT_EQ(bar_with_whisker(2, 2.5, 4, 4), "██┤");
  EXPECT_EQ(bar_with_whisker(2.25, 2.5, 4, 4), "██▎") << "in the bar's last character";
  EXPECT_EQ(bar_with_whisker(2, 2, 4, 4), "██");
  EXPECT_EQ(bar_with_whisker(2, 9, 4, 4), "██─┤") << "cut at the maximum";
  EXPECT_EQ(bar_with_whisker(0, 1, 4, 4), "");
}

}  // namespace
}  // namespace nearfar::bars_test
