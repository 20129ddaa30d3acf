// The graph programs as the host would compute them, round by round: what the streams of the data-dependent workloads
// are made from. Every launch's masks depend only on what was final before it.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/graph/csr.h"
#include "workload/index_set.h"

namespace nearfar {

/// Bellman-Ford as products in the (min, +) algebra: each round every vertex looks along all its edges.
struct ShortestPaths {
  static constexpr std::uint32_t kFar = 99'999'999;

  std::vector<std::uint32_t> distance;  ///< from each vertex to the source, along the edges
  std::vector<IndexSet> changed;        ///< by round; the last round of a run that has converged changes nothing
  bool converged = false;
};
ShortestPaths min_plus_rounds(const Csr& graph, std::uint32_t source, std::uint64_t most_rounds);

/// Bellman-Ford that pushes: each round the vertices that came nearer look along their edges, all at the distances of
/// the round's beginning.
struct PushRound {
  IndexSet active;     ///< vertices that came nearer in the round before
  IndexSet improving;  ///< edges over which they bring another one nearer
};
struct PushedPaths {
  std::vector<std::uint32_t> distance;  ///< from the source to each vertex
  std::vector<PushRound> rounds;
  bool converged = false;
};
PushedPaths push_rounds(const Csr& graph, std::uint32_t source, std::uint64_t most_rounds);
/// The same where each of several ranks has `part` vertices, knows their distances, and of the others' only the least
/// that it has sent itself: it sends more than is of use.
PushedPaths push_rounds_by_parts(const Csr& graph, std::uint32_t source, std::uint64_t part, std::uint64_t most_rounds);
/// The `count` rounds with the most improving edges, in their order; all where `count` is 0.
std::vector<PushRound> fullest_rounds(std::vector<PushRound> rounds, std::uint64_t count);

/// How far each vertex is from the source, in edges; `kUnreached` where no path leads.
inline constexpr std::uint32_t kUnreached = ~std::uint32_t{0};
std::vector<std::uint32_t> breadth_first_levels(const Csr& graph, std::uint32_t source);

/// Colouring by independent sets: each round colours the vertices whose random value exceeds those of all their
/// uncoloured neighbours.
struct Coloring {
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};

  std::vector<std::uint32_t> color;  ///< the round in which each vertex is coloured
  std::uint32_t rounds = 0;
};
Coloring color_rounds(const Csr& graph, std::uint64_t seed, std::uint64_t most_rounds);

/// Floyd-Warshall: round k looks for shorter ways over vertex k.
struct AllPairs {
  std::vector<std::uint32_t> distance;  ///< from row to column
  std::vector<IndexSet> improved;       ///< by round: the entries that got shorter
};
/// Of a complete graph with weights drawn from 0..200.
AllPairs floyd_warshall_rounds(std::uint32_t vertices, std::uint64_t seed);
/// The weights it begins with.
std::vector<std::uint32_t> draw_distances(std::uint32_t vertices, std::uint64_t seed);

/// PageRank by power iteration, each column's entries being 1/(entries in the column).
struct Ranks {
  std::vector<double> rank;
  std::uint64_t rounds = 0;  ///< until no rank changed by more than a millionth of the mean
};
Ranks rank_rounds(const Csr& matrix, double damping, std::uint64_t most_rounds);

}  // namespace nearfar
