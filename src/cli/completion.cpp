// `nearfar completion`: scripts for bash and zsh, made by walking the tree of commands and options. The words for an
// option's value are chosen by its kind (arguments.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "calibrate/calibration_file.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "designs/names.h"
#include "report/claims_file.h"
#include "study/study_file.h"
#include "translation/mig_spec.h"
#include "workload/mixes.h"

namespace nearfar {
namespace {

/// How the value of an option is completed.
struct Completion {
  std::vector<std::string> words;
  std::string separators;  ///< between several values in one word
  std::string ending;      ///< put after a word, instead of a space
  bool files = false;
};

std::vector<std::string> workload_parameters() {
  std::set<std::string> names;
  for (const WorkloadInfo& info : catalog()) {
    for (const WorkloadParameter& parameter : info.parameters) names.insert(parameter.name);
  }
  return {names.begin(), names.end()};
}

template <class Range>
std::vector<std::string> names_of(const Range& range) {
  std::vector<std::string> names;
  for (const auto& item : range) names.push_back(item.name);
  return names;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (const EffectiveParameter& parameter : load_system(kDefaultSystem, {}).parameters) keys.push_back(parameter.path);
  return keys;
}

std::vector<std::string> runnable() {
  auto names = names_of(catalog());
  for (std::string& mix : names_of(mixes())) names.push_back(std::move(mix));
  names.emplace_back(kTracePrefix);
  return names;
}

Completion completion_of(const std::string& kind) {
  using namespace value_kind;
  if (kind == kWorkload || kind == kWorkloads) return {runnable(), "+", "", false};
  if (kind == kSize) return {{"small", "medium", "paper"}, "", "", false};
  if (kind == kParameter) return {workload_parameters(), "", "=", false};
  if (kind == kSystem) return {names_of(list_systems()), "", "", true};
  if (kind == kSystems) return {names_of(list_systems()), ",", "", true};
  if (kind == kSetting || kind == kSettings) return {setting_keys(), "", "=", false};
  if (kind == kInstances) {
    std::vector<std::string> layouts;
    for (const InstanceLayout::Named& each : InstanceLayout::all()) layouts.push_back(each.name);
    return {layouts, "", "", false};
  }
  if (kind == kDesign) return {names_of(list_designs()), "+", "", false};
  if (kind == kDesigns) return {names_of(list_designs()), ",+", "", false};
  if (kind == kPapers) return {paper_names(), "", "", false};
  if (kind == kPapersAndStudies) {
    std::vector<std::string> words = paper_names();
    for (std::string& study : names_of(list_studies())) words.push_back(std::move(study));
    return {words, "", "", true};
  }
  if (kind == kCalibration) return {calibration_names(), "", "", true};
  if (kind == kFile || kind == kFolder) return {{}, "", "", true};
  if (kind == kSubject) return {{"workloads", "systems", "designs", "statistics", "studies", "papers"}, "", "", false};
  if (kind == kTimelineSubject) {
    std::vector<std::string> words(kTimelineSubjects.begin(), kTimelineSubjects.end());
    words.emplace_back("all");
    return {words, ",", "", false};
  }
  if (kind == kStudy || kind == kStudies) return {names_of(list_studies()), "", "", true};
  if (kind == kExecutor) return {{"local", "slurm"}, "", "", false};
  if (kind == kTiming) return {{"program", "recorded", "none"}, "", "", false};
  if (kind == kHostEvents) return {{"copies", "accesses", "none"}, "", "", false};
  if (kind == kTraceFormat) return {{"accel-sim", "csv", "text"}, "", "", false};
  if (kind == kShell) return {{"bash", "zsh"}, "", "", false};
  return {};
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) { return program.get_subcommands(nullptr); }

std::vector<std::string> names_of_parts(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* part : commands_of(command)) names.push_back(part->get_name());
  return names;
}

std::vector<std::string> long_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// --- bash

constexpr const char* kBashHelpers = R"(# bash completion for nearfar; use it with: source <(nearfar completion bash)

# _nearfar_reply SEPARATORS ENDING FILES WORDS: what may follow the last separator in the current word.
_nearfar_reply() {
  local current=${COMP_WORDS[COMP_CWORD]} head=
  if [[ -n $1 && $current == *["$1"]* ]]; then head=${current%"${current##*["$1"]}"}; fi
  mapfile -t COMPREPLY < <(compgen -P "$head" -S "$2" -W "$4" -- "${current#"$head"}")
  if [[ -n $2 ]]; then compopt -o nospace; fi
  if [[ -n $3 ]]; then
    compopt -o filenames
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
  fi
}

)";

/// Without those between programs. A command of several parts has the options of all of them.
std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  std::vector<const CLI::Option*> options =
      command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  for (const CLI::App* part : commands_of(command)) {
    for (const CLI::Option* option : shown_options(*part)) {
      const auto same = [&](const CLI::Option* other) { return other->get_lnames() == option->get_lnames(); };
      if (!option->get_lnames().empty() && std::ranges::none_of(options, same)) options.push_back(option);
    }
  }
  return options;
}

std::string bash_reply(const Completion& completion) {
  return fmt::format("_nearfar_reply '{}' '{}' '{}' '{}'", completion.separators, completion.ending,
                     completion.files ? "files" : "", join(completion.words, " "));
}

