// Six panels in a grid of three by two, each drawn into its own frame.
#include "characterize/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plot/frame.h"
#include "plot/svg.h"
#include "plot/theme.h"

namespace nearfar {
namespace {

using plot::Anchor;

constexpr double kPanelWidth = 400, kPanelHeight = 270;
constexpr double kLeft = 52, kRight = 14, kTop = 48, kBottom = 46;  // around a panel's plot
constexpr double kSmall = 11;                                       // of fonts
const std::string kAll = plot::fill_class(0), kMarked = plot::fill_class(1);

/// One plot: a frame with per cent on the left, and a place for every value below.
class Panel {
 public:
  Panel(plot::Svg& svg, double x, double y, const std::string& title, const std::string& below)
      : svg_(svg),
        frame_(svg, {x + kLeft, y + kTop, kPanelWidth - kLeft - kRight, kPanelHeight - kTop - kBottom}, {0, 100, 25}) {
    svg_.text(x + 4, y + 18, Anchor::Start, title, "ink", 14);
    svg_.text(area().left + area().width / 2, area().bottom() + 38, Anchor::Middle, below, "pale", kSmall);
    frame_.draw_scale(" %", 0);
  }

  /// A bar for each share, the upper part of it in a second colour.
  void bars(const std::vector<double>& shares, const std::vector<std::string>& labels,
            const std::vector<double>& upper = {}) {
    const double pitch = frame_.pitch(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double left = frame_.x(i, shares.size()) - 0.38 * pitch;
      if (shares[i] > 0) frame_.bar(left, 0.76 * pitch, 0, 100 * shares[i], kAll);
      if (!upper.empty() && upper[i] > 0) {
        frame_.bar(left, 0.76 * pitch, 100 * (shares[i] - upper[i]), 100 * shares[i], kMarked);
      }
    }
    frame_.draw_categories(labels, plot::Crowding::Thin);
  }

  /// A line through values at equally spaced places; marks stand on those in `marked`.
  void curve(const std::vector<double>& values, const std::vector<std::string>& labels,
             const std::vector<std::size_t>& marked) {
    std::string points;
    for (std::size_t i = 0; i < values.size(); ++i) {
      points += fmt::format("{:.1f},{:.1f} ", frame_.x(i, values.size()), frame_.y(100 * values[i]));
    }
    frame_.draw_categories(labels, plot::Crowding::Thin);
    svg_.polyline(points, plot::stroke_class(0));
    double last_x = -kPanelWidth, last_y = 0;
    for (const std::size_t i : marked) {
      const double at = frame_.x(i, values.size()), height = frame_.y(100 * values[i]);
      svg_.circle(at, height, 3.5, kMarked);
      // Below the mark, so that the curve, which only rises, does not cross it; and below the text before it.
      double y = std::min(height + 15, area().bottom() - 4);
      if (at - last_x < 80 && std::abs(y - last_y) < 13) y = last_y < area().bottom() - 20 ? last_y + 14 : last_y - 14;
      svg_.text(at + 6, y, Anchor::Start, fmt::format("{}: {:.0f} %", labels[i], 100 * values[i]), "ink", kSmall);
      last_x = at, last_y = y;
    }
  }

  /// From right to left.
  void legend(const std::vector<std::pair<std::string, std::string>>& entries) {
    double at = area().right();
    for (const auto& [words, style] : entries) {
      svg_.text(at, area().top - 10, Anchor::End, words, "pale", kSmall);
      at -= plot::text_width(words, kSmall) + 14;
      svg_.rect(at, area().top - 19, 10, 10, style);
      at -= 12;
    }
  }

 private:
  const plot::Area& area() const { return frame_.area(); }

