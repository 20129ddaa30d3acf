// A picture under construction: shapes and words in SVG, with classes for colours (theme.h).
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nearfar::plot {

/// Plain text as it may stand in SVG, HTML and their attributes.
std::string escaped(std::string_view text);

/// About how wide a text is in a usual sans-serif font.
double text_width(std::string_view text, double font_size);

/// A text broken between words into lines of at most `width`, where words allow.
std::vector<std::string> wrapped(std::string_view text, double width, double font_size);

enum class Anchor { Start, Middle, End };

class Svg {
 public:
  void text(double x, double y, Anchor anchor, std::string_view words, std::string_view style, double font_size,
            bool bold = false);
  /// Turned about its anchor by `degrees`, clockwise.
  void turned_text(double x, double y, Anchor anchor, std::string_view words, std::string_view style, double font_size,
                   double degrees);
  void line(double x1, double y1, double x2, double y2, std::string_view style, double width = 1, bool dashed = false);
  /// `title` is what a reader sees who points at it; none when empty.
  void rect(double x, double y, double width, double height, std::string_view style, std::string_view title = "",
            double opacity = 1);
  void circle(double x, double y, double radius, std::string_view style, std::string_view title = "");
  void ring(double x, double y, double radius, std::string_view style);
  /// The outline of a rectangle.
  void frame(double x, double y, double width, double height, std::string_view style);
  /// Only the outline of it when it is hollow: its style is then one of lines.
  void diamond(double x, double y, double radius, std::string_view style, std::string_view title = "",
               bool hollow = false);
  /// `points` as SVG has them: "x,y x,y".
  void polyline(std::string_view points, std::string_view style, double width = 2);

  /// `attributes` are written as they are.
  void open_group(std::string_view attributes);
  void close_group() { shapes_ += "</g>\n"; }

  /// To stand in a page that has the style sheet.
  std::string element(double width, double height, std::string_view label) const;
  /// To stand alone in a file.
  std::string document(double width, double height) const;

 private:
  template <class... Values>
  void write(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(shapes_), format, std::forward<Values>(values)...);
  }
  void close_shape(const char* name, std::string_view title);

  std::string shapes_;
};

}  // namespace nearfar::plot
