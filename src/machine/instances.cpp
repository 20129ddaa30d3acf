#include "machine/instances.h"

#include <fmt/format.h>

#include <algorithm>

#include "translation/mig_spec.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kCompute = InstanceLayout::kComputeSlices;
constexpr std::uint32_t kMemory = InstanceLayout::kMemorySlices;

/// `part` of `of` parts of a number, to the nearest multiple of `unit`, at least one unit.
std::uint32_t share(std::uint32_t whole, std::uint32_t part, std::uint32_t of, std::uint32_t unit) {
  const std::uint32_t units = (2 * (whole / unit) * part + of) / (2 * of);
  return std::max(units, 1U) * unit;
}

std::string origin_of(const Configuration& configuration, const char* path) {
  return configuration.origin(*configuration.schema().find(path));
}

}  // namespace

void count_instances(SystemSpec& spec, const Configuration& configuration) {
  const std::uint32_t count = spec.mig.instances.count();
  if (!spec.has_instances()) {
    if (spec.mig.instances == InstanceLayout{}) return;
    configuration.fail({"mig.instances", "translation.kind"},
                       "`mig.instances` cuts one GPU into instances, which needs translation.kind `mig`, as the system "
                       "mig-a100 has it.");
  }
  if (spec.gpus != count && origin_of(configuration, "gpus") == "--set") {
    configuration.fail({"gpus", "mig.instances"},
                       fmt::format("the GPUs of this system are the instances of one GPU: `mig.instances` = {} says "
                                   "that there are {}.",
                                   spec.mig.instances.text(), count));
  }
  spec.gpus = count;
}

void check_instances(const SystemSpec& spec, const Configuration& configuration) {
  const auto need = [&](bool holds, std::initializer_list<std::string> keys, const std::string& why) {
    if (!holds) configuration.fail(keys, why);
  };
  need(spec.page.size.bits != kMediumPageBits || spec.has_instances(), {"page.size", "translation.kind"},
       "`page.size: 64K` needs translation.kind `mig`: other systems have pages of 4K or 2M.");
  if (!spec.has_instances()) return;
  need(spec.gpu.shader_arrays % kCompute == 0, {"gpu.shader_arrays"},
       "`gpu.shader_arrays` must be a multiple of 7: a GPU that is cut into instances has seven compute slices.");
  need(spec.gpu.l2.size % kMemory == 0 && spec.gpu.l2.banks % kMemory == 0, {"gpu.l2.size", "gpu.l2.banks"},
       "`gpu.l2.size` and `gpu.l2.banks` must be multiples of 8: a GPU that is cut into instances has eight memory "
       "slices.");
  need(spec.gpu.dram.channels % kMemory == 0 && spec.gpu.dram.capacity % (kMemory * kPageBytes) == 0,
       {"gpu.dram.channels", "gpu.dram.capacity"},
       "`gpu.dram.channels` must be a multiple of 8, and `gpu.dram.capacity` of 8 frames: a GPU that is cut into "
       "instances has eight memory slices.");
  need(spec.mig.l3_tlb.entries % spec.mig.l3_tlb.ways == 0, {"mig.l3_tlb.entries", "mig.l3_tlb.ways"},
       "`mig.l3_tlb.entries` must be a multiple of its ways, or 0 for no limit.");
  need(spec.memory.management == MemoryManagement::Placed && spec.placement != InitialPlacement::Workload &&
           spec.placement != InitialPlacement::Host,
       {"memory.management", "placement.initial", "translation.kind"},
       "translation.kind `mig` needs `memory.management: placed` and `placement.initial` other than `workload` and "
       "`host`: all pages of an instance are in its own slices of memory.");
  need(spec.walk.timing != WalkTiming::Memory, {"walk.timing", "translation.kind"},
       "translation.kind `mig` needs `walk.timing` other than `memory`: whose slice of memory page tables are in is "
       "not modelled.");
}

SystemSpec system_of_instance(const SystemSpec& whole, unsigned instance) {
  SystemSpec system = whole;
  const std::uint32_t compute = whole.mig.instances.compute_slices(instance);
  const std::uint32_t memory = whole.mig.instances.memory_slices(instance);
  GpuSpec& gpu = system.gpu;
  gpu.shader_arrays = gpu.shader_arrays / kCompute * compute;
  if (gpu.l2_tlb.entries != 0) gpu.l2_tlb.entries = share(gpu.l2_tlb.entries, compute, kCompute, gpu.l2_tlb.ways);
  gpu.l2_tlb.mshrs = share(gpu.l2_tlb.mshrs, compute, kCompute, 1);
  gpu.l2_tlb.sub_entries = whole.mig.sub_entries;
  gpu.l2.size = gpu.l2.size / kMemory * memory;
  gpu.l2.banks = gpu.l2.banks / kMemory * memory;
  gpu.dram.channels = gpu.dram.channels / kMemory * memory;
  gpu.dram.capacity = gpu.dram.capacity / kMemory * memory;
  return system;
}

}  // namespace nearfar
