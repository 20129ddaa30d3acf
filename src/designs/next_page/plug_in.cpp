#include <fmt/format.h>

#include "config/schema.h"
#include "designs/next_page/next_page.h"
#include "designs/registry.h"
#include "gpu/gpu.h"
#include "machine/statistics.h"

namespace nearfar {

void NextPageSpec::describe(Section& section) {
  section.integer("degree", degree, {1, PrefetchPages::kMost}, "pages", "Pages that a miss of the L2 TLB prefetches.");
  section.flag("tagged", tagged, "If true, the first use of a prefetched page prefetches one more.");
}

void NextPage::on_miss(PageKey page, PrefetchPages& out) {
  for (std::uint32_t i = 1; i <= spec_.degree; ++i) out.add(PageKey{page.pid(), page.number() + i});
}

void NextPage::on_use(PageKey page, PrefetchPages& out) {
  if (spec_.tagged) out.add(PageKey{page.pid(), page.number() + spec_.degree});
}

namespace {

class NextPagePlugIn final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("next_page", spec_, "Sequential prefetching into the L2 TLB."); }
  void attach(Gpu& gpu, const SystemSpec&) const override {
    gpu.parts().add(std::make_unique<NextPage>(*gpu.l2_tlb(), spec_));
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<TlbPrefetchStats>(out, {"gpus.next_page.", "gpu<g>.next_page."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    return {{"prefetched bits", true, system.gpu.l2_tlb.entries,
             fmt::format("{} entries of the L2 TLB × 1 bit", system.gpu.l2_tlb.entries)}};
  }

 private:
  NextPageSpec spec_;
};

}  // namespace

void register_next_page(DesignRegistry& registry) {
  registry.add({.name = "next-page",
                .sentence = "An L2 TLB miss fetches the translations of the next pages too.",
                .seams = {"L2 TLB prefetch"},
                .systems = {TranslationKind::Mmu, TranslationKind::Ats, TranslationKind::Svm},
                .make = make_plug_in<NextPagePlugIn>,
                .readme = "src/designs/next_page/README.md",
                .paper = "sequential-prefetching"});
}

}  // namespace nearfar
