// Figures as pictures and as CSV: what is drawn is what was measured.
#include "study/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "plot/png.h"
#include "report/figure_svg.h"
#include "report/figure_text.h"
#include "report/page.h"

namespace nearfar::figure_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

FigureData figure(FigureKind kind) {
  FigureData out;
  out.id = "made-up", out.title = "A <title> & \"more\"", out.study = "s", out.kind = kind;
  out.x_label = "workload", out.y_label = "speedup", out.unit = "x";
  out.categories = {"A", "B<C", "mean"};
  out.series = {{"one", {1.0, 2.0, 1.5}}, {"two & three", {4.0, std::nullopt, 4.0}}, {"none", {{}, {}, {}}}};
  out.published = {{"claim.a", "one", "mean", 1.25, 1.25, "1.25×"}, {"claim.b", "none", "A", 1, 3, ""}};
  out.notes = {"a note"};
  return out;
}

struct Bar {
  double height;
  std::string title;
};

std::vector<Bar> bars_of(const std::string& svg) {
  static const std::regex kBar("<rect [^>]*height=\"([0-9.]+)\"[^>]*><title>([^<]*)</title>");
  std::vector<Bar> bars;
  for (std::sregex_iterator match(svg.begin(), svg.end(), kBar), end; match != end; ++match) {
    bars.push_back({std::stod((*match)[1]), (*match)[2]});
  }
  return bars;
}

class EveryKind : public ::testing::TestWithParam<FigureKind> {};

// rsvg-convert refuses what is no well-formed XML.
TEST_P(EveryKind, IsDrawn) { EXPECT_THAT(plot::png_of(figure_svg(figure(GetParam())), 1), StartsWith("\x89PNG")); }

TEST_P(EveryKind, IsDrawnWithoutAnyValue) {
  FigureData empty = figure(GetParam());
  for (FigureSeries& series : empty.series) series.values.assign(3, std::nullopt);
  empty.published.clear();
  EXPECT_THAT(plot::png_of(figure_svg(empty), 1), StartsWith("\x89PNG"));
}

TEST_P(EveryKind, SaysEveryValueToThePointer) {
  const std::string svg = figure_element(figure(GetParam()));
  EXPECT_THAT(svg, HasSubstr("<title>A, one: 1.000×</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>B&lt;C, one: 2.000×</title>"));
}

INSTANTIATE_TEST_SUITE_P(Figure, EveryKind,
                         ::testing::Values(FigureKind::Bars, FigureKind::Lines, FigureKind::Stacked, FigureKind::Cdf,
                                           FigureKind::Heat));

TEST(FigureBars, AreAsHighAsTheirValues) {
  const auto bars = bars_of(figure_element(figure(FigureKind::Bars)));
  ASSERT_THAT(bars, SizeIs(5));
  EXPECT_NEAR(bars[1].height / bars[0].height, 2.0, 0.01);
  EXPECT_NEAR(bars[3].height / bars[0].height, 4.0, 0.01);
  EXPECT_EQ(bars[3].title, "A, two &amp; three: 4.000×");
}

TEST(FigureBars, SayWhatWasNotMeasured) {
  const std::string svg = figure_svg(figure(FigureKind::Bars));
  EXPECT_THAT(svg, HasSubstr("none (not measured)"));
  EXPECT_THAT(svg, HasSubstr(">n. m.</text>"));
  FigureData whole = figure(FigureKind::Bars);
  whole.series.pop_back();
  whole.series[1].values[1] = 3;
  EXPECT_THAT(figure_svg(whole), Not(HasSubstr("n. m.")));
}

TEST(FigureBars, ShowWhatWasPublished) {
  const std::string svg = figure_svg(figure(FigureKind::Bars));
  EXPECT_THAT(svg, HasSubstr("<title>published (claim.a): 1.25×</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>published (claim.b): 1.000×</title>"));
  EXPECT_THAT(svg, HasSubstr(">published, not measured here<")) << "of the series without values";
  FigureData measured = figure(FigureKind::Bars);
  measured.published.pop_back();
  EXPECT_THAT(figure_svg(measured), Not(HasSubstr("not measured here")));
}

TEST(FigureStacks, StandOnEachOther) {
  FigureData stacks = figure(FigureKind::Stacked);
  const std::string svg = figure_element(stacks);
  static const std::regex kRect("<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*height=\"([0-9.]+)\"[^>]*><title>A, ");
  std::vector<std::pair<double, double>> parts;  // y, height
  for (std::sregex_iterator match(svg.begin(), svg.end(), kRect), end; match != end; ++match) {
    parts.emplace_back(std::stod((*match)[2]), std::stod((*match)[3]));
  }
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_NEAR(parts[1].first + parts[1].second, parts[0].first, 0.11) << "the second begins where the first ends";
}

