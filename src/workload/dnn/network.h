// A program of kernels of neural networks on several ranks: a launch runs on all of them at once, and the split gives
// each GPU the ranks in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/dnn/kernels.h"

namespace nearfar::dnn {

class Network : public Workload {
 public:
  Stream wavefront(std::size_t launch, const Wave& wave) const override;

 protected:
  explicit Network(std::uint64_t ranks) : ranks_(ranks) {}

  std::uint64_t ranks() const { return ranks_; }
  /// An array that every rank has, in pages of its own.
  Tensor on_each(const std::string& name, std::uint64_t bytes);
  /// An array that all ranks share, its pages spread over the GPUs.
  Tensor shared(const std::string& name, std::uint64_t bytes);
  void add(const char* name, const Kernel& kernel);

  /// Adds up an array of floats that every rank has, around the ring: everybody's has the sum, or the mean, in the end.
  /// `received` is as long.
  void ring(const Tensor& array, const Tensor& received, std::uint64_t floats, bool average);

 private:
  std::uint64_t ranks_;
  std::vector<Kernel> kernels_;  // by launch
};

}  // namespace nearfar::dnn
