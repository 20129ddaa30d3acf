// The disaggregated page table as a plug-in: leaf tables that lie on one GPU each.
#include <fmt/format.h>

#include "config/configuration.h"
#include "designs/disaggregated_page_table/leaf_tables_of_gpu.h"
#include "designs/disaggregated_page_table/start.h"
#include "designs/disaggregated_page_table/table_registry.h"
#include "designs/registry.h"
#include "designs/walk_units.h"

namespace nearfar {
namespace {

class DisaggregatedPageTable final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("dpt", spec_, "Leaf page tables that lie on one GPU each."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_walks_by_level(system, configuration, "a page table whose leaf tables lie elsewhere");
    if (system.policy == PagePolicy::Replication || system.policy == PagePolicy::NoFault) {
      configuration.fail({"placement.policy"},
                         "the one entry of a page in a disaggregated page table cannot name copies of it on several "
                         "GPUs: `placement.policy` must be another than `replication` and `no-fault`.");
    }
    if (system.invalidate.targets != InvalidateTargets::Auto) {
      configuration.fail({"invalidate.targets"},
                         "the access bits of the disaggregated page table take the place of `invalidate.targets`, "
                         "which must be `auto`.");
    }
    if (system.invalidate.how != InvalidateHow::Walk || system.gpu.gmmu.update != UpdateHow::Walk) {
      configuration.fail({"invalidate.how", "gpu.gmmu.update"},
                         "the homes of leaf tables walk to the entries that they write: `invalidate.how` and "
                         "`gpu.gmmu.update` must be `walk`.");
    }
    if (system.migration.free_invalidation()) {
      configuration.fail({"migration.ideal"},
                         "the homes of leaf tables say whom to invalidate, which takes time: set `migration.ideal` to "
                         "false, or `migration.keep_invalidation` to true.");
    }
  }

  void attach(Gpu& gpu, const SystemSpec& system) const override {
    const LeafTableOptions options{host_of(system), system.gpus, system.page.size.bits != 0,
                                   system.policy != PagePolicy::OnTouch, spec_};
    auto& part = gpu.parts().add(std::make_unique<LeafTablesOfGpu>(*gpu.gmmu(), *gpu.l2_tlb(), gpu, options));
    gpu.gmmu()->set_leaf_tables(part);
  }
  void attach(Host& host, const SystemSpec& system) const override {
    const bool broadcasts = system.policy == PagePolicy::AccessCounter;
    host.parts().add(std::make_unique<TableRegistry>(*host.mmu(), host, system.gpus, spec_.access_bits, broadcasts));
  }
  void begin(std::span<const std::unique_ptr<Gpu>> gpus, Host& host,
             std::span<const Process> processes) const override {
    StartOfLeafTables start{spec_, *host.mmu(), *host.parts().find<TableRegistry>(), {}};
    for (const auto& gpu : gpus) start.gpus.push_back(gpu->parts().find<LeafTablesOfGpu>());
    for (std::size_t p = 0; p < processes.size(); ++p) {
      const Process& process = processes[p];
      start.add_process(static_cast<Pid>(p), process.space->first_page(), process.space->pages(), process.first_gpu,
                        process.gpus);
    }
  }

  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<LeafTableStats>(out, {"gpus.dpt.", "gpu<g>.dpt."});
    list_stats<TableRegistryStats>(out, {"host.dpt."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    return {{"leaf-table homes", false, 0, "in address bits of upper entries that exist"},
            {"access bits", false, 0, fmt::format("{} bits of each entry that exists", spec_.access_bits)},
            {"read counters", false, 0, fmt::format("{} × 32 bits of memory for each leaf table", system.gpus)}};
  }

 private:
  static DeviceId host_of(const SystemSpec& system) { return DeviceId{static_cast<std::uint16_t>(system.gpus)}; }

  DptSpec spec_;
};

}  // namespace

void register_disaggregated_page_table(DesignRegistry& registry) {
  registry.add(
      {.name = "disaggregated-page-table",
       .sentence = "Each leaf page table lies on one GPU, whose walkers serve the others.",
       .seams = {"leaf tables", "whom to invalidate", "how to invalidate"},
       .systems = {TranslationKind::Mmu},
       .settings = {"gpu.gmmu.replay=short"},
       .make = make_plug_in<DisaggregatedPageTable>,
       .readme = "src/designs/disaggregated_page_table/README.md",
       .paper = "translation-dissertation",
       .refuses = {
           {"trans-fw-prt",
            "a Pending Request Table tracks the valid entries of the local page table, and "
            "in a disaggregated page table they are those of other GPUs too"},
           {"trans-fw-ft",
            "a forwarded fault is answered from the local page table of the GPU asked, and a "
            "disaggregated page table has the entry at its home alone"},
           {"replication", "the one entry of a page cannot name copies of it on several GPUs"},
           {"ideal-no-fault", "the one entry of a page cannot name copies of it on several GPUs"},
           {"ideal-migration", "the homes of leaf tables say whom to invalidate, which takes time"},
           {"neighborhood", "walks for misses may end above a leaf table, where there is no line to share"},
           {"neighborhood-leaf", "walks for misses may end above a leaf table, where there is no line to share"},
           {"pte-cache", "lines of a leaf table that has migrated would stay in the cache of its old home"},
       }});
}

}  // namespace nearfar
