// The frame of all pages.
#include "report/page.h"

#include <fmt/format.h>

#include <iterator>

#include "plot/svg.h"
#include "plot/theme.h"
#include "report/figure_svg.h"
#include "report/figure_text.h"

namespace nearfar {
namespace {

using plot::escaped;

const char* kind_name(FigureKind kind) {
  switch (kind) {
    case FigureKind::Bars: return "bars";
    case FigureKind::Lines: return "lines";
    case FigureKind::Stacked: return "stacked";
    case FigureKind::Cdf: return "cdf";
    case FigureKind::Heat: return "heat";
  }
  return "";
}

std::string numbers_of(const FigureData& figure) {
  std::vector<std::string> titles = {""};
  for (const FigureSeries& series : figure.series) titles.push_back(escaped(series.label));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < figure.categories.size(); ++k) {
    auto& row = rows.emplace_back(std::vector<std::string>{escaped(figure.categories[k])});
    for (const FigureSeries& series : figure.series) {
      row.push_back(series.values[k] ? escaped(value_text(figure, series, k)) : "–");
    }
  }
  return table_html(titles, rows, 1);
}

}  // namespace

std::string page_html(const std::string& title, const std::string& lead, const std::vector<PageSection>& sections) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // The browser itself keeps the page from asking for anything.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{0}</title>\n<style>\n{1}{2}\n</style>\n</head>\n<body>\n<nav>\n",
      escaped(title), page_style(), plot::page_style_sheet());
  for (const PageSection& section : sections) {
    fmt::format_to(std::back_inserter(out), "<a href=\"#{}\">{}</a>\n", escaped(section.id), escaped(section.title));
  }
  fmt::format_to(std::back_inserter(out),
                 "<button id=\"theme\" type=\"button\">light / dark</button>\n</nav>\n<h1>{}</h1>\n{}\n",
                 escaped(title), lead);
  for (const PageSection& section : sections) {
    fmt::format_to(std::back_inserter(out), "<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", escaped(section.id),
                   escaped(section.title), section.html);
  }
  fmt::format_to(std::back_inserter(out),
                 "<div id=\"tip\" role=\"tooltip\"></div>\n<script>\n{}</script>\n</body>\n</html>\n", page_script());
  return out;
}

std::string figure_html(const FigureData& figure) {
  std::string out =
      fmt::format("<figure data-kind=\"{}\">\n<div class=\"wide\">{}</div><div class=\"narrow\">{}</div><figcaption>",
                  kind_name(figure.kind), figure_element(figure), figure_element(figure, kColumnWidth));
  for (const std::string& note : figure.notes) out += escaped(note) + "<br>";
  return out + "</figcaption>\n<details><summary>numbers</summary>\n" + numbers_of(figure) + "</details>\n</figure>\n";
}

std::string table_html(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
                       std::size_t first_number) {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& html) {
    return column >= first_number ? fmt::format("<{0} class=\"number\">{1}</{0}>", tag, html)
                                  : fmt::format("<{0}>{1}</{0}>", tag, html);
  };
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t i = 0; i < titles.size(); ++i) out += cell("th", i, titles[i]);
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) out += cell("td", i, row[i]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace nearfar
