#include "interconnect/switch_device.h"

#include "config/plug_in.h"
#include "config/system_spec.h"

namespace nearfar {

std::unique_ptr<SwitchDevice> PlugIn::make_switch(const SwitchSite&) const { return nullptr; }

std::unique_ptr<SwitchDevice> make_switch(const SwitchSite& site) {
  for (const auto& plug_in : site.system.plug_ins) {
    if (std::unique_ptr<SwitchDevice> device = plug_in->make_switch(site)) return device;
  }
  return nullptr;
}

}  // namespace nearfar
