#include "designs/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/bibliography.h"
#include "config/error.h"
#include "designs/names.h"

namespace nearfar {

/// Calls the function of every folder; the build writes it (CMakeLists.txt).
void register_all_folders(DesignRegistry& registry);

DesignRegistry::DesignRegistry() { register_all_folders(*this); }

void DesignRegistry::add(Design design) {
  const auto place = std::ranges::lower_bound(designs_, design.name, {}, &Design::name);
  if (design.name == kBaseline || (place != designs_.end() && place->name == design.name)) {
    throw InputError(fmt::format("There is a design `{}` already.", design.name));
  }
  if (design.name.empty() || design.name.find_first_of("+, ") != std::string::npos) {
    throw InputError(fmt::format("A design cannot have the name `{}`.", design.name));
  }
  static_cast<void>(citation(design.paper));  // which throws where there is no such publication
  designs_.insert(place, std::move(design));
}

DesignRegistry& design_registry() {
  static DesignRegistry registry;
  return registry;
}

}  // namespace nearfar
