// TLB probing as a design: a prober in every GPU.
#include "config/configuration.h"
#include "designs/registry.h"
#include "designs/tlb_probing/tlb_prober.h"
#include "gpu/gpu.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

class TlbProbing final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("tlb_probing", spec_, "TLB probing on a ring."); }

  void attach(Gpu& gpu, const SystemSpec& system) const override {
    gpu.parts().add(std::make_unique<TlbProber>(gpu.partition(), *gpu.l2_tlb(), gpu, spec_, system.gpus));
  }

  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<TlbProberStats>(out, {"gpus.tlb_probing.", "gpu<g>.tlb_probing."});
    return out;
  }

  /// Nothing is stored beyond the MSHRs, which remember who has answered.
  std::vector<StorageItem> storage(const SystemSpec&) const override { return {}; }

 private:
  TlbProbingSpec spec_;
};

}  // namespace

void register_tlb_probing(DesignRegistry& registry) {
  registry.add({.name = "tlb-probing",
                .sentence = "An L2 TLB miss asks the L2 TLBs of the neighbours on a ring before the IOMMU.",
                .seams = {"IOMMU TLB content"},
                .systems = {TranslationKind::Ats},
                .make = make_plug_in<TlbProbing>,
                .readme = "src/designs/tlb_probing/README.md",
                .paper = "valkyrie"});
}

}  // namespace nearfar
