// Writing the elements of SVG.
#include "plot/svg.h"

#include <algorithm>

#include "plot/theme.h"

namespace nearfar::plot {
namespace {

const char* name_of(Anchor anchor) {
  switch (anchor) {
    case Anchor::Start: return "start";
    case Anchor::Middle: return "middle";
    case Anchor::End: return "end";
  }
  return "";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

double text_width(std::string_view text, double font_size) {
  // Of an em, as DejaVu Sans has them; other usual fonts are narrower.
  constexpr double kNarrow = 0.36, kUsual = 0.61, kWide = 0.85;
  double ems = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U) continue;
    const bool narrow = std::string_view("fijlrtI .,:;'|()[]-").find(c) != std::string_view::npos;
    const bool wide = std::string_view("mwMWGOQ%@").find(c) != std::string_view::npos;
    ems += narrow ? kNarrow : wide ? kWide : kUsual;
  }
  return ems * font_size;
}

std::vector<std::string> wrapped(std::string_view text, double width, double font_size) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    std::string& line = lines.back();
    const std::string longer = line.empty() ? std::string(word) : fmt::format("{} {}", line, word);
    if (line.empty() || text_width(longer, font_size) <= width) {
      line = longer;
    } else {
      lines.emplace_back(word);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void Svg::text(double x, double y, Anchor anchor, std::string_view words, std::string_view style, double font_size,
               bool bold) {
  write("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\" font-size=\"{:g}\"{}>{}</text>\n", x, y,
        name_of(anchor), style, font_size, bold ? " font-weight=\"bold\"" : "", escaped(words));
}

void Svg::turned_text(double x, double y, Anchor anchor, std::string_view words, std::string_view style,
                      double font_size, double degrees) {
  write(
      "<text transform=\"translate({:.1f} {:.1f}) rotate({:g})\" text-anchor=\"{}\" class=\"{}\" "
      "font-size=\"{:g}\">{}</text>\n",
      x, y, degrees, name_of(anchor), style, font_size, escaped(words));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style, double width, bool dashed) {
  write("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\" stroke-width=\"{:g}\"{}/>\n", x1,
        y1, x2, y2, style, width, dashed ? " stroke-dasharray=\"5 3\"" : "");
}

void Svg::close_shape(const char* name, std::string_view title) {
  if (title.empty()) {
    shapes_ += "/>\n";
  } else {
    write("><title>{}</title></{}>\n", escaped(title), name);
  }
}

void Svg::rect(double x, double y, double width, double height, std::string_view style, std::string_view title,
               double opacity) {
  write("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"", x, y, width, height, style);
  if (opacity < 1) write(" fill-opacity=\"{:.2f}\"", opacity);
  close_shape("rect", title);
}

void Svg::circle(double x, double y, double radius, std::string_view style, std::string_view title) {
  write("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" class=\"{}\"", x, y, radius, style);
  close_shape("circle", title);
}

void Svg::ring(double x, double y, double radius, std::string_view style) {
  write("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"none\" class=\"{}\" stroke-width=\"1.5\"/>\n", x, y,
        radius, style);
}

void Svg::frame(double x, double y, double width, double height, std::string_view style) {
  write(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" class=\"{}\" "
      "stroke-width=\"2\"/>\n",
      x, y, width, height, style);
}

void Svg::diamond(double x, double y, double radius, std::string_view style, std::string_view title, bool hollow) {
  write("<path d=\"M{:.1f} {:.1f}l{:g} {:g}l{:g} {:g}l{:g} {:g}z\" class=\"{}\"{}", x, y - radius, radius, radius,
        -radius, radius, -radius, -radius, style,
        hollow ? " fill=\"none\" stroke-width=\"1.3\" pointer-events=\"all\"" : "");
  close_shape("path", title);
}

void Svg::polyline(std::string_view points, std::string_view style, double width) {
  write("<polyline points=\"{}\" fill=\"none\" class=\"{}\" stroke-width=\"{:g}\" stroke-linejoin=\"round\"/>\n",
        points, style, width);
}

void Svg::open_group(std::string_view attributes) { write("<g {}>\n", attributes); }

std::string Svg::element(double width, double height, std::string_view label) const {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"sans-serif\">\n{3}</svg>\n",
      width, height, escaped(label), shapes_);
}

std::string Svg::document(double width, double height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"sans-serif\">\n<style>{2}</style>\n<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n"
      "{3}</svg>\n",
      width, height, style_sheet(), shapes_);
}

}  // namespace nearfar::plot
