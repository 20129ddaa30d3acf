// CT on several GPUs. A rank has every so-manieth view and a slab of each slice, and a copy of the whole image. `back`
// stores what the rank's views say of a voxel into its inbox at the rank that has the voxel; `update` stores the voxel
// to everybody. Both go through the voxels in random order: 4 bytes here and there.
#include "workload/replicated/forms.h"
#include "workload/replicated/program.h"
#include "workload/scanner.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kGroup = 256, kRayGroup = 64;
constexpr std::uint64_t kLineFloats = 32;

class Tomography final : public Program {
 public:
  Tomography(const Parameters& parameters, std::uint64_t seed)
      : Program(parameters),
        scanner_(parameters["side"], parameters["slices"], parameters["views"]),
        slab_(scanner_.area() / ranks()),
        pitch_(parameters["slice_pitch"] == 0 ? scanner_.area() : parameters["slice_pitch"] << 18),
        fence_every_(parameters["fence_every"]),
        own_views_((scanner_.views + ranks() - 1) / ranks()) {
    if (slab_ % kLineFloats != 0) {
      parameters.refuse("ranks", "each must have whole lines of a slice",
                        std::bit_floor(scanner_.area() / kLineFloats));
    }
    if (pitch_ < scanner_.area()) {
      parameters.refuse("slice_pitch", "must have room for a slice", (scanner_.area() >> 18) + 1);
    }
    const std::uint64_t sinogram = 4 * own_views_ * scanner_.channels * scanner_.slices;
    image_ = replicate("image", 4 * (pitch_ * (scanner_.slices - 1) + scanner_.area()));
    measured_ = replicate("measured", sinogram);
    error_ = replicate("error", sinogram);
    inbox_ = mailbox("inbox", 4 * slab_ * scanner_.slices);
    order_array_ = replicate("order", 4 * scanner_.voxels());
    angles_ = replicate("angles", 8 * scanner_.views);
    order_ = scanner_.draw_order(seed);
    slab_order_.resize(ranks());
    for (const std::uint32_t voxel : order_) slab_order_[owner(voxel)].push_back(voxel);
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) add_iteration();
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const At at{.rank = wave.group_z, .first = wave.item(0), .lanes = wave.lanes};
    switch (launch % 3) {
      case 0: return forward(rays_of(wave));
      case 1: return back(at);
      default: return update(at);
    }
  }

 private:
  void add_iteration() {
    add_on_each({.kernel = "forward",
                 .groups_x = static_cast<std::uint32_t>((scanner_.channels + kRayGroup - 1) / kRayGroup),
                 .groups_y = static_cast<std::uint32_t>(own_views_),
                 .groups_z = static_cast<std::uint32_t>(scanner_.slices),
                 .size_x = kRayGroup});
    add_on_each(linear_launch("back", scanner_.voxels(), kGroup, Split::Offset));
    deliver(inbox_, [&](std::uint64_t, std::uint64_t) { return 4 * slab_ * scanner_.slices; });
    add_on_each(linear_launch("update", slab_ * scanner_.slices, kGroup, Split::Offset));
    for_each_pair([&](std::uint64_t from, std::uint64_t to) {
      bring({.from = image_.on(from) + 4 * slab_ * from,
             .to = image_.on(to) + 4 * slab_ * from,
             .bytes = 4 * slab_,
             .rows = scanner_.slices,
             .pitch = 4 * pitch_});
    });
  }

  std::uint64_t owner(std::uint32_t voxel) const { return voxel % scanner_.area() / slab_; }
  /// A voxel's place in the part of its owner.
  std::uint64_t place(std::uint32_t voxel) const {
    return voxel / scanner_.area() * slab_ + voxel % scanner_.area() % slab_;
  }
  VirtAddr pixel(std::uint64_t rank, std::uint64_t slice, std::uint64_t at) const {
    return image_.on(rank) + 4 * (slice * pitch_ + at);
  }
  /// In the sinogram of a rank's own views.
  std::uint64_t ray(std::uint64_t slice, std::uint64_t view, std::uint64_t channel) const {
    return (slice * own_views_ + view / ranks()) * scanner_.channels + channel;
  }

  struct Rays {
    std::uint32_t rank, lanes, rays;  ///< rays: lanes that have one
    std::uint64_t view, slice, channel, step = 0;
    std::int32_t beside = 0;  ///< 0 the pixel before the ray, 1 the one behind it
    Scanner::Crossing crossing{};
  };

  Rays rays_of(const Wave& wave) const {
    Rays rays{.rank = static_cast<std::uint32_t>(wave.group_z / scanner_.slices),
              .lanes = wave.lanes,
              .rays = 0,
              .view = 0,
              .slice = wave.group_z % scanner_.slices,
              .channel = std::uint64_t{kRayGroup} * wave.group_x + wave.local(0)};
    rays.view = wave.group_y * ranks() + rays.rank;
    if (rays.channel < scanner_.channels && rays.view < scanner_.views) {
      rays.rays = static_cast<std::uint32_t>(std::min<std::uint64_t>(scanner_.channels - rays.channel, rays.lanes));
    }
    return rays;
  }

  Stream forward(Rays r) const {
    const auto pixels = load(4, [&](unsigned lane) {
      const auto at = static_cast<std::uint32_t>(r.crossing.pixel(lane) + r.beside);
      if (at >= scanner_.side || lane >= r.rays) return kIdle;
      return pixel(r.rank, r.slice, r.crossing.by_rows ? r.step * scanner_.side + at : at * scanner_.side + r.step);
    });
    const auto measured = load(4, [&] {
      return Row{measured_.on(r.rank) + 4 * ray(r.slice, r.view, r.channel), r.rays};
    });
    const auto error = store(4, [&] { return Row{error_.on(r.rank) + 4 * ray(r.slice, r.view, r.channel), r.rays}; });

    co_yield salu(14);
    if (r.rays == 0) co_return;
    for (; r.step < scanner_.side; ++r.step) {
      r.crossing = scanner_.cross(r.view, r.channel, r.step);
      for (r.beside = 0; r.beside < 2; ++r.beside) {
        if (anybody(pixels, r.rays)) co_yield pixels;
      }
      co_yield wait(0);
      co_yield valu(10);
    }
    co_yield measured;
    co_yield wait(0);
    co_yield valu(2);
    co_yield error;
  }

  struct At {
    std::uint32_t rank;
    std::uint64_t first;
    std::uint32_t lanes;
    std::uint32_t which = 0;  ///< of the two channels that see a voxel, of the inboxes, or of the neighbours
    std::uint64_t view = 0;
    std::uint32_t to = 0;  ///< whose copy is stored to
  };

  /// Where the rank's view sees the voxel that is the `at`-th in the order.
  std::uint64_t seen_at(std::uint64_t at, std::uint64_t view) const {
    const std::uint32_t voxel = order_[at];
    const double middle = static_cast<double>(scanner_.side) / 2;
    const double right = static_cast<double>(voxel % scanner_.side) - middle;
    const double down = static_cast<double>(voxel / scanner_.side % scanner_.side) - middle;
    return ray(voxel / scanner_.area(), view, scanner_.channel_of(right, down, view));
  }

  /// Whether a rank's voxels from `first` on include one behind which it releases.
  bool fences(const At& at) const {
    return fence_every_ != 0 && at.first / fence_every_ != (at.first + at.lanes) / fence_every_;
  }

  Stream back(At at) const {
    const auto order = load(4, [&] { return Row{order_array_.on(at.rank) + 4 * at.first, at.lanes}; });
    const auto error =
        load(4, [&](unsigned lane) { return error_.on(at.rank) + 4 * (seen_at(at.first + lane, at.view) + at.which); });
    const auto sum = store(4, [&](unsigned lane) {
      const std::uint32_t voxel = order_[at.first + lane];
      return inbox_.slot(at.rank, owner(voxel)) + 4 * place(voxel);
    });

    co_yield salu(12);
    co_yield order;
    co_yield wait(0);
    for (at.view = at.rank; at.view < scanner_.views; at.view += ranks()) {
      co_yield scalar_load(8, angles_.on(at.rank) + 8 * at.view);
      for (at.which = 0; at.which < 2; ++at.which) co_yield error;
      co_yield wait(0);
      co_yield valu(12);
    }
    co_yield sum;
    if (fences(at)) co_yield fence();
  }

  std::uint32_t voxel_of(const At& at, unsigned lane) const {
    const std::vector<std::uint32_t>& order = slab_order_[at.rank];
    return order[std::min<std::uint64_t>(at.first + lane, order.size() - 1)];
  }
  bool alive(const At& at, unsigned lane) const { return at.first + lane < slab_order_[at.rank].size(); }

  VirtAddr neighbour(const At& at, std::uint32_t voxel) const {
    // Beyond the rim the rim itself counts.
    const std::uint64_t x = std::clamp<std::uint64_t>(voxel % scanner_.side + at.which % 3, 1, scanner_.side) - 1;
    const std::uint64_t y =
        std::clamp<std::uint64_t>(voxel / scanner_.side % scanner_.side + at.which / 3, 1, scanner_.side) - 1;
    return pixel(at.rank, voxel / scanner_.area(), y * scanner_.side + x);
  }

  Stream update(At at) const {
    const auto order = load(
        4, [&](unsigned lane) { return alive(at, lane) ? order_array_.on(at.rank) + 4 * (at.first + lane) : kIdle; });
    const auto sum = load(4, [&](unsigned lane) {
      return alive(at, lane) ? inbox_.received(at.rank, at.which) + 4 * place(voxel_of(at, lane)) : kIdle;
    });
    const auto beside =
        load(4, [&](unsigned lane) { return alive(at, lane) ? neighbour(at, voxel_of(at, lane)) : kIdle; });
    const auto result = store(4, [&](unsigned lane) {
      const std::uint32_t voxel = voxel_of(at, lane);
      return alive(at, lane) ? pixel(at.to, voxel / scanner_.area(), voxel % scanner_.area()) : kIdle;
    });

    co_yield salu(12);
    if (!alive(at, 0)) co_return;
    co_yield order;
    co_yield wait(0);
    for (; at.which < ranks(); ++at.which) co_yield sum;
    for (at.which = 0; at.which < 9; ++at.which) co_yield beside;
    co_yield wait(0);
    co_yield valu(60);
    for (std::uint64_t k = 0; k <= stored_peers(); ++k) {
      at.to = static_cast<std::uint32_t>(peer(at.rank, k));
      co_yield result;
    }
    if (fences(at)) co_yield fence();
  }

  Scanner scanner_;
  std::uint64_t slab_, pitch_;  // voxels of a rank in a slice; floats from a slice to the next
  std::uint64_t fence_every_, own_views_;
  std::vector<std::uint32_t> order_;                    // of `back`: all voxels
  std::vector<std::vector<std::uint32_t>> slab_order_;  // of `update`, by rank: its own in the same order
  Replicas image_, measured_, error_;
  Mailbox inbox_;
  Replicas order_array_, angles_;
};

}  // namespace

std::shared_ptr<const Workload> make_ct(const Parameters& parameters, std::uint64_t seed) {
  return std::make_shared<Tomography>(parameters, seed);
}

}  // namespace nearfar::replicated
