// BFS: breadth-first search, a level a launch (SHOC's kernel of groups of 32 items).
// Each group of 32 items looks at 32 vertices, one after the other, all at the same one; if it is of the current level,
// they go through its edges side by side. The host really searches: the levels decide who does what, and how many
// launches there are. Which neighbours are new is as it was before the launch, so two who find the same one both
// write it.
#include "workload/catalog/entries.h"
#include "workload/graph/algorithms.h"
#include "workload/graph_input.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kTeam = 32;  // items that look at one vertex together, and vertices that they look at

class BreadthFirst final : public Workload {
 public:
  BreadthFirst(const Parameters& parameters, std::uint64_t seed)
      : graph_(make_graph(parameters, seed)),
        levels_(allocate("levels", std::uint64_t{4} * graph_.vertices(), Placement::Interleave)),
        edges_(allocate("edgeArray", 4 * graph_.row.size(), Placement::Interleave, kOnlyRead)),
        ends_(
            allocate("edgeArrayAux", std::max<std::uint64_t>(4 * graph_.edges(), 4), Placement::Interleave, kOnlyRead)),
        flag_(allocate("flag", 4, Placement::Interleave)) {
    if (parameters["source"] >= graph_.vertices()) {
      parameters.refuse("source", "must be one of the vertices", graph_.vertices() - 1);
    }
    level_ = breadth_first_levels(graph_, parameters.u32("source"));
    std::uint64_t last = 0;
    for (const std::uint32_t level : level_) {
      if (level != kUnreached) last = std::max<std::uint64_t>(last, level);
    }
    const std::uint64_t launches = std::min(last + 1, parameters["iterations"]);
    for (std::uint64_t i = 0; i < launches; ++i) {
      add_launch(linear_launch("bfs", graph_.vertices(), parameters.u32("wg"), Split::Blocks));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return visit({static_cast<std::uint32_t>(wave.item(0)), live_lanes(wave), static_cast<std::uint32_t>(launch)});
  }

 private:
  static VirtAddr at(VirtAddr array, std::uint64_t index) { return array + 4 * index; }

  /// A wavefront's items; which vertex its groups look at, and which of its edges.
  struct At {
    std::uint32_t first, lanes, level;
    std::uint32_t vertex = 0;
    std::uint32_t step = 0;
  };

  /// The vertex of a lane, or nothing behind the last one.
  bool vertex_of(const At& now, unsigned lane, std::uint32_t& vertex) const {
    vertex = (now.first + lane) / kTeam * kTeam + now.vertex;
    return lane < now.lanes && vertex < graph_.vertices();
  }
  /// The same if it is of the current level.
  bool current_of(const At& now, unsigned lane, std::uint32_t& vertex) const {
    return vertex_of(now, lane, vertex) && level_[vertex] == now.level;
  }
  /// The edge of a lane, or nothing when all edges of its vertex have been looked at.
  bool edge_of(const At& now, unsigned lane, std::uint32_t& edge) const {
    std::uint32_t vertex = 0;
    if (!current_of(now, lane, vertex)) return false;
    edge = graph_.row[vertex] + (now.first + lane) % kTeam + now.step;
    return edge < graph_.row[vertex + 1];
  }
  /// The neighbour of a lane if the launch is to reach it.
  bool new_of(const At& now, unsigned lane, std::uint32_t& neighbour) const {
    std::uint32_t edge = 0;
    if (!edge_of(now, lane, edge)) return false;
    neighbour = graph_.col[edge];
    return level_[neighbour] == now.level + 1;
  }

  Stream visit(At now) const {
    const auto own = load(4, [&](unsigned lane) {
      std::uint32_t vertex = 0;
      return vertex_of(now, lane, vertex) ? at(levels_, vertex) : kIdle;
    });
    const auto offsets = load(8, [&](unsigned lane) {
      std::uint32_t vertex = 0;
      return current_of(now, lane, vertex) ? at(edges_, vertex) : kIdle;
    });
    const auto end = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(now, lane, edge) ? at(ends_, edge) : kIdle;
    });
    const auto level = load(4, [&](unsigned lane) {
      std::uint32_t edge = 0;
      return edge_of(now, lane, edge) ? at(levels_, graph_.col[edge]) : kIdle;
    });
    const auto reach = store(4, [&](unsigned lane) {
      std::uint32_t neighbour = 0;
      return new_of(now, lane, neighbour) ? at(levels_, neighbour) : kIdle;
    });
    const auto report = store(4, [&](unsigned lane) {
      std::uint32_t neighbour = 0;
      return new_of(now, lane, neighbour) ? flag_ : kIdle;
    });

    co_yield salu(14);
    co_yield valu(41);
    if (anybody(own, now.lanes)) {
      co_yield salu(6);
      co_yield valu(7);
    }
    for (; now.vertex < kTeam && anybody(own, now.lanes); ++now.vertex) {
      co_yield valu(5);
      co_yield own;
      co_yield wait(0);
      co_yield valu(1);
      co_yield salu(2);
      if (anybody(offsets, now.lanes)) {
        co_yield valu(4);
        co_yield offsets;
        co_yield wait(0);
        co_yield valu(2);
        co_yield salu(2);
        now.step = 0;
        if (anybody(end, now.lanes)) {
          co_yield valu(2);
          co_yield salu(2);
        }
        for (; anybody(end, now.lanes); now.step += kTeam) {
          co_yield valu(6);
          co_yield end;
          co_yield valu(1);
          co_yield wait(0);
          co_yield valu(4);
          co_yield level;
          co_yield wait(0);
          co_yield valu(2);
          co_yield salu(1);
          if (anybody(reach, now.lanes)) {
            co_yield reach;
            co_yield valu(3);
            co_yield report;
          } else {
            co_yield valu(5);  // the stores of no lane are instructions too
          }
          co_yield valu(3);
          co_yield salu(4);
        }
        co_yield salu(1);
      }
      co_yield salu(1);
      co_yield valu(2);
      co_yield salu(3);
    }
    co_yield salu(1);
  }

  Csr graph_;
  std::vector<std::uint32_t> level_;  // of each vertex
  VirtAddr levels_, edges_, ends_, flag_;
};

WorkloadInfo info() {
  auto parameters = graph_parameters(GraphKind::Uniform, {1 << 14, 1 << 18, 1 << 19}, {1 << 17, 1 << 21, 1 << 22});
  parameters.push_back(constant("source", "vertex from which the search begins", 0, 0, 1 << 28));
  parameters.push_back(constant("iterations", "levels at most; it ends when no vertex is new", 1 << 20, 1, 1 << 20));
  parameters.push_back(constant("wg", "items of a workgroup", 1024, kTeam, 1024, kTeam));
  return {.name = "BFS",
          .title = "breadth-first search",
          .suite = "SHOC",
          .sentence =
              "Random: each launch looks at the levels of all vertices and gathers along the edges of those of "
              "one level.",
          .parameters = std::move(parameters),
          .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kBfs{info, construct<BreadthFirst>};

}  // namespace nearfar
