// `nearfar compose`: all combinations of some designs, and which of them get on.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

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
#include "designs/names.h"
#include "plot/svg.h"
#include "report/composition.h"
#include "report/page.h"

namespace nearfar {
namespace {

constexpr std::size_t kMostDesigns = 8;  // 256 combinations

struct ComposeArguments {
  SweepArguments sweep;
  std::string designs;
  std::string json, html;
};

std::vector<std::string> read_designs(const ComposeArguments& arguments) {
  if (arguments.sweep.workloads.empty() || arguments.designs.empty()) {
    throw InputError(
        "`nearfar compose` needs WORKLOADS and --designs, as in `nearfar compose MT PR --designs a,b,c`; `nearfar list "
        "designs` shows them all.");
  }
  std::vector<std::string> designs = split(arguments.designs, ',');
  for (const std::string& design : designs) {
    if (parse_designs(design).size() != 1) {
      throw InputError(fmt::format("--designs takes single designs with commas between; `{}` is not one.", design));
    }
  }
  refuse_repeated("design", designs);
  if (designs.size() > kMostDesigns) {
    throw InputError(fmt::format("--designs takes at most {} designs, since every combination is run; these are {}.",
                                 kMostDesigns, designs.size()));
  }
  return designs;
}

/// All subsets. Those of two and more designs may be refused; each design alone must fit the system.
Composition plan(const ComposeArguments& arguments) {
  Composition composition;
  composition.designs = read_designs(arguments);
  refuse_repeated("workload", arguments.sweep.workloads);
  composition.workloads = arguments.sweep.workloads;
  const std::uint32_t count = 1U << composition.designs.size();
  for (std::uint32_t members = 0; members < count; ++members) {
    Combination& combination = composition.combinations.emplace_back();
    combination.members = members;
    combination.label = combination_label(composition.designs, members);
    combination.cycles.resize(composition.workloads.size());
    const bool single = (members & (members - 1)) == 0;
    try {
      make_machine(arguments.sweep.system, combination.label, arguments.sweep.overrides);
    } catch (const InputError& error) {
      if (single) throw;
      combination.refused = error.what();
    }
  }
  return composition;
}

void measure(Composition& composition, const ComposeArguments& arguments) {
  std::vector<NamedRun> runs;
  std::vector<std::vector<double>*> places;
  for (Combination& combination : composition.combinations) {
    if (!combination.refused.empty()) continue;
    combination.repeats.resize(composition.workloads.size());
    for (std::size_t w = 0; w < composition.workloads.size(); ++w) {
      runs.push_back(sweep_run(arguments.sweep, composition.workloads[w], combination.label, {}));
      places.push_back(&combination.repeats[w]);
    }
  }
  const std::vector<std::vector<double>> cycles = repeat_sweep(runs, arguments.sweep);
  for (std::size_t i = 0; i < cycles.size(); ++i) *places[i] = cycles[i];
  analyse(composition);
}

std::string factor(const std::optional<double>& value, const std::optional<Interval>& interval = std::nullopt) {
  return value ? speedup_text(*value, interval.value_or(Interval{})) : "-";
}

/// Combinations are measured against the one without designs, which therefore has no spread.
std::optional<Interval> speedup_interval_of(const Combination& combination, std::size_t workload) {
  if (combination.members == 0 || combination.intervals.empty()) return std::nullopt;
  return combination.intervals[workload];
}
std::optional<Interval> mean_interval_of(const Combination& combination) {
  return combination.members == 0 ? std::nullopt : combination.mean_interval;
}

std::string combinations_table(const Composition& composition, const Terminal& terminal) {
  std::vector<Table::Column> columns = {{"combination"}};
  for (const std::string& workload : composition.workloads) columns.push_back({workload, Align::Right});
  const bool several = composition.workloads.size() > 1;
  if (several) columns.push_back({"mean", Align::Right});
  columns.push_back({"", Align::Left, Tint::Cyan});
  Table table(columns, 2);
  double largest = 0;
  const auto high = [](const Combination& each) {
    return each.mean_interval ? each.mean_interval->high : each.mean.value_or(0);
  };
  for (const Combination& each : composition.combinations) largest = std::max(largest, high(each));
  for (const Combination& each : composition.combinations) {
    if (!each.refused.empty()) continue;
    std::vector<std::string> cells = {each.label};
    for (std::size_t w = 0; w < each.speedups.size(); ++w)
      cells.push_back(factor(each.speedups[w], speedup_interval_of(each, w)));
    if (several) cells.push_back(factor(each.mean, mean_interval_of(each)));
    const bool noise = each.mean_interval && each.mean_interval->within_noise_of(1);
    cells.push_back(bar_with_whisker(each.mean.value_or(0), high(each), largest, kBarWidth) +
                    (noise ? " within noise" : ""));
    table.row(cells);
  }
  return table.text(terminal);
}

std::string effects_table(const Composition& composition, const Terminal& terminal) {
  Table table({{"design"}, {"alone", Align::Right}, {"with others", Align::Right}}, 2);
  for (std::size_t i = 0; i < composition.designs.size(); ++i) {
    const DesignEffect& effect = composition.effects[i];
    table.row({composition.designs[i], factor(effect.alone, effect.alone_interval),
               factor(effect.average, effect.average_interval)});
  }
  return table.text(terminal);
}

std::string pairs_table(const Composition& composition, const Terminal& terminal) {
  std::vector<Table::Column> columns = {
      {"pair"}, {"interaction", Align::Right}, {"with others", Align::Right}, {"they", Align::Left, Tint::Bold}};
  const bool several = composition.workloads.size() > 1;
  if (several) {
    for (const std::string& workload : composition.workloads) columns.push_back({workload, Align::Right, Tint::Dim});
  }
  Table table(columns, 2);
  for (const PairEffect& pair : composition.pairs) {
    std::vector<std::string> cells = {composition.designs[pair.first] + " + " + composition.designs[pair.second],
                                      factor(pair.interaction, pair.interaction_interval),
                                      factor(pair.average, pair.average_interval),
                                      relationship_name(pair.relationship)};
    if (several) {
      for (const auto& each : pair.by_workload) cells.push_back(factor(each));
    }
    table.row(cells);
  }
  return table.text(terminal);
}

std::string refusals(const Composition& composition) {
  const auto least = least_refused(composition);
  if (least.empty()) return "";
  std::string out = "\nrefused\n";
  for (const Combination* each : least) out += fmt::format("  {}: {}\n", each->label, each->refused);
  const auto all = static_cast<std::size_t>(
      std::ranges::count_if(composition.combinations, [](const Combination& each) { return !each.refused.empty(); }));
  if (all > least.size()) out += fmt::format("  and {} combinations that contain such a one\n", all - least.size());
  return out;
}

std::string heading(const ComposeArguments& arguments) {
  std::string out =
      fmt::format("size {}, seed {}, system {}", arguments.sweep.size, arguments.sweep.seed, arguments.sweep.system);
  for (const std::string& setting : arguments.sweep.overrides) out += ", " + setting;
  return out;
}

std::string summary(const Composition& composition, const ComposeArguments& arguments, const Terminal& terminal) {
  std::string out = heading(arguments) + "; speedups are against no design" + repeats_heading(arguments.sweep) +
                    "\n\n" + combinations_table(composition, terminal) + "\n" + effects_table(composition, terminal);
  if (!composition.pairs.empty()) {
    out += "\n" + pairs_table(composition, terminal) +
           fmt::format(
               "\nAn interaction is what a pair is worth over the product of both; within {:g} % of 1 they add up.\n",
               100 * Composition::kThreshold);
  }
  return out + refusals(composition);
}

std::string html_of(const Composition& composition, const ComposeArguments& arguments) {
  using plot::escaped;
  std::vector<PageSection> sections;
  for (const FigureData& figure : composition_figures(composition)) {
    sections.push_back({figure.id, figure.title, figure_html(figure)});
  }
  std::vector<std::vector<std::string>> pairs;
  for (const PairEffect& pair : composition.pairs) {
    pairs.push_back({escaped(composition.designs[pair.first] + " + " + composition.designs[pair.second]),
                     relationship_name(pair.relationship), factor(pair.interaction, pair.interaction_interval),
                     factor(pair.average, pair.average_interval)});
  }
  std::vector<std::vector<std::string>> designs;
  for (std::size_t i = 0; i < composition.designs.size(); ++i) {
    const DesignEffect& effect = composition.effects[i];
    designs.push_back({escaped(composition.designs[i]), factor(effect.alone, effect.alone_interval),
                       factor(effect.average, effect.average_interval)});
  }
  sections.push_back({"effects", "Effects",
                      table_html({"design", "alone", "average with others"}, designs, 1) +
                          table_html({"pair", "they", "interaction", "average with others"}, pairs, 2)});
  return page_html(fmt::format("{} on {}", join(composition.designs, ", "), join(arguments.sweep.workloads, ", ")),
                   fmt::format("<p class=\"pale\">{}</p>", escaped(heading(arguments))), sections);
}

void perform_compose(const ComposeArguments& arguments) {
  std::optional<OutputFile> json, html;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.html.empty()) html.emplace(arguments.html);
  const bool to_stdout = check_outputs({&json, &html});
  Composition composition = plan(arguments);
  measure(composition, arguments);
  if (json) json->write(composition_json(composition));
  if (html) html->write(html_of(composition, arguments));
  if (!to_stdout) write_stdout(summary(composition, arguments, Terminal::of(STDOUT_FILENO)));
}

}  // namespace

Command add_compose_command(CLI::App& program) {
  auto arguments = std::make_shared<ComposeArguments>();
  CLI::App& app = add_command(program, "compose", "Run all combinations of designs: which add up, overlap or fight");
  using namespace value_kind;
  add_value(app, "--designs,--design", arguments->designs, kDesigns, "The designs, with commas between");
  add_sweep_options(app, arguments->sweep);
  add_value(app, "--json", arguments->json, kFile, "Write everything as JSON; - is standard output");
  add_value(app, "--html", arguments->html, kFile, "Write a page with figures; - is standard output");
  return {&app, [arguments] { perform_compose(*arguments); }};
}

}  // namespace nearfar
