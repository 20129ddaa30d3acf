// The tree of commands, its help, and errors in our own words: CLI11 finds what is wrong, here it is said.
#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <sstream>

#include "cli/command.h"
#include "cli/opposite.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "config/error.h"
#include "config/nearest.h"
#include "machine/run.h"
#include "study/plugins.h"
#include "study/runner.h"

namespace nearfar {
namespace {

/// Help with the kind of each value, the default at the end of its sentence, and room around the usage.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(30);
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(app, name);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool positional = !option->nonpositional();
    return positional || option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string initial = option->get_default_str();
    return option->get_description() + (initial.empty() ? "" : " [" + initial + "]");
  }
};

constexpr const char* kDescription =
    "nearfar simulates the memory system of a machine with several GPUs.\n\n"
    "Words:\n"
    "  system     GPUs, host and links with every size, latency and bandwidth: one file in systems/\n"
    "  design     a named change to the baseline machine\n"
    "  workload   a program: kernels over buffers, in the sizes small, medium and paper\n"
    "  run        a workload on a system with designs: one result, the same every time\n"
    "  study      many runs, and the tables and figures made of them: one file in studies/\n"
    "  claim      a number that a paper published, and the study that measures it: claims/\n"
    "  reading    a value for all that a paper leaves open about its baseline: calibrations/";

constexpr const char* kExamples =
    "Examples:\n"
    "  nearfar run MT                                    one run, summed up\n"
    "  nearfar run PR --size small --json result.json    the complete result in a file\n"
    "  nearfar run FIR+KM+MT+ST                          four applications, one on each GPU\n"
    "  nearfar compare MT PR --vary gpus=1,2,4           side by side, in a table and bars\n"
    "  nearfar study least-tlb-fig4 --quick              many runs on all cores, resumed where they ended\n"
    "  nearfar calibrate trans-fw --dry-run              what a paper leaves open, chosen by facts of its baseline\n"
    "  nearfar reproduce idyll --quick                   what a paper claims, beside what is measured\n"
    "  nearfar report -o report.html                     all claims and figures as one page\n"
    "  nearfar explore                                   choose runs on a page in the browser, watch and compare them\n"
    "  nearfar compose MT --system mmu-4gpu --designs ideal-walkers,ideal-migration    which designs get on\n"
    "  nearfar tune MT --system ats-4gpu --vary iommu.walkers=1,2,4,8,16               where more stops paying off\n"
    "  nearfar characterize PR --svg pr.svg              what it does to memory, without a run\n"
    "  nearfar bench-links pcie4 nvlink                  goodput of links against the size of transfers\n"
    "  nearfar functional C2D SC --design rec            through caches and directories, without time\n"
    "  nearfar trace record MT -o mt.nft                 its accesses in a file; nearfar run trace:mt.nft runs them\n"
    "  nearfar record-opencl -o f.nft -- ./program       an OpenCL program as a trace, without a GPU\n"
    "  nearfar export nearfar.db --csv results.csv       every run of a store as a row, for other programs\n"
    "  nearfar explain --set gpu.l2.size=4MiB --changed  what the machine is, and why\n"
    "  nearfar list workloads --details\n\n"
    "Shell completion: source <(nearfar completion bash), or zsh.\n"
    "Every command has its own --help.";

void complain(const std::string& message) {
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  fmt::print(stderr, "nearfar: {} {}\n", terminal.paint(Tint::Red, "error:"), message);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // between programs
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// "trace record".
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr || parent->get_parent() == nullptr ? app.get_name()
                                                              : parent->get_name() + " " + app.get_name();
}

std::string option_complaint(const CLI::App& app, bool is_program, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string whole = is_program ? "nearfar" : "nearfar " + full_name(app);
  const std::string guess = did_you_mean(name, option_names(app));
  if (!guess.empty() || !is_program) {
    return fmt::format("`{}` has no option `{}`.{} `{} --help` shows them all.", whole, name, guess, whole);
  }
  return fmt::format(
      "`nearfar` itself has no option `{}`; options stand after the command, as in `nearfar run MT --seed 2`.", name);
}

