// From a name to a machine: reads a system's YAML with what it inherits, lays overrides over it, checks the whole.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/system_spec.h"

namespace nearfar {

/// One parameter of the effective configuration, as `nearfar explain` shows it.
struct EffectiveParameter {
  std::string path;   ///< gpu.l2.size
  std::string value;  ///< as a person writes it: 2MiB
  std::string typed;  ///< what was written, where the clock made the value of it: 106.7ns; else ""
  std::string default_value;
  std::string unit;
  std::string range;
  std::string sentence;
  std::string origin;  ///< "default", "standard hbm", "systems/base.yaml:12:9" or "--set"
};

struct LoadedSystem {
  SystemSpec spec;
  std::vector<EffectiveParameter> parameters;  ///< in the order of declaration
};

struct SystemSummary {
  std::string name;
  std::string path;
  std::string sentence;  ///< its `description`
  std::string paper;     ///< its `paper`, as in config/bibliography.h, or ""
};

/// `name` is a file's path (ends in .yaml) or the name of a file in systems/. An override is "path=value"; it may set
/// parameters of the plug-ins too.
LoadedSystem load_system(const std::string& name, std::span<const std::string> overrides,
                         std::vector<std::shared_ptr<PlugIn>> plug_ins = {});

/// The same for a file's text in memory; bases are looked for in systems/.
LoadedSystem load_system_text(const std::string& text, const std::string& shown_as,
                              std::span<const std::string> overrides);

/// The systems that can be named, sorted; bases that cannot be run alone are left out.
std::vector<SystemSummary> list_systems();

}  // namespace nearfar
