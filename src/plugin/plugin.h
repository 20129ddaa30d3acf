// All that the source of a plug-in has to include. One source of it says
//
//   NEARFAR_PLUGIN(plugin) {
//     plugin.add(nearfar::Design{.name = "my-design", ...});
//     plugin.add(nearfar::CatalogEntry{my_workload_info, make_my_workload});
//   }
//
// and `nearfar --plugin my_plugin.so run ...` knows both. docs/add-a-design.md goes through an example.
#pragma once

#include "nearfar_model_version.h"
#include "plugin/registry.h"

#define NEARFAR_PLUGIN(registry)                                                                              \
  extern "C" const char* nearfar_plugin_mark() { return "nearfar plug-in for model " NEARFAR_MODEL_VERSION; } \
  extern "C" void nearfar_plugin_register(nearfar::PluginRegistry& registry)
