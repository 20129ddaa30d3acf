#include "characterize/functional/functional_pass.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "characterize/functional/functional_gpu.h"
#include "characterize/functional/functional_memory.h"
#include "characterize/functional/functional_statistics.h"
#include "characterize/functional/resident_wavefronts.h"
#include "config/error.h"
#include "designs/design.h"
#include "machine/workload_check.h"
#include "translation/address_space.h"

namespace nearfar {
namespace {

using Clock = std::chrono::steady_clock;

/// All of a pass: the machine without time, and the workload on it.
class FunctionalRun {
 public:
  FunctionalRun(const SystemSpec& system, const Workload& workload,
                const std::function<void(const Progress&)>& on_progress)
      : system_(system),
        workload_(workload),
        on_progress_(on_progress),
        frames_(system.gpus + 1, system.page.size),
        space_(workload, system.placement, 0, system.gpus, DeviceId{static_cast<std::uint16_t>(system.gpus)}, frames_,
               system.page.size),
        coalescer_(static_cast<unsigned>(system.gpu.line)),
        memory_(system) {
    for (unsigned device = 0; device <= system.gpus; ++device) check_memory(frames_, system, device);
    gpus_.reserve(system.gpus);
    for (std::uint32_t g = 0; g < system.gpus; ++g) {
      gpus_.emplace_back(DeviceId{static_cast<std::uint16_t>(g)}, system, space_, coalescer_, memory_);
    }
    for (const Launch& launch : workload.launches()) groups_ += launch.groups();
  }

  FunctionalResult run() {
    ResidentWavefronts resident(system_, workload_, gpus_);
    for (const Step& step : workload_.steps()) {
      if (const auto* launch = std::get_if<LaunchStep>(&step)) run_launch(resident, launch->launch);
      if (const auto* copy = std::get_if<Copy>(&step)) run_copy(*copy);
    }
    FunctionalResult result;
    result.launches = launches_;
    for (FunctionalGpu& gpu : gpus_) {
      result.instructions += gpu.stats().instructions;
      result.accesses += gpu.stats().accesses;
    }
    result.statistics = collect_functional(system_, gpus_, memory_, launches_);
    return result;
  }

 private:
  void run_launch(ResidentWavefronts& resident, std::size_t launch) {
    for (FunctionalGpu& gpu : gpus_) gpu.acquire();
    resident.run(launch, [&] { report_progress(resident); });
    memory_.release();
    ++launches_;
  }

  /// Of a page of which each GPU has its own, the first one's is read and all are written.
  void run_copy(const Copy& copy) {
    const std::uint64_t line = system_.gpu.line;
    const auto line_at = [&](VirtAddr address, std::uint32_t gpu) {
      return PhysLine{space_.translate(DeviceId{static_cast<std::uint16_t>(gpu)}, page_of(address)),
                      static_cast<unsigned>(address.value % kPageBytes / line)};
    };
    const auto copy_line = [&](std::uint64_t offset) {
      if (copy.from) memory_.copy_from(line_at(*copy.from + offset, 0));
      if (!copy.to) return;
      const VirtAddr to = *copy.to + offset;
      const std::uint32_t replicas = space_.is_private(page_of(to)) ? system_.gpus : 1;
      for (std::uint32_t gpu = 0; gpu < replicas; ++gpu) memory_.copy_to(line_at(to, gpu));
    };
    for (std::uint64_t row = 0; row < copy.rows; ++row) {
      for (std::uint64_t offset = 0; offset < copy.bytes; offset += line) copy_line(row * copy.pitch + offset);
    }
  }

  void report_progress(const ResidentWavefronts& resident) {
    if (!on_progress_ || Clock::now() < next_report_) return;
    next_report_ = Clock::now() + std::chrono::milliseconds(200);
    std::uint64_t accesses = 0;
    for (FunctionalGpu& gpu : gpus_) accesses += gpu.stats().accesses;
    on_progress_({resident.groups_done(), groups_, accesses, 0});
  }

  const SystemSpec& system_;
  const Workload& workload_;
  const std::function<void(const Progress&)>& on_progress_;
  FrameAllocator frames_;
  AddressSpace space_;
  Coalescer coalescer_;
  FunctionalMemory memory_;
  std::vector<FunctionalGpu> gpus_;
  std::uint64_t groups_ = 0;
  std::uint64_t launches_ = 0;
  Clock::time_point next_report_{};
};

}  // namespace

void check_functional(const SystemSpec& system, std::span<const std::string> designs) {
  if (system.policy != PagePolicy::Pinned) {
    throw InputError(
        fmt::format("A functional pass has no time in which pages could move, and those of `{}` do: it needs "
                    "placement.policy=pinned, with translation.kind=ideal.",
                    system.name));
  }
  if (system.translation.kind != TranslationKind::Ideal) {
    throw InputError(
        fmt::format("A functional pass has neither TLBs nor page walks, and `{}` has: it needs translation.kind=ideal.",
                    system.name));
  }
  if (system.writes_remote_lines_back()) {
    throw InputError(fmt::format(
        "A functional pass writes stores to other devices through, and `{}` keeps them: it needs remote_write=through.",
        system.name));
  }
  for (const Design* design : choose_designs(designs)) {
    const bool other = std::ranges::any_of(design->seams, [](const std::string& seam) { return seam != "directory"; });
    if (design->make == nullptr || !other) continue;
    throw InputError(fmt::format("A functional pass has the seam `directory` alone, and the design `{}` decides `{}`.",
                                 design->name, fmt::join(design->seams, "`, `")));
  }
}

std::optional<double> FunctionalResult::find(const std::string& name) const {
  const auto found = std::ranges::lower_bound(statistics, name, {}, &StatValue::name);
  if (found == statistics.end() || found->name != name) return std::nullopt;
  return found->as_double();
}

FunctionalResult functional_pass(const SystemSpec& system, const Workload& workload,
                                 const std::function<void(const Progress&)>& on_progress) {
  check_workload(workload, system, system.gpus);
  const auto start = Clock::now();
  FunctionalResult result = FunctionalRun(system, workload, on_progress).run();
  result.host_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace nearfar
