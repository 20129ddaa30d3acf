#include "coherence/directory_home.h"

#include "config/system_spec.h"

namespace nearfar {

DirectoryHome directory_home(DeviceId gpu, const SystemSpec& system) {
  return {gpu, system.gpus, static_cast<std::uint32_t>(kPageBytes / system.gpu.line)};
}

}  // namespace nearfar
