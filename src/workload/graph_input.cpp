#include "workload/graph_input.h"

#include <algorithm>
#include <cmath>

#include "workload/graph/generators.h"
#include "workload/graph/reader.h"

namespace nearfar {
namespace {

constexpr double kRoadsKept = 0.6;

/// The side of a square grid with as many vertices as asked for.
std::uint32_t grid_side(const Parameters& parameters) {
  const std::uint64_t n = parameters["n"];
  const auto side = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(n))));
  if (side * side != n) {
    parameters.refuse("n", "must be a square number when graph is 2 (mesh) or 4 (road)",
                      std::max<std::uint64_t>(side, 1) * std::max<std::uint64_t>(side, 1));
  }
  return static_cast<std::uint32_t>(side);
}

Csr generate(const Parameters& parameters, std::uint64_t seed) {
  const std::uint64_t n = parameters["n"], m = parameters["m"];
  const auto vertices = static_cast<std::uint32_t>(n);
  switch (static_cast<GraphKind>(parameters["graph"])) {
    case GraphKind::Uniform:
      if (m > n * n) parameters.refuse("m", "a matrix with n² entries cannot have more", n * n);
      return uniform_graph(vertices, m, seed);
    case GraphKind::Rmat:
      return rmat_graph({.scale = parameters.log2("n", "must be a power of two when graph is 1 (R-MAT)"), .draws = m},
                        seed);
    case GraphKind::Mesh: return mesh_graph(grid_side(parameters), grid_side(parameters));
    case GraphKind::Banded: return banded_graph(vertices, m, parameters.u32("band"), seed);
    case GraphKind::Road: return road_graph(grid_side(parameters), grid_side(parameters), kRoadsKept, seed);
    case GraphKind::Geometric: return geometric_graph(vertices, seed);
    case GraphKind::Web: return web_graph(vertices, seed);
    case GraphKind::Cage: return cage_graph(vertices, seed);
  }
  std::abort();
}

}  // namespace

std::vector<WorkloadParameter> graph_parameters(GraphKind kind, const std::array<std::uint64_t, 3>& vertices,
                                                const std::array<std::uint64_t, 3>& edges) {
  std::vector<WorkloadParameter> all = {
      sized("n", "vertices", vertices, 1, 1 << 28),
      sized("m", "edges of a uniform or banded graph; of an R-MAT graph, those drawn before repeated ones go", edges, 1,
            1 << 30),
      constant("graph",
               "the graph: 0 uniform, 1 R-MAT (n a power of two), 2 mesh and 4 road (n a square), 3 banded, "
               "5 random geometric, 6 web, 7 cage",
               static_cast<std::uint64_t>(kind), 0, static_cast<std::uint64_t>(GraphKind::Cage)),
      constant("band", "how far the neighbours in a banded graph lie at most", 1024, 1, 1 << 28)};
  for (WorkloadParameter& parameter : all) parameter.generates = true;
  all.push_back(constant("permute", "1 numbers the vertices at random", 0, 0, 1));
  return all;
}

Csr make_graph(const Parameters& parameters, std::uint64_t seed, const GraphNeeds& needs) {
  Csr graph = parameters.input().empty() ? generate(parameters, seed) : read_graph(parameters.input());
  if (!needs.weights) graph.weight.clear();
  if (needs.symmetric) graph = symmetrize(without_self_loops(graph));
  if (parameters["permute"] == 1) graph = renumber(graph, seed);
  if (needs.weights && graph.weight.empty()) draw_weights(graph, parameters.u32("weights"), seed);
  return graph;
}

}  // namespace nearfar
