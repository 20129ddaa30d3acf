// CT: model-based iterative reconstruction of tomographic images (in the studies of FinePack).
// `forward` follows the rays of every view through the image; `back` goes through the voxels in random order and adds
// up what each view says of them; `update` takes these sums, the voxel's neighbours, and stores it: random 4-byte
// accesses all over the image, which everybody reads.
#include "workload/catalog/entries.h"
#include "workload/replicated/forms.h"
#include "workload/scanner.h"

namespace nearfar {
namespace {

// Sides are multiples of 16, so that voxels always fill workgroups of 256.
constexpr std::uint32_t kGroup = 256, kRayGroup = 64;
constexpr std::uint32_t kParts = 4;  // the views are dealt out to as many parts, whose sums are kept apart

class Tomography final : public Workload {
 public:
  Tomography(const Parameters& parameters, std::uint64_t seed)
      : side_(parameters["side"]),
        slices_(parameters["slices"]),
        views_(parameters["views"]),
        scanner_(side_, slices_, views_),
        channels_(scanner_.channels),
        image_(allocate("image", 4 * voxels(), Placement::Distribute)),
        measured_(allocate("measured", 4 * views_ * channels_ * slices_, Placement::Distribute)),
        error_(allocate("error", 4 * views_ * channels_ * slices_, Placement::Distribute)),
        inbox_(allocate("inbox", 4 * voxels() * kParts, Placement::Distribute)),
        order_(allocate("order", 4 * voxels(), Placement::Distribute)),
        angles_(allocate("angles", 8 * views_, Placement::Private)) {
    draw_orders(seed);
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_launch({.kernel = "forward",
                  .groups_x = static_cast<std::uint32_t>((channels_ + kRayGroup - 1) / kRayGroup),
                  .groups_y = static_cast<std::uint32_t>(views_),
                  .groups_z = static_cast<std::uint32_t>(slices_),
                  .size_x = kRayGroup,
                  .split = Split::Offset,
                  .split_dim = Dim::Y});
      add_launch({.kernel = "back",
                  .groups_x = static_cast<std::uint32_t>(voxels() / kGroup),
                  .groups_y = kParts,
                  .size_x = kGroup,
                  .split = Split::Offset,
                  .split_dim = Dim::Y});
      add_launch(linear_launch("update", voxels(), kGroup, Split::Offset));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    switch (launch % 3) {
      case 0:
        return forward({.view = wave.group_y,
                        .slice = wave.group_z,
                        .channel = std::uint64_t{kRayGroup} * wave.group_x + wave.local(0),
                        .lanes = wave.lanes});
      case 1: return back(wave.group_y, wave.item(0), wave.lanes);
      default: return update({.first = wave.item(0), .lanes = wave.lanes});
    }
  }

 private:
  std::uint64_t voxels() const { return slices_ * side_ * side_; }

  struct Voxel {
    std::uint16_t x, y, slice;
  };

  std::uint64_t index(Voxel at) const { return (at.slice * side_ + at.y) * side_ + at.x; }

  /// Voxels in the order of `back`, apart by what it asks of all lanes at once, and as many more as a wavefront may
  /// lack of kMaxLanes.
  struct Positions {
    std::vector<float> right, down;       ///< pixels from the middle of the slice; exact
    std::vector<std::uint32_t> sinogram;  ///< where the slice's begins
    std::vector<std::uint32_t> voxel;
  };

  /// `back` goes through all voxels in one order; for `update` each quarter of every slice comes by itself, in the same
  /// order.
  void draw_orders(std::uint64_t seed) {
    std::vector<std::uint32_t> order = scanner_.draw_order(seed);
    const std::uint64_t area = side_ * side_;
    const float middle = static_cast<float>(side_) / 2;
    for (const std::uint32_t voxel : order) {
      back_order_.right.push_back(static_cast<float>(voxel % side_) - middle);
      back_order_.down.push_back(static_cast<float>(voxel / side_ % side_) - middle);
      back_order_.sinogram.push_back(static_cast<std::uint32_t>(voxel / area * views_ * channels_));
    }
    back_order_.right.resize(voxels() + kMaxLanes);
    back_order_.down.resize(voxels() + kMaxLanes);
    back_order_.sinogram.resize(voxels() + kMaxLanes);
    for (std::uint64_t quarter = 0; quarter < kParts; ++quarter) {
      for (const std::uint32_t voxel : order) {
        if (voxel % area * kParts / area != quarter) continue;
        update_order_.push_back({.x = static_cast<std::uint16_t>(voxel % side_),
                                 .y = static_cast<std::uint16_t>(voxel / side_ % side_),
                                 .slice = static_cast<std::uint16_t>(voxel / area)});
      }
    }
    back_order_.voxel = std::move(order);
  }

  /// Rays of a view through a slice, side by side, and the row or column of pixels that they cross.
  struct Crossing {
    Scanner::Crossing at;
    VirtAddr begin;       ///< of the row or column
    std::uint32_t pitch;  ///< bytes from a pixel to the next
    std::uint32_t rays;
    std::int32_t beside = 0;  ///< 0 the pixel before the ray, 1 the one behind it
  };

  struct Rays {
    std::uint64_t view, slice, channel;  ///< of lane 0
    std::uint32_t lanes;
  };

  Crossing cross(const Rays& rays, std::uint64_t step) const {
    const Scanner::Crossing at = scanner_.cross(rays.view, rays.channel, step);
    const VirtAddr slice = image_ + 4 * rays.slice * side_ * side_;
    return {.at = at,
            .begin = slice + 4 * step * (at.by_rows ? side_ : 1),
            .pitch = static_cast<std::uint32_t>(at.by_rows ? 4 : 4 * side_),
            .rays = static_cast<std::uint32_t>(std::min<std::uint64_t>(channels_ - rays.channel, rays.lanes))};
  }

