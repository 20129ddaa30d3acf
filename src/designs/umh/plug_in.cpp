// The unified memory hierarchy as a design: `umh` sets the management of memory, and says what its directories cost.
#include <fmt/format.h>

#include <bit>

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
    if (!system.umh.l1_writes_back()) return {smd, hmd, mark, masks};
    const std::uint64_t units = system.gpu.cus() + system.gpu.shader_arrays;
    const auto owner = static_cast<std::uint64_t>(std::bit_width(units));
    const std::uint64_t l1_lines =
        (system.gpu.cus() * system.gpu.l1v.size + system.gpu.shader_arrays * system.gpu.l1s.size) / system.gpu.line;
    StorageItem sharers;
    sharers.structure = "directories of L1s in the L2";
    sharers.per_gpu = true;
    sharers.bits = l2_lines * (units + owner);
    sharers.formula = fmt::format("{} lines × ({} sharer + {} owner) bits", l2_lines, units, owner);
    StorageItem l1_masks;
    l1_masks.structure = "masks in the L1s";
    l1_masks.per_gpu = true;
    l1_masks.bits = l1_lines * (granules + 3);
    l1_masks.formula = fmt::format("{} lines × ({} granules + 3 state) bits", l1_lines, granules);
    return {smd, hmd, mark, masks, sharers, l1_masks};
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
       .readme = "src/designs/umh/README.md",
       .paper = "umh"});
}

}  // namespace nearfar
