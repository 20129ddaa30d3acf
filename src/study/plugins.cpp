#include "study/plugins.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/error.h"
#include "config/words.h"
#include "plugin/registry.h"
#include "study/run_key.h"

namespace nearfar {
namespace {

constexpr const char* kVariable = "NEARFAR_PLUGINS";

std::vector<LoadedPlugin>& plugins() {
  static std::vector<LoadedPlugin> loaded;
  return loaded;
}

[[noreturn]] void refuse_plugin(const std::string& path, const std::string& why) {
  throw InputError(fmt::format("`{}` {}", path, why));
}

/// The model that a file was built for; empty where it is no plug-in. The file is read, not run: what another model's
/// plug-in would do here nobody knows.
std::string model_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const std::size_t mark = content.find(kPluginMark);
  if (mark == std::string::npos) return {};
  return content.substr(mark + std::string_view(kPluginMark).size(), model_version().size());
}

void check_model(const std::string& path) {
  const std::string model = model_of(path);
  if (model.empty()) refuse_plugin(path, "is no plug-in of nearfar: nearfar_add_plugin() makes one.");
  if (model == model_version()) return;
  refuse_plugin(
      path, fmt::format("was built for another version of the model ({}; this program has {}). Build it anew.", model,
                        model_version()));
}

void load_plugin(const std::string& given) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(given, error)) {
    throw InputError(fmt::format("There is no plug-in `{}`.", given));
  }
  const std::string path = std::filesystem::canonical(given).string();
  if (std::ranges::find(plugins(), path, &LoadedPlugin::path) != plugins().end()) return;
  check_model(path);
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) refuse_plugin(path, fmt::format("cannot be loaded: {}.", dlerror()));
  const auto add = reinterpret_cast<void (*)(PluginRegistry&)>(dlsym(object, kPluginFunction));
  if (add == nullptr) refuse_plugin(path, fmt::format("is no plug-in of nearfar: it has no `{}`.", kPluginFunction));
  PluginRegistry registry;
  try {
    add(registry);
  } catch (const InputError& what) {
    refuse_plugin(path, fmt::format("cannot be used. {}", what.what()));
  }
  plugins().push_back({path, hash_file(path), registry.designs(), registry.workloads()});
}

std::string_view brought(std::string_view name, std::vector<std::string> LoadedPlugin::*names) {
  for (const LoadedPlugin& plugin : plugins()) {
    if (std::ranges::find(plugin.*names, name) != (plugin.*names).end()) return plugin.hash;
  }
  return {};
}

}  // namespace

void load_plugins(std::span<const std::string> paths) {
  const char* variable = std::getenv(kVariable);
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end != 0) load_plugin(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const std::string& path : paths) load_plugin(path);
  if (plugins().empty()) return;
  std::vector<std::string> all;
  for (const LoadedPlugin& plugin : plugins()) all.push_back(plugin.path);
  setenv(kVariable, join(all, ":").c_str(), 1);
}

const std::vector<LoadedPlugin>& loaded_plugins() { return plugins(); }

std::string_view plugin_of_design(std::string_view name) { return brought(name, &LoadedPlugin::designs); }
std::string_view plugin_of_workload(std::string_view name) { return brought(name, &LoadedPlugin::workloads); }

}  // namespace nearfar
