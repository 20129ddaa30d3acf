// HIT, ALS and CT on replicated data: everybody publishes to everybody, by the closed forms; and along their streams
// what is published arrives where it is read.
#include <gtest/gtest.h>

#include <set>

#include "workload/replay.h"

namespace nearfar::replicated_all_to_all_test {
namespace {

using namespace nearfar::testing;

constexpr std::uint64_t kStores = 0, kCopies = 1;

/// The launches of HIT before whose end something is exchanged: the transposition back of the first field's transform,
/// and the swap of the first one forward.
constexpr std::size_t kBackward = 12 + 2, kForward = 12 + 6 * 6 + 6 + 2;

TEST(ReplicatedTurbulence, ExchangesTheRowsOfTheClosedForm) {
  const auto hit = make("HIT", {{"n", 64}, {"right_sides", 1}, {"ranks", 4}});
  for (const std::size_t launch : {kBackward, kForward}) {
    const Traffic traffic = traffic_of(*hit, 4, launch);
    EXPECT_EQ(traffic.pairs.size(), 12U);
    EXPECT_EQ(traffic.all().transfers, 14'976U);
    EXPECT_EQ(traffic.all().bytes, 811'008U);
    EXPECT_EQ(traffic.all().small, 12U * 256 * 7 / 4);
    for (const auto& [size, times] : traffic.all().sizes) EXPECT_EQ(size % 8, 0U);
    EXPECT_EQ(traffic.foreign_loads, 0U);
  }
  EXPECT_EQ(traffic_of(*hit, 4, kBackward + 1).all().transfers, 0U);
}

TEST(ReplicatedTurbulence, CopiesTheSameBlocks) {
  const auto hit = make("HIT", {{"n", 64}, {"right_sides", 1}, {"ranks", 4}, {"exchange", kCopies}});
  EXPECT_EQ(copied_bytes(*hit), 9U * 811'008);
  EXPECT_EQ(copies_of(*hit), 9U * 12);
  EXPECT_EQ(traffic_of(*hit, 4, kBackward).all().transfers, 0U);
}

class TransposedCubes {
 public:
  static constexpr std::uint64_t kSide = 16, kRow = 9;

  TransposedCubes(const Workload& hit, std::uint64_t rank_count) : hit_(hit), ranks_(hit, rank_count) {
    for_each([&](std::uint64_t x, std::uint64_t y, std::uint64_t z) { memory_.set(at(x, y, z), value(x, y, z)); });
  }

  void run() {
    replay(hit_, memory_, [&](std::size_t launch, std::uint64_t group, const Items& items) {
      const std::string& kernel = hit_.launches()[launch].kernel;
      if (launch == kBackward + 2 && group == 0) expect_swapped();
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].empty() || items[i].back().how != '-') continue;
        // Through local memory a tile is turned: an item stores what its mirror image has loaded.
        if (kernel == "swap") memory_.write(items[i].back().at, memory_[items[i][0].at]);
        if (kernel == "transpose") memory_.write(items[i].back().at, memory_[items[i % 16 * 16 + i / 16][0].at]);
      }
    });
    for_each(
        [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) { EXPECT_EQ(memory_[at(x, y, z)], value(x, y, z)); });
  }

 private:
  static double value(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return static_cast<double>((x * 100 + y) * 100 + z);
  }
  template <class Visit>
  static void for_each(const Visit& visit) {
    for (std::uint64_t i = 0; i < kSide * kSide * kRow; ++i) visit(i / kRow / kSide, i / kRow % kSide, i % kRow);
  }
  /// Of two axes the first is dealt out to the ranks.
  VirtAddr at(std::uint64_t first, std::uint64_t second, std::uint64_t z) const {
    const std::uint64_t planes = kSide / ranks_.count();
    return ranks_.copy("field0", first / planes) + 8 * ((first % planes * kSide + second) * kRow + z);
  }
  void expect_swapped() {
    for_each(
        [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) { EXPECT_EQ(memory_[at(y, x, z)], value(x, y, z)); });
  }

  const Workload& hit_;
  RankMap ranks_;
  Memory memory_;
};

TEST(ReplicatedTurbulence, BringsPlanesOfYTogetherAndTakesThemBack) {
  for (const std::uint64_t exchange : {kStores, kCopies}) {
    for (const std::uint64_t ranks : {1U, 2U, 4U}) {
      const auto hit = make("HIT", {{"n", 16}, {"right_sides", 1}, {"ranks", ranks}, {"exchange", exchange}});
      TransposedCubes(*hit, ranks).run();
    }
  }
}

TEST(ReplicatedLeastSquares, PublishVectorsOfTheClosedForm) {
  constexpr std::uint64_t kN = 2048;
  const auto als = make("ALS", {{"n", kN}, {"halves", 2}, {"ranks", 4}});
  for (const std::size_t half : {0U, 1U}) {
    const Traffic traffic = traffic_of(*als, 4, half);
    EXPECT_EQ(traffic.stored_lines, 16 * kN);
    EXPECT_EQ(traffic.all().transfers, 3 * 16 * kN);
    EXPECT_EQ(traffic.all().sizes.at(16), 3 * 16 * kN);
    EXPECT_EQ(traffic.pairs.size(), 12U);
    for (const auto& [ranks, pair] : traffic.pairs) EXPECT_EQ(pair.bytes, kN / 4 * 64 * 4);
    EXPECT_EQ(traffic.foreign_loads, 0U);
  }
  EXPECT_EQ(copied_bytes(*make("ALS", {{"n", kN}, {"halves", 2}, {"ranks", 4}, {"exchange", kCopies}})),
            2U * 12 * kN / 4 * 64 * 4);
}

TEST(ReplicatedLeastSquares, PublishEveryFactorInEverySweep) {
  constexpr std::uint64_t kN = 2048;
  const Traffic traffic = traffic_of(*make("ALS", {{"n", kN}, {"factors", 16}, {"solver", 0}, {"ranks", 4}}), 4, 0);
  EXPECT_EQ(traffic.stored_lines, 8 * kN * 2);
  EXPECT_EQ(traffic.all().transfers, 24 * kN * 2);
  EXPECT_EQ(traffic.all().sizes.at(8), 24 * kN * 2);
  for (const auto& [ranks, pair] : traffic.pairs) EXPECT_EQ(pair.bytes, kN * 16 * 2);
  EXPECT_NEAR(static_cast<double>(traffic.loaded_lines), 45'158, 0.05 * 45'158);
}

TEST(ReplicatedLeastSquares, LeaveTheSameFactorsWithEverybody) {
  for (const std::uint64_t exchange : {kStores, kCopies}) {
    const auto als = make("ALS", {{"n", 300}, {"factors", 8}, {"halves", 1}, {"ranks", 4}, {"exchange", exchange}});
    const RankMap ranks(*als, 4);
    Memory memory;
    double value = 0;
    replay(*als, memory, [&](std::size_t launch, std::uint64_t group, const Items& items) {
      for (const std::vector<Touch>& item : items) {
        for (const Touch& touch : item) {
          if (touch.how == '+') continue;
          if (ranks.owner(touch.at) == ranks.runs(launch, group)) ++value;
          memory.write(touch.at, value);
        }
      }
    });
    for (std::uint64_t vector = 0; vector < 300 * 2; ++vector) {
      const double own = memory[ranks.copy("x", vector / 2 / 96) + 16 * vector];
      EXPECT_NE(own, 0) << vector;
      for (std::uint64_t rank = 0; rank < 4; ++rank) EXPECT_EQ(memory[ranks.copy("x", rank) + 16 * vector], own);
    }
  }
}

TEST(ReplicatedTomography, PublishesTheBytesOfTheClosedForm) {
  constexpr std::uint64_t kVoxels = 64 * 64;
  const auto ct = make("CT", {{"slices", 1}, {"iterations", 1}, {"ranks", 4}});
  std::uint64_t transfers = 0;
  for (const std::size_t launch : {1U, 2U}) {
    const Traffic traffic = traffic_of(*ct, 4, launch);
    EXPECT_EQ(traffic.pairs.size(), 12U);
    for (const auto& [ranks, pair] : traffic.pairs) EXPECT_EQ(pair.bytes, kVoxels / 4 * 4);
    EXPECT_EQ(traffic.all().small, traffic.all().transfers);
    EXPECT_EQ(traffic.foreign_loads, 0U);
    transfers += traffic.all().transfers;
  }
  EXPECT_NEAR(static_cast<double>(transfers), 0.77 * 6 * kVoxels, 0.05 * 6 * kVoxels);
  EXPECT_TRUE(traffic_of(*ct, 4, 0).pairs.empty());
  EXPECT_EQ(copied_bytes(*make("CT", {{"slices", 1}, {"iterations", 1}, {"ranks", 4}, {"exchange", kCopies}})),
            24 * kVoxels);
}

TEST(ReplicatedTomography, TouchesAboutTheLinesCounted) {
  const auto ct = make("CT", {{"slices", 1}, {"iterations", 1}, {"ranks", 4}});
  EXPECT_NEAR(static_cast<double>(traffic_of(*ct, 4, 0).loaded_lines), 0.12e6, 0.012e6);
  EXPECT_NEAR(static_cast<double>(traffic_of(*ct, 4, 1).loaded_lines), 0.02e6, 0.006e6);
  EXPECT_NEAR(static_cast<double>(traffic_of(*ct, 4, 2).loaded_lines), 0.04e6, 0.006e6);
}

/// Whoever has a voxel reads of it what each rank's wavefronts have found at the same place of the order, and
/// afterwards all ranks have it.
TEST(ReplicatedTomography, BringsAllSumsOfAVoxelToItsRankAndTheVoxelToAll) {
  for (const std::uint64_t exchange : {kStores, kCopies}) {
    for (const std::uint64_t pitch : {0U, 1U}) {
      const auto ct = make("CT", {{"side", 16},
                                  {"views", 8},
                                  {"slices", 2},
                                  {"iterations", 1},
                                  {"slice_pitch", pitch},
                                  {"ranks", 4},
                                  {"exchange", exchange}});
      const RankMap ranks(*ct, 4);
      Memory memory;
      std::set<double> updated;
      replay(*ct, memory, [&](std::size_t launch, std::uint64_t group, const Items& items) {
        const std::uint64_t local_group = group % (ct->launches()[launch].groups() / 4);
        for (std::size_t i = 0; i < items.size(); ++i) {
          if (items[i].empty() || launch == 0) continue;
          if (launch == 1) memory.write(items[i].back().at, static_cast<double>(local_group * 256 + i + 1));
          if (launch != 2) continue;
          const double place = memory[items[i][1].at];
          for (std::size_t from = 1; from <= 4; ++from) EXPECT_EQ(memory[items[i][from].at], place);
          EXPECT_EQ(items[i][5 + 4].at, items[i][5 + 9].at) << "its own voxel is the middle one of its neighbours";
          EXPECT_TRUE(updated.insert(place).second);
          for (std::size_t t = 5 + 9; t < items[i].size(); ++t) memory.write(items[i][t].at, place);
        }
      });
      EXPECT_EQ(updated.size(), 512U);
      EXPECT_FALSE(updated.contains(0));
      for (std::uint64_t voxel = 0; voxel < 512; ++voxel) {
        const std::uint64_t at = pitch == 0 ? 4 * voxel : voxel / 256 * (1 << 20) + voxel % 256 * 4;
        const double own = memory[ranks.copy("image", voxel % 256 / 64) + at];
        EXPECT_NE(own, 0);
        for (std::uint64_t rank = 0; rank < 4; ++rank) EXPECT_EQ(memory[ranks.copy("image", rank) + at], own);
      }
    }
  }
}

TEST(ReplicatedTomography, ReleasesAfterSoManyVoxels) {
  const auto fences = [](std::uint64_t every) {
    const auto ct = make(
        "CT", {{"side", 32}, {"views", 4}, {"slices", 1}, {"iterations", 1}, {"ranks", 2}, {"fence_every", every}});
    unsigned count = 0;
    for (std::uint32_t w = 0; w < 8; ++w) {
      Stream stream = ct->wavefront(1, ct->launches()[1].wave(0, w, kWarp));
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) count += op.kind == OpKind::Fence ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(fences(0), 0U);
  EXPECT_EQ(fences(64), 4U);
  EXPECT_EQ(fences(1), 8U);
}

}  // namespace
}  // namespace nearfar::replicated_all_to_all_test
