// `nearfar report`: the page and the figures of all that the store knows. Runs nothing.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/version.h"
#include "config/error.h"
#include "plot/png.h"
#include "report/claims_file.h"
#include "report/collect.h"
#include "report/figure_svg.h"
#include "report/figure_text.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::vector<std::string> studies;
  std::string output = "report.html", figures;
  std::string database = kDefaultDatabase;
  std::string size, repeat;
  bool quick = false, no_png = false;
};

std::vector<Study> read_studies(const ReportArguments& arguments) {
  StudyChanges changes;
  if (!arguments.size.empty()) changes.size = parse_size(arguments.size);
  if (arguments.quick) changes.size = SizeClass::Small;
  changes.repeat = read_study_repeat(arguments.repeat, arguments.quick);
  std::vector<std::string> names = arguments.studies;
  if (names.empty()) {
    for (const StudySummary& study : list_studies()) names.push_back(study.name);
  }
  std::vector<Study> studies;
  for (const std::string& name : names) studies.push_back(read_study(name, changes));
  return studies;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(fmt::format("The folder `{}` cannot be made: {}.", folder, error.message()));
  }
}

void need_store(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) return;
  if (error) throw InputError(fmt::format("The store `{}` cannot be read: {}.", path, error.message()));
  throw InputError(fmt::format(
      "There is no store `{}`; `nearfar reproduce` or `nearfar study` makes one, --database names another.", path));
}

/// SVG, PNG and CSV of each, named by study and figure.
void write_figures(const std::vector<FigureData>& figures, const ReportArguments& arguments) {
  for (const FigureData& figure : figures) {
    const std::string base = (fs::path(arguments.figures) / fmt::format("{}-{}", figure.study, figure.id)).string();
    const std::string svg = figure_svg(figure);
    OutputFile(base + ".svg").write(svg);
    if (!arguments.no_png) OutputFile(base + ".png").write(plot::png_of(svg));
    OutputFile(base + ".csv").write(figure_csv(figure));
  }
}

void perform_report(const ReportArguments& arguments) {
  refuse_repeated("study", arguments.studies);
  const OutputFile page(arguments.output);
  need_store(arguments.database);
  if (!arguments.figures.empty()) {
    make_folder(arguments.figures);
    if (!arguments.no_png) plot::need_png();
  }
  const ResultStore store(arguments.database);
  ReportContent content = collect(read_papers(), read_studies(arguments), store);
  content.version = version();
  page.write(report_html(content));
  const std::vector<FigureData> figures = all_figures(content);
  if (!arguments.figures.empty()) write_figures(figures, arguments);
  if (!page.is_stdout()) {
    write_stdout(fmt::format("{}: {} claims, {} figures, {} runs; {} claims are measured\n", arguments.output,
                             content.claims.size(), figures.size(), content.runs.size(),
                             std::ranges::count_if(content.claims, [](const MeasuredClaim& claim) {
                               return claim.verdict != Verdict::NotMeasured;
                             })));
  }
}

}  // namespace

Command add_report_command(CLI::App& program) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App& app = add_command(program, "report", "Write a page of all claims and figures from stored results");
  using namespace value_kind;
  add_words(app, "STUDIES", arguments->studies, kStudies, "Names in studies/ or .yaml files; none is all of them");
  add_value(app, "-o,--output", arguments->output, kFile, "The page; - is standard output");
  add_value(app, "--figures", arguments->figures, kFolder, "A folder for SVG, PNG and CSV of each figure");
  add_flag(app, "--no-png", arguments->no_png, "No PNG among them");
  add_value(app, "--database", arguments->database, kFile, "The store of results");
  add_value(app, "--size", arguments->size, kSize, "Of results of this size, whatever the studies say");
  add_study_repeat_option(app, arguments->repeat);
  add_flag(app, "--quick", arguments->quick,
           "The same as --size small --repeat 1: what `nearfar reproduce --quick` measured");
  return {&app, [arguments] { perform_report(*arguments); }};
}

}  // namespace nearfar
