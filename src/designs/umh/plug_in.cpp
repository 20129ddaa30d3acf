// The unified memory hierarchy as a design: `umh` sets the management of memory, and says what its directories cost.
#include <fmt/format.h>

#include "coherence/umh/hierarchy_map.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class UnifiedMemoryHierarchy final : public PlugIn {
 public:
  void describe(Section&) override {}  // its parameters are the system's: `umh`

  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const DirectorySize stack = smd_size(system);
    const DirectorySize home = hmd_size(system);
    const std::uint64_t lines = system.umh.block / system.gpu.line;
    const std::uint64_t stacks = system.gpu.l2.banks;
    const std::uint64_t granules = system.gpu.line / system.umh.granule;
    const std::uint64_t l2_lines = system.gpu.l2.size / system.gpu.line;
    StorageItem smd;
    smd.structure = "stacked memory directories";
    smd.per_gpu = true;
    smd.bits = stacks * stack.total_bits();
    smd.formula = fmt::format("{} stacks × {} entries × ({} tag and state + {} lines) bits", stacks, stack.entries,
                              stack.bits - lines, lines);
    StorageItem hmd;
    hmd.structure = "host memory directories";
    hmd.bits = system.umh.hmd.count * home.total_bits();
    hmd.formula = fmt::format("{} modules × {} entries × {} sharer and owner bits", system.umh.hmd.count, home.entries,
                              home.bits);
    StorageItem mark;
    mark.structure = "stale marks";
    mark.bits = system.umh.hmd.count * home.entries;
    mark.formula = fmt::format("{} modules × {} entries × 1 bit", system.umh.hmd.count, home.entries);
    StorageItem masks;
    masks.structure = "masks in the L2";
    masks.per_gpu = true;
    masks.bits = l2_lines * (granules + 3);
    masks.formula = fmt::format("{} lines × ({} granules + 3 state) bits", l2_lines, granules);
    return {smd, hmd, mark, masks};
  }
};

}  // namespace

void register_umh(DesignRegistry& registry) {
  registry.add(
      {.name = "umh",
       .sentence = "GPU memory is a cache of the host's memory that hardware keeps coherent.",
       .seams = {"memory level"},
       .systems = {TranslationKind::Ideal},
       .system = "zero-copy-4gpu",
       .settings = {"memory.management=umh", "coherence=boundary", "remote_cache=l1", "remote_host_lines=false"},
       .make = make_plug_in<UnifiedMemoryHierarchy>,
       .readme = "src/designs/umh/README.md"});
}

}  // namespace nearfar
