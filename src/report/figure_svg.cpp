// Layout: title, legend, plot, notes, from top to bottom. What was published is drawn over what was measured, in its
// own colour; what was not measured leaves its place marked.
#include "report/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot/frame.h"
#include "plot/svg.h"
#include "plot/theme.h"
#include "report/figure_text.h"

namespace nearfar {
namespace {

using plot::Anchor;

constexpr double kPlotHeight = 270, kMargin = 14;
constexpr double kFont = plot::Frame::kFontSize, kSmall = 10.5, kTitle = 15;
constexpr double kBold = 1.12;  // how much wider bold letters are
constexpr double kWidestBar = 64;
constexpr double kErrorBar = 1.2;
constexpr double kDiamond = 4.5;  // of what was published
constexpr unsigned kMostSteps = 7;
constexpr const char* kMissing = "n. m.";  // explained in the legend

bool measured(const FigureSeries& series) {
  return std::ranges::any_of(series.values, [](const auto& value) { return value.has_value(); });
}

/// The value that says "no effect".
double neutral(const FigureData& figure) { return figure.unit == "x" ? 1 : 0; }

/// How far a value is from that; of ratios the logarithm, so that twice and half are equally far.
double effect(const FigureData& figure, double value) {
  return figure.unit == "x" && value > 0 ? std::log(value) : value - neutral(figure);
}

class Drawing {
 public:
  /// What is drawn beside the plot.
  struct Parts {
    bool title = false, notes = false;
  };

  Drawing(const FigureData& figure, double width, Parts parts) : figure_(figure), full_width_(width), parts_(parts) {
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
      if (measured(figure.series[i])) drawn_.push_back(i);
    }
  }

  void draw() {
    if (parts_.title) {
      for (const std::string& line : plot::wrapped(figure_.title, (full_width_ - 2 * kMargin) / kBold, kTitle)) {
        svg_.text(kMargin, bottom_ + 24, Anchor::Start, line, "ink", kTitle, true);
        bottom_ += 20;
      }
      bottom_ += 14;
    }
    if (figure_.kind == FigureKind::Heat) {
      draw_heat();
    } else {
      draw_legend();
      draw_plot();
    }
    if (parts_.notes) draw_notes();
  }

  std::string document() const { return svg_.document(width_, bottom_ + 10); }
  std::string element() const { return svg_.element(width_, bottom_ + 10, figure_.title); }

 private:
  // --- legend

  void draw_legend() {
    double x = kMargin;
    bottom_ += 8;
    const auto entry = [&](const std::string& words, const auto& swatch, double swatch_width = 18) {
      const double width = swatch_width + plot::text_width(words, kFont) + 16;
      if (x + width > full_width_ - kMargin && x > kMargin) x = kMargin, bottom_ += 19;
      swatch(x, bottom_ + 9);
      svg_.text(x + swatch_width, bottom_ + 13, Anchor::Start, words, "ink", kFont);
      x += width;
    };
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      const bool there = measured(figure_.series[i]);
      svg_.open_group(fmt::format("data-key=\"{}\"", i));
      entry(figure_.series[i].label + (there ? "" : " (not measured)"), [&](double at, double middle) {
        svg_.rect(at, middle - 6, 12, 12, there ? plot::fill_class(i) : "pale", "", there ? 1 : 0.25);
      });
      svg_.close_group();
    }
    const auto drawn = [&](const PublishedValue& value) { return has_series(value); };
    if (std::ranges::any_of(figure_.published, drawn)) {
      entry("published", [&](double at, double middle) { svg_.diamond(at + 6, middle, 5, "published"); });
    }
    if (!std::ranges::all_of(figure_.published, drawn)) {
      entry("published, not measured here",
            [&](double at, double middle) { svg_.diamond(at + 6, middle, 5, "published-line", "", true); });
    }
    if (has_error_bars()) {
      entry("95 % interval of the mean", [&](double at, double middle) {
        svg_.line(at + 6, middle - 6, at + 6, middle + 6, "error", kErrorBar);
        for (const double end : {middle - 6, middle + 6}) svg_.line(at + 3, end, at + 9, end, "error", kErrorBar);
      });
    }
    if (has_gaps()) {
      entry(
          "not measured",
          [&](double at, double middle) { svg_.text(at, middle + 4, Anchor::Start, kMissing, "pale", kSmall); }, 32);
    }
    bottom_ += 28;
  }

