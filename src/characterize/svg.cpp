// Six panels in a grid of three by two, each drawn into its own frame.
#include "characterize/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace nearfar {
namespace {

constexpr const char* kInk = "#222";
constexpr const char* kPale = "#666";
constexpr const char* kGrid = "#e4e4e4";
constexpr const char* kBlue = "#44719f";
constexpr const char* kOrange = "#d08a3c";
constexpr double kPanelWidth = 400, kPanelHeight = 270;
constexpr double kLeft = 52, kRight = 14, kTop = 48, kBottom = 46;  // around a panel's plot

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

/// Of a text in UTF-8.
std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// One plot: a frame with per cent on the left, and a place for every value below.
class Panel {
 public:
  Panel(double x, double y, const std::string& title, const std::string& below) : x_(x + kLeft), y_(y + kTop) {
    text(x + 4, y + 18, "start", title, kInk, 14);
    text(x_ + kWidth / 2, y_ + kHeight + 38, "middle", below, kPale, 11);
    for (const int percent : {0, 25, 50, 75, 100}) {
      const double at = height_of(percent / 100.0);
      write("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x_, x_ + kWidth, at, at,
            percent == 0 ? "#888" : kGrid);
      text(x_ - 6, at + 4, "end", fmt::format("{} %", percent), kPale, 11);
    }
  }

  static constexpr double kWidth = kPanelWidth - kLeft - kRight;
  static constexpr double kHeight = kPanelHeight - kTop - kBottom;

  /// A bar for each share, the upper part of it in a second colour; a label under every `every`-th.
  void bars(const std::vector<double>& shares, const std::vector<std::string>& labels,
            const std::vector<double>& upper = {}) {
    const double pitch = kWidth / static_cast<double>(shares.size());
    const std::size_t every =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(label_width(labels) / pitch)));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double left = x_ + pitch * (static_cast<double>(i) + 0.12);
      bar(left, pitch * 0.76, 0, shares[i], kBlue);
      if (!upper.empty()) bar(left, pitch * 0.76, shares[i] - upper[i], shares[i], kOrange);
      if (i % every == 0) text(left + pitch * 0.38, y_ + kHeight + 16, "middle", labels[i], kInk, 11);
    }
  }

  /// A line through values at equally spaced places; marks stand on those in `marked`.
  void curve(const std::vector<double>& values, const std::vector<std::string>& labels,
             const std::vector<std::size_t>& marked) {
    const double pitch = kWidth / static_cast<double>(values.size() - 1);
    std::string points;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double at = x_ + pitch * static_cast<double>(i);
      points += fmt::format("{:.1f},{:.1f} ", at, height_of(values[i]));
      if (i % 4 == 0) text(at, y_ + kHeight + 16, "middle", labels[i], kInk, 11);
    }
    write("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, kBlue);
    double last_x = -kWidth, last_y = 0;
    for (const std::size_t i : marked) {
      const double at = x_ + pitch * static_cast<double>(i);
      write("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", at, height_of(values[i]), kOrange);
      // Below the mark, so that the curve, which only rises, does not cross it; and below the text before it.
      double y = std::min(height_of(values[i]) + 15, y_ + kHeight - 4);
      if (at - last_x < 80 && std::abs(y - last_y) < 13) y = last_y < y_ + kHeight - 20 ? last_y + 14 : last_y - 14;
      text(at + 6, y, "start", fmt::format("{}: {:.0f} %", labels[i], 100 * values[i]), kInk, 11);
      last_x = at, last_y = y;
    }
  }

  /// From right to left.
  void legend(const std::vector<std::pair<std::string, const char*>>& entries) {
    double at = x_ + kWidth;
    for (const auto& [words, colour] : entries) {
      text(at, y_ - 10, "end", words, kPale, 11);
      at -= 6.2 * static_cast<double>(words.size()) + 14;
      write("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", at, y_ - 19, colour);
      at -= 12;
    }
  }

  const std::string& svg() const { return svg_; }

 private:
  double height_of(double share) const { return y_ + kHeight * (1 - share); }

  static double label_width(const std::vector<std::string>& labels) {
    std::size_t longest = 1;
    for (const std::string& label : labels) longest = std::max(longest, characters(label));
    return 6.2 * static_cast<double>(longest) + 1;
  }

  void bar(double left, double width, double from, double to, const char* colour) {
    if (to <= from) return;
    write("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left, height_of(to),
          width, std::max(height_of(from) - height_of(to), 0.7), colour);
  }

  void text(double x, double y, const char* anchor, const std::string& words, const char* colour, int size) {
    write("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{}\">{}</text>\n", x, y, anchor,
          colour, size, escaped(words));
  }

  template <class... Values>
  void write(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Values>(values)...);
  }

  double x_, y_;
  std::string svg_;
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
  panel.legend({{"written", kOrange}, {"only read", kBlue}});
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
  const double width = 3 * kPanelWidth + 20, height = 2 * kPanelHeight + 70;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"14\" y=\"28\" font-size=\"18\" fill=\"{2}\">{3}</text>\n"
      "<text x=\"14\" y=\"48\" font-size=\"12\" fill=\"{4}\">{5}</text>\n",
      width, height, kInk, escaped(title), kPale, escaped(subtitle));
  const auto place = [](int column, int row, const char* name, const char* below) {
    return Panel(10 + kPanelWidth * column, 60 + kPanelHeight * row, name, below);
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
  for (const Panel* panel : {&lines, &pages, &sharing, &page_reuse, &line_reuse, &strides}) svg += panel->svg();
  return svg + "</svg>\n";
}

}  // namespace nearfar
