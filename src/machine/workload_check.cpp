#include "machine/workload_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "config/error.h"
#include "program/split.h"

namespace nearfar {
namespace {

void check_workgroups(const Workload& workload, const GpuSpec& gpu) {
  for (const Launch& launch : workload.launches()) {
    const std::uint64_t waves = launch.waves(gpu.wavefront);
    const std::uint64_t slots = std::uint64_t{gpu.cu.simds} * gpu.cu.waves_per_simd;
    if (waves > slots || launch.local_bytes > gpu.cu.local_memory) {
      throw InputError(
          fmt::format("a workgroup of kernel '{}' needs {} wavefronts and {} B of local memory, but a compute unit "
                      "has {} and {} B "
                      "(gpu.cu.simds × gpu.cu.waves_per_simd, gpu.cu.local_memory)",
                      launch.kernel, waves, launch.local_bytes, slots, gpu.cu.local_memory));
    }
  }
}

/// Copies are made of whole lines, between pages that stay where they are.
void check_copies(const Workload& workload, const SystemSpec& spec) {
  for (const Step& step : workload.steps()) {
    const Copy* copy = std::get_if<Copy>(&step);
    if (copy == nullptr) continue;
    if (spec.policy != PagePolicy::Pinned) {
      throw InputError(
          "the workload copies its data between host and GPUs, and in this system pages move to who touches them: run "
          "it without copies (a trace with --param host=0), or with placement.policy=pinned");
    }
    if (copy->rows > 1 && copy->pitch % spec.gpu.line != 0) {
      throw InputError(
          fmt::format("the workload copies rows that are {} B apart, which is no multiple of a line of {} B "
                      "(gpu.line)",
                      copy->pitch, spec.gpu.line));
    }
    for (const std::optional<VirtAddr>& side : {copy->from, copy->to}) {
      if (!side || side->value % spec.gpu.line == 0) continue;
      throw InputError(
          fmt::format("the workload copies from or to address {:#x}, which is not the beginning of a line "
                      "of {} B (gpu.line)",
                      side->value, spec.gpu.line));
    }
  }
}

/// Multicast memory is at home in a switch that knows its members.
void check_multicast(const Workload& workload, const SystemSpec& spec) {
  if (spec.has_switch_device()) return;
  for (const Buffer& buffer : workload.buffers()) {
    if (buffer.placement != Placement::Multicast) continue;
    throw InputError(fmt::format(
        "the workload stores to or loads from multicast memory ('{}'), and the switch of this system only passes "
        "packets: add --design nvls, or run another algorithm",
        buffer.name));
  }
}

/// What a recorded program says of single wavefronts, workgroups and pages must be possible here.
void check_recorded(const Workload& workload, const SystemSpec& system, unsigned gpus) {
  if (workload.lanes() != 0 && workload.lanes() != system.gpu.wavefront) {
    throw InputError(
        fmt::format("the program was recorded with wavefronts of {} lanes, and those of this system have {} "
                    "(gpu.wavefront): record it anew, or run it with --set gpu.wavefront={}",
                    workload.lanes(), system.gpu.wavefront, workload.lanes()));
  }
  if (system.dispatch == DispatchPolicy::Workload) {
    for (const Launch& launch : workload.launches()) {
      if (places_fit(launch, gpus, system.gpu.cus())) continue;
      throw InputError(
          fmt::format("the program names the GPU or the compute unit of each workgroup of kernel '{}', and one of them "
                      "is not among {} GPUs of {} compute units: take a larger system, or another dispatch.policy",
                      launch.kernel, gpus, system.gpu.cus()));
    }
  }
  if (system.placement != InitialPlacement::Workload) return;
  for (const PageHome& home : workload.page_homes()) {
    if (home.device == PageHome::kHost || home.device < gpus) continue;
    throw InputError(
        fmt::format("the program places pages on GPU {}, and {} GPUs run it: take more, or another placement.initial",
                    home.device, gpus));
  }
}

/// The host's core, and a management of memory, know where pages are at the start.
void check_host_accesses(const Workload& workload, const SystemSpec& spec) {
  const auto any = [&]<class Which>(std::type_identity<Which>) {
    return std::ranges::any_of(workload.steps(), [](const Step& step) { return std::holds_alternative<Which>(step); });
  };
  const bool accesses = any(std::type_identity<HostAccess>());
  if (accesses && spec.policy != PagePolicy::Pinned) {
    throw InputError(
        "in this workload the host works on its data between launches, and in this system pages move to who touches "
        "them: run it without that (host=0), or with placement.policy=pinned");
  }
  if (spec.memory.management != MemoryManagement::Placed && any(std::type_identity<Copy>())) {
    throw InputError(
        "the workload copies its data itself, so that no other management of memory can do it: run it without copies, "
        "or with memory.management=placed");
  }
}

}  // namespace

void check_workload(const Workload& workload, const SystemSpec& system, unsigned gpus) {
  if (workload.gpus() != 0 && workload.gpus() != gpus) {
    throw InputError(fmt::format(
        "the workload has {} ranks, each of which is a GPU with its own copy of the data, but {} GPUs run it: give it "
        "as many (--param ranks={}, or --set gpus={})",
        workload.gpus(), gpus, gpus, workload.gpus()));
  }
  check_recorded(workload, system, gpus);
  check_workgroups(workload, system.gpu);
  check_copies(workload, system);
  check_multicast(workload, system);
  check_host_accesses(workload, system);
}

void check_has_memory_model(const Workload& workload, const SystemSpec& system) {
  if (!system.is_unified() || system.umh.kernel_boundary != UmhBoundary::None) return;
  if (workload.launches().size() < 2) return;
  throw InputError(
      fmt::format("with umh.kernel_boundary=none nothing says what a launch sees of the one before it, so that the {} "
                  "launches of this workload cannot be checked: run it without --check, or with "
                  "umh.kernel_boundary=publish",
                  workload.launches().size()));
}

void check_memory(const FrameAllocator& frames, const SystemSpec& system, unsigned device) {
  const std::uint64_t needed = frames.taken(DeviceId{static_cast<std::uint16_t>(device)}) * kPageBytes;
  const bool is_gpu = device < system.gpus;
  const std::uint64_t capacity = is_gpu ? system.gpu.dram.capacity : system.host.dram.capacity;
  if (needed <= capacity) return;
  const char* what = is_gpu ? "gpu.dram.capacity" : "host.dram.capacity";
  throw InputError(fmt::format("the workload places {} MiB on {}, but {} is {} MiB", needed >> 20,
                               is_gpu ? fmt::format("GPU {}", device) : "the host",
                               is_gpu && system.has_instances() ? fmt::format("its part of {}", what) : what,
                               capacity >> 20));
}

}  // namespace nearfar
