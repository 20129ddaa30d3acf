// The static splits of a launch's workgroups over the GPUs: which workgroups are a GPU's own, and in which order it
// runs them. (Greedy is not among them: who runs a workgroup is then decided while the launch runs.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/dispatch_spec.h"
#include "program/workload.h"

namespace nearfar {

/// The split in force: the workload's, or the system's for all. One GPU alone gets all workgroups from the start.
Split effective_split(Split asked, DispatchPolicy policy, unsigned gpus);

/// Whether a launch that lists where its workgroups run can do so on these GPUs; any other can.
bool places_fit(const Launch& launch, unsigned gpus, unsigned cus_per_gpu);

/// The workgroups one GPU runs, as flattened ids: runs of `run` neighbours whose beginnings lie `stride` apart. In a
/// round robin, `chunk` neighbours are one GPU's.
class Share {
 public:
  Share(const Launch& launch, Split split, unsigned gpu, unsigned gpus, unsigned cus_per_gpu, std::uint64_t chunk = 1);

  std::uint64_t size() const { return size_; }
  std::uint64_t operator[](std::uint64_t i) const {
    return listed_.empty() ? first_ + i / run_ * stride_ + i % run_ : listed_[i];
  }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t run_ = 1;
  std::uint64_t stride_ = 1;
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> listed_;  ///< of a launch that lists them
};

/// A share as its GPU starts it: in order on whichever compute unit asks, or on the one that the launch names.
class ShareQueue {
 public:
  ShareQueue(const Launch& launch, Split split, unsigned gpu, unsigned gpus, unsigned cus_per_gpu,
             std::uint64_t chunk = 1);

  /// Workgroups that have not been taken.
  std::uint64_t left() const { return share_.size() - taken_; }
  bool empty() const { return left() == 0; }
  /// The next workgroup for a compute unit, if there is one.
  std::optional<std::uint64_t> take(unsigned cu);

 private:
  struct Line {
    std::vector<std::uint64_t> groups;
    std::size_t next = 0;
  };

  Share share_;
  std::uint64_t taken_ = 0;
  std::vector<Line> by_cu_;  ///< empty: any compute unit takes any workgroup
};

}  // namespace nearfar
