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

/// A grid, row by row: every vertex is linked with those above, left, right and below.
Csr mesh_graph(std::uint32_t width, std::uint32_t height);

/// About `edges` in all, those of a vertex to distinct others at most `half_band` away. Finite-element matrices.
Csr banded_graph(std::uint32_t vertices, std::uint64_t edges, std::uint32_t half_band, std::uint64_t seed);

/// A grid of which a share of the links is kept, chosen at random but so that all vertices stay connected.
Csr road_graph(std::uint32_t width, std::uint32_t height, double keep, std::uint64_t seed);

/// Points drawn in the unit square, linked when nearer than 0.55·√(ln n / n), numbered cell by cell.
Csr geometric_graph(std::uint32_t vertices, std::uint64_t seed);

/// Pages of hosts, one host after the other. Most links stay inside the host or are copied from a page just before;
/// the numbers of links and the sizes of hosts are power laws. Stands for a crawl in the order of its addresses.
Csr web_graph(std::uint32_t vertices, std::uint64_t seed);

/// States that differ in one digit of a number to the base 3: symmetric, 13 to 20 links at distances up to a ninth of
/// all vertices. Stands for the cage matrices of DNA electrophoresis.
Csr cage_graph(std::uint32_t vertices, std::uint64_t seed);

/// The same graph with its vertices numbered at random.
Csr renumber(const Csr& graph, std::uint64_t seed);

/// Gives every edge a weight, uniform in 1..largest.
void draw_weights(Csr& graph, std::uint32_t largest, std::uint64_t seed);

}  // namespace nearfar
