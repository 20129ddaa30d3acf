// `nearfar functional`: workloads through caches and coherence directories without time.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "characterize/functional/functional_pass.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/functional_report.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/result_json.h"
#include "cli/table.h"
#include "config/error.h"
#include "config/words.h"
#include "designs/names.h"
#include "stats/csv.h"

namespace nearfar {
namespace {

struct FunctionalArguments {
  std::vector<std::string> workloads;
  std::string size = "medium";
  std::vector<std::string> parameters;
  std::string seed = "1";
  std::string input;
  std::string system = "rec-4gpu";
  std::vector<std::string> overrides;
  std::string design = "baseline";
  std::string json, csv;
};

/// Names and parameters of all workloads, before the first is made.
void check_workloads(const std::vector<std::string>& names, const Experiment& experiment) {
  for (const std::string& name : names) {
    if (plan_applications(name, experiment, names).size() == 1) continue;
    throw InputError(
        fmt::format("`nearfar functional` takes one workload after another; {} is several at once.", name));
  }
}

/// A share in per cent; "-" where there is no such statistic.
std::string share(const FunctionalResult& result, const std::string& name) {
  const std::optional<double> value = result.find(name);
  return value ? fmt::format("{} %", fixed(100 * *value, 1)) : "-";
}

std::string count(const FunctionalResult& result, const std::string& name) {
  return count_text(result.find(name).value_or(0));
}

std::string table_of(const FunctionalReport& report, const Terminal& terminal) {
  Table table({{"workload", Align::Left, Tint::Bold},
               {"accesses", Align::Right},
               {"L1 hits", Align::Right},
               {"L2 misses", Align::Right},
               {"by evictions", Align::Right},
               {"lines/entry", Align::Right},
               {"reads", Align::Right},
               {"writes", Align::Right},
               {"invalidations", Align::Right},
               {"accesses/s", Align::Right, Tint::Dim}});
  for (const FunctionalOfWorkload& each : report.passes) {
    const FunctionalResult& result = each.result;
    const std::optional<double> lines = result.find(std::string("gpus.") + kLinesAtEviction);
    table.row({each.application.name, count_text(static_cast<double>(result.accesses)),
               share(result, "gpus.l1v.load_hit_rate"), share(result, std::string("gpus.") + kWarmMissRate),
               share(result, std::string("gpus.") + kEvictionShare), lines ? fixed(*lines, 2) : "-",
               count(result, "gpus.link.read_requests"), count(result, "gpus.link.write_requests"),
               count(result, "gpus.invalidation.received"),
               count_text(static_cast<double>(result.accesses) / result.host_seconds)});
  }
  return table.text(terminal);
}

constexpr const char* kMeaning =
    "L2 misses: share of lookups, cold misses left out. By evictions: share of the copies in L2s that invalidations "
    "dropped whose directory entry had been replaced. Lines/entry: mean tracked by a replaced entry. Reads, writes: "
    "requests over links.\n";

std::string heading(const FunctionalReport& report) {
  std::string out =
      fmt::format("size {}, seed {}, system {}, design {}", size_name(report.experiment.size), report.experiment.seed,
                  report.machine.system,
                  report.machine.designs.empty() ? std::string(kBaseline) : join(report.machine.designs, "+"));
  for (const std::string& setting : report.machine.overrides) out += ", " + setting;
  for (const std::string& parameter : report.experiment.parameters) out += ", " + parameter;
  return out + "\n\n";
}

/// Rows of workload, name and value: every statistic of every workload.
std::string csv_of(const FunctionalReport& report) {
  std::string out = "workload,name,value\n";
  for (const FunctionalOfWorkload& each : report.passes) {
    for (const StatValue& stat : each.result.statistics) {
      out += fmt::format("{},{},{}\n", csv_field(each.application.name), csv_field(stat.name),
                         stat.real ? fmt::format("{}", stat.ratio) : std::to_string(stat.count));
    }
  }
  return out;
}

void perform_functional(const FunctionalArguments& arguments) {
  if (arguments.workloads.empty()) {
    throw InputError(
        "`nearfar functional` needs WORKLOADS, as in `nearfar functional C2D SC`; `nearfar list workloads` shows them "
        "all.");
  }
  refuse_repeated("workload", arguments.workloads);
  std::optional<OutputFile> json, csv;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  const bool to_stdout = check_outputs({&json, &csv});
  FunctionalReport report;
  report.experiment.size = parse_size(arguments.size);
  report.experiment.parameters = arguments.parameters;
  report.experiment.seed = parse_whole("--seed", arguments.seed, 0, ~std::uint64_t{0});
  report.experiment.input = arguments.input;
  report.machine = make_machine(arguments.system, arguments.design, arguments.overrides);
  const SystemSpec& system = report.machine.loaded.spec;
  check_functional(system, report.machine.designs);
  check_workloads(arguments.workloads, report.experiment);
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  for (const std::string& name : arguments.workloads) {
    Application application = std::move(make_applications(name, report.experiment, arguments.workloads).front());
    ProgressLine line(name, terminal);
    FunctionalResult result =
        functional_pass(system, *application.workload, [&](const Progress& progress) { line.update(progress); });
    application.workload = nullptr;
    report.passes.push_back({std::move(application), std::move(result)});
  }
  if (json) json->write(functional_json(report));
  if (csv) csv->write(csv_of(report));
  if (to_stdout) return;
  write_stdout(heading(report) + table_of(report, Terminal::of(STDOUT_FILENO)) + "\n" + kMeaning);
}

}  // namespace

Command add_functional_command(CLI::App& program) {
  auto arguments = std::make_shared<FunctionalArguments>();
  CLI::App& app = add_command(program, "functional", "Pass workloads through caches and directories, without time");
  using namespace value_kind;
  add_words(app, "WORKLOADS", arguments->workloads, kWorkloads, "The workloads, one after the other");
  add_value(app, "--system", arguments->system, kSystem,
            "The machine: a name in systems/ or a file that ends in .yaml");
  add_set_option(app, arguments->overrides);
  add_value(app, "--design", arguments->design, kDesign, "What is changed in the machine: settings and directories");
  add_value(app, "--size", arguments->size, kSize, "Size of the input: small, medium or paper");
  add_values(app, "--param", arguments->parameters, kParameter,
             "Set one parameter of the workload, over its size; may be repeated");
  add_value(app, "--seed", arguments->seed, kNumber, "Seed of the inputs that are drawn at random");
  add_input_option(app, arguments->input);
  add_value(app, "--json", arguments->json, kFile, "Write all statistics as JSON; - is standard output");
  add_value(app, "--csv", arguments->csv, kFile, "Write all statistics as CSV; - is standard output");
  return {&app, [arguments] { perform_functional(*arguments); }};
}

}  // namespace nearfar
