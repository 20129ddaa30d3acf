// SpMV: a sparse matrix times a vector, the matrix by rows (SHOC's scalar kernel for CSR).
// One lane a row: each goes through its entries, so a wavefront lasts as long as its longest row, and neighbouring
// lanes read from different lines. The vector is gathered wherever the columns point.
#include "workload/catalog/entries.h"
#include "workload/graph_input.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 128;

class SparseProduct final : public Workload {
 public:
  SparseProduct(const Parameters& parameters, std::uint64_t seed)
      : matrix_(make_graph(parameters, seed)),
        val_(allocate("val", std::max<std::uint64_t>(4 * matrix_.edges(), 4), Placement::Interleave, kOnlyRead)),
        vec_(allocate("vec", std::uint64_t{4} * matrix_.vertices(), Placement::Interleave, kOnlyRead)),
        cols_(allocate("cols", std::max<std::uint64_t>(4 * matrix_.edges(), 4), Placement::Interleave, kOnlyRead)),
        rows_(allocate("rowDelimiters", 4 * matrix_.row.size(), Placement::Interleave, kOnlyRead)),
        out_(allocate("out", std::uint64_t{4} * matrix_.vertices(), Placement::Interleave, kOverwritten)) {
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_launch(linear_launch("spmv", matrix_.vertices(), kGroup, Split::Blocks));
    }
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return multiply({static_cast<std::uint32_t>(wave.item(0)), live_lanes(wave, matrix_.vertices())});
  }

 private:
  static VirtAddr at(VirtAddr array, std::uint64_t index) { return array + 4 * index; }

  /// A wavefront's rows, and which of their entries it looks at.
  struct At {
    std::uint32_t first, lanes, step = 0;
  };

  /// The entry of a lane, or nothing when it has gone through all of its own.
  bool entry_of(const At& now, unsigned lane, std::uint32_t& entry) const {
    if (lane >= now.lanes) return false;
    entry = matrix_.row[now.first + lane] + now.step;
    return entry < matrix_.row[now.first + lane + 1];
  }

  Stream multiply(At now) const {
    const auto end = load(4, [&] { return Row{at(rows_, now.first + std::uint64_t{1}), now.lanes}; });
    const auto start = load(4, [&] { return Row{at(rows_, now.first), now.lanes}; });
    const auto column = load(4, [&](unsigned lane) {
      std::uint32_t entry = 0;
      return entry_of(now, lane, entry) ? at(cols_, entry) : kIdle;
    });
    const auto value = load(4, [&](unsigned lane) {
      std::uint32_t entry = 0;
      return entry_of(now, lane, entry) ? at(val_, entry) : kIdle;
    });
    const auto gather = load(4, [&](unsigned lane) {
      std::uint32_t entry = 0;
      return entry_of(now, lane, entry) ? at(vec_, matrix_.col[entry]) : kIdle;
    });
    const auto result = store(4, [&] { return Row{at(out_, now.first), now.lanes}; });

    co_yield salu(10);
    co_yield valu(3);
    if (now.lanes != 0) {
      co_yield salu(3);
      co_yield valu(13);
      co_yield end;
      co_yield start;
      co_yield valu(1);
      co_yield wait(0);
      co_yield valu(1);
      co_yield salu(2);
      std::uint32_t steps = 0;
      for (std::uint32_t lane = 0; lane < now.lanes; ++lane) steps = std::max(steps, matrix_.degree(now.first + lane));
      if (steps != 0) {
        co_yield salu(5);
        co_yield valu(10);
      }
      for (; now.step < steps; ++now.step) {
        co_yield column;
        co_yield valu(1);
        co_yield value;
        co_yield valu(6);
        co_yield salu(1);
        co_yield wait(1);
        co_yield valu(4);
        co_yield gather;
        co_yield wait(0);
        co_yield valu(1);
        co_yield salu(2);
      }
      co_yield salu(steps != 0 ? 2 : 1);
      co_yield valu(4);
      co_yield result;
    }
    co_yield salu(1);
  }

  Csr matrix_;
  VirtAddr val_, vec_, cols_, rows_, out_;
};

WorkloadInfo info() {
  auto parameters = graph_parameters(GraphKind::Uniform, {1 << 15, 1 << 19, 1 << 20}, {1 << 18, 1 << 22, 1 << 23});
  parameters.push_back(constant("iterations", "products computed, one after the other", 1, 1, 1000));
  return {.name = "SpMV",
          .title = "sparse matrix times vector",
          .suite = "SHOC",
          .sentence = "Random: a lane a row, each in lines of its own; all GPUs gather from one vector.",
          .parameters = std::move(parameters),
          .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kSpmv{info, construct<SparseProduct>};

}  // namespace nearfar
