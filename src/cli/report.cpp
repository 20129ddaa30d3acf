// `nearfar report`: the page and the figures of all that the store knows. Runs nothing.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "calibrate/claim_readings.h"
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
  std::vector<std::string> names;  ///< of papers and studies
  std::string output = "report.html", figures;
  std::string database = kDefaultDatabase;
  std::string size, repeat;
  bool quick = false, no_png = false;
};

bool is_paper(const std::string& name) {
  const std::vector<std::string> papers = paper_names();
  return std::ranges::find(papers, name) != papers.end();
}

/// The studies among the names, and those that measure the papers among them.
std::vector<std::string> studies_asked_for(const std::vector<std::string>& names) {
  std::vector<std::string> papers, studies;
  for (const std::string& name : names) (is_paper(name) ? papers : studies).push_back(name);
  if (papers.empty()) return studies;
  for (const std::string& study : claimed_studies(read_papers(papers))) {
    if (std::ranges::find(studies, study) == studies.end()) studies.push_back(study);
  }
  return studies;
}

/// Leaves the claims of the papers that were named, and those that the studies that were named measure.
void keep_asked_for(ReportContent& content, const std::vector<std::string>& names) {
  if (names.empty()) return;
  content.asked = true;
  const auto named = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  const auto measured_there = [&](const Claim& claim) {
    return std::ranges::any_of(content.studies, [&](const ReportedStudy& study) { return study.id == claim.study; });
  };
  std::erase_if(content.claims, [&](const MeasuredClaim& measured) {
    return !named(measured.claim->paper) && !measured_there(*measured.claim);
  });
}

/// Of the size that was asked for, else each of the size that the store knows most of.
std::vector<Study> read_studies(const ReportArguments& arguments, const ResultStore& store) {
  StudyChanges changes;
  if (!arguments.size.empty()) changes.size = parse_size(arguments.size);
  if (arguments.quick) changes.size = SizeClass::Small;
  changes.repeat = read_study_repeat(arguments.repeat, arguments.quick);
  std::vector<std::string> names = studies_asked_for(arguments.names);
  if (names.empty()) {
    for (const StudySummary& study : need_studies()) names.push_back(study.name);
  }
  std::vector<Study> studies;
  for (const std::string& name : names) {
    studies.push_back(changes.size ? read_study(name, changes) : most_measured(read_study(name, changes), store));
  }
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

/// A figure's files, named by study and figure. Made before anything is written, so that a place that cannot be written
/// to is found first.
struct FigureFiles {
  OutputFile svg, column_svg, png, pdf, csv;
};

std::vector<FigureFiles> figure_files(const std::vector<FigureData>& figures, const std::string& folder) {
  std::vector<FigureFiles> files;
  for (const FigureData& figure : figures) {
    const std::string base = (fs::path(folder) / fmt::format("{}-{}", figure.study, figure.id)).string();
    files.push_back({OutputFile(base + ".svg"), OutputFile(base + "-column.svg"), OutputFile(base + ".png"),
                     OutputFile(base + "-column.pdf"), OutputFile(base + ".csv")});
  }
  return files;
}

void write_figures(const std::vector<FigureData>& figures, const std::vector<FigureFiles>& files, bool no_png) {
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string svg = figure_svg(figures[i]), column = column_svg(figures[i]);
    files[i].svg.write(svg);
    files[i].column_svg.write(column);
    if (!no_png) {
      files[i].png.write(plot::png_of(svg));
      files[i].pdf.write(plot::pdf_of(column));
    }
    files[i].csv.write(figure_csv(figures[i]));
  }
}

void need_results(const ReportContent& content, const ReportArguments& arguments) {
  if (!content.runs.empty()) return;
  const std::string size = arguments.quick ? "small" : arguments.size;
  throw InputError(fmt::format(
      "The store `{}` has no result of {}{} that this version of the model made (model {}); `nearfar study NAME "
      "--quick` or `nearfar reproduce` makes some.",
      arguments.database, arguments.names.empty() ? "any study" : "these studies",
      size.empty() ? "" : fmt::format(" on {} inputs", size), content.model.substr(0, 12)));
}

std::string closing_line(const ReportContent& content, const std::vector<FigureData>& figures) {
  const auto count = [&](Verdict verdict) {
    return std::ranges::count(content.claims, verdict, &MeasuredClaim::verdict);
  };
  const auto all = static_cast<std::ptrdiff_t>(content.claims.size());
  std::string out = fmt::format("{} figures, {} runs; {} of {} claims are measured", figures.size(),
                                content.runs.size(), all - count(Verdict::NotMeasured), all);
  if (const auto quick = count(Verdict::NotJudged); quick > 0) {
    out += fmt::format(", {} of them on other inputs than the study's and without a verdict", quick);
  }
  return out + "\n";
}

void perform_report(const ReportArguments& arguments) {
  refuse_repeated("paper or study", arguments.names);
  const OutputFile page(arguments.output);
  need_store(arguments.database);
  if (!arguments.figures.empty()) {
    make_folder(arguments.figures);
    if (!arguments.no_png) plot::need_png();
  }
  const ResultStore store(arguments.database);
  std::vector<Paper> papers = read_papers();
  const std::vector<Study> studies = read_studies(arguments, store);
  const std::vector<Frozen> frozen = read_frozen();
  const std::vector<Study> on_chosen = on_frozen(studies, papers, frozen);
  ReportContent content = collect(std::move(papers), on_chosen, store);
  add_readings(content.claims, studies, content.papers, frozen, store);
  keep_asked_for(content, arguments.names);
  content.version = version();
  need_results(content, arguments);
  const std::vector<FigureData> figures = all_figures(content);
  std::vector<FigureFiles> files;
  if (!arguments.figures.empty()) files = figure_files(figures, arguments.figures);
  page.write(report_html(content));
  if (!files.empty()) write_figures(figures, files, arguments.no_png);
  if (!page.is_stdout()) write_stdout(fmt::format("{}: {}", arguments.output, closing_line(content, figures)));
}

}  // namespace

Command add_report_command(CLI::App& program) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App& app = add_command(program, "report", "Write a page of all claims and figures from stored results");
  using namespace value_kind;
  add_words(app, "NAMES", arguments->names, kPapersAndStudies,
            "Papers in claims/, studies in studies/ or .yaml files; none is all that the store has results of");
  add_value(app, "-o,--output", arguments->output, kFile, "The page; - is standard output");
  add_value(app, "--figures", arguments->figures, kFolder,
            "A folder for each figure as SVG, PNG and CSV, and as SVG and PDF in the width of a paper's column");
  add_flag(app, "--no-png", arguments->no_png, "No PNG and PDF among them");
  add_value(app, "--database", arguments->database, kFile, "The store of results");
  add_value(app, "--size", arguments->size, kSize,
            "Only results of this size; else of the size that most is measured of");
  add_study_repeat_option(app, arguments->repeat);
  add_flag(app, "--quick", arguments->quick,
           "The same as --size small --repeat 1: what `nearfar reproduce --quick` measured");
  return {&app, [arguments] { perform_report(*arguments); }};
}

}  // namespace nearfar
