#include "case.h"

#include <fmt/format.h>

#include <limits>

#include "config/error.h"
#include "config/words.h"
#include "designs/names.h"

namespace nearfar::fuzz {
namespace {

std::string command_line(std::string_view text) {
  std::string command;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!command.empty()) throw InputError(fmt::format("a case is one command line; `{}` is another.", line));
    command = line;
  }
  return command;
}

}  // namespace

std::string Variant::options() const {
  std::string text = check ? " --check" : "";
  if (threads != 1) text += fmt::format(" --threads {}", threads);
  return text;
}

std::string Case::command(const Variant& variant) const {
  std::string text = fmt::format("nearfar run {} --size small", workload);
  for (const std::string& parameter : parameters) text += " --param " + parameter;
  if (seed != 1) text += fmt::format(" --seed {}", seed);
  text += " --system " + system;
  if (!designs.empty()) text += " --design " + join(designs, "+");
  for (const std::string& setting : overrides) text += " --set " + setting;
  return text + variant.options();
}

Case parse_case(std::string_view text) {
  const std::vector<std::string> words = split(command_line(text), ' ');
  if (words.size() < 3 || words[0] != "nearfar" || words[1] != "run") {
    throw InputError("a case begins with `nearfar run WORKLOAD`.");
  }
  Case parsed;
  parsed.workload = words[2];
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--check") continue;
    if (++i == words.size()) throw InputError(fmt::format("`{}` has no value.", option));
    const std::string& value = words[i];
    if (option == "--param") {
      parsed.parameters.push_back(value);
    } else if (option == "--set") {
      parsed.overrides.push_back(value);
    } else if (option == "--system") {
      parsed.system = value;
    } else if (option == "--design") {
      parsed.designs = parse_designs(value);
    } else if (option == "--seed") {
      parsed.seed = parse_whole(option, value, 0, std::numeric_limits<std::uint64_t>::max());
    } else if (option != "--threads" && !(option == "--size" && value == "small")) {
      throw InputError(fmt::format("`{} {}` cannot be part of a case.", option, value));
    }
  }
  return parsed;
}

}  // namespace nearfar::fuzz
