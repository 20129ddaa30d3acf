// `nearfar tune`: one or two values of the system in several settings, and where more stops paying off.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "cli/bars.h"
#include "cli/batch.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/report_json.h"
#include "cli/table.h"
#include "config/error.h"
#include "config/words.h"
#include "plot/png.h"
#include "plot/svg.h"
#include "report/figure_svg.h"
#include "report/page.h"
#include "report/tuning.h"

namespace nearfar {
namespace {

constexpr std::size_t kMostSettings = 1024;

struct TuneArguments {
  SweepArguments sweep;
  std::string design = "baseline";
  std::vector<std::string> vary;
  std::string json, svg, png, html;
};

TunedParameter parse_vary(const std::string& text) {
  const std::size_t equals = text.find('=');
  TunedParameter parameter;
  if (equals != std::string::npos) {
    parameter.key = text.substr(0, equals);
    parameter.settings = split(text.substr(equals + 1), ',');
  }
  if (parameter.key.empty() || parameter.settings.size() < 2 || std::ranges::count(parameter.settings, "") > 0) {
    throw InputError(fmt::format(
        "--vary wants key=v1,v2,… with the cheapest setting first, such as iommu.walkers=1,2,4,8; `{}` is not.", text));
  }
  for (const std::string& setting : parameter.settings) {
    if (std::ranges::count(parameter.settings, setting) > 1) {
      throw InputError(fmt::format("--vary {} names the setting `{}` twice.", parameter.key, setting));
    }
  }
  return parameter;
}

Tuning plan(const TuneArguments& arguments) {
  if (arguments.sweep.workloads.empty() || arguments.vary.empty() || arguments.vary.size() > 2) {
    throw InputError(
        "`nearfar tune` needs WORKLOADS and one or two of --vary, as in `nearfar tune MT --vary "
        "iommu.walkers=1,2,4,8,16`.");
  }
  refuse_repeated("workload", arguments.sweep.workloads);
  Tuning tuning;
  tuning.workloads = arguments.sweep.workloads;
  for (const std::string& text : arguments.vary) {
    tuning.parameters.push_back(parse_vary(text));
    refuse_set_too("--vary " + text, tuning.parameters.back().key, arguments.sweep.overrides);
    refuse_varied_draw(tuning.parameters.back().key, arguments.sweep.repeat);
  }
  if (tuning.parameters.size() == 2 && tuning.parameters[0].key == tuning.parameters[1].key) {
    throw InputError(fmt::format("--vary {} is given twice.", tuning.parameters[0].key));
  }
  if (tuning.points() > kMostSettings) {
    throw InputError(
        fmt::format("{} settings are more than the {} that --vary takes.", tuning.points(), kMostSettings));
  }
  return tuning;
}

std::vector<std::vector<double>> run_points(const std::vector<NamedRun>& runs, const Tuning& tuning,
                                            const SweepArguments& arguments) {
  try {
    return repeat_sweep(runs, arguments);
  } catch (const OverrideError& error) {
    std::vector<std::string> keys;
    for (const TunedParameter& parameter : tuning.parameters) keys.push_back(parameter.key);
    rethrow_varied(error, keys);
  }
}

void measure(Tuning& tuning, const TuneArguments& arguments) {
  std::vector<NamedRun> runs;
  for (const std::string& workload : tuning.workloads) {
    for (std::size_t point = 0; point < tuning.points(); ++point) {
      runs.push_back(sweep_run(arguments.sweep, workload, arguments.design, tuning.overrides(point)));
    }
  }
  const std::vector<std::vector<double>> cycles = run_points(runs, tuning, arguments.sweep);
  tuning.repeats.resize(tuning.workloads.size());
  for (std::size_t i = 0; i < cycles.size(); ++i) tuning.repeats[i / tuning.points()].push_back(cycles[i]);
  find_knees(tuning);
}

/// The upper end of a point's interval.
double high_of(const TunedCurve& curve, std::size_t point) {
  return curve.intervals.empty() ? curve.speedups[point] : curve.intervals[point].high;
}

/// The first point is what the others are measured against: it has no spread.
std::string speedup_of(const TunedCurve& curve, std::size_t point) {
  return speedup_text(curve.speedups[point],
                      curve.intervals.empty() || point == 0 ? Interval{} : curve.intervals[point]);
}

/// What is said of a setting in the table.
std::string mark(const Knee& knee, std::size_t point, std::size_t points) {
  std::vector<std::string> words;
  if (knee.enough == point) words.emplace_back("enough");
  if (knee.rising && point + 1 == points) words.emplace_back("still rises");
  if (knee.bend == point) words.emplace_back("knee");
  return join(words, ", ");
}

std::string curve_table(const Tuning& tuning, const Terminal& terminal) {
  std::vector<Table::Column> columns = {{tuning.parameters[0].key}};
  for (const TunedCurve& curve : tuning.curves) columns.push_back({curve.label, Align::Right});
  columns.push_back({"", Align::Left, Tint::Bold});
  columns.push_back({"", Align::Left, Tint::Cyan});
  Table table(columns, 2);
  const TunedCurve& whole = tuning.curves.back();
  double largest = 0;
  for (std::size_t point = 0; point < tuning.points(); ++point) largest = std::max(largest, high_of(whole, point));
  for (std::size_t point = 0; point < tuning.points(); ++point) {
    std::vector<std::string> cells = {tuning.label(point)};
    for (const TunedCurve& curve : tuning.curves) cells.push_back(speedup_of(curve, point));
    cells.push_back(mark(whole.knee, point, tuning.points()));
    cells.push_back(bar_with_whisker(whole.speedups[point], high_of(whole, point), largest, kWideBarWidth));
    table.row(cells);
  }
  return table.text(terminal);
}

/// The curve of two parameters: rows and columns.
std::string grid_table(const Tuning& tuning, const TunedCurve& curve, const Terminal& terminal) {
  const auto& [rows, columns] = std::tie(tuning.parameters[0], tuning.parameters[1]);
  std::vector<Table::Column> titles = {{rows.key + " \\ " + columns.key}};
  for (const std::string& setting : columns.settings) titles.push_back({setting, Align::Right});
  Table table(titles, 2);
  for (std::size_t row = 0; row < rows.settings.size(); ++row) {
    std::vector<std::string> cells = {rows.settings[row]};
    for (std::size_t column = 0; column < columns.settings.size(); ++column) {
      const std::size_t point = row * columns.settings.size() + column;
      cells.push_back(speedup_of(curve, point) + (curve.knee.enough == point ? " *" : ""));
    }
    table.row(cells);
  }
  return fmt::format("{}\n{}", curve.label, table.text(terminal));
}

std::string heading(const TuneArguments& arguments) {
  std::string out =
      fmt::format("size {}, seed {}, system {}", arguments.sweep.size, arguments.sweep.seed, arguments.sweep.system);
  if (arguments.design != "baseline") out += ", design " + arguments.design;
  for (const std::string& setting : arguments.sweep.overrides) out += ", " + setting;
  return out;
}

std::string summary(const Tuning& tuning, const TuneArguments& arguments, const Terminal& terminal) {
  std::string out = fmt::format("{}; speedups are against {}{}\n\n", heading(arguments), join(tuning.overrides(0), " "),
                                repeats_heading(arguments.sweep));
  if (tuning.parameters.size() == 1) {
    out += curve_table(tuning, terminal);
  } else {
    for (const TunedCurve& curve : tuning.curves) out += grid_table(tuning, curve, terminal) + "\n";
  }
  out += "\n";
  for (const TunedCurve& curve : tuning.curves) out += knee_sentence(tuning, curve) + "\n";
  return out;
}

std::string html_of(const Tuning& tuning, const TuneArguments& arguments) {
  std::string knees;
  for (const TunedCurve& curve : tuning.curves) knees += plot::escaped(knee_sentence(tuning, curve)) + "<br>";
  std::vector<PageSection> sections;
  for (const FigureData& figure : tuning_figures(tuning)) {
    sections.push_back({figure.id, figure.title, figure_html(figure)});
  }
  return page_html(fmt::format("{}: {}", join(arguments.sweep.workloads, ", "), join(arguments.vary, " ")),
                   fmt::format("<p class=\"pale\">{}</p><p>{}</p>", plot::escaped(heading(arguments)), knees),
                   sections);
}

void perform_tune(const TuneArguments& arguments) {
  std::optional<OutputFile> json, svg, png, html;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.svg.empty()) svg.emplace(arguments.svg);
  if (!arguments.html.empty()) html.emplace(arguments.html);
  if (!arguments.png.empty()) {
    png.emplace(arguments.png);
    plot::need_png();
  }
  const bool to_stdout = check_outputs({&json, &svg, &png, &html});
  Tuning tuning = plan(arguments);
  measure(tuning, arguments);
  if (json) json->write(tuning_json(tuning));
  // Of two parameters there is a figure for each workload; the last one is of all.
  const std::string picture = figure_svg(tuning_figures(tuning).back());
  if (svg) svg->write(picture);
  if (png) png->write(plot::png_of(picture));
  if (html) html->write(html_of(tuning, arguments));
  if (!to_stdout) write_stdout(summary(tuning, arguments, Terminal::of(STDOUT_FILENO)));
}

}  // namespace

Command add_tune_command(CLI::App& program) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App& app =
      add_command(program, "tune", "Sweep one or two values of a system and find where more stops paying off");
  using namespace value_kind;
  add_values(app, "--vary", arguments->vary, kSettings,
             "One value of the system in several settings, the cheapest first; may be given twice");
  add_value(app, "--design", arguments->design, kDesign, "Designs to switch on, as a or a+b");
  add_sweep_options(app, arguments->sweep);
  add_value(app, "--json", arguments->json, kFile, "Write everything as JSON; - is standard output");
  add_value(app, "--svg", arguments->svg, kFile, "Draw it; - is standard output");
  add_value(app, "--png", arguments->png, kFile, "The same as PNG; - is standard output");
  add_value(app, "--html", arguments->html, kFile, "Write a page with figures; - is standard output");
  return {&app, [arguments] { perform_tune(*arguments); }};
}

}  // namespace nearfar
