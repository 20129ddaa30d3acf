// A workload that is one collective operation among ranks, as a library of them would run it alone: on buffers of
// `bytes` on every rank, once or several times.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/catalog/entries.h"
#include "workload/dnn/network.h"

namespace nearfar::dnn {

class Collective : public Network {
 public:
  /// A rank is a GPU: else the bandwidth would not be that of the links.
  std::uint64_t gpus() const override { return ranks(); }
  std::optional<CollectiveWork> collective() const override { return CollectiveWork{iterations_ * bytes_, factor_}; }

 protected:
  /// `passes`: how often every rank must send all that is not its own; 2 of an all-reduce, 1 of the others.
  Collective(const Parameters& parameters, unsigned passes);

  /// Refuses a buffer that cannot be cut in pieces of one length.
  void need_equal_pieces(const Parameters& parameters) const;

  Pieces pieces() const { return {words(), ranks()}; }
  std::uint64_t words() const { return bytes_ / by_.word; }
  /// Room for `buffers` times what a rank has.
  Tensor room(const char* name, std::uint64_t buffers = 1) { return on_each(name, buffers * bytes_); }

  /// Adds the launches of all iterations, each of which `once` adds.
  template <class Once>
  void repeat(Once once) {
    for (std::uint64_t i = 0; i < iterations_; ++i) once();
  }

  std::uint64_t bytes_, iterations_;
  Striding by_;

 private:
  double factor_;
};

/// The parameters of all collective operations: first the buffer, in the sizes of one of them.
std::vector<WorkloadParameter> collective_parameters(const std::array<std::uint64_t, 3>& bytes);

}  // namespace nearfar::dnn
