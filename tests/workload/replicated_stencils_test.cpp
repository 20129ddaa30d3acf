// Jacobi, Diffusion and EQWP on replicated data: what they publish, by the closed forms; and what all copies hold in
// the end, computed along their streams and, beside that, plainly.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "config/error.h"
#include "workload/replay.h"

namespace nearfar::replicated_stencils_test {
namespace {

using namespace nearfar::testing;

constexpr std::uint64_t kStores = 0, kCopies = 1;

TEST(ReplicatedJacobi, PublishesTheLinesOfTheClosedForm) {
  for (const auto& [n, loaded] : {std::pair{1ULL << 16, 45'576ULL}, {1ULL << 18, 182'280ULL}}) {
    const auto jacobi = make("Jacobi", {{"n", n}, {"ranks", 4}, {"iterations", 1}});
    const Traffic traffic = traffic_of(*jacobi, 4, 0);
    EXPECT_EQ(traffic.loaded_lines, loaded);
    EXPECT_EQ(traffic.stored_lines, n / 32);
    EXPECT_EQ(traffic.foreign_loads, 0U);
    EXPECT_EQ(traffic.all().transfers, 6 * (n / 16) / 32);
    EXPECT_EQ(traffic.all().whole, traffic.all().transfers);
    ASSERT_EQ(traffic.pairs.size(), 6U);
    for (const auto& [ranks, pair] : traffic.pairs) EXPECT_EQ(pair.bytes, 4 * n / 16);
  }
}

TEST(ReplicatedJacobi, CopiesTheSameBytesAndDoesTheSameAtHome) {
  const auto stores = make("Jacobi", {{"ranks", 4}}), copies = make("Jacobi", {{"ranks", 4}, {"exchange", kCopies}});
  EXPECT_EQ(copied_bytes(*stores), 0U);
  EXPECT_EQ(copied_bytes(*copies), 10U * 6 * 4 * 4096);
  EXPECT_EQ(copies_of(*copies), 60U);
  const Traffic with = traffic_of(*stores, 4, 3), without = traffic_of(*copies, 4, 3);
  EXPECT_EQ(without.all().transfers, 0U);
  EXPECT_EQ(without.loaded_lines, with.loaded_lines);
  EXPECT_EQ(without.stored_lines, with.stored_lines);
}

TEST(ReplicatedJacobi, IsTheSameWorkOnAnyNumberOfRanks) {
  const Traffic one = traffic_of(*make("Jacobi", {{"ranks", 1}}), 1, 0);
  EXPECT_TRUE(one.pairs.empty());
  for (const std::uint64_t ranks : {2U, 8U, 16U}) {
    const Traffic more = traffic_of(*make("Jacobi", {{"ranks", ranks}}), ranks, 0);
    EXPECT_EQ(more.loaded_lines, one.loaded_lines);
    EXPECT_EQ(more.stored_lines, one.stored_lines);
    EXPECT_EQ(more.all().transfers, 2 * (ranks - 1) * 4096 / 32);
  }
}

/// Three pairs of diagonals within an eighth of the band.
struct Banded {
  static constexpr std::int64_t kRows = 4096, kPairs = 3, kHalfBand = kRows / 8;

  static double a(std::int64_t diagonal, std::int64_t row) {
    return diagonal == 0 ? 20 : 1 + 0.001 * static_cast<double>((row * 7 + diagonal * 13) % 97);
  }
  static double b(std::int64_t row) { return static_cast<double>(row % 31); }
  static std::int64_t offset(std::int64_t diagonal) {
    const std::int64_t away = 32 * ((diagonal + 1) / 2 * kHalfBand / (32 * kPairs));
    return diagonal % 2 == 0 ? -away : away;
  }
  static std::vector<double> solve(int iterations) {
    std::vector<double> x(kRows), next(kRows);
    for (int i = 0; i < iterations; ++i) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        double rest = b(row);
        for (std::int64_t d = 1; d <= 2 * kPairs; ++d) {
          const std::int64_t at = row + offset(d);
          if (at >= 0 && at < kRows) rest -= a(d, row) * x[static_cast<std::size_t>(at)];
        }
        next[static_cast<std::size_t>(row)] = rest / a(0, row);
      }
      x = next;
    }
    return x;
  }
};

