// Scales, texts and PNG.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "plot/frame.h"
#include "plot/png.h"
#include "plot/scale.h"
#include "plot/svg.h"
#include "plot/theme.h"

namespace nearfar::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Scale, HasTicksThatAPersonWouldChoose) {
  const Scale scale = nice_scale(0, 2.67, 7);
  EXPECT_DOUBLE_EQ(scale.low, 0);
  EXPECT_DOUBLE_EQ(scale.high, 3);
  EXPECT_DOUBLE_EQ(scale.step, 0.5);
  EXPECT_EQ(scale.ticks().size(), 7U);
  EXPECT_EQ(tick_text(2.5, scale.step), "2.5");
  EXPECT_EQ(tick_text(250, 50), "250");
  EXPECT_EQ(tick_text(-1e-18, 0.25), "0.00");
}

TEST(Scale, OfOneValueIsNotEmpty) {
  EXPECT_GT(nice_scale(0, 0, 5).high, 0);
  EXPECT_LE(nice_scale(-3, -3, 5).low, -3);
}

RC_GTEST_PROP(Scale, HoldsBothEndsInFewSteps, ()) {
  const auto low = static_cast<double>(*rc::gen::inRange(-100000, 100000)) / 64;
  const auto span = static_cast<double>(*rc::gen::inRange(1, 1000000)) / 512;
  const auto most = *rc::gen::inRange(2U, 12U);
  const Scale scale = nice_scale(low, low + span, most);
  RC_ASSERT(scale.low <= low + 1e-6 * scale.step);
  RC_ASSERT(scale.high >= low + span - 1e-6 * scale.step);
  RC_ASSERT(scale.ticks().size() <= most + 1U);
  // No coarser than it must be: fewer than a third of the steps would be a waste of the paper.
  RC_ASSERT(static_cast<double>(scale.ticks().size()) > most / 4.0);
}

TEST(Numbers, KeepThreeDigits) {
  EXPECT_EQ(short_number(1.538), "1.54");
  EXPECT_EQ(short_number(86.1), "86.1");
  EXPECT_EQ(short_number(-123.4), "-123");
  EXPECT_EQ(short_number(0), "0.00");
  EXPECT_EQ(short_number(0.00012), "1.20e-04");
}

TEST(Text, IsEscapedAndBrokenBetweenWords) {
  EXPECT_EQ(escaped("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
  EXPECT_THAT(wrapped("one two three", text_width("one two", 10), 10), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("unbreakable", 1, 10), ElementsAre("unbreakable"));
  EXPECT_DOUBLE_EQ(text_width("×", 10), text_width("x", 10));
}

TEST(Frame, PutsValuesWhereTheScaleSays) {
  Svg svg;
  const Frame frame(svg, {10, 20, 300, 100}, {0, 4, 1});
  EXPECT_DOUBLE_EQ(frame.y(0), 120);
  EXPECT_DOUBLE_EQ(frame.y(4), 20);
  EXPECT_DOUBLE_EQ(frame.y(1), 95);
  EXPECT_DOUBLE_EQ(frame.x(0, 3), 60);
  EXPECT_DOUBLE_EQ(frame.x(2, 3), 260);
}

TEST(Theme, HasEveryColourInLightAndDark) {
  for (const std::string& sheet : {style_sheet(), page_style_sheet()}) {
    EXPECT_THAT(sheet, HasSubstr("prefers-color-scheme:dark"));
    for (std::size_t i = 0; i < kSeriesColours; ++i) {
      const std::string rule = "." + fill_class(i) + "{fill:";
      const std::size_t light = sheet.find(rule);
      ASSERT_NE(light, std::string::npos);
      EXPECT_NE(sheet.find(rule, light + 1), std::string::npos) << "no dark " << rule;
    }
  }
}

TEST(Png, IsMadeOfADocument) {
  Svg svg;
  svg.rect(1, 1, 8, 8, fill_class(0), "a title");
  EXPECT_THAT(png_of(svg.document(10, 10), 1), StartsWith("\x89PNG\r\n"));
}

}  // namespace
}  // namespace nearfar::plot
