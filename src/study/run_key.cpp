// The text that a key is the hash of.
#include "study/run_key.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "config/error.h"
#include "config/words.h"
#include "study/plugins.h"
#include "study/sha256.h"

namespace nearfar {
namespace {

constexpr std::size_t kKeyDigits = 32;

}  // namespace

std::string machine_text(const NamedSystem& machine) {
  std::string text = fmt::format("designs {}\n", join(machine.designs, "+"));
  for (const std::string& design : machine.designs) {
    const std::string_view plugin = plugin_of_design(design);
    if (!plugin.empty()) fmt::format_to(std::back_inserter(text), "{} of plug-in {}\n", design, plugin);
  }
  for (const EffectiveParameter& parameter : machine.loaded.parameters) {
    fmt::format_to(std::back_inserter(text), "{}={}\n", parameter.path, parameter.value);
  }
  return text;
}

std::string machine_key(const NamedSystem& machine) {
  Sha256 hash;
  hash.add(fmt::format("designs {}\n", join(machine.designs, "+")));
  for (const EffectiveParameter& parameter : machine.loaded.parameters) {
    if (!parameter.path.starts_with("perturb.")) hash.add(fmt::format("{}={}\n", parameter.path, parameter.value));
  }
  return hash.digits().substr(0, kKeyDigits);
}

std::string program_text(std::span<const Application> applications, std::uint64_t seed,
                         const std::function<std::string(const std::string&)>& hash_of) {
  std::string text;
  for (const Application& application : applications) {
    text += is_trace(application.name) ? "trace" : application.name;  // where its file lies does not matter
    const std::string_view plugin = plugin_of_workload(application.name);
    if (!plugin.empty()) fmt::format_to(std::back_inserter(text), " of plug-in {}", plugin);
    for (const ParameterSetting& setting : application.parameters) {
      fmt::format_to(std::back_inserter(text), " {}={}", setting.name, setting.value);
    }
    if (!application.input.empty()) fmt::format_to(std::back_inserter(text), " input={}", hash_of(application.input));
    text += "\n";
  }
  return text + fmt::format("seed {}\n", seed);
}

std::string run_key(std::string_view machine, std::string_view program) {
  Sha256 hash;
  hash.add(fmt::format("model {}\n", model_version()));
  hash.add(machine);
  hash.add(program);
  return hash.digits().substr(0, kKeyDigits);
}

std::string run_key(const Report& report) {
  return run_key(machine_text(report.machine), program_text(report.applications, report.experiment.seed, hash_file));
}

std::string hash_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    hash.add({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) throw InputError(fmt::format("{}: cannot be read: {}.", path, std::strerror(errno)));
  return hash.digits();
}

}  // namespace nearfar
