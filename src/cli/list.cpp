// `nearfar list`: what there is to run, to run it on, to change in it and to learn from it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "characterize/functional/functional_pass.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/listed_statistics.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/table.h"
#include "config/bibliography.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "designs/design.h"
#include "designs/names.h"
#include "machine/statistics.h"
#include "study/study_file.h"
#include "workload/expected.h"
#include "workload/mixes.h"
#include "workload/suites.h"

namespace nearfar {

std::vector<StatInfo> statistics_of_runs_and_passes() {
  std::vector<StatInfo> all = list_all_statistics();
  for (StatInfo& stat : functional_statistics()) all.push_back(std::move(stat));
  std::ranges::sort(all, {}, &StatInfo::name);
  return all;
}

namespace {

struct ListArguments {
  std::string subject;
  bool details = false;
};

/// "Many walkers. [Li et al., HPCA 2023]"
std::string with_paper(const std::string& sentence, const std::string& paper) {
  return paper.empty() ? sentence : fmt::format("{} [{}]", sentence, short_citation(paper));
}

std::string workloads(const Terminal& terminal) {
  Table table({{"workload", Align::Left, Tint::Bold}, {"title"}, {"suite"}, {"what it does", Align::Left, Tint::Dim}});
  for (const WorkloadInfo& info : catalog()) table.row({info.name, info.title, info.suite, info.sentence});
  Table together({{"mix", Align::Left, Tint::Bold}, {"one on each GPU"}, {"TLB misses", Align::Left, Tint::Dim}});
  for (const Mix& mix : mixes()) together.row({mix.name, join(mix.workloads, "+"), mix.classes});
  return table.text(terminal) + "\n" + together.text(terminal);
}

/// A row that says something of every size.
std::vector<std::string> size_row(const std::string& title, const WorkloadInfo& info, const std::string& meaning,
                                  std::string (*text)(const Expected&)) {
  std::vector<std::string> row{title};
  for (const SizeClass size : {SizeClass::Small, SizeClass::Medium, SizeClass::Paper}) {
    row.push_back(text(expected(info.name, size)));
  }
  row.push_back(meaning);
  return row;
}

std::string workloads_in_detail(const Terminal& terminal) {
  std::string out;
  for (const WorkloadInfo& info : catalog()) {
    const std::string paper = citation(suite_paper(info.suite));
    out += fmt::format("{}{}, {} ({}{}{})\n  {}\n\n", out.empty() ? "" : "\n", terminal.paint(Tint::Bold, info.name),
                       info.title, info.suite, paper.empty() ? "" : ": ", paper, info.sentence);
    Table table({{"parameter"},
                 {"small", Align::Right},
                 {"medium", Align::Right},
                 {"paper", Align::Right},
                 {"meaning", Align::Left, Tint::Dim}},
                2);
    for (const WorkloadParameter& parameter : info.parameters) {
      table.row({parameter.name, grouped(parameter.small), grouped(parameter.medium), grouped(parameter.paper),
                 parameter.sentence});
    }
    table.row(size_row("footprint", info, "bytes of all buffers",
                       [](const Expected& e) { return size_text(static_cast<double>(e.bytes)); }));
    table.row(size_row("accesses", info, "lines touched by vector memory instructions",
                       [](const Expected& e) { return count_text(static_cast<double>(e.accesses)); }));
    out += table.text(terminal);
  }
  return out;
}

std::string systems(const Terminal& terminal) {
  Table table({{"system", Align::Left, Tint::Bold}, {"what it is", Align::Left, Tint::Dim}});
  for (const SystemSummary& system : list_systems()) {
    table.row({system.name, with_paper(system.sentence, system.paper)});
  }
  return table.text(terminal);
}

std::string designs(const Terminal& terminal) {
  Table table({{"design", Align::Left, Tint::Bold}, {"what it is", Align::Left, Tint::Dim}});
  for (const DesignInfo& design : list_designs()) {
    table.row({design.name, with_paper(design.sentence, design.paper)});
  }
  return table.text(terminal);
}

std::string studies(const Terminal& terminal) {
  Table table({{"study", Align::Left, Tint::Bold}, {"what it shows", Align::Left, Tint::Dim}});
  for (const StudySummary& study : need_studies()) table.row({study.name, study.title});
  return table.text(terminal);
}

/// What was published, by the names that claims and settings refer to.
std::string papers(const Terminal& terminal) {
  Table table({{"paper", Align::Left, Tint::Bold}, {"publication", Align::Left, Tint::Dim}});
  for (const Publication& publication : bibliography()) {
    table.row({std::string(publication.key), citation(publication.key)});
  }
  return table.text(terminal);
}

std::string statistics(const Terminal& terminal) {
  Table table({{"statistic", Align::Left, Tint::Bold}, {"unit"}, {"meaning", Align::Left, Tint::Dim}});
  for (const StatInfo& stat : statistics_of_runs_and_passes()) table.row({stat.name, stat.unit, stat.sentence});
  return table.text(terminal);
}

void perform_list(const ListArguments& arguments) {
  const Terminal terminal = Terminal::of(STDOUT_FILENO);
  const std::vector<std::string> subjects = {"workloads", "systems", "designs", "statistics", "studies", "papers"};
  const auto subject = std::ranges::find(subjects, arguments.subject) - subjects.begin();
  if (arguments.details && subject != 0) throw InputError("--details is for `nearfar list workloads` only.");
  switch (subject) {
    case 0: return write_stdout(arguments.details ? workloads_in_detail(terminal) : workloads(terminal));
    case 1: return write_stdout(systems(terminal));
    case 2: return write_stdout(designs(terminal));
    case 3: return write_stdout(statistics(terminal));
    case 4: return write_stdout(studies(terminal));
    case 5: return write_stdout(papers(terminal));
    default: break;
  }
  if (arguments.subject.empty()) throw InputError("`nearfar list` needs one of: " + join(subjects, ", ") + ".");
  throw InputError(fmt::format("`nearfar list` knows {}, not `{}`.{}", join(subjects, ", "), arguments.subject,
                               did_you_mean(arguments.subject, subjects)));
}

}  // namespace

Command add_list_command(CLI::App& program) {
  auto arguments = std::make_shared<ListArguments>();
  CLI::App& app =
      add_command(program, "list", "List the workloads, systems, designs, statistics, studies or papers there are");
  add_value(app, "SUBJECT", arguments->subject, value_kind::kSubject,
            "workloads, systems, designs, statistics, studies or papers");
  add_flag(app, "--details", arguments->details, "Of workloads, also parameters, footprint and accesses in every size");
  return {&app, [arguments] { perform_list(*arguments); }};
}

}  // namespace nearfar