std::string bash_command(const CLI::App& command) {
  std::string by_option;
  std::string positional = "COMPREPLY=()";
  if (const auto parts = names_of_parts(command); !parts.empty()) positional = bash_reply({parts, "", "", true});
  std::vector<std::string> options;
  for (const CLI::Option* option : shown_options(command)) {
    const auto names = long_names(*option);
    options.insert(options.end(), names.begin(), names.end());
    if (!takes_value(*option)) continue;
    const std::string reply = bash_reply(completion_of(option->get_type_name()));
    if (names.empty()) {
      positional = reply;
    } else {
      by_option += fmt::format("        {}) {} ;;\n", join(names, "|"), reply);
    }
  }
  return fmt::format(
      "    {}:*)\n"
      "      case $previous in\n{}"
      "        *) if [[ $current == -* ]]; then _nearfar_reply '' '' '' '{}'; else {}; fi ;;\n"
      "      esac ;;\n",
      command.get_name(), by_option, join(options, " "), positional);
}

std::string bash_script(const CLI::App& program) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : commands_of(program)) {
    names.push_back(command->get_name());
    cases += bash_command(*command);
  }
  for (const CLI::Option* option : program.get_options()) {
    for (const std::string& name : long_names(*option)) names.push_back(name);
  }
  return std::string(kBashHelpers) +
         fmt::format(
             "_nearfar() {{\n"
             "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}\n"
             "  local command=\n"
             "  if ((COMP_CWORD > 1)); then command=${{COMP_WORDS[1]}}; fi\n"
             "  case $command:$previous in\n"
             "    *:=) COMPREPLY=() ;;\n{}"
             "    :*) _nearfar_reply '' '' '' '{}' ;;\n"
             "  esac\n"
             "}}\n"
             "complete -F _nearfar nearfar\n",
             cases, join(names, " "));
}

// --- zsh

/// Text inside single quotes, with what _arguments reads as its own marked off.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Completion& completion) {
  const std::string words = join(completion.words, " ");
  std::string add;
  if (!completion.separators.empty()) {
    add = fmt::format("_sequence -s {} compadd - {}", completion.separators.substr(0, 1), words);
  } else if (!completion.ending.empty()) {
    add = fmt::format("compadd -S {} - {}", completion.ending, words);
  } else if (!completion.words.empty()) {
    add = "compadd - " + words;
  }
  if (completion.files) add += add.empty() ? "_files" : "; _files";
  return add.empty() ? " " : "{" + add + "}";
}

std::string zsh_option(const CLI::Option& option) {
  const auto names = long_names(option);
  const std::string kind = zsh_text(option.get_type_name());
  const std::string value =
      takes_value(option) ? fmt::format(":{}:{}", kind, zsh_text(zsh_action(completion_of(option.get_type_name()))))
                          : "";
  if (names.empty()) return fmt::format("'{}{}'", option.get_items_expected_max() > 1 ? "*" : "1", value);
  return fmt::format("'*{}[{}]{}'", names.front(), zsh_text(option.get_description()), value);
}

std::string zsh_command(const CLI::App& command) {
  std::string out = fmt::format("    {})\n      _arguments", command.get_name());
  for (const CLI::Option* option : shown_options(command)) out += " \\\n        " + zsh_option(*option);
  if (const auto parts = names_of_parts(command); !parts.empty()) {
    out += fmt::format(" \\\n        '1:COMMAND:{{compadd - {}}}' \\\n        '*:FILE:_files'", join(parts, " "));
  }
  return out + "\n      ;;\n";
}

std::string zsh_script(const CLI::App& program) {
  std::string described;
  std::string cases;
  for (const CLI::App* command : commands_of(program)) {
    described += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
    cases += zsh_command(*command);
  }
  std::string options;
  for (const CLI::Option* option : program.get_options()) options += " " + zsh_option(*option);
  return fmt::format(
      "#compdef nearfar\n"
      "# zsh completion for nearfar; use it with: source <(nearfar completion zsh)\n\n"
      "_nearfar() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    if [[ $words[2] == -* ]]; then\n"
      "      _arguments{}\n"
      "    else\n"
      "      _describe command commands\n"
      "    fi\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $words[1] in\n{}"
      "  esac\n"
      "}}\n\n"
      "if [[ $funcstack[1] == _nearfar ]]; then _nearfar \"$@\"; else compdef _nearfar nearfar; fi\n",
      described, options, cases);
}

void perform_completion(const CLI::App& program, const std::string& shell) {
  const std::vector<std::string> shells = {"bash", "zsh"};
  if (shell == "bash") return write_stdout(bash_script(program));
  if (shell == "zsh") return write_stdout(zsh_script(program));
  if (shell.empty()) throw InputError("`nearfar completion` needs the name of a shell: bash or zsh.");
  throw InputError(
      fmt::format("`nearfar completion` knows bash and zsh, not `{}`.{}", shell, did_you_mean(shell, shells)));
}

}  // namespace

Command add_completion_command(CLI::App& program) {
  auto shell = std::make_shared<std::string>();
  CLI::App& app = add_command(program, "completion", "Print a completion script for bash or zsh");
  add_value(app, "SHELL", *shell, value_kind::kShell, "bash or zsh");
  return {&app, [&program, shell] { perform_completion(program, *shell); }};
}

}  // namespace nearfar