  plot::Svg& svg_;
  plot::Frame frame_;
};

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Values up to 64 in classes a person can tell apart: 1, 2, 3, 4, 5, 6–8, 9–16, 17–32, 33–64, more.
void draw(Panel& panel, const Distribution& distribution) {
  constexpr std::uint64_t kEnds[] = {1, 2, 3, 4, 5, 8, 16, 32, 64, Distribution::kValues - 1};
  std::vector<double> shares;
  std::vector<std::string> labels;
  std::uint64_t begin = 1;
  for (const std::uint64_t end : kEnds) {
    std::uint64_t times = 0;
    for (std::uint64_t value = begin; value <= end; ++value) times += distribution.times[value];
    shares.push_back(share(times, distribution.count()));
    labels.push_back(end > 64 ? "more" : begin < end ? fmt::format("{}–{}", begin, end) : std::to_string(end));
    begin = end + 1;
  }
  panel.bars(shares, labels);
}

void draw(Panel& panel, const Touched& touched) {
  std::uint64_t pages = 0;
  for (const std::uint64_t each : touched.pages_by) pages += each;
  std::vector<double> all, written;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < touched.pages_by.size(); ++i) {
    all.push_back(share(touched.pages_by[i], pages));
    written.push_back(share(touched.written_pages_by[i], pages));
    labels.push_back(std::to_string(i + 1));
  }
  panel.bars(all, labels, written);
  panel.legend({{"written", kMarked}, {"only read", kAll}});
}

std::string capacity_label(unsigned log2_capacity) {
  const std::uint64_t capacity = std::uint64_t{1} << log2_capacity;
  if (capacity < 1024) return std::to_string(capacity);
  if (capacity < 1 << 20) return fmt::format("{} K", capacity >> 10);
  return fmt::format("{} M", capacity >> 20);
}

void draw(Panel& panel, const ReuseCurve& curve, const std::vector<std::size_t>& marked) {
  std::vector<double> values;
  std::vector<std::string> labels;
  for (unsigned k = 0; k < ReuseCurve::kCapacities; ++k) {
    values.push_back(curve.hit_rate(k));
    labels.push_back(capacity_label(k));
  }
  panel.curve(values, labels, marked);
}

void draw(Panel& panel, const Strides& strides) {
  std::uint64_t all = strides.backward;
  for (const std::uint64_t each : strides.forward) all += each;
  std::size_t last = 3;  // as far as there is anything
  for (std::size_t i = 0; i < Strides::kForward; ++i) {
    if (strides.forward[i] != 0) last = std::max(last, i);
  }
  std::vector<double> shares{share(strides.backward, all)};
  std::vector<std::string> labels{"back"};
  for (std::size_t i = 0; i <= last; ++i) {
    shares.push_back(share(strides.forward[i], all));
    const std::string label = Strides::label(i);
    labels.push_back(label.starts_with("to ") ? label.substr(3) : label);
  }
  panel.bars(shares, labels);
}

}  // namespace

std::string characterization_svg(const Characterization& result, const std::string& title,
                                 const std::string& subtitle) {
  plot::Svg svg;
  svg.text(14, 28, Anchor::Start, title, "ink", 18);
  svg.text(14, 48, Anchor::Start, subtitle, "pale", 12);
  const auto place = [&](int column, int row, const char* name, const char* below) {
    return Panel(svg, 10 + kPanelWidth * column, 60 + kPanelHeight * row, name, below);
  };
  Panel lines = place(0, 0, "Lines of a vector memory instruction", "lines");
  draw(lines, result.lines);
  Panel pages = place(1, 0, "Pages of a vector memory instruction", "pages");
  draw(pages, result.pages);
  Panel sharing = place(2, 0, "Pages by how many GPUs touch them", "GPUs");
  draw(sharing, result.touched);
  Panel page_reuse = place(0, 1, "Page touches served by an LRU buffer", "pages the buffer holds, one buffer a GPU");
  draw(page_reuse, result.page_reuse, {5, 9, 12});
  Panel line_reuse = place(1, 1, "Line touches served by an LRU cache", "lines the cache holds, one cache a GPU");
  draw(line_reuse, result.line_reuse, {8, 15});
  Panel strides = place(2, 1, "From a lane's address to the next lane's", "bytes, up to");
  draw(strides, result.strides);
  return svg.document(3 * kPanelWidth + 20, 2 * kPanelHeight + 70);
}

}  // namespace nearfar
