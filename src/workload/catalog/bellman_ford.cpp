// BellmanFord: shortest paths in a web graph, pushed along the edges of what changed (in the studies of FinePack).
// Only vertices that came nearer in the last round look along their edges, and write wherever these lead. One heavy
// vertex holds up its wavefront. The host really computes the distances: it decides who is active and what is written.
#include "workload/catalog/entries.h"
#include "workload/graph/algorithms.h"
#include "workload/graph_input.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class BellmanFord final : public Workload {
 public:
  BellmanFord(const Parameters& parameters, std::uint64_t seed)
      : graph_(make_graph(parameters, seed, {.weights = true})),
        row_(allocate("rowptr", 8 * graph_.row.size(), Placement::Distribute)),
        col_(allocate("col", std::max<std::uint64_t>(4 * graph_.edges(), 4), Placement::Distribute)),
        weight_(allocate("weight", std::max<std::uint64_t>(4 * graph_.edges(), 4), Placement::Distribute)),
        distance_(allocate("dist", std::uint64_t{4} * graph_.vertices(), Placement::Distribute)),
        before_(allocate("dist_before", std::uint64_t{4} * graph_.vertices(), Placement::Distribute)),
        active_(allocate("active", graph_.vertices(), Placement::Distribute)) {
    if (parameters["source"] >= graph_.vertices()) {
      parameters.refuse("source", "must be one of the vertices", graph_.vertices() - 1);
    }
    rounds_ = fullest_rounds(push_rounds(graph_, parameters.u32("source"), parameters["iterations"]).rounds,
                             parameters["fullest"]);
    for (std::size_t round = 0; round < rounds_.size(); ++round) {
      add_launch(linear_launch("relax", graph_.vertices(), kGroup, Split::Offset));
      add_launch(linear_launch("merge", graph_.vertices(), kGroup, Split::Offset));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const At at{.first = static_cast<std::uint32_t>(wave.item(0)), .lanes = live_lanes(wave, graph_.vertices())};
    return launch % 2 == 0 ? relax(rounds_[launch / 2], at) : merge(at);
  }

 private:
  struct At {
    std::uint32_t first, lanes, step = 0;
    std::uint64_t working = 0;    ///< lanes of active vertices; in the loop, those that have one more edge
    std::uint64_t improving = 0;  ///< those that make a way shorter
    VirtAddr array{};             ///< col or weight
  };

  std::uint64_t active_lanes(const PushRound& round, const At& at) const {
    std::uint64_t lanes = 0;
    for (unsigned lane = 0; lane < at.lanes; ++lane) {
      if (round.active.has(at.first + lane)) lanes |= std::uint64_t{1} << lane;
    }
    return lanes;
  }

  static std::uint64_t vertex(const At& at, unsigned lane) { return std::uint64_t{at.first} + lane; }
  VirtAddr neighbour(const At& at, unsigned lane) const {
    return distance_ + std::uint64_t{4} * graph_.col[edge_of(at, lane)];
  }
  std::uint64_t edge_of(const At& at, unsigned lane) const {
    return std::uint64_t{graph_.row[at.first + lane]} + at.step;
  }

  /// Those of some lanes whose edge of this step is one that counts.
  template <class Counts>
  std::uint64_t lanes_whose_edge(const At& at, std::uint64_t lanes, Counts counts) const {
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (!counts(lane, edge_of(at, lane))) lanes &= ~(left & -left);
    }
    return lanes;
  }

  Stream relax(const PushRound& round, At at) const {
    const auto active = load(1, [&] { return Row{active_ + at.first, at.lanes}; });
    const auto bounds = load(16, Only{at.working, [&](unsigned lane) { return row_ + 8 * vertex(at, lane); }});
    const auto own = load(4, Only{at.working, [&](unsigned lane) { return distance_ + 4 * vertex(at, lane); }});
    const auto of_edge = load(4, Only{at.working, [&](unsigned lane) { return at.array + 4 * edge_of(at, lane); }});
    const auto there = load(4, Only{at.working, [&](unsigned lane) { return neighbour(at, lane); }});
    const auto nearer = atomic(4, Only{at.improving, [&](unsigned lane) { return neighbour(at, lane); }});

    co_yield salu(10);
    if (at.lanes == 0) co_return;
    co_yield active;
    co_yield wait(0);
    at.working = active_lanes(round, at);
    if (at.working == 0) co_return;
    co_yield bounds;
    co_yield own;
    co_yield wait(0);
    for (;; ++at.step) {
      at.working = lanes_whose_edge(
          at, at.working, [&](unsigned lane, std::uint64_t edge) { return edge < graph_.row[at.first + lane + 1]; });
      if (at.working == 0) break;
      at.array = col_;
      co_yield of_edge;
      at.array = weight_;
      co_yield of_edge;
      co_yield wait(1);
      co_yield there;
      co_yield wait(0);
      co_yield valu(6);
      at.improving =
          lanes_whose_edge(at, at.working, [&](unsigned, std::uint64_t edge) { return round.improving.has(edge); });
      if (at.improving != 0) co_yield nearer;
    }
    co_yield salu(1);
  }

  Stream merge(At at) const {
    const auto now = load(4, [&] { return Row{distance_ + std::uint64_t{4} * at.first, at.lanes}; });
    const auto before = load(4, [&] { return Row{before_ + std::uint64_t{4} * at.first, at.lanes}; });
    const auto keep = store(4, [&] { return Row{before_ + std::uint64_t{4} * at.first, at.lanes}; });
    const auto active = store(1, [&] { return Row{active_ + at.first, at.lanes}; });

    co_yield salu(10);
    if (at.lanes == 0) co_return;
    co_yield now;
    co_yield before;
    co_yield wait(0);
    co_yield valu(8);
    co_yield keep;
    co_yield active;
    co_yield salu(1);
  }

  Csr graph_;
  std::vector<PushRound> rounds_;
  VirtAddr row_, col_, weight_, distance_, before_, active_;
};

WorkloadInfo info() {
  auto parameters = graph_parameters(GraphKind::Web, {4096, 32768, 131072}, {24 * 4096, 24 * 32768, 26 * 131072});
  parameters.push_back(constant("weights", "the largest weight of an edge; drawn from 1 on", 64, 1, 1 << 16));
  parameters.push_back(constant("source", "vertex from which paths are sought", 0, 0, 1 << 28));
  parameters.push_back(constant("iterations", "rounds at most; it ends when no distance changes", 1000, 1, 1 << 20));
  parameters.push_back(
      constant("fullest", "only so many rounds are run, those in which most edges bring a vertex nearer; 0 is all", 0,
               0, 1 << 20));
  return {.name = "BellmanFord",
          .title = "shortest paths in a web graph",
          .suite = "FinePack",
          .sentence = "Gathers and atomics along the edges of a frontier, many-to-many between the GPUs.",
          .parameters = replicated::with_form(std::move(parameters)),
          .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kBellmanFord{info, replicated::construct_form<BellmanFord, replicated::make_bellman_ford>};

}  // namespace nearfar
