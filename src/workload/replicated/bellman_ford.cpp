// BellmanFord on several GPUs. A rank has a slice of the vertices and their edges. Of the others' vertices it keeps the
// least distance that it has sent; what is less, it writes there and into its inbox at the rank that has the vertex,
// which takes the least of all inboxes when the round is over.
#include <bit>

#include "workload/graph/algorithms.h"
#include "workload/graph_input.h"
#include "workload/replicated/forms.h"
#include "workload/replicated/graph_part.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kGroup = 256;

class BellmanFord final : public Program {
 public:
  BellmanFord(const Parameters& parameters, std::uint64_t seed)
      : Program(parameters),
        graph_(make_graph(parameters, seed, {.weights = true})),
        vertices_{graph_.vertices(), ranks()},
        stored_{replicate("rowptr", 8 * (vertices_.length() + 1)),
                replicate("col", 4 * most_entries(graph_, vertices_)),
                replicate("weight", 4 * most_entries(graph_, vertices_))},
        distance_(replicate("dist", 4 * vertices_.total)),
        inbox_(mailbox("inbox", 4 * vertices_.length())),
        active_(replicate("active", vertices_.length())) {
    if (parameters["source"] >= graph_.vertices()) {
      parameters.refuse("source", "must be one of the vertices", graph_.vertices() - 1);
    }
    const std::uint32_t source = parameters.u32("source");
    rounds_ = fullest_rounds(push_rounds_by_parts(graph_, source, vertices_.length(), parameters["iterations"]).rounds,
                             parameters["fullest"]);
    for (std::size_t round = 0; round < rounds_.size(); ++round) {
      add_on_each(linear_launch("relax", vertices_.length(), kGroup, Split::Offset));
      deliver(inbox_, [&](std::uint64_t, std::uint64_t to) { return 4 * vertices_.of(to).length(); });
      add_on_each(linear_launch("merge", vertices_.length(), kGroup, Split::Offset));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Interval own = vertices_.of(wave.group_z);
    const std::uint64_t first = own.begin + wave.item(0);
    const At at{.rank = wave.group_z,
                .first = static_cast<std::uint32_t>(first),
                .lanes = first < own.end
                             ? static_cast<std::uint32_t>(std::min<std::uint64_t>(wave.lanes, own.end - first))
                             : 0};
    return launch % 2 == 0 ? relax(rounds_[launch / 2], at) : merge(at);
  }

 private:
  struct At {
    std::uint32_t rank, first, lanes, step = 0;
    std::uint64_t working = 0;        ///< lanes of active vertices; in the loop, those that have one more edge
    std::uint64_t improving = 0;      ///< those that make a way shorter
    const Replicas* array = nullptr;  ///< columns or weights; none where an inbox is written
  };

  std::uint64_t edge_of(const At& at, unsigned lane) const {
    return std::uint64_t{graph_.row[at.first + lane]} + at.step;
  }
  std::uint64_t neighbour(const At& at, unsigned lane) const { return graph_.col[edge_of(at, lane)]; }
  std::uint64_t local_vertex(const At& at, unsigned lane) const {
    return at.first + std::uint64_t{lane} - vertices_.of(at.rank).begin;
  }
  VirtAddr distance(const At& at, std::uint64_t vertex) const { return distance_.on(at.rank) + 4 * vertex; }
  /// Where the rank that has a vertex finds what this one says of it.
  VirtAddr inbox(const At& at, std::uint64_t vertex) const {
    const std::uint64_t owner = vertices_.owner(vertex);
    return inbox_.slot(at.rank, owner) + 4 * (vertex - vertices_.of(owner).begin);
  }

  /// Those of some lanes for which something holds.
  template <class Holds>
  static std::uint64_t those(std::uint64_t lanes, Holds holds) {
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
      if (!holds(static_cast<unsigned>(std::countr_zero(left)))) lanes &= ~(left & -left);
    }
    return lanes;
  }