  /// Whether what was published is of a series that is drawn.
  bool has_series(const PublishedValue& value) const {
    return value.series.empty() ||
           std::ranges::any_of(drawn_, [&](std::size_t i) { return figure_.series[i].label == value.series; });
  }

  /// Whether bars stand beside places without one.
  bool has_gaps() const {
    if (figure_.kind != FigureKind::Bars && figure_.kind != FigureKind::Stacked) return false;
    return std::ranges::any_of(drawn_, [&](std::size_t i) {
      return std::ranges::any_of(figure_.series[i].values, [](const auto& value) { return !value; });
    });
  }

  // --- plots with a scale

  void draw_plot() {
    const plot::Scale scale = scale_of_values();
    double ticks = 0;
    for (const double tick : scale.ticks()) {
      ticks = std::max(ticks, plot::text_width(plot::tick_text(tick, scale.step) + unit_suffix(figure_.unit), kFont));
    }
    const double left = kMargin + (figure_.y_label.empty() ? 0 : 18) + ticks + 8;
    const plot::Area area{left, bottom_, full_width_ - left - kMargin, kPlotHeight};
    plot::Frame frame(svg_, area, scale);
    frame.draw_scale(unit_suffix(figure_.unit), neutral(figure_));
    if (!figure_.y_label.empty()) {
      svg_.turned_text(kMargin + 10, area.top + area.height / 2, Anchor::Middle, figure_.y_label, "pale", kFont, -90);
    }
    switch (figure_.kind) {
      case FigureKind::Bars: draw_bars(frame); break;
      case FigureKind::Stacked: draw_stacks(frame); break;
      case FigureKind::Lines:
      case FigureKind::Cdf:
        draw_lines(frame);
        draw_marks(frame);
        break;
      case FigureKind::Heat: break;
    }
    frame.draw_categories(figure_.categories, plot::Crowding::Slant);
    for (const PublishedValue& value : figure_.published) draw_published(frame, value);
    if (drawn_.empty()) {
      svg_.text(area.left + area.width / 2, area.top + area.height / 2, Anchor::Middle, "not measured", "pale", kTitle);
    }
    bottom_ = area.bottom() + plot::Frame::category_height(figure_.categories, area.width);
    if (!figure_.x_label.empty()) {
      svg_.text(area.left + area.width / 2, bottom_ + 14, Anchor::Middle, figure_.x_label, "pale", kFont);
      bottom_ += 18;
    }
  }

