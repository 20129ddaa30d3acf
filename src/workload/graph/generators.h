// Made-up graphs for the workloads that need one. The same parameters and seed give the same graph everywhere.
#pragma once

#include <cstdint>

#include "workload/graph/csr.h"

namespace nearfar {

/// `edges` distinct (row, column) pairs, every such set equally likely.
Csr uniform_graph(std::uint32_t vertices, std::uint64_t edges, std::uint64_t seed);

/// Power-law graphs: each edge descends `scale` times into one quadrant of the matrix (as in Graph 500).
struct RmatSpec {
  unsigned scale = 16;      ///< 2^scale vertices
  std::uint64_t draws = 0;  ///< edges drawn; repeated ones are then removed
  double a = 0.57, b = 0.19, c = 0.19;
  bool permute = false;  ///< number the vertices at random, which scatters the popular ones
};
Csr rmat_graph(const RmatSpec& spec, std::uint64_t seed);

}  // namespace nearfar
