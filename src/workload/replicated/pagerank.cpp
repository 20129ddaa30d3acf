// PageRank on replicated ranks of pages. A GPU has a slice of the rows; it publishes its slice of the result to the
// GPUs whose rows refer to it, a few neighbouring floats a store.
#include "workload/graph_input.h"
#include "workload/replicated/forms.h"
#include "workload/replicated/graph_part.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kGroup = 256;

class PageRank final : public Program {
 public:
  PageRank(const Parameters& parameters, std::uint64_t seed)
      : Program(parameters),
        lanes_per_row_(1U << parameters.log2("lanes_per_row")),
        publish_(static_cast<Publish>(parameters["publish"])),
        matrix_(make_graph(parameters, seed)),
        rows_{matrix_.vertices(), ranks()},
        stored_{replicate("rowptr", 8 * (rows_.length() + 1)), replicate("col", 4 * most_entries(matrix_, rows_)),
                replicate("val", 4 * most_entries(matrix_, rows_))},
        rank_(replicate("rank", 4 * rows_.total)),
        next_rank_(replicate("next_rank", 4 * rows_.total)),
        need_array_(replicate("need", rows_.length())) {
    find_readers();
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_on_each(linear_launch("pagerank", rows_.length() * lanes_per_row_, kGroup, Split::Offset));
      publish(i % 2 == 0 ? next_rank_ : rank_, [&](std::uint64_t from, std::uint64_t to) {
        const Interval own = rows_.of(from);
        return reads(to, from) ? Interval{4 * own.begin, 4 * own.end} : Interval{};
      });
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Interval own = rows_.of(wave.group_z);
    const bool even = launch % 2 == 0;
    const At at{.old = even ? &rank_ : &next_rank_,
                .result = even ? &next_rank_ : &rank_,
                .rank = wave.group_z,
                .row = own.begin + wave.item(0) / lanes_per_row_,
                .end = own.end,
                .lanes = wave.lanes};
    return multiply(at);
  }

 private:
  /// The whole slice to each GPU that reads of it; what is read alone; the whole slice to all.
  enum class Publish : std::uint64_t { Slice, Needed, All };

  struct At {
    const Replicas *old, *result;
    std::uint32_t rank;
    std::uint64_t row, end;  ///< of lane 0; behind the rank's last
    std::uint32_t lanes, step = 0;
    std::uint32_t to = 0;  ///< whose copy is stored to
  };

  /// Which GPUs refer to each row, and to which other's rows a GPU refers at all.
  void find_readers() {
    need_.resize(rows_.total);
    readers_.resize(ranks());
    for (std::uint64_t row = 0; row < rows_.total; ++row) {
      const std::uint64_t rank = rows_.owner(row);
      for (const std::uint32_t col : matrix_.neighbours(static_cast<std::uint32_t>(row))) {
        need_[col] = static_cast<std::uint16_t>(need_[col] | 1U << rank);
        readers_[rows_.owner(col)] |= 1U << rank;
      }
    }
  }
  bool reads(std::uint64_t reader, std::uint64_t writer) const {
    return publish_ == Publish::All || (readers_[writer] >> reader & 1) != 0;
  }

  std::uint64_t row_of(const At& at, unsigned lane) const { return at.row + lane / lanes_per_row_; }
  bool leads(const At& at, unsigned lane) const { return lane % lanes_per_row_ == 0 && row_of(at, lane) < at.end; }
  std::uint64_t local_row(const At& at, unsigned lane) const { return row_of(at, lane) - rows_.of(at.rank).begin; }

  /// The entry a lane multiplies, if its row has one more.
  bool entry_of(const At& at, unsigned lane, std::uint64_t& entry) const {
    const std::uint64_t row = row_of(at, lane);
    if (row >= at.end) return false;
    entry = std::uint64_t{matrix_.row[row]} + at.step + lane % lanes_per_row_;
    return entry < matrix_.row[row + 1];
  }

  VirtAddr in_array(const At& at, unsigned lane, const Replicas& array) const {
    std::uint64_t entry = 0;
    return entry_of(at, lane, entry) ? array.on(at.rank) + 4 * own_entry(matrix_, rows_, at.rank, entry) : kIdle;
  }

  /// Of the longest row.
  std::uint32_t steps(const At& at) const {
    std::uint32_t most = 0;
    for (unsigned lane = 0; lane < at.lanes; lane += lanes_per_row_) {
      const std::uint64_t row = row_of(at, lane);
      if (row < at.end) most = std::max(most, matrix_.degree(static_cast<std::uint32_t>(row)));
    }
    return most;
  }

  bool is_published(const At& at, std::uint64_t row) const {
    return publish_ == Publish::Needed ? (need_[row] >> at.to & 1) != 0 : reads(at.to, at.rank);
  }

  Stream multiply(At at) const {
    const auto bounds = load(16, [&](unsigned lane) {
      return row_of(at, lane) < at.end ? stored_.row.on(at.rank) + 8 * local_row(at, lane) : kIdle;
    });
    const auto col = load(4, [&](unsigned lane) { return in_array(at, lane, stored_.col); });
    const auto val = load(4, [&](unsigned lane) { return in_array(at, lane, stored_.val); });
    const auto gather = load(4, [&](unsigned lane) {
      std::uint64_t entry = 0;
      return entry_of(at, lane, entry) ? at.old->on(at.rank) + 4 * std::uint64_t{matrix_.col[entry]} : kIdle;
    });
    const auto need =
        load(1, [&](unsigned lane) { return leads(at, lane) ? need_array_.on(at.rank) + local_row(at, lane) : kIdle; });
    const auto result = store(4, [&](unsigned lane) {
      const std::uint64_t row = row_of(at, lane);
      const bool here = leads(at, lane) && (at.to == at.rank || is_published(at, row));
      return here ? at.result->on(at.to) + 4 * row : kIdle;
    });

    co_yield salu(10);
    if (at.row >= at.end) co_return;
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
    if (publish_ == Publish::Needed) {
      co_yield need;
      co_yield wait(0);
    }
    co_yield valu(6);
    at.to = at.rank;
    co_yield result;
    for (std::uint64_t k = 1; k <= stored_peers(); ++k) {
      at.to = static_cast<std::uint32_t>(peer(at.rank, k));
      if (anybody(result, at.lanes)) co_yield result;
    }
    co_yield salu(1);
  }

  std::uint32_t lanes_per_row_;
  Publish publish_;
  Csr matrix_;
  Parts rows_;
  RowArrays stored_;
  Replicas rank_, next_rank_, need_array_;
  std::vector<std::uint16_t> need_;     // by row: bit g, GPU g refers to it
  std::vector<std::uint32_t> readers_;  // by GPU: bit g, GPU g refers to a row of its
};

}  // namespace

std::shared_ptr<const Workload> make_pagerank(const Parameters& parameters, std::uint64_t seed) {
  return std::make_shared<PageRank>(parameters, seed);
}

}  // namespace nearfar::replicated
