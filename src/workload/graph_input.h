// Where a workload's graph comes from: a generator chosen by parameters, or the user's own file.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workload/catalog/entries.h"
#include "workload/graph/csr.h"

namespace nearfar {

/// The generators by their number in the parameter `graph`.
enum class GraphKind : std::uint64_t { Uniform, Rmat, Mesh, Banded, Road, Geometric, Web, Cage };

/// The parameters that describe a graph.
std::vector<WorkloadParameter> graph_parameters(GraphKind kind, const std::array<std::uint64_t, 3>& vertices,
                                                const std::array<std::uint64_t, 3>& edges);

struct GraphNeeds {
  bool symmetric = false;  ///< and without edges from a vertex to itself
  bool weights = false;    ///< the user's own, or drawn from 1..`weights`
};
Csr make_graph(const Parameters& parameters, std::uint64_t seed, const GraphNeeds& needs = {});

}  // namespace nearfar