  Stream relax(const PushRound& round, At at) const {
    const auto active = load(1, [&] { return Row{active_.on(at.rank) + local_vertex(at, 0), at.lanes}; });
    const auto bounds =
        load(16, Only{at.working, [&](unsigned lane) { return stored_.row.on(at.rank) + 8 * local_vertex(at, lane); }});
    const auto own = load(4, Only{at.working, [&](unsigned lane) { return distance(at, at.first + lane); }});
    const auto of_edge = load(4, Only{at.working, [&](unsigned lane) {
                                        const std::uint64_t edge = edge_of(at, lane);
                                        return at.array->on(at.rank) + 4 * own_entry(graph_, vertices_, at.rank, edge);
                                      }});
    const auto there = load(4, Only{at.working, [&](unsigned lane) { return distance(at, neighbour(at, lane)); }});
    const auto nearer = store(4, Only{at.improving, [&](unsigned lane) {
                                        const std::uint64_t vertex = neighbour(at, lane);
                                        return at.array == nullptr ? inbox(at, vertex) : distance(at, vertex);
                                      }});

    co_yield salu(10);
    if (at.lanes == 0) co_return;
    co_yield active;
    co_yield wait(0);
    at.working =
        those(~std::uint64_t{0} >> (64 - at.lanes), [&](unsigned lane) { return round.active.has(at.first + lane); });
    if (at.working == 0) co_return;
    co_yield bounds;
    co_yield own;
    co_yield wait(0);
    for (;; ++at.step) {
      at.working =
          those(at.working, [&](unsigned lane) { return edge_of(at, lane) < graph_.row[at.first + lane + 1]; });
      if (at.working == 0) break;
      at.array = &stored_.col;
      co_yield of_edge;
      at.array = &stored_.val;
      co_yield of_edge;
      co_yield wait(1);
      co_yield there;
      co_yield wait(0);
      co_yield valu(6);
      at.improving = those(at.working, [&](unsigned lane) { return round.improving.has(edge_of(at, lane)); });
      if (at.improving == 0) continue;
      co_yield nearer;
      at.improving =
          those(at.improving, [&](unsigned lane) { return vertices_.owner(neighbour(at, lane)) != at.rank; });
      at.array = nullptr;
      if (at.improving != 0) co_yield nearer;
    }
    co_yield salu(1);
  }

  Stream merge(At at) const {
    std::uint64_t from = 0;
    const auto slot = [&] { return Row{inbox_.received(at.rank, from) + 4 * local_vertex(at, 0), at.lanes}; };
    const auto received = load(4, slot);
    const auto reset = store(4, slot);
    const auto before = load(4, [&] { return Row{distance(at, at.first), at.lanes}; });
    const auto now = store(4, [&] { return Row{distance(at, at.first), at.lanes}; });
    const auto active = store(1, [&] { return Row{active_.on(at.rank) + local_vertex(at, 0), at.lanes}; });

    co_yield salu(10);
    if (at.lanes == 0) co_return;
    for (std::uint64_t k = 1; k < ranks(); ++k) {
      from = peer(at.rank, k);
      co_yield received;
    }
    co_yield before;
    co_yield wait(0);
    co_yield valu(8);
    co_yield now;
    co_yield active;
    for (std::uint64_t k = 1; k < ranks(); ++k) {
      from = peer(at.rank, k);
      co_yield reset;
    }
    co_yield salu(1);
  }

  Csr graph_;
  Parts vertices_;
  std::vector<PushRound> rounds_;
  RowArrays stored_;
  Replicas distance_;
  Mailbox inbox_;
  Replicas active_;
};

}  // namespace

std::shared_ptr<const Workload> make_bellman_ford(const Parameters& parameters, std::uint64_t seed) {
  return std::make_shared<BellmanFord>(parameters, seed);
}

}  // namespace nearfar::replicated
