// The stateful configuration packet as a design.
#include "designs/config_packet/config_packet_queue.h"
#include "designs/finepack/finepack_plug_in.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class ConfigPacketDesign final : public RemoteWriteQueuePlugIn<ConfigPacketQueue> {
 public:
  ConfigPacketDesign() : RemoteWriteQueuePlugIn("config-packet", "config_packet") {}
};

}  // namespace

void register_config_packet(DesignRegistry& registry) {
  registry.add({.name = "config-packet",
                .sentence = "A packet tells a peer the window of the stores that follow, each with a short header.",
                .seams = {"egress"},
                .systems = {TranslationKind::Ideal, TranslationKind::Ats},
                .make = make_plug_in<ConfigPacketDesign>,
                .readme = "src/designs/config_packet/README.md",
                .paper = "finepack"});
}

}  // namespace nearfar