TEST(ReplicatedJacobi, SolvesTheSystemInEveryParadigm) {
  const std::vector<double> solution = Banded::solve(3);
  for (const std::uint64_t exchange : {kStores, kCopies}) {
    const auto jacobi = make(
        "Jacobi",
        {{"n", Banded::kRows}, {"pairs", 3}, {"band", 8}, {"iterations", 3}, {"ranks", 4}, {"exchange", exchange}});
    const RankMap ranks(*jacobi, 4);
    Memory memory;
    for (std::int64_t row = 0; row < Banded::kRows; ++row) {
      const auto rank = static_cast<std::uint64_t>(row) / 1024, local = static_cast<std::uint64_t>(row) % 1024;
      memory.set(ranks.copy("b", rank) + 4 * local, Banded::b(row));
      for (std::uint64_t d = 0; d < 7; ++d) {
        memory.set(ranks.copy("A", rank) + 4 * (1024 * d + local), Banded::a(static_cast<std::int64_t>(d), row));
      }
    }
    replay(*jacobi, memory, [&](std::size_t, std::uint64_t, const Items& items) {
      for (const std::vector<Touch>& item : items) {
        std::vector<VirtAddr> loads;
        for (const Touch& touch : item) {
          if (touch.how == '+') {
            loads.push_back(touch.at);
            continue;
          }
          double rest = memory[loads.back()];
          for (std::size_t i = 2; i + 1 < loads.size(); i += 2) rest -= memory[loads[i]] * memory[loads[i + 1]];
          memory.write(touch.at, rest / memory[loads[0]]);
        }
      }
    });
    for (std::uint64_t row = 0; row < 4096; ++row) {
      EXPECT_DOUBLE_EQ(memory[ranks.copy("next_x", row / 1024) + 4 * row], solution[row]) << row << " " << exchange;
    }
  }
}

