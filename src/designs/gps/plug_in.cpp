// GPS-like publishing of stores as a design: whole lines with a mask, to each GPU whose copy the program stores to.
#include "designs/registry.h"
#include "designs/write_combining/combining_plug_in.h"

namespace nearfar {
namespace {

class GpsDesign final : public CombiningPlugIn {
 public:
  GpsDesign() : CombiningPlugIn("gps", "gps") { spec().payload = CombinedPayload::MaskedLine; }
  void describe(Section& root) override {
    Section section = root.group(key(), "The write-combining buffer of GPS in each GPU.");
    spec().describe(section, false);
  }
};

}  // namespace

void register_gps(DesignRegistry& registry) {
  registry.add({.name = "gps",
                .sentence = "Stores to a line of a peer are held back, and the whole line leaves with a mask.",
                .seams = {"egress"},
                .systems = {TranslationKind::Ideal, TranslationKind::Ats},
                .make = make_plug_in<GpsDesign>,
                .readme = "src/designs/gps/README.md",
                .paper = "gps"});
}

}  // namespace nearfar
