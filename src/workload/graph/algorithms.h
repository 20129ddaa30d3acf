// The graph programs as the host would compute them, round by round: what the streams of the data-dependent workloads
// are made from. Every launch's masks depend only on what was final before it.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/graph/csr.h"

namespace nearfar {

/// A set of vertices.
class VertexSet {
 public:
  explicit VertexSet(std::uint32_t vertices) : words_((vertices + std::size_t{63}) / 64) {}

  void insert(std::uint32_t v) { words_[v / 64] |= std::uint64_t{1} << (v % 64); }
  bool has(std::uint32_t v) const { return (words_[v / 64] >> (v % 64) & 1) != 0; }

 private:
  std::vector<std::uint64_t> words_;
};

/// Bellman-Ford as products in the (min, +) algebra: each round every vertex looks along all its edges.
struct ShortestPaths {
  static constexpr std::uint32_t kFar = 99'999'999;

  std::vector<std::uint32_t> distance;  ///< from each vertex to the source, along the edges
  std::vector<VertexSet> changed;       ///< by round; the last round of a run that has converged changes nothing
  bool converged = false;
};
ShortestPaths min_plus_rounds(const Csr& graph, std::uint32_t source, std::uint64_t most_rounds);

/// Colouring by independent sets: each round colours the vertices whose random value exceeds those of all their
/// uncoloured neighbours.
struct Coloring {
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};

  std::vector<std::uint32_t> color;  ///< the round in which each vertex is coloured
  std::uint32_t rounds = 0;
};
Coloring color_rounds(const Csr& graph, std::uint64_t seed, std::uint64_t most_rounds);

/// PageRank by power iteration, each column's entries being 1/(entries in the column).
struct Ranks {
  std::vector<double> rank;
  std::uint64_t rounds = 0;  ///< until no rank changed by more than a millionth of the mean
};
Ranks rank_rounds(const Csr& matrix, double damping, std::uint64_t most_rounds);

}  // namespace nearfar
