// The static splits of a launch's workgroups over the GPUs: which workgroups are a GPU's own, and in which order it
// runs them. (Greedy is not among them: who runs a workgroup is then decided while the launch runs.)
#pragma once

#include <cstdint>

#include "program/dispatch_spec.h"
#include "program/workload.h"

namespace nearfar {

/// The split in force: the workload's, or the system's for all. One GPU alone gets all workgroups from the start.
Split effective_split(Split asked, DispatchPolicy policy, unsigned gpus);

/// The workgroups one GPU runs, as flattened ids: runs of `run` neighbours whose beginnings lie `stride` apart. In a
/// round robin, `chunk` neighbours are one GPU's.
class Share {
 public:
  Share(const Launch& launch, Split split, unsigned gpu, unsigned gpus, unsigned cus_per_gpu, std::uint64_t chunk = 1);

  std::uint64_t size() const { return size_; }
  std::uint64_t operator[](std::uint64_t i) const { return first_ + i / run_ * stride_ + i % run_; }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t run_ = 1;
  std::uint64_t stride_ = 1;
  std::uint64_t size_ = 0;
};

}  // namespace nearfar
