// Write combining at the egress as a design.
#include "designs/registry.h"
#include "designs/write_combining/combining_plug_in.h"

namespace nearfar {
namespace {

class WriteCombiningDesign final : public CombiningPlugIn {
 public:
  WriteCombiningDesign() : CombiningPlugIn("write-combining", "write_combining") {}
  void describe(Section& root) override { root.child(key(), spec(), "The write-combining buffer of each GPU."); }
};

}  // namespace

void register_write_combining(DesignRegistry& registry) {
  registry.add({.name = "write-combining",
                .sentence = "Stores to a line of a peer are held back and leave together, as plain writes.",
                .seams = {"egress"},
                .systems = {TranslationKind::Ideal, TranslationKind::Ats},
                .make = make_plug_in<WriteCombiningDesign>,
                .readme = "src/designs/write_combining/README.md"});
}

}  // namespace nearfar