  plot::Scale scale_of_values() const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const auto include = [&](double value) { low = std::min(low, value), high = std::max(high, value); };
    for (std::size_t k = 0; k < figure_.categories.size(); ++k) {
      double sum = 0;
      for (const std::size_t i : drawn_) {
        const auto& value = figure_.series[i].values[k];
        if (!value) continue;
        sum += *value;
        include(figure_.kind == FigureKind::Stacked ? sum : *value);
        const auto interval = figure_.series[i].interval(k);
        if (interval && has_error_bars()) include(interval->low), include(interval->high);
      }
    }
    for (const PublishedValue& value : figure_.published) include(value.low), include(value.high);
    if (low > high) return {0, 1, 0.25};
    // Lengths of bars are compared, so they begin at zero; curves only where that leaves them room.
    const bool curves = figure_.kind == FigureKind::Lines;
    if (!curves || low < 0.7 * high) low = std::min(low, 0.0);
    // The numbers of bars below zero stand under them.
    if (figure_.kind == FigureKind::Bars && low < 0) low -= 0.06 * (std::max(high, 0.0) - low);
    return plot::nice_scale(low, std::max(high, low == 0 ? neutral(figure_) : high), kMostSteps);
  }

  std::string tip(std::size_t series, std::size_t category) const {
    return fmt::format("{}, {}: {}", figure_.categories[category], figure_.series[series].label,
                       value_text(figure_, figure_.series[series], category));
  }

  // --- error bars

  /// Layers of a stack and cells of a heat map say theirs in words: where they stand is not their value.
  bool has_error_bars() const {
    return (figure_.kind == FigureKind::Bars || figure_.kind == FigureKind::Lines) &&
           std::ranges::any_of(figure_.series, [](const FigureSeries& series) {
             return std::ranges::any_of(series.intervals, &Interval::has_spread);
           });
  }

  /// From one end of an interval to the other, with caps. One too short to be seen is not drawn.
  void error_bar(const plot::Frame& frame, double x, double room, const FigureSeries& series, std::size_t category,
                 const std::string& style = "error") {
    const auto interval = series.interval(category);
    if (!interval) return;
    const double low = frame.y(interval->low), high = frame.y(interval->high);
    if (low - high < 0.5) return;
    const double cap = std::clamp(room / 4, 1.5, 5.0);
    svg_.line(x, low, x, high, style, kErrorBar);
    for (const double end : {low, high}) svg_.line(x - cap, end, x + cap, end, style, kErrorBar);
  }

  double group_width(const plot::Frame& frame) const {
    return std::min(0.82 * frame.pitch(figure_.categories.size()),
                    kWidestBar * static_cast<double>(std::max<std::size_t>(drawn_.size(), 1)));
  }
  double slot(const plot::Frame& frame) const {
    return group_width(frame) / static_cast<double>(std::max<std::size_t>(drawn_.size(), 1));
  }
  double slot_left(const plot::Frame& frame, std::size_t order, std::size_t category) const {
    return frame.x(category, figure_.categories.size()) - group_width(frame) / 2 +
           slot(frame) * static_cast<double>(order);
  }

  void missing(const plot::Frame& frame, double x) {
    svg_.turned_text(x + 4, frame.y(std::max(frame.scale().low, 0.0)) - 4, Anchor::Start, kMissing, "pale", kSmall,
                     -90);
  }

  void draw_bars(plot::Frame& frame) {
    const double width = slot(frame);
    for (std::size_t order = 0; order < drawn_.size(); ++order) {
      const std::size_t i = drawn_[order];
      svg_.open_group(fmt::format("data-series=\"{}\"", i));
      for (std::size_t k = 0; k < figure_.categories.size(); ++k) {
        const double left = slot_left(frame, order, k);
        const auto& value = figure_.series[i].values[k];
        if (!value) {
          missing(frame, left + width / 2);
          continue;
        }
        frame.bar(left, std::max(width - 1, 0.8 * width), 0, *value, plot::fill_class(i), tip(i, k));
        error_bar(frame, left + width / 2, width, figure_.series[i], k);
        draw_number(frame, left + width / 2, width, i, k);
      }
      svg_.close_group();
    }
  }

  /// A bar's value at its end, behind its error bar and what was published of it.
  void draw_number(const plot::Frame& frame, double x, double width, std::size_t series, std::size_t category) {
    const double value = *figure_.series[series].values[category];
    const std::string number = plot::short_number(value);
    if (plot::text_width(number, kSmall) > width) return;
    const auto interval = figure_.series[series].interval(category);
    const bool down = value < 0;
    const double end = frame.y(!interval ? value : down ? interval->low : interval->high);
    double y = down ? end + kSmall + 2 : end - 4;
    for (const PublishedValue& published : figure_.published) {
      if (published.category != figure_.categories[category] || published.series != figure_.series[series].label)
        continue;
      const double top = frame.y(published.high) - kDiamond, bottom = frame.y(published.low) + kDiamond;
      if (top < y + 2 && bottom > y - kSmall) y = down ? bottom + kSmall + 1 : top - 3;
    }
    svg_.text(x, y, Anchor::Middle, number, "value", kSmall);
  }

  void draw_stacks(plot::Frame& frame) {
    const double width = std::min(group_width(frame), kWidestBar);
    std::vector<double> tops(figure_.categories.size(), 0);
    for (const std::size_t i : drawn_) {
      svg_.open_group(fmt::format("data-series=\"{}\"", i));
      for (std::size_t k = 0; k < tops.size(); ++k) {
        const auto& value = figure_.series[i].values[k];
        if (!value || *value <= 0) continue;
        frame.bar(frame.x(k, tops.size()) - width / 2, width, tops[k], tops[k] + *value, plot::fill_class(i),
                  tip(i, k));
        tops[k] += *value;
      }
      svg_.close_group();
    }
    for (std::size_t k = 0; k < tops.size(); ++k) {
      if (std::ranges::none_of(drawn_, [&](std::size_t i) { return figure_.series[i].values[k].has_value(); })) {
        missing(frame, frame.x(k, tops.size()));
      }
    }
  }

  void draw_lines(const plot::Frame& frame) {
    const std::size_t count = figure_.categories.size();
    for (const std::size_t i : drawn_) {
      svg_.open_group(fmt::format("data-series=\"{}\"", i));
      std::string points;
      const auto finish = [&] {
        if (points.find(' ') != points.rfind(' ')) svg_.polyline(points, plot::stroke_class(i));
        points.clear();
      };
      for (std::size_t k = 0; k < count; ++k) {
        const auto& value = figure_.series[i].values[k];
        if (value) {
          points += fmt::format("{:.1f},{:.1f} ", frame.x(k, count), frame.y(*value));
        } else {
          finish();  // a gap where nothing was measured
        }
      }
      finish();
      for (std::size_t k = 0; k < count; ++k) {
        const auto& value = figure_.series[i].values[k];
        if (!value) continue;
        // In the colour of its line, since bars of several lines stand in one place.
        error_bar(frame, frame.x(k, count), 16, figure_.series[i], k, plot::stroke_class(i));
        svg_.circle(frame.x(k, count), frame.y(*value), 3.5, plot::fill_class(i), tip(i, k));
      }
      svg_.close_group();
    }
  }

  // --- values that are pointed out

  /// A ring around the point, its words above; words of one point stand together.
  void draw_marks(const plot::Frame& frame) {
    const std::size_t count = figure_.categories.size();
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      svg_.open_group(fmt::format("data-series=\"{}\"", i));
      for (std::size_t k = 0; k < count; ++k) {
        const std::string words = mark_words(i, k);
        const auto& value = figure_.series[i].values[k];
        if (words.empty() || !value) continue;
        svg_.ring(frame.x(k, count), frame.y(*value), 8, plot::stroke_class(i));
        svg_.text(frame.x(k, count), frame.y(*value) - 13, Anchor::Middle, words, "ink", kSmall);
      }
      svg_.close_group();
    }
  }

  std::string mark_words(std::size_t series, std::size_t category) const {
    std::string words;
    for (const FigureMark& mark : figure_.marks) {
      if (mark.series != figure_.series[series].label || mark.category != category) continue;
      words += (words.empty() ? "" : ", ") + mark.text;
    }
    return words;
  }

  // --- published values

  void draw_published(const plot::Frame& frame, const PublishedValue& value) {
    const std::string words = fmt::format("published ({}): {}", value.claim,
                                          value.text.empty() ? value_text(value.low, figure_.unit) : value.text);
    const auto place = std::ranges::find(figure_.categories, value.category);
    if (value.category.empty() || place == figure_.categories.end()) {
      if (!value.category.empty()) return;
      for (const double level : {value.low, value.high}) {
        svg_.line(frame.area().left, frame.y(level), frame.area().right(), frame.y(level), "published-line", 1.2, true);
        svg_.diamond(frame.area().right(), frame.y(level), kDiamond, "published", words);
      }
      return;
    }
    const bool solid = has_series(value);
    const auto mark = [&](double x, double level) {
      svg_.diamond(x, frame.y(level), kDiamond, solid ? "published" : "published-line", words, !solid);
    };
    const auto k = static_cast<std::size_t>(place - figure_.categories.begin());
    const auto [left, width] = span_of(frame, value.series, k);
    const double middle = left + width / 2;
    if (value.high > value.low) {
      svg_.line(middle, frame.y(value.low), middle, frame.y(value.high), "published-line", 1.5, !solid);
    }
    for (const double level : {value.low, value.high}) {
      if (solid) svg_.line(left, frame.y(level), left + width, frame.y(level), "published-line", 1.5);
      mark(middle, level);
      if (value.high == value.low) break;
    }
  }

  struct Span {
    double left, width;
  };

  /// The bar a published value belongs to; the whole place of its category where that bar is not drawn.
  Span span_of(const plot::Frame& frame, const std::string& series, std::size_t category) const {
    if (figure_.kind == FigureKind::Bars) {
      for (std::size_t order = 0; order < drawn_.size(); ++order) {
        if (figure_.series[drawn_[order]].label != series) continue;
        return {slot_left(frame, order, category), slot(frame)};
      }
    }
    const double width = group_width(frame);
    return {frame.x(category, figure_.categories.size()) - width / 2, width};
  }

  // --- heat maps

  void draw_heat() {
    double labels = 0, most = 0;
    for (const FigureSeries& series : figure_.series) {
      labels = std::max(labels, plot::text_width(series.label, kFont));
      for (const auto& value : series.values) {
        if (value) most = std::max(most, std::abs(effect(figure_, *value)));
      }
    }
    const double left = kMargin + labels + 10;
    const double width =
        std::min(96.0, (full_width_ - kMargin - left) / static_cast<double>(figure_.categories.size()));
    const double height = 32;
    const plot::Area area{left, bottom_, width * static_cast<double>(figure_.categories.size()),
                          height * static_cast<double>(figure_.series.size())};
    if (!parts_.title && !parts_.notes) width_ = area.right() + kMargin;
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      const double top = area.top + height * static_cast<double>(i);
      svg_.text(left - 8, top + height / 2 + 4, Anchor::End, figure_.series[i].label, "ink", kFont);
      for (std::size_t k = 0; k < figure_.categories.size(); ++k) draw_cell(area, i, k, width, height, most);
    }
    plot::Frame frame(svg_, area, {0, 1, 1});
    frame.draw_categories(figure_.categories, plot::Crowding::Slant);
    bottom_ = area.bottom() + plot::Frame::category_height(figure_.categories, area.width);
    if (!figure_.x_label.empty()) {
      svg_.text(left + area.width / 2, bottom_ + 14, Anchor::Middle, figure_.x_label, "pale", kFont);
      bottom_ += 18;
    }
  }

  void draw_cell(const plot::Area& area, std::size_t i, std::size_t k, double width, double height, double most) {
    const double x = area.left + width * static_cast<double>(k), y = area.top + height * static_cast<double>(i);
    const auto& value = figure_.series[i].values[k];
    if (!value) {
      svg_.rect(x, y, width - 2, height - 2, "pale", "", 0.06);
      svg_.text(x + width / 2, y + height / 2 + 4, Anchor::Middle, "–", "pale", kFont);
      return;
    }
    const double from_neutral = effect(figure_, *value);
    constexpr double kStrongest = 0.75;  // the number in the cell stays readable
    svg_.rect(x, y, width - 2, height - 2, from_neutral < 0 ? "less" : "more", tip(i, k),
              most > 0 ? kStrongest * std::abs(from_neutral) / most : 0);
    const std::string words = mark_words(i, k);
    svg_.text(x + width / 2, y + height / 2 + 4, Anchor::Middle, plot::short_number(*value), "ink", kFont,
              !words.empty());
    if (!words.empty()) svg_.frame(x, y, width - 2, height - 2, "axis");
  }

  void draw_notes() {
    for (const std::string& note : figure_.notes) {
      for (const std::string& line : plot::wrapped(note, full_width_ - 2 * kMargin, 11)) {
        bottom_ += 16;
        svg_.text(kMargin, bottom_, Anchor::Start, line, "pale", 11);
      }
    }
    bottom_ += figure_.notes.empty() ? 0 : 4;
  }

  const FigureData& figure_;
  double full_width_;
  Parts parts_;
  std::vector<std::size_t> drawn_;  // the series that have a value
  plot::Svg svg_;
  double width_ = full_width_;
  double bottom_ = 0;  // of what is drawn so far
};

}  // namespace

std::string figure_svg(const FigureData& figure) {
  Drawing drawing(figure, kFigureWidth, {.title = true, .notes = true});
  drawing.draw();
  return drawing.document();
}

std::string column_svg(const FigureData& figure) {
  Drawing drawing(figure, kColumnWidth, {.title = false, .notes = true});
  drawing.draw();
  return drawing.document();
}

std::string figure_element(const FigureData& figure, double width) {
  Drawing drawing(figure, width, {});
  drawing.draw();
  return drawing.element();
}

}  // namespace nearfar
