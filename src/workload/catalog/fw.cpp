// FW: all shortest ways by Floyd-Warshall (AMD APP SDK; in the studies of UMH).
// Each launch looks for ways over one more vertex: everybody reads its row and its column, and stores where a way got
// shorter. The host really computes the ways, so the stores are those of the program.
#include "workload/catalog/entries.h"
#include "workload/graph/algorithms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 16;  // of a workgroup

class FloydWarshall final : public Workload {
 public:
  FloydWarshall(const Parameters& parameters, std::uint64_t seed)
      : n_(parameters["n"]),
        improved_(floyd_warshall_rounds(parameters.u32("n"), seed).improved),
        distance_(allocate("distance", 4 * n_ * n_, Placement::Interleave)),
        path_(allocate("path", 4 * n_ * n_, Placement::Interleave, {.reads = false})) {
    const auto groups = static_cast<std::uint32_t>(n_ / kSide);
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    for (std::uint64_t k = 0; k < n_; ++k) {
      add_launch({.kernel = "floyd_warshall",
                  .groups_x = groups,
                  .groups_y = groups,
                  .size_x = kSide,
                  .size_y = kSide,
                  .split = Split::RoundRobin});
    }
    if (!host) return;
    add_host_read(distance_);
    add_host_read(path_);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return look({.k = launch, .x = wave.global_x(0), .y = wave.global_y(0), .lanes = wave.lanes});
  }

 private:
  struct At {
    std::uint64_t k, x, y;  ///< the vertex on the way, and lane 0's place
    std::uint32_t lanes;

    std::uint64_t column(unsigned lane) const { return x + lane % kSide; }
    std::uint64_t row(unsigned lane) const { return y + lane / kSide; }
  };

  VirtAddr improved(VirtAddr matrix, const At& at, unsigned lane) const {
    const std::uint64_t entry = at.row(lane) * n_ + at.column(lane);
    return improved_[at.k].has(entry) ? matrix + 4 * entry : kIdle;
  }

  Stream look(At at) const {
    const auto direct = load(4, [&] { return rows_of(kSide, distance_ + 4 * (at.y * n_ + at.x), 4 * n_, 4); });
    const auto there = load(4, [&] { return rows_of(kSide, distance_ + 4 * (at.y * n_ + at.k), 4 * n_, 0); });
    const auto onward = load(4, [&] { return rows_of(kSide, distance_ + 4 * (at.k * n_ + at.x), 0, 4); });
    const auto shorter = store(4, [&](unsigned lane) { return improved(distance_, at, lane); });
    const auto over = store(4, [&](unsigned lane) { return improved(path_, at, lane); });

    co_yield salu(12);
    co_yield direct;
    co_yield there;
    co_yield onward;
    co_yield wait(0);
    co_yield valu(14);
    if (anybody(shorter, at.lanes)) {
      co_yield shorter;
      co_yield over;
    }
    co_yield salu(1);
  }

  std::uint64_t n_;
  std::vector<IndexSet> improved_;  // by launch
  VirtAddr distance_, path_;
};

WorkloadInfo info() {
  return {.name = "FW",
          .title = "all shortest paths, Floyd-Warshall",
          .suite = "AMD APP SDK",
          .sentence = "A row and a column for everybody in each of many launches; all GPUs read and write all pages.",
          .parameters = {sized("n", "vertices", {64, 384, 256}, kSide, 1024, kSide), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kFw{info, construct<FloydWarshall>};

}  // namespace nearfar
