#include "coherence/make_directory.h"

#include "coherence/directory_home.h"
#include "coherence/line_directory.h"
#include "config/plug_in.h"
#include "config/system_spec.h"

namespace nearfar {

std::unique_ptr<Directory> PlugIn::make_directory(const SystemSpec&, DeviceId) const { return nullptr; }

std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home) {
  for (const auto& plug_in : system.plug_ins) {
    if (std::unique_ptr<Directory> directory = plug_in->make_directory(system, home)) return directory;
  }
  return std::make_unique<LineDirectory>(system.directory, directory_home(home, system));
}

}  // namespace nearfar
