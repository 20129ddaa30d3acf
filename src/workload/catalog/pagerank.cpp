// PageRank: PageRank over a matrix of the cage family (in the studies of FinePack).
// Gathers: eight lanes go through a row together. References reach no farther than the next GPU's slice.
#include "workload/catalog/entries.h"
#include "workload/graph_input.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class CagePageRank final : public Workload {
 public:
  CagePageRank(const Parameters& parameters, std::uint64_t seed)
      : lanes_per_row_(1U << parameters.log2("lanes_per_row")),
        matrix_(make_graph(parameters, seed)),
        row_(allocate("rowptr", 8 * matrix_.row.size(), Placement::Distribute)),
        col_(allocate("col", std::max<std::uint64_t>(4 * matrix_.edges(), 4), Placement::Distribute)),
        val_(allocate("val", std::max<std::uint64_t>(4 * matrix_.edges(), 4), Placement::Distribute)),
        rank_(allocate("rank", std::uint64_t{4} * matrix_.vertices(), Placement::Distribute)),
        next_rank_(allocate("next_rank", std::uint64_t{4} * matrix_.vertices(), Placement::Distribute)),
        need_(allocate("need", matrix_.vertices(), Placement::Distribute)) {
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_launch(linear_launch("pagerank", std::uint64_t{matrix_.vertices()} * lanes_per_row_, kGroup, Split::Offset));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const At at{.row = wave.item(0) / lanes_per_row_, .lanes = wave.lanes};
    return launch % 2 == 0 ? multiply(rank_, next_rank_, at) : multiply(next_rank_, rank_, at);
  }

 private:
  struct At {
    std::uint64_t row;  ///< of lane 0
    std::uint32_t lanes, step = 0;
  };

  std::uint64_t row_of(const At& at, unsigned lane) const { return at.row + lane / lanes_per_row_; }
  bool leads(unsigned lane) const { return lane % lanes_per_row_ == 0; }

  /// The entry a lane multiplies, if its row has one more.
  bool entry_of(const At& at, unsigned lane, std::uint64_t& entry) const {
    const std::uint64_t row = row_of(at, lane);
    if (row >= matrix_.vertices()) return false;
    entry = std::uint64_t{matrix_.row[row]} + at.step + lane % lanes_per_row_;
    return entry < matrix_.row[row + 1];
  }

  /// Of the longest row.
  std::uint32_t steps(const At& at) const {
    std::uint32_t most = 0;
    for (unsigned lane = 0; lane < at.lanes; lane += lanes_per_row_) {
      const std::uint64_t row = row_of(at, lane);
      if (row < matrix_.vertices()) most = std::max(most, matrix_.degree(static_cast<std::uint32_t>(row)));
    }
    return most;
  }

  Stream multiply(VirtAddr rank, VirtAddr next_rank, At at) const {
    const auto bounds = load(
        16, [&](unsigned lane) { return row_of(at, lane) < matrix_.vertices() ? row_ + 8 * row_of(at, lane) : kIdle; });
    const auto col = load(4, [&](unsigned lane) {
      std::uint64_t entry = 0;
      return entry_of(at, lane, entry) ? col_ + 4 * entry : kIdle;
    });
    const auto val = load(4, [&](unsigned lane) {
      std::uint64_t entry = 0;
      return entry_of(at, lane, entry) ? val_ + 4 * entry : kIdle;
    });
    const auto gather = load(4, [&](unsigned lane) {
      std::uint64_t entry = 0;
      return entry_of(at, lane, entry) ? rank + 4 * std::uint64_t{matrix_.col[entry]} : kIdle;
    });
    const auto need = load(1, [&](unsigned lane) {
      return leads(lane) && row_of(at, lane) < matrix_.vertices() ? need_ + row_of(at, lane) : kIdle;
    });
    const auto result = store(4, [&](unsigned lane) {
      return leads(lane) && row_of(at, lane) < matrix_.vertices() ? next_rank + 4 * row_of(at, lane) : kIdle;
    });

    co_yield salu(10);
    if (at.row >= matrix_.vertices()) co_return;
    co_yield bounds;
    co_yield wait(0);
    for (const std::uint32_t most = steps(at); at.step < most; at.step += lanes_per_row_) {
      co_yield col;
      co_yield val;
      co_yield wait(1);
      co_yield gather;
      co_yield wait(0);
      co_yield valu(4);
    }
    co_yield valu(6);
    co_yield need;
    co_yield wait(0);
    co_yield valu(6);
    co_yield result;
    co_yield salu(1);
  }

  std::uint32_t lanes_per_row_;
  Csr matrix_;
  VirtAddr row_, col_, val_, rank_, next_rank_, need_;
};

WorkloadInfo info() {
  auto parameters =
      graph_parameters(GraphKind::Cage, {16384, 131072, 1507328}, {16 * 16384, 16 * 131072, 16 * 1507328});
  parameters.push_back(constant("lanes_per_row", "lanes that go through a row together, a power of two", 8, 1, 32));
  parameters.push_back(sized("iterations", "products; the published size has 20", {5, 8, 2}, 1, 1000));
  parameters.push_back(constant("publish",
                                "what a rank publishes: 0 its slice to each that reads of it, 1 only what is read "
                                "(copies: as 0), 2 its slice to all",
                                0, 0, 2));
  return {.name = "PageRank",
          .title = "PageRank over a cage matrix",
          .suite = "FinePack",
          .sentence = "Gathers from slices nearby: eight lanes a row, a few neighbouring results a store.",
          .parameters = replicated::with_form(std::move(parameters)),
          .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kPageRank{info, replicated::construct_form<CagePageRank, replicated::make_pagerank>};

}  // namespace nearfar
