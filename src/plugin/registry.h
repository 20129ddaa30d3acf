// What a plug-in brings: designs and workloads from outside the source tree, by name.
#pragma once

#include <string>
#include <vector>

#include "designs/registry.h"
#include "workload/add_workload.h"

namespace nearfar {

/// Passes on what a plug-in registers, and remembers the names.
class PluginRegistry {
 public:
  void add(const Design& design) {
    design_registry().add(design);
    designs_.push_back(design.name);
  }
  void add(const CatalogEntry& workload) {
    add_workload(workload);
    workloads_.push_back(workload.info().name);
  }

  const std::vector<std::string>& designs() const { return designs_; }
  const std::vector<std::string>& workloads() const { return workloads_; }

 private:
  std::vector<std::string> designs_;
  std::vector<std::string> workloads_;
};

/// What a plug-in has in it before the hash of the model that it was built for.
inline constexpr const char kPluginMark[] = "nearfar plug-in for model ";
inline constexpr const char kPluginFunction[] = "nearfar_plugin_register";

}  // namespace nearfar
