// Where designs are registered by name: those of the folders beside this file, each by a function in its plug_in.cpp,
// and those of plug-ins that were loaded.
//
// A folder src/designs/<name>/ whose plug_in.cpp has the function `void register_<name>(DesignRegistry&)` is found by
// the build; nothing else has to know of it.
#pragma once

#include <memory>
#include <vector>

#include "designs/design.h"

namespace nearfar {

class DesignRegistry {
 public:
  /// All designs of the simulator itself.
  DesignRegistry();

  /// Throws an InputError where the name is taken, or means something else.
  void add(Design design);
  /// All designs, by name.
  const std::vector<Design>& all() const { return designs_; }

 private:
  std::vector<Design> designs_;
};

/// The designs that can be named.
DesignRegistry& design_registry();

/// For Design::make.
template <class Made>
std::shared_ptr<PlugIn> make_plug_in() {
  return std::make_shared<Made>();
}

}  // namespace nearfar
