// Plug-ins: designs and workloads that are loaded from shared objects.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

struct LoadedPlugin {
  std::string path;
  std::string hash;  ///< SHA-256 of the file: results depend on it
  std::vector<std::string> designs;
  std::vector<std::string> workloads;
};

/// Loads these shared objects, after those in the variable NEARFAR_PLUGINS (paths with colons between them), which
/// names them all afterwards, so that processes started from here load them too. A file that is loaded already is
/// passed over. Throws an InputError that says what is wrong with one.
void load_plugins(std::span<const std::string> paths);

const std::vector<LoadedPlugin>& loaded_plugins();

/// The hash of the plug-in that brought a design or a workload; empty if it is the simulator's own.
std::string_view plugin_of_design(std::string_view name);
std::string_view plugin_of_workload(std::string_view name);

}  // namespace nearfar
