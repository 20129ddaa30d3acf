// KM: k-means clustering (Hetero-Mark).
// `swap` turns the points' features from rows into columns (64 lines a load, 4 a store); every `compute` then reads
// all columns once for each cluster. A page of a column belongs to one GPU's points, but its home is any GPU.
#include <algorithm>

#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class KMeans final : public Workload {
 public:
  explicit KMeans(const Parameters& parameters)
      : points_(parameters["points"]),
        features_(parameters.u32("features")),
        clusters_(parameters.u32("clusters")),
        feature_(allocate("feature", 4 * points_ * features_, Placement::Distribute)),
        feature_swap_(allocate("feature_swap", 4 * points_ * features_, Placement::Distribute)),
        membership_(allocate("membership", 4 * points_, Placement::Distribute)),
        centroids_(allocate("clusters", std::uint64_t{4} * clusters_ * features_, Placement::Private)) {
    Launch launch{.kernel = "swap",
                  .groups_x = static_cast<std::uint32_t>((points_ + kGroup - 1) / kGroup),
                  .size_x = kGroup,
                  .split = Split::Offset,
                  .split_dim = Dim::X};
    add_launch(launch);
    launch.kernel = "compute";
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) add_launch(launch);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return launch == 0 ? swap(wave.item(0)) : compute(wave.item(0));
  }

 private:
  /// A wavefront's points side by side; the last wavefront may have fewer than it has lanes.
  Row points(VirtAddr at, std::uint64_t first) const {
    return {at, static_cast<std::uint32_t>(std::min<std::uint64_t>(points_ - first, kMaxLanes))};
  }

  Stream swap(std::uint64_t first) const {
    std::uint32_t i = 0;
    const auto from = load(4, [&](unsigned lane) {
      const std::uint64_t t = first + lane;
      return t < points_ ? feature_ + 4 * (t * features_ + i) : kIdle;
    });
    const auto to = store(4, [&] { return points(feature_swap_ + 4 * (i * points_ + first), first); });

    co_yield salu(10);
    co_yield valu(6);
    if (first >= points_) co_return;
    for (; i < features_; ++i) {
      co_yield valu(5);
      co_yield from;
      co_yield valu(9);
      co_yield wait(0);
      co_yield to;
      co_yield salu(2);
    }
    co_yield salu(1);
  }

  Stream compute(std::uint64_t first) const {
    std::uint32_t l = 0;
    const auto feature = load(4, [&] { return points(feature_swap_ + 4 * (l * points_ + first), first); });
    const auto result = store(4, [&] { return points(membership_ + 4 * first, first); });

    co_yield salu(10);
    co_yield valu(14);
    if (first >= points_) co_return;
    for (std::uint32_t c = 0; c < clusters_; ++c) {
      for (l = 0; l < features_; ++l) {
        co_yield valu(12);
        co_yield feature;
        co_yield scalar_load(4, centroids_ + std::uint64_t{4} * (c * features_ + l));
        co_yield wait(0);
        co_yield valu(2);
        co_yield salu(2);
      }
      co_yield valu(11);
      co_yield salu(4);
    }
    co_yield valu(4);
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t points_;
  std::uint32_t features_, clusters_;
  VirtAddr feature_, feature_swap_, membership_, centroids_;
};

WorkloadInfo info() {
  return {.name = "KM",
          .title = "k-means clustering",
          .suite = "Hetero-Mark",
          .sentence =
              "Partitioned: strided rows once, then all feature columns again and again; three quarters of the "
              "reads are remote though each page has one reader.",
          .parameters = {{.name = "points",
                          .sentence = "points to cluster",
                          .small = 8192,
                          .medium = 131072,
                          .paper = 262144,
                          .minimum = 1,
                          .maximum = 1 << 28},
                         {.name = "features",
                          .sentence = "features of a point",
                          .small = 32,
                          .medium = 32,
                          .paper = 32,
                          .minimum = 1,
                          .maximum = 1024},
                         {.name = "clusters",
                          .sentence = "clusters to find",
                          .small = 5,
                          .medium = 5,
                          .paper = 5,
                          .minimum = 1,
                          .maximum = 1024},
                         {.name = "iterations",
                          .sentence = "times the memberships are computed",
                          .small = 5,
                          .medium = 5,
                          .paper = 5,
                          .minimum = 1,
                          .maximum = 1000}}};
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<KMeans>(parameters);
}

}  // namespace

constinit const CatalogEntry kKm{info, make};

}  // namespace nearfar
