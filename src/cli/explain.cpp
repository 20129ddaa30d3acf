// `nearfar explain`: the effective configuration, with the origin and the meaning of every value.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/result_json.h"
#include "cli/table.h"
#include "config/bibliography.h"
#include "designs/design.h"
#include "designs/names.h"

namespace nearfar {
namespace {

struct ExplainArguments {
  std::string system = kDefaultSystem;
  std::string design = "baseline";
  std::vector<std::string> overrides;
  bool changed = false;
  std::string json;
};

std::string section_of(const EffectiveParameter& parameter) {
  const std::size_t dot = parameter.path.rfind('.');
  return dot == std::string::npos ? "" : parameter.path.substr(0, dot);
}

/// Parameters of one section side by side, sections in the order in which they first appear.
std::vector<EffectiveParameter> by_section(const std::vector<EffectiveParameter>& parameters) {
  std::vector<std::string> sections;
  for (const EffectiveParameter& parameter : parameters) {
    if (std::ranges::find(sections, section_of(parameter)) == sections.end()) sections.push_back(section_of(parameter));
  }
  std::vector<EffectiveParameter> out;
  for (const std::string& section : sections) {
    std::ranges::copy_if(parameters, std::back_inserter(out),
                         [&](const EffectiveParameter& parameter) { return section_of(parameter) == section; });
  }
  return out;
}

std::string explanation(const std::vector<EffectiveParameter>& parameters, const Terminal& terminal) {
  Table table({{"parameter", Align::Left, Tint::Bold},
               {"value"},
               {"origin", Align::Left, Tint::Cyan},
               {"meaning", Align::Left, Tint::Dim}});
  const EffectiveParameter* before = nullptr;
  for (const EffectiveParameter& parameter : parameters) {
    if (before != nullptr && section_of(*before) != section_of(parameter)) table.blank_line();
    before = &parameter;
    const bool differs = parameter.value != parameter.default_value && !parameter.default_value.empty();
    const std::string origin =
        differs ? fmt::format("{} (default {})", parameter.origin, parameter.default_value) : parameter.origin;
    const std::string value =
        parameter.typed.empty() ? parameter.value : fmt::format("{} ({})", parameter.value, parameter.typed);
    table.row({parameter.path, value, origin, parameter.sentence});
  }
  return table.text(terminal);
}

/// A line for the system and one for each design, with the papers that they are from.
std::string sources(const ExplainArguments& arguments) {
  const auto line = [](const char* what, const std::string& name, const std::string& paper) {
    return fmt::format("{} {}{}{}\n", what, name, paper.empty() ? "" : ": ", citation(paper));
  };
  std::string paper;
  for (const SystemSummary& system : list_systems()) {
    if (system.name == arguments.system) paper = system.paper;
  }
  std::string out = line("system", arguments.system, paper);
  for (const Design* design : choose_designs(parse_designs(arguments.design))) {
    out += line("design", design->name, design->paper);
  }
  return out;
}

void perform_explain(const ExplainArguments& arguments) {
  std::optional<OutputFile> json;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  auto parameters = by_section(make_machine(arguments.system, arguments.design, arguments.overrides).loaded.parameters);
  if (arguments.changed) {
    std::erase_if(parameters, [](const EffectiveParameter& parameter) {
      return parameter.value == parameter.default_value && parameter.origin != "--set";
    });
  }
  if (json) json->write(configuration_json(arguments.system, parameters));
  if (json && json->is_stdout()) return;
  write_stdout(sources(arguments) + "\n" + explanation(parameters, Terminal::of(STDOUT_FILENO)));
}

}  // namespace

Command add_explain_command(CLI::App& program) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App& app = add_command(program, "explain", "Show every value of a system, where it came from and what it means");
  using namespace value_kind;
  add_value(app, "--system", arguments->system, kSystem,
            "The machine: a name in systems/ or a file that ends in .yaml");
  add_value(app, "--design", arguments->design, kDesign, "What is changed in the machine; several as a+b");
  add_set_option(app, arguments->overrides);
  add_flag(app, "--changed", arguments->changed, "Only values that differ from their default, and those of --set");
  add_value(app, "--json", arguments->json, kFile, "Write it as JSON; - is standard output");
  return {&app, [arguments] { perform_explain(*arguments); }};
}

}  // namespace nearfar
