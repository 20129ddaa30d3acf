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
  /// Multicast memory that stands for an array of which every rank has `bytes`: one for all ranks.
  Tensor multicast(const std::string& name, const Tensor& of, std::uint64_t bytes);
  void add(const char* name, const Kernel& kernel);

  /// Collective operations on an array that every rank has; `received` is where others store what is to be added. Each
  /// step is a launch: it begins when all ranks have ended the one before.
  /// @{
  /// Everybody's has the sum, or the mean, in the end. `received` is as long.
  void ring(const Tensor& array, const Tensor& received, const Pieces& pieces, bool average, const Striding& by = {});
  /// The first half of it: rank r begins with piece r + first, and ends with the sum of piece r + first + 1.
  void ring_reduce(const Tensor& array, const Tensor& received, const Pieces& pieces, std::uint64_t first, bool average,
                   const Striding& by);
  /// The second half: rank r has piece r + first, and in the end everybody has all.
  void ring_gather(const Tensor& array, const Pieces& pieces, std::uint64_t first, const Striding& by);
  /// Every rank adds up a piece that all others store into it. `received` has room for the others' pieces.
  void direct_reduce(const Tensor& array, const Tensor& received, const Pieces& pieces, bool average,
                     const Striding& by = {});
  /// Every rank stores its piece into all others.
  void direct_gather(const Tensor& array, const Pieces& pieces, const Striding& by = {});
  /// Every rank adds up everything that all others store into it. `received` has room for the others' arrays.
  void one_shot(const Tensor& array, const Tensor& received, std::uint64_t words, const Striding& by);
  /// Up a binary tree and down again, in chunks. `received` is twice as long.
  void tree(const Tensor& array, const Tensor& received, const Pieces& chunks, const Striding& by);
  /// @}

 private:
  std::uint64_t ranks_;
  std::vector<Kernel> kernels_;  // by launch
};

}  // namespace nearfar::dnn
