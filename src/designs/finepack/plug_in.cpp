// FinePack as a design.
#include "designs/finepack/finepack_plug_in.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class FinePackDesign final : public RemoteWriteQueuePlugIn<RemoteWriteQueue> {
 public:
  FinePackDesign() : RemoteWriteQueuePlugIn("finepack", "finepack") {}
};

}  // namespace

void register_finepack(DesignRegistry& registry) {
  registry.add({.name = "finepack",
                .sentence = "Stores to a peer are held back, merged and packed into one packet with short sub-headers.",
                .seams = {"egress"},
                .systems = {TranslationKind::Ideal, TranslationKind::Ats},
                .make = make_plug_in<FinePackDesign>,
                .readme = "src/designs/finepack/README.md",
                .paper = "finepack"});
}

}  // namespace nearfar
