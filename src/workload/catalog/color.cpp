// Color: graph colouring by independent sets (Pannotia; in the studies of Neighborhood).
// Each round every uncoloured vertex looks at its neighbours through four dependent loads an edge, and the largest of
// a neighbourhood takes the round's colour. The host really colours the graph: it decides how many rounds there are
// and which lanes are still alive. All active wavefronts store to the one line of `stop`.
#include "workload/catalog/entries.h"
#include "workload/graph/algorithms.h"
#include "workload/graph_input.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class Color final : public Workload {
 public:
  Color(const Parameters& parameters, std::uint64_t seed)
      : graph_(make_graph(parameters, seed, {.symmetric = true})),
        coloring_(color_rounds(graph_, seed, parameters["iterations"])),
        row_(allocate("row", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        col_(allocate("col", std::max<std::uint64_t>(4 * graph_.edges(), 4), Placement::Interleave)),
        color_(allocate("color", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        value_(allocate("node_value", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        max_(allocate("max", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        stop_(allocate("stop", 4, Placement::Interleave)) {
    for (std::uint32_t round = 0; round < coloring_.rounds; ++round) {
      for (const char* kernel : {"color", "color2"}) {
        add_launch(linear_launch(kernel, graph_.vertices(), kGroup, Split::Blocks));
      }
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const At at{.first = static_cast<std::uint32_t>(wave.item(0)),
                .lanes = live_lanes(wave, graph_.vertices()),
                .round = static_cast<std::uint32_t>(launch / 2)};
    return launch % 2 == 0 ? look_around(at) : take_color(at);
  }

 private:
  /// A wavefront's vertices, the round, and which of their edges it looks at.
  struct At {
    std::uint32_t first, lanes, round, step = 0;
    bool rivals = false;  ///< only at those edges that lead to an uncoloured neighbour
  };

  static VirtAddr element(VirtAddr array, std::uint64_t index) { return array + 4 * index; }

  bool uncolored(std::uint32_t vertex, std::uint32_t round) const { return coloring_.color[vertex] >= round; }

  /// An element of an uncoloured lane's own vertex.
  VirtAddr own(VirtAddr array, const At& at, unsigned lane) const {
    return lane < at.lanes && uncolored(at.first + lane, at.round) ? element(array, at.first + std::uint64_t{lane})
                                                                   : kIdle;
  }

  /// Whether an uncoloured lane has one more edge to look at. A vertex with only one neighbour sees no rival in it.
  bool edge_of(const At& at, unsigned lane, std::uint32_t& edge) const {
    if (lane >= at.lanes || !uncolored(at.first + lane, at.round)) return false;
    edge = graph_.row[at.first + lane] + at.step;
    if (edge >= graph_.row[at.first + lane + 1]) return false;
    return !at.rivals || (uncolored(graph_.col[edge], at.round) && graph_.degree(at.first + lane) != 1);
  }

  std::uint32_t steps(const At& at) const {
    std::uint32_t most = 0;
    for (std::uint32_t v = at.first; v < at.first + at.lanes; ++v) {
      if (uncolored(v, at.round)) most = std::max(most, graph_.degree(v));
    }
    return most;
  }

  Stream look_around(At at) const {
    const auto color = load(4, [&] { return Row{element(color_, at.first), at.lanes}; });
    const auto begin = load(4, [&](unsigned lane) { return own(row_, at, lane); });
    const auto end = load(4, [&](unsigned lane) {  // the last vertex's edges end with all edges
      return at.first + lane + 1 < graph_.vertices() ? own(row_ + 4, at, lane) : kIdle;
    });
    const auto neighbour = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(at, lane, edge) ? element(col_, edge) : kIdle;
    });
    const auto its_color = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(at, lane, edge) ? element(color_, graph_.col[edge]) : kIdle;
    });
    const auto go_on = store(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(at, lane, edge) ? stop_ : kIdle;
    });
    const auto its_value = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(at, lane, edge) ? element(value_, graph_.col[edge]) : kIdle;
    });
    const auto maximum = store(4, [&](unsigned lane) { return own(max_, at, lane); });

    co_yield salu(10);
    co_yield valu(8);
    if (at.lanes == 0) co_return;
    co_yield color;
    co_yield wait(0);
    co_yield valu(2);
    if (!anybody(maximum, at.lanes)) co_return;
    co_yield begin;
    if (anybody(end, at.lanes)) co_yield end;
    co_yield wait(0);
    co_yield valu(6);
    for (const std::uint32_t most = steps(at); at.step < most; ++at.step) {
      co_yield valu(4);
      co_yield neighbour;
      co_yield wait(0);
      co_yield valu(4);
      co_yield its_color;
      co_yield wait(0);
      co_yield valu(2);
      at.rivals = true;
      if (anybody(go_on, at.lanes)) {
        co_yield go_on;
        co_yield neighbour;
        co_yield wait(0);
        co_yield valu(5);
        co_yield its_value;
        co_yield wait(0);
        co_yield valu(3);
      }
      at.rivals = false;
      co_yield salu(8);
    }
    co_yield valu(2);
    co_yield maximum;
    co_yield salu(1);
  }

  Stream take_color(At at) const {
    const auto color = load(4, [&] { return Row{element(color_, at.first), at.lanes}; });
    const auto value = load(4, [&](unsigned lane) { return own(value_, at, lane); });
    const auto maximum = load(4, [&](unsigned lane) { return own(max_, at, lane); });
    const auto take = store(4, [&](unsigned lane) {
      return lane < at.lanes && coloring_.color[at.first + lane] == at.round
                 ? element(color_, at.first + std::uint64_t{lane})
                 : kIdle;
    });

    co_yield salu(10);
    co_yield valu(8);
    if (at.lanes == 0) co_return;
    co_yield color;
    co_yield wait(0);
    co_yield valu(2);
    if (!anybody(value, at.lanes)) co_return;
    co_yield value;
    co_yield maximum;
    co_yield wait(0);
    co_yield valu(2);
    if (anybody(take, at.lanes)) co_yield take;
    co_yield salu(1);
  }

  Csr graph_;
  Coloring coloring_;
  VirtAddr row_, col_, color_, value_, max_, stop_;
};

WorkloadInfo info() {
  // The paper's mesh is the matrix ecology1.
  auto parameters =
      graph_parameters(GraphKind::Mesh, {192 * 192, 1000 * 1000, 1000 * 1000}, {4 * 192 * 192, 4'000'000, 4'000'000});
  parameters.push_back(
      constant("iterations", "rounds at most; it ends when no two neighbours are left uncoloured", 10000, 1, 1 << 20));
  return {
      .name = "Color",
      .title = "graph colouring",
      .suite = "Pannotia",
      .sentence = "Chains of four loads an edge, by the vertices that are still uncoloured; one line all GPUs write.",
      .parameters = std::move(parameters),
      .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kColor{info, construct<Color>};

}  // namespace nearfar