  static std::int32_t pixel_of(const Crossing& crossing, unsigned lane) {
    return crossing.at.pixel(lane) + crossing.beside;
  }

  /// Whether any ray is in the image. Neighbours cross one or two pixels from one another, all in one direction: if no
  /// ray does, all are on the same side of it.
  bool meets(const Crossing& crossing) const {
    const auto [left, right] = std::minmax({pixel_of(crossing, 0), pixel_of(crossing, crossing.rays - 1)});
    return right >= 0 && left < static_cast<std::int32_t>(side_);
  }

  Stream forward(Rays rays) const {
    Crossing crossing;
    const auto pixel = load(4, [&](unsigned lane) {
      const auto at = static_cast<std::uint32_t>(pixel_of(crossing, lane));
      const VirtAddr address = crossing.begin + std::uint64_t{at} * crossing.pitch;
      return at < side_ && lane < crossing.rays ? address : kIdle;
    });
    const auto at = [&](VirtAddr sinogram) {
      return Row{sinogram + 4 * ((rays.slice * views_ + rays.view) * channels_ + rays.channel), crossing.rays};
    };
    const auto measured = load(4, [&] { return at(measured_); });
    const auto error = store(4, [&] { return at(error_); });

    co_yield salu(14);
    if (rays.channel >= channels_) co_return;
    for (std::uint64_t step = 0; step < side_; ++step) {
      crossing = cross(rays, step);
      for (; crossing.beside < 2; ++crossing.beside) {
        if (meets(crossing)) co_yield pixel;
      }
      co_yield wait(0);
      co_yield valu(10);
    }
    co_yield measured;
    co_yield wait(0);
    co_yield valu(2);
    co_yield error;
  }

  /// Where in the sinogram the voxel `at` in the order of `back` is seen.
  std::uint32_t seen_at(std::uint64_t at, std::uint64_t view) const {
    return back_order_.sinogram[at] + static_cast<std::uint32_t>(view * channels_) +
           scanner_.channel_of(back_order_.right[at], back_order_.down[at], view);
  }

  Stream back(std::uint64_t part, std::uint64_t first, std::uint32_t lanes) const {
    std::uint64_t view = part, next = 0;
    const auto order = load(4, [&] { return Row{order_ + 4 * first, lanes}; });
    const auto error =
        load(4, Every{[&](unsigned lane) { return error_ + 4 * (std::uint64_t{seen_at(first + lane, view)} + next); }});
    const auto sum =
        store(4, [&](unsigned lane) { return inbox_ + 4 * (part * voxels() + back_order_.voxel[first + lane]); });

    co_yield salu(12);
    co_yield order;
    co_yield wait(0);
    for (; view < views_; view += kParts) {
      co_yield scalar_load(8, angles_ + 8 * view);
      next = 0;
      co_yield error;
      next = 1;
      co_yield error;
      co_yield wait(0);
      co_yield valu(12);
    }
    co_yield sum;
  }

  struct At {
    std::uint64_t first;
    std::uint32_t lanes;
    std::uint32_t which = 0;  ///< of the parts, or of the neighbours
  };

  Stream update(At at) const {
    const auto order = load(4, [&] { return Row{order_ + 4 * at.first, at.lanes}; });
    const auto sum = load(
        4, [&](unsigned lane) { return inbox_ + 4 * (at.which * voxels() + index(update_order_[at.first + lane])); });
    const auto neighbour = load(4, [&](unsigned lane) {
      const Voxel voxel = update_order_[at.first + lane];
      // Beyond the rim the rim itself counts.
      const std::uint64_t x = std::clamp<std::uint64_t>(voxel.x + at.which % 3, 1, side_) - 1;
      const std::uint64_t y = std::clamp<std::uint64_t>(voxel.y + at.which / 3, 1, side_) - 1;
      return image_ + 4 * ((voxel.slice * side_ + y) * side_ + x);
    });
    const auto result = store(4, [&](unsigned lane) { return image_ + 4 * index(update_order_[at.first + lane]); });

    co_yield salu(12);
    co_yield order;
    co_yield wait(0);
    for (; at.which < kParts; ++at.which) co_yield sum;
    for (at.which = 0; at.which < 9; ++at.which) co_yield neighbour;
    co_yield wait(0);
    co_yield valu(60);
    co_yield result;
  }

  std::uint64_t side_, slices_, views_;
  Scanner scanner_;
  std::uint64_t channels_;
  Positions back_order_;
  std::vector<Voxel> update_order_;
  VirtAddr image_, measured_, error_, inbox_, order_, angles_;
};

WorkloadInfo info() {
  return {.name = "CT",
          .title = "tomographic reconstruction",
          .suite = "FinePack",
          .sentence = "Rays through an image, then its voxels in random order: 4-byte accesses all over it.",
          .parameters = replicated::with_form(
              {sized("side", "pixels on a side of a slice", {64, 128, 512}, 16, 1024, 16),
               sized("views", "views over half a turn; the published size has 360", {32, 64, 32}, 4, 1024, 4),
               sized("slices", "slices of the volume; the published size has 320", {2, 4, 1}, 1, 64),
               sized("iterations", "iterations", {2, 1, 1}, 1, 100),
               constant("slice_pitch",
                        "MiB from a slice of each rank's image to the next, which may so be in another window of "
                        "addresses; 0 is without a gap",
                        0, 0, 1024),
               constant("fence_every",
                        "voxels after which a rank's wavefronts release what they have stored; 0 is at the end of a "
                        "kernel alone",
                        0, 0, 1 << 20)})};
}

}  // namespace

constinit const CatalogEntry kCt{info, replicated::construct_form<Tomography, replicated::make_ct>};

}  // namespace nearfar
