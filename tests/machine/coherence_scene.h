// Programs of a few accesses, each at a time of its own, on a machine with coherence directories: what a scenario on
// paper says, as kernels. Every run is under the oracle.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "designs/design.h"
#include "machine/script.h"

namespace nearfar::coherence_scene {

/// One access by a compute unit of a GPU, at a time of its own. Words are of 4 bytes.
struct Step {
  enum class Kind { Load, Store, StoreLine, Atomic, FenceWorkgroup, FenceGpu, FenceSystem };
  unsigned gpu = 0;
  unsigned cu = 0;
  unsigned after = 0;  ///< cycles from the start of the kernel, about
  Kind kind = Kind::Load;
  unsigned line = 0;
  unsigned home = 0;
};
using Kind = Step::Kind;

inline constexpr unsigned kGpus = 4;
inline constexpr unsigned kCus = 4;

/// The four GPUs of a system with four compute units each, whose kernels are lists of steps; page g of the buffer is on
/// GPU g.
class Scene {
 public:
  explicit Scene(std::vector<std::string> more = {}, const std::vector<std::string>& designs = {},
                 const std::string& system = "rec-4gpu") {
    std::vector<std::string> overrides = {"gpu.shader_arrays=1",     "gpu.cus_per_array=4", "dispatch.policy=blocks",
                                          "remote_cache=l1l2",       "coherence=directory", "gpu.l2.index=modulo",
                                          "gpu.l2.bank_index=modulo"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    system_ = load_system_with(designs, system, overrides).spec;
    base_ = script_->buffer(kGpus * kPageBytes, Placement::Interleave);
  }

  void kernel(std::vector<Step> steps) {
    script_->launch(groups_of(kGpus * kCus, 64), [this, steps](const Script&, const Wave& wave) {
      std::vector<Step> mine;
      for (const Step& step : steps) {
        if (step.gpu * kCus + step.cu == wave.group_x) mine.push_back(step);
      }
      return play(base_, mine);
    });
  }
  /// The host copies a new page over that of a GPU.
  void copy_in(unsigned home) { script_->add_copy({.from = {}, .to = base_ + home * kPageBytes, .bytes = kPageBytes}); }
  Outcome run() const { return simulate(system_, {script_}); }

 private:
  static Stream play(VirtAddr base, std::vector<Step> steps) {
    unsigned now = 0;
    for (const Step& step : steps) {
      if (step.after > now) co_yield salu(step.after - now);
      now = std::max(now, step.after);
      const VirtAddr at = base + step.home * kPageBytes + step.line * 64;
      const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
      const auto words = [at](unsigned lane) { return lane < 16 ? at + lane * 4 : kIdle; };
      switch (step.kind) {
        case Kind::Load: co_yield load(4, lane0); break;
        case Kind::Store: co_yield store(4, lane0); break;
        case Kind::StoreLine: co_yield store(4, words); break;
        case Kind::Atomic: co_yield atomic(4, lane0); break;
        case Kind::FenceWorkgroup: co_yield fence(Scope::Workgroup); break;
        case Kind::FenceGpu: co_yield fence(Scope::Gpu); break;
        case Kind::FenceSystem: co_yield fence(Scope::System); break;
      }
      co_yield wait(0);
    }
  }

  SystemSpec system_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  VirtAddr base_;
};

inline std::uint64_t requests(const Outcome& run, unsigned gpu) {
  return run.count("gpu" + std::to_string(gpu) + ".link.request_packets");
}
inline std::uint64_t hits(const Outcome& run, unsigned gpu) {
  const std::string prefix = "gpu" + std::to_string(gpu) + ".invalidation.hit_";
  return run.count(prefix + "write") + run.count(prefix + "eviction") + run.count(prefix + "collateral");
}
inline std::uint64_t sent(const Outcome& run, unsigned gpu) {
  const std::string prefix = "gpu" + std::to_string(gpu) + ".invalidation.sent_";
  return run.count(prefix + "write") + run.count(prefix + "eviction");
}

}  // namespace nearfar::coherence_scene