TEST(ReplicatedDiffusion, PublishesTheRowsOfTheClosedForm) {
  const auto diffusion = make("Diffusion", {{"n", 128}, {"ranks", 4}, {"substeps", 1}});
  const Traffic traffic = traffic_of(*diffusion, 4, 1);
  ASSERT_EQ(traffic.pairs.size(), 6U);
  for (const auto& [ranks, pair] : traffic.pairs) {
    EXPECT_EQ(pair.transfers, 2'928U);
    EXPECT_EQ(pair.bytes, 357'216U);
    EXPECT_EQ(pair.small, 0U);
    EXPECT_EQ(pair.sizes.size(), 2U);
    EXPECT_EQ(pair.whole * 8, pair.transfers * 6);
    EXPECT_EQ(pair.sizes.at(104) * 8, pair.transfers * 2);
  }
  EXPECT_EQ(traffic.foreign_loads, 0U);
}

TEST(ReplicatedDiffusion, TouchesAboutTheLinesCounted) {
  std::uint64_t lines = 0;
  const auto diffusion = make("Diffusion", {{"n", 64}, {"ranks", 4}});
  for (std::size_t l = 0; l < 7; ++l) {
    const Traffic traffic = traffic_of(*diffusion, 4, l);
    lines += traffic.loaded_lines + traffic.stored_lines;
  }
  EXPECT_NEAR(static_cast<double>(lines), 1.01e6, 0.05e6);
}

TEST(ReplicatedDiffusion, CopiesThreePlanesToEachNeighbour) {
  const auto diffusion = make("Diffusion", {{"n", 48}, {"ranks", 4}, {"exchange", kCopies}});
  EXPECT_EQ(copied_bytes(*diffusion), 3U * 6 * 48 * 48 * 3 * 8);
  EXPECT_EQ(copies_of(*diffusion), 18U);
}

/// A cube of 16 cells on a side, with three planes of zeros below and above.
class Cube {
 public:
  static constexpr std::int64_t kSide = 16, kGhosts = 3;

  static double start(std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<double>((x * 37 + y * 11 + z * 101) % 59);
  }
  Cube() {
    for (std::int64_t i = 0; i < kSide * kSide * kSide; ++i) {
      at(u_, i % kSide, i / kSide % kSide, i / kSide / kSide) = start(i % kSide, i / kSide % kSide, i / kSide / kSide);
    }
  }
  void step() {
    const std::vector<double> old = u_;
    for (int substep = 0; substep < 3; ++substep) {
      std::vector<double> laplacian(u_.size());
      for (std::int64_t z = 0; z < kSide; ++z) {
        for (std::int64_t y = kGhosts; y < kSide - kGhosts; ++y) {
          for (std::int64_t x = kGhosts; x < kSide - kGhosts; ++x) {
            double sum = -90 * at(u_, x, y, z);
            for (const auto& [away, weight] : {std::pair{1, 16.0}, {2, -1.0}}) {
              sum += weight * (at(u_, x - away, y, z) + at(u_, x + away, y, z) + at(u_, x, y - away, z) +
                               at(u_, x, y + away, z) + at(u_, x, y, z - away) + at(u_, x, y, z + away));
            }
            at(laplacian, x, y, z) = sum;
          }
        }
      }
      for (std::size_t i = 0; i < u_.size(); ++i) {
        u_[i] = (substep == 0 ? u_[i] : 0.5 * (u_[i] + old[i])) + 0.001 * laplacian[i];
      }
    }
  }
  double operator()(std::int64_t x, std::int64_t y, std::int64_t z) { return at(u_, x, y, z); }

 private:
  static double& at(std::vector<double>& cells, std::int64_t x, std::int64_t y, std::int64_t z) {
    return cells[static_cast<std::size_t>(((z + kGhosts) * kSide + y) * kSide + x)];
  }
  std::vector<double> u_ = std::vector<double>(static_cast<std::size_t>(kSide * kSide * (kSide + 2 * kGhosts)));
};

/// One item's walk: four cells of the column, then in each plane the fifth, and eight neighbours in turns of x and y.
void walk(Memory& memory, const std::vector<Touch>& item) {
  std::vector<double> column, beside;
  for (const Touch& touch : item) {
    if (touch.how == '-') {
      const std::vector<double>& b = beside;
      const double near = b[2] + b[3] + b[4] + b[5] + column[1] + column[3];
      const double far = b[0] + b[1] + b[6] + b[7] + column[0] + column[4];
      memory.write(touch.at, -90 * column[2] + 16 * near - far);
      continue;
    }
    if (beside.size() == 8) {
      beside.clear();
      column.erase(column.begin());
    }
    (column.size() < 5 ? column : beside).push_back(memory[touch.at]);
  }
}

TEST(ReplicatedDiffusion, ComputesTheSameInEveryParadigm) {
  Cube cube;
  cube.step();
  for (const std::uint64_t exchange : {kStores, kCopies}) {
    const auto diffusion = make("Diffusion", {{"n", 16}, {"steps", 1}, {"ranks", 4}, {"exchange", exchange}});
    const RankMap ranks(*diffusion, 4);
    const auto cell = [&](std::uint64_t rank, std::uint64_t x, std::uint64_t y, std::uint64_t plane) {
      return ranks.copy("u", rank) + 8 * ((plane * 16 + y) * 64 + x);
    };
    const auto for_each_cell = [&](const auto& visit) {
      for (std::uint64_t i = 0; i < 4 * 10 * 256; ++i) {
        const std::uint64_t rank = i / 2560, plane = i / 256 % 10, y = i / 16 % 16, x = i % 16;
        const auto z = static_cast<std::int64_t>(rank * 4 + plane) - 3;
        if (z >= 0 && z < 16)
          visit(cell(rank, x, y, plane), static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), z);
      }
    };
    Memory memory;
    for_each_cell(
        [&](VirtAddr at, std::int64_t x, std::int64_t y, std::int64_t z) { memory.set(at, Cube::start(x, y, z)); });
    replay(*diffusion, memory, [&](std::size_t launch, std::uint64_t, const Items& items) {
      const std::string& kernel = diffusion->launches()[launch].kernel;
      for (const std::vector<Touch>& item : items) {
        if (item.empty()) continue;
        if (kernel == "laplacian") walk(memory, item);
        if (kernel == "copy") memory.write(item[1].at, memory[item[0].at]);
        if (kernel != "runge_kutta") continue;
        const double u = memory[item[0].at], laplacian = memory[item[item.size() - 2].at];
        memory.write(item.back().at, (item.size() == 3 ? u : 0.5 * (u + memory[item[1].at])) + 0.001 * laplacian);
      }
    });
    for_each_cell([&](VirtAddr at, std::int64_t x, std::int64_t y, std::int64_t z) {
      EXPECT_NEAR(memory[at], cube(x, y, z), 1e-9) << x << " " << y << " " << z << " paradigm " << exchange;
    });
  }
}

TEST(ReplicatedWaves, PublishTheFacesOfTheClosedForm) {
  const auto eqwp = make("EQWP", {{"ranks", 4}});
  Traffic::Pair along_x, along_z;
  for (std::size_t l = 0; l < 4; ++l) {
    const Traffic traffic = traffic_of(*eqwp, 4, l);
    EXPECT_EQ(traffic.foreign_loads, 0U);
    for (const auto& [ranks, pair] : traffic.pairs) {
      const auto& [from, to] = ranks;
      EXPECT_NE(from + to, 3U) << "neither 0 and 3 nor 1 and 2 are neighbours";
      if (from != 0) continue;
      Traffic::Pair& sum = to == 1 ? along_x : along_z;
      sum.transfers += pair.transfers;
      sum.bytes += pair.bytes;
      sum.small += pair.small;
      for (const auto& [size, times] : pair.sizes) sum.sizes[size] += times;
    }
  }
  EXPECT_EQ(along_x.transfers, 9U * 32 * 32);
  EXPECT_EQ(along_x.bytes, 72U * 32 * 32);
  EXPECT_EQ(along_x.sizes.size(), 1U);
  EXPECT_EQ(along_z.bytes, 72U * 32 * 32);
  EXPECT_EQ(copied_bytes(*make("EQWP", {{"ranks", 4}, {"exchange", kCopies}})), 4U * (72 * 32 * 32 + 72 * 32 * 32));
}

/// The lines of one step at home, enumerated cell by cell: tiles of 16×16 begin at the first cell of a rank's own.
/// (Tiles that begin at the two columns of the neighbour need three instead of two for 32 columns: 0.61 M and 2.24 M
/// lines, where the study counts 0.61 M and 2.27 M.)
class WaveLines {
 public:
  WaveLines(std::uint64_t nx, std::uint64_t ny, std::uint64_t nz, std::uint64_t slabs)
      : nx_(nx), ny_(ny), nz_(nz), slabs_(slabs) {}

  std::uint64_t of_step() const {
    std::uint64_t sum = 0;
    for (std::uint64_t tile_y = 0; tile_y < ny_; tile_y += 16) {
      for (std::uint64_t y = tile_y; y < tile_y + 16; y += 2) {  // a warp has two rows
        for (std::uint64_t x = 0; x < nx_; x += 16) sum += of_warp(x, y, y == tile_y, y == tile_y + 14);
      }
    }
    return sum;
  }

 private:
  /// Of `columns` cells from x on in rows y and y+1, with the ghosts' two cells before the first own one.
  std::uint64_t lines(std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t columns) const {
    std::set<std::uint64_t> lines;
    for (std::uint64_t i = 0; i < 2 * columns; ++i) {
      lines.insert(4 * ((z * (ny_ + 4) + y + i % 2) * (nx_ + 4) + x + i / 2) / 128);
    }
    return lines.size();
  }

  std::uint64_t of_warp(std::uint64_t x, std::uint64_t y, bool first, bool last) const {
    std::uint64_t sum = 0;
    const auto own = [&](std::uint64_t z) { return lines(x + 2, y + 2, z, 16); };
    for (std::uint64_t slab = 0; slab < slabs_; ++slab) {
      for (std::uint64_t z = 0; z < 4; ++z) sum += 3 * own(nz_ / slabs_ * slab + z);  // stress fills its pipeline
    }
    for (std::uint64_t z = 2; z < nz_ + 2; ++z) {
      std::uint64_t beside = lines(x, y + 2, z, 2) + lines(x + 18, y + 2, z, 2);
      if (first) beside += lines(x + 2, y, z, 16);
      if (last) beside += lines(x + 2, y + 4, z, 16);
      sum += 3 * own(z + 2) + 3 * beside + 12 * own(z);                // stress: three velocities, six stresses
      sum += 3 * (2 * own(z) + own(z + 2)) + 3 * beside + 8 * own(z);  // velocities, and the displacement
    }
    return sum;
  }

  std::uint64_t nx_, ny_, nz_, slabs_;
};

TEST(ReplicatedWaves, TouchTheLinesEnumerated) {
  for (const auto& [side, expected] : {std::pair{64ULL, 449'024ULL}, {128ULL, 2'058'240ULL}}) {
    const auto eqwp = make("EQWP", {{"nx", side}, {"nz", side}, {"ranks", 4}, {"slabs", 4}, {"steps", 1}});
    std::uint64_t lines = 0;
    for (std::size_t l = 0; l < 4; ++l) {
      const Traffic traffic = traffic_of(*eqwp, 4, l);
      lines += traffic.loaded_lines + traffic.stored_lines;
    }
    EXPECT_EQ(lines, expected);
    EXPECT_EQ(lines, 4 * WaveLines(side / 2, 32, side / 2, 2).of_step());
  }
}

TEST(ReplicatedWaves, OnOneRankTouchWhatTheLocalFormDoes) {
  const auto local = make("EQWP"), one = make("EQWP", {{"ranks", 1}});
  for (std::size_t l = 0; l < 4; ++l) {
    const Traffic here = traffic_of(*local, 1, l), there = traffic_of(*one, 1, l);
    EXPECT_EQ(here.loaded_lines, there.loaded_lines);
    EXPECT_EQ(here.stored_lines, there.stored_lines);
  }
}

/// Every cell that a neighbour has a copy of is the same there.
TEST(ReplicatedWaves, LeaveTheSameFacesInEveryParadigm) {
  constexpr std::uint64_t kNx = 18, kNy = 20, kNz = 8;  // of a rank
  for (const std::uint64_t exchange : {kStores, kCopies}) {
    const auto eqwp = make("EQWP", {{"nx", 2 * kNx},
                                    {"ny", kNy},
                                    {"nz", 2 * kNz},
                                    {"slabs", 4},
                                    {"steps", 2},
                                    {"ranks", 4},
                                    {"exchange", exchange}});
    const RankMap ranks(*eqwp, 4);
    Memory memory;
    double next = 0, value = 0;
    replay(*eqwp, memory, [&](std::size_t launch, std::uint64_t group, const Items& items) {
      const bool moves = eqwp->launches()[launch].kernel.ends_with("pack");
      for (const std::vector<Touch>& item : items) {
        for (const Touch& touch : item) {
          const bool own = ranks.owner(touch.at) == ranks.runs(launch, group);
          if (touch.how == '+') {
            if (moves) value = memory[touch.at];
            continue;
          }
          if (own && !moves) value = ++next;
          memory.write(touch.at, value);
        }
      }
    });
    const auto cell = [&](const char* field, std::uint64_t rank, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
      return memory[ranks.copy(field, rank) + 4 * ((z * (kNy + 4) + y + 2) * (kNx + 4) + x)];
    };
    for (const char* field : {"sxx", "sxy", "sxz", "syy", "syz", "szz", "vx", "vy", "vz"}) {
      for (std::uint64_t i = 0; i < 2 * kNy * kNz; ++i) {
        const std::uint64_t x = i % 2, y = i / 2 % kNy, z = i / 2 / kNy + 2;
        for (const std::uint64_t left : {0U, 2U}) {
          ASSERT_NE(cell(field, left, x + kNx, y, z), 0);
          EXPECT_EQ(cell(field, left + 1, x, y, z), cell(field, left, x + kNx, y, z)) << field;
          EXPECT_EQ(cell(field, left, x + kNx + 2, y, z), cell(field, left + 1, x + 2, y, z)) << field;
        }
      }
      for (std::uint64_t i = 0; i < 2 * kNy * kNx; ++i) {
        const std::uint64_t x = i % kNx + 2, y = i / kNx % kNy, z = i / kNx / kNy;
        for (const std::uint64_t below : {0U, 1U}) {
          EXPECT_EQ(cell(field, below + 2, x, y, z), cell(field, below, x, y, z + kNz)) << field;
          EXPECT_EQ(cell(field, below, x, y, z + kNz + 2), cell(field, below + 2, x, y, z + 2)) << field;
        }
      }
    }
  }
}

TEST(ReplicatedForms, KeepASuspendedWavefrontSmall) {
  for (const char* name : {"ALS", "BellmanFord", "CT", "Diffusion", "EQWP", "HIT", "Jacobi", "PageRank"}) {
    const auto workload = make(name, {{"ranks", 4}, {"exchange", kCopies}});
    for (std::size_t l = 0; l < workload->launches().size(); ++l) {
      std::size_t frame = 0;
      std::thread([&] {
        const Stream stream = workload->wavefront(l, workload->launches()[l].wave(0, 0, 64));
        frame = frames::largest();
      }).join();
      EXPECT_LE(frame, 320U) << name << " " << workload->launches()[l].kernel;
    }
  }
}

TEST(ReplicatedForms, RefuseWhatCannotBe) {
  EXPECT_THROW(make("Jacobi", {{"ranks", 3}}), InputError);
  EXPECT_THROW(make("Jacobi", {{"exchange", 1}}), InputError);
  EXPECT_THROW(make("Diffusion", {{"n", 32}, {"ranks", 16}}), InputError);
  EXPECT_THROW(make("EQWP", {{"nx", 33}, {"ranks", 4}}), InputError);
  EXPECT_THROW(make("CT", {{"side", 16}, {"ranks", 16}}), InputError);
}

}  // namespace
}  // namespace nearfar::replicated_stencils_test
