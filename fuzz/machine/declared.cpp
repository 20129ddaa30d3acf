#include "declared.h"

#include <algorithm>

#include "config/system_spec.h"
#include "designs/design.h"

namespace nearfar::fuzz {

std::vector<Declared> declared_parameters(std::span<const std::string> designs) {
  SystemSpec spec;
  for (const Design* design : choose_designs(designs)) {
    if (design->make != nullptr) spec.plug_ins.push_back(design->make());
  }
  const Schema schema(spec);
  std::vector<Declared> all;
  for (const Parameter& parameter : schema.parameters()) {
    if (parameter.path == "watchdog.cycles") continue;
    all.push_back({parameter.path, parameter.field->choices(), parameter.field->number()});
  }
  return all;
}

std::vector<Declared> all_declared_parameters() {
  std::vector<Declared> all = declared_parameters({});
  for (const Design& design : all_designs()) {
    const std::vector<std::string> names = {design.name};
    for (Declared& declared : declared_parameters(names)) {
      if (std::ranges::find(all, declared.path, &Declared::path) == all.end()) all.push_back(std::move(declared));
    }
  }
  return all;
}

}  // namespace nearfar::fuzz
