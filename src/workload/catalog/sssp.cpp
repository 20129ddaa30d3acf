// SSSP: shortest paths from one source, Bellman-Ford as products in the (min, +) algebra (Pannotia; in the studies of
// Neighborhood).
// One lane a vertex: each goes through its edges, so a wavefront lasts as long as its largest degree. Distances are
// gathered wherever the edges point. The host really computes them: it decides how many rounds there are and which
// wavefronts report a change.
#include "workload/catalog/entries.h"
#include "workload/graph/algorithms.h"
#include "workload/graph_input.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class ShortestPathsProgram final : public Workload {
 public:
  ShortestPathsProgram(const Parameters& parameters, std::uint64_t seed)
      : graph_(make_graph(parameters, seed, {.weights = true})),
        row_(allocate("row", 4 * graph_.row.size(), Placement::Interleave)),
        col_(allocate("col", std::max<std::uint64_t>(4 * graph_.edges(), 4), Placement::Interleave)),
        data_(allocate("data", std::max<std::uint64_t>(4 * graph_.edges(), 4), Placement::Interleave)),
        vector1_(allocate("vector1", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        vector2_(allocate("vector2", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        stop_(allocate("stop", 4, Placement::Interleave)) {
    if (parameters["source"] >= graph_.vertices()) {
      parameters.refuse("source", "must be one of the vertices", graph_.vertices() - 1);
    }
    changed_ = min_plus_rounds(graph_, parameters.u32("source"), parameters["iterations"]).changed;
    const auto add = [&](const char* kernel) {
      add_launch(linear_launch(kernel, graph_.vertices(), kGroup, Split::Blocks));
    };
    add("init");
    for (std::size_t round = 0; round < changed_.size(); ++round) {
      for (const char* kernel : {"assign", "min_plus", "diff"}) add(kernel);
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const auto first = static_cast<std::uint32_t>(wave.item(0));
    const std::uint32_t lanes = live_lanes(wave, graph_.vertices());
    if (launch == 0) return init(first, lanes);
    switch ((launch - 1) % 3) {
      case 0: return assign(first, lanes);
      case 1: return min_plus({.first = first, .lanes = lanes});
      default: return diff(changed_[(launch - 1) / 3], first, lanes);
    }
  }

 private:
  static VirtAddr at(VirtAddr vector, std::uint64_t index) { return vector + 4 * index; }

  Stream init(std::uint32_t first, std::uint32_t lanes) const {
    const auto one = store(4, [&] { return Row{at(vector1_, first), lanes}; });
    const auto other = store(4, [&] { return Row{at(vector2_, first), lanes}; });
    co_yield salu(8);
    co_yield valu(8);
    if (lanes == 0) co_return;
    co_yield one;
    co_yield other;
    co_yield salu(1);
  }

  Stream assign(std::uint32_t first, std::uint32_t lanes) const {
    const auto from = load(4, [&] { return Row{at(vector2_, first), lanes}; });
    const auto to = store(4, [&] { return Row{at(vector1_, first), lanes}; });
    co_yield salu(8);
    co_yield valu(7);
    if (lanes == 0) co_return;
    co_yield from;
    co_yield wait(0);
    co_yield to;
    co_yield salu(1);
  }

  /// A wavefront's vertices, and which of their edges it looks at.
  struct At {
    std::uint32_t first, lanes, step = 0;
  };

  /// The edge of a lane, or nothing when it has gone through all of its own.
  bool edge_of(const At& now, unsigned lane, std::uint32_t& edge) const {
    if (lane >= now.lanes) return false;
    edge = graph_.row[now.first + lane] + now.step;
    return edge < graph_.row[now.first + lane + 1];
  }

  Stream min_plus(At now) const {
    const auto rows =
        load(8, [&](unsigned lane) { return lane < now.lanes ? at(row_, now.first + std::uint64_t{lane}) : kIdle; });
    const auto own = load(4, [&] { return Row{at(vector1_, now.first), now.lanes}; });
    const auto weight = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(now, lane, edge) ? at(data_, edge) : kIdle;
    });
    const auto neighbour = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(now, lane, edge) ? at(col_, edge) : kIdle;
    });
    const auto distance = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(now, lane, edge) ? at(vector1_, graph_.col[edge]) : kIdle;
    });
    const auto result = store(4, [&] { return Row{at(vector2_, now.first), now.lanes}; });

    co_yield salu(10);
    co_yield valu(10);
    if (now.lanes == 0) co_return;
    co_yield rows;
    co_yield own;
    co_yield wait(0);
    co_yield valu(4);
    std::uint32_t steps = 0;
    for (std::uint32_t lane = 0; lane < now.lanes; ++lane) steps = std::max(steps, graph_.degree(now.first + lane));
    for (; now.step < steps; ++now.step) {
      co_yield weight;
      co_yield neighbour;
      co_yield valu(1);
      co_yield wait(1);
      co_yield valu(4);
      co_yield distance;
      co_yield valu(6);
      co_yield wait(0);
      co_yield valu(2);
      co_yield salu(3);
    }
    co_yield valu(2);
    co_yield result;
    co_yield salu(1);
  }

  Stream diff(const IndexSet& changed, std::uint32_t first, std::uint32_t lanes) const {
    const auto before = load(4, [&] { return Row{at(vector1_, first), lanes}; });
    const auto after = load(4, [&] { return Row{at(vector2_, first), lanes}; });
    const auto report =
        store(1, [&](unsigned lane) { return lane < lanes && changed.has(first + lane) ? stop_ : kIdle; });

    co_yield salu(9);
    co_yield valu(9);
    if (lanes == 0) co_return;
    co_yield before;
    co_yield after;
    co_yield wait(0);
    co_yield valu(1);
    if (anybody(report, lanes)) co_yield report;
    co_yield salu(2);
  }

  Csr graph_;
  std::vector<IndexSet> changed_;  // by round
  VirtAddr row_, col_, data_, vector1_, vector2_, stop_;
};

WorkloadInfo info() {
  // The square meshes have as many vertices and edges as the road network of the published study.
  auto parameters = graph_parameters(GraphKind::Mesh, {256 * 256, 1000 * 1000, 1577 * 1577},
                                     {4 * 256 * 256, 4 * 1000 * 1000, 4 * 1577 * 1577});
  parameters.push_back(constant("weights", "the largest weight of an edge; drawn from 1 on", 100, 1, 1 << 16));
  parameters.push_back(constant("source", "vertex from which paths are sought", 0, 0, 1 << 28));
  parameters.push_back(constant("iterations", "rounds at most; it ends when no distance changes", 4, 1, 1 << 20));
  return {.name = "SSSP",
          .title = "shortest paths, Bellman-Ford",
          .suite = "Pannotia",
          .sentence = "Gathers along the edges of a graph, a lane a vertex; on a mesh GPUs share their borders only.",
          .parameters = std::move(parameters),
          .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kSssp{info, construct<ShortestPathsProgram>};

}  // namespace nearfar