TEST(FigureCsv, HasALineForEveryValue) {
  EXPECT_EQ(figure_csv(figure(FigureKind::Bars)),
            "figure,series,category,value,unit,published_low,published_high,claim,repeats,low,high\n"
            "made-up,one,A,1,x,,,,,,\n"
            "made-up,one,B<C,2,x,,,,,,\n"
            "made-up,one,mean,1.5,x,1.25,1.25,claim.a,,,\n"
            "made-up,two & three,A,4,x,,,,,,\n"
            "made-up,two & three,B<C,,x,,,,,,\n"
            "made-up,two & three,mean,4,x,,,,,,\n"
            "made-up,none,A,,x,1,3,claim.b,,,\n"
            "made-up,none,B<C,,x,,,,,,\n"
            "made-up,none,mean,,x,,,,,,\n");
}

TEST(FigureText, HasTheUnit) {
  EXPECT_EQ(value_text(1.5384, "x"), "1.538×");
  EXPECT_EQ(value_text(86.1, "%"), "86.10 %");
  EXPECT_EQ(value_text(-3, "points"), "-3.000 points");
  EXPECT_EQ(value_text(123456.7, "cycles"), "123457 cycles");
  EXPECT_EQ(value_text(2e9, ""), "2.000e+09");
}

TEST(FigureHtml, HasItsNumbersAsATable) {
  const std::string html = figure_html(figure(FigureKind::Bars));
  EXPECT_THAT(html, HasSubstr("<th class=\"number\">two &amp; three</th>"));
  EXPECT_THAT(html, HasSubstr("<td>B&lt;C</td><td class=\"number\">2.000×</td><td class=\"number\">–</td>"));
}

FigureData repeated(FigureKind kind) {
  FigureData out = figure(kind);
  out.neutral = 1;
  out.series[0].intervals = {{5, 1.0, 0.9, 1.1}, {5, 2.0, 1.5, 2.6}, {}};
  return out;
}

/// Strokes of error bars: of each interval one up and two across, and as many in the legend.
std::size_t strokes(const std::string& svg) {
  static const std::regex kLine("<line [^>]*class=\"(error|c[0-9])\"");
  return static_cast<std::size_t>(std::distance(std::sregex_iterator(svg.begin(), svg.end(), kLine), {}));
}

TEST(ErrorBars, AreDrawnWhereRunsWereRepeated) {
  for (const FigureKind kind : {FigureKind::Bars, FigureKind::Lines}) {
    const std::string svg = figure_svg(repeated(kind));
    EXPECT_EQ(strokes(svg), 9U);
    EXPECT_THAT(svg, HasSubstr("95 % interval of the mean"));
    EXPECT_THAT(plot::png_of(svg, 1), StartsWith("\x89PNG"));
    EXPECT_EQ(strokes(figure_svg(figure(kind))), 0U);
  }
}

/// The scale reaches as far as the intervals do.
TEST(ErrorBars, StayInThePlot) {
  FigureData figure = repeated(FigureKind::Bars);
  figure.published.clear();
  figure.series[0].intervals[1].high = 40;
  EXPECT_THAT(figure_svg(figure), HasSubstr(">40×<"));
}

TEST(ErrorBars, OfStacksAndHeatMapsAreWords) {
  for (const FigureKind kind : {FigureKind::Stacked, FigureKind::Heat}) {
    const std::string svg = figure_svg(repeated(kind));
    EXPECT_EQ(strokes(svg), 0U);
    EXPECT_THAT(svg, HasSubstr("B&lt;C, one: 2.000× ±0.600<"));
  }
}

TEST(FigureText, SaysWhatIsWithinNoise) {
  const FigureData figure = repeated(FigureKind::Bars);
  EXPECT_EQ(value_text(figure, figure.series[0], 0), "1.000× ±0.100, within noise");
  EXPECT_EQ(value_text(figure, figure.series[0], 1), "2.000× ±0.600");
  EXPECT_EQ(value_text(figure, figure.series[0], 2), "1.500×") << "of one run nothing is known";
  EXPECT_THAT(figure_csv(figure), HasSubstr("made-up,one,B<C,2,x,,,,5,1.5,2.6\n"));
  EXPECT_THAT(figure_html(figure), HasSubstr("1.000× ±0.100, within noise"));
}

}  // namespace
}  // namespace nearfar::figure_test