/// What to say about a word that no command, argument or option took.
std::string complaint(const CLI::App& app, bool is_program, const std::string& word) {
  if (word.starts_with("-") && word.size() > 1) return option_complaint(app, is_program, word);
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  if (!is_program && !commands.empty()) {
    return fmt::format("There is no `nearfar {} {}`.{} `nearfar {} --help` shows what there is.", app.get_name(), word,
                       did_you_mean(word, commands), app.get_name());
  }
  if (!is_program) {
    return fmt::format("`{}` is one argument too many for `nearfar {}`; `nearfar {} --help` shows what it takes.", word,
                       full_name(app), full_name(app));
  }
  return fmt::format("There is no command `{}`.{} `nearfar --help` shows them all.", word,
                     did_you_mean(word, commands));
}

/// What to say about an option that was given too few or too many values, or one that it does not take.
std::string misuse(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  if (error.get_name() == "ValidationError") return text;  // in our own words already
  if (error.get_name() != "ArgumentMismatch") return fmt::format("{}. `nearfar --help` shows how it is used.", text);
  const CLI::Option* option = command.get_option_no_throw(name);
  const bool repeatable = option != nullptr && option->get_expected_max() > 1;
  return fmt::format("`nearfar {}` wants one value for `{}`, {}.", full_name(command), name,
                     repeatable ? "each time it is given" : "given once");
}

/// The command that was named, or the part of it, as in `trace record`.
const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

int explain_parse_error(const CLI::App& program, const CLI::ParseError& error) {
  const auto chosen = program.get_subcommands();
  const CLI::App& command = innermost(program);
  const auto unknown_first = program.remaining();
  const auto unknown = unknown_first.empty() ? command.remaining() : unknown_first;
  if (unknown.empty()) {
    complain(misuse(command, error));
  } else if (unknown_first.empty()) {
    complain(complaint(command, chosen.empty(), unknown.front()));
  } else {
    complain(complaint(program, true, unknown.front()));
  }
  return kExitInput;
}

/// Does what was asked for; what goes wrong is said and becomes an exit code.
int perform(const std::function<void()>& action) {
  try {
    action();
  } catch (const Interrupted& what) {
    fmt::print(stderr, "nearfar: {}\n", what.what());
    return kExitInterrupted;
  } catch (const OppositeFound& what) {
    fmt::print(stderr, "nearfar: {}\n", what.what());
    return kExitOpposite;
  } catch (const InputError& error) {
    complain(error.what());
    return kExitInput;
  } catch (const SimulationError& error) {
    complain(error.what());
    return kExitSimulation;
  } catch (const std::filesystem::filesystem_error& error) {
    complain(fmt::format("{}.", error.what()));
    return kExitInput;
  } catch (const std::bad_alloc&) {
    complain("There is not enough memory for this.");
    return kExitSimulation;
  }
  return kExitOk;
}

}  // namespace

int run_program(std::vector<std::string> words) {
  CLI::App program(kDescription, "nearfar");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "Show this help");
  program.set_version_flag("--version", fmt::format("nearfar {}", version()), "Show the version");
  std::vector<std::string> plugins;
  program
      .add_option("--plugin", plugins,
                  "Load designs and workloads from this shared object (repeatable; also NEARFAR_PLUGINS=a.so:b.so)")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  program.require_subcommand(0, 1);
  const std::vector<Command> commands = {
      add_run_command(program),        add_compare_command(program),     add_study_command(program),
      add_calibrate_command(program),  add_reproduce_command(program),   add_report_command(program),
      add_compose_command(program),    add_tune_command(program),        add_characterize_command(program),
      add_functional_command(program), add_trace_command(program),       add_record_opencl_command(program),
      add_explore_command(program),    add_export_command(program),      add_explain_command(program),
      add_cost_command(program),       add_bench_links_command(program), add_list_command(program),
      add_reference_command(program),  add_completion_command(program)};
  program.footer(kExamples);  // only now: commands inherit what is there when they are added
  if (words.empty()) words = {"--help"};
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    program.parse(words);
    if (program.get_subcommands().empty()) throw CLI::RequiredError("A command");
  } catch (const CLI::Success& asked_for_text) {
    std::ostringstream text;
    program.exit(asked_for_text, text);
    return perform([&] { write_stdout(text.str()); });
  } catch (const CLI::ParseError& error) {
    return explain_parse_error(program, error);
  }
  const auto chosen = std::ranges::find_if(commands, [](const Command& command) { return command.app->parsed(); });
  return perform([&] {
    load_plugins(plugins);
    chosen->perform();
  });
}

}  // namespace nearfar
