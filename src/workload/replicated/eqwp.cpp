// EQWP on several GPUs: the grid is cut in blocks along x and z, each with two cells of its neighbours' on every side.
// Of all nine fields the two outermost columns go to the neighbour along x, 8 bytes of each row, and the two outermost
// planes to the one along z. Before they can be copied, these faces are packed, and unpacked behind the copy.
#include <bit>

#include "workload/replicated/forms.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kTile = 16, kPackGroup = 256;
constexpr std::uint64_t kGhosts = 2;  // cells around the block on every side
constexpr std::uint32_t kStresses = 6, kFields = 9;

/// A neighbour's direction: to lower or higher x, to lower or higher z.
enum Face : std::uint32_t { kLeft, kRight, kBelow, kAbove, kFaces };

class WavePropagation final : public Program {
 public:
  explicit WavePropagation(const Parameters& parameters)
      : Program(parameters),
        across_(std::uint64_t{1} << (std::bit_width(ranks()) - 1) / 2),
        nx_(parameters["nx"] / across_),
        ny_(parameters["ny"]),
        nz_(parameters["nz"] / up()),
        slabs_(parameters["slabs"] / up()) {
    check(parameters);
    const std::uint64_t bytes = 4 * (nx_ + 2 * kGhosts) * (ny_ + 2 * kGhosts) * (nz_ + 2 * kGhosts);
    constexpr std::array kNames{"sxx", "sxy", "sxz", "syy", "syz", "szz", "vx", "vy", "vz"};
    for (std::size_t i = 0; i < kFields; ++i) field_[i] = replicate(kNames[i], bytes);
    displacement_ = replicate("displacement", bytes);
    if (copies()) faces_ = mailbox("faces", 4 * kStresses * std::max(cells_of(kLeft), cells_of(kBelow)));
    for (std::uint64_t step = 0; step < parameters["steps"]; ++step) {
      add_march("stress", Kernel::Stress);
      exchange(Kernel::PackStress, Kernel::UnpackStress);
      add_march("velocity_x", Kernel::VelocityX);
      add_march("velocity_y", Kernel::VelocityY);
      add_march("velocity_z", Kernel::VelocityZ);
      exchange(Kernel::PackVelocity, Kernel::UnpackVelocity);
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Kernel kernel = kernels_[launch];
    if (kernel >= Kernel::UnpackStress) return unpack(faces_of(kernel, wave));
    if (kernel >= Kernel::PackStress) return pack(faces_of(kernel, wave));
    const std::uint64_t planes = nz_ / slabs_, slab = wave.group_z % slabs_;
    const At at{.rank = static_cast<std::uint32_t>(wave.group_z / slabs_),
                .x = std::uint64_t{kTile} * wave.group_x,
                .y = std::uint64_t{kTile} * wave.group_y,
                .z = planes * slab,
                .end = planes * (slab + 1),
                .first = wave.local(0),
                .lanes = wave.lanes};
    return kernel == Kernel::Stress
               ? stress(at)
               : velocity(static_cast<unsigned>(kernel) - static_cast<unsigned>(Kernel::VelocityX), at);
  }

 private:
  enum class Kernel : std::uint8_t {
    Stress,
    VelocityX,
    VelocityY,
    VelocityZ,
    PackStress,
    PackVelocity,
    UnpackStress,
    UnpackVelocity
  };

  std::uint64_t up() const { return ranks() / across_; }

  void check(const Parameters& parameters) const {
    const auto multiple = [&](const char* name, std::uint64_t of, const char* expected) {
      const std::uint64_t value = parameters[name];
      if (value % of != 0) parameters.refuse(name, expected, std::max(value / of, std::uint64_t{1}) * of);
    };
    multiple("slabs", up(), "must be a multiple of the ranks along z");
    multiple("nx", across_, "must be a multiple of the ranks along x");
    multiple("nz", parameters["slabs"], "must be a multiple of slabs");
    if (nx_ < 2 * kGhosts) parameters.refuse("nx", "each rank must have four cells along x", 2 * kGhosts * across_);
    if (nz_ < 2 * kGhosts) parameters.refuse("nz", "each rank must have four cells along z", 2 * kGhosts * up());
  }

  /// Ranks go along x first. The neighbour at a face, or the rank itself where there is none.
  std::uint64_t neighbour(std::uint64_t rank, std::uint32_t face) const {
    const std::uint64_t x = rank % across_, z = rank / across_;
    switch (face) {
      case kLeft: return x > 0 ? rank - 1 : rank;
      case kRight: return x + 1 < across_ ? rank + 1 : rank;
      case kBelow: return z > 0 ? rank - across_ : rank;
      default: return z + 1 < up() ? rank + across_ : rank;
    }
  }

  /// Cells of a face, of one field.
  std::uint64_t cells_of(std::uint32_t face) const { return kGhosts * ny_ * (face < kBelow ? nz_ : nx_); }

  VirtAddr cell(const Replicas& field, std::uint64_t rank, std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    const std::uint64_t row = nx_ + 2 * kGhosts, rows = ny_ + 2 * kGhosts;
    return field.on(rank) + 4 * (((z + kGhosts) * rows + y + kGhosts) * row + x + kGhosts);
  }

  void add_march(const char* name, Kernel kernel) {
    add_on_each({.kernel = name,
                 .groups_x = static_cast<std::uint32_t>((nx_ + kTile - 1) / kTile),
                 .groups_y = static_cast<std::uint32_t>((ny_ + kTile - 1) / kTile),
                 .groups_z = static_cast<std::uint32_t>(slabs_),
                 .size_x = kTile,
                 .size_y = kTile,
                 .local_bytes = 3 * 5 * sizeof(float) * (kTile + 4) * (kTile + 4)});
    kernels_.push_back(kernel);
  }

  /// The faces of the fields that were written last are with the neighbours.
  void exchange(Kernel pack, Kernel unpack) {
    if (!copies() || ranks() == 1) return;
    const std::uint64_t fields = fields_of(pack).length();
    add_faces("pack", pack);
    deliver(faces_, [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint32_t face = 0; face < kFaces; ++face) {
        if (neighbour(from, face) == to) return 4 * fields * cells_of(face);
      }
      return std::uint64_t{0};
    });
    add_faces("unpack", unpack);
  }

  static Interval fields_of(Kernel kernel) {
    const bool stresses = kernel == Kernel::PackStress || kernel == Kernel::UnpackStress;
    return stresses ? Interval{0, kStresses} : Interval{kStresses, kFields};
  }

  void add_faces(const char* name, Kernel kernel) {
    const std::uint64_t cells = fields_of(kernel).length() * std::max(cells_of(kLeft), cells_of(kBelow));
    Launch launch = linear_launch(name, cells, kPackGroup, Split::Offset);
    launch.groups_y = kFaces;
    add_on_each(std::move(launch));
    kernels_.push_back(kernel);
  }

  /// Cell `i` of a rank's own face, or of its copy of the neighbour's.
  VirtAddr face_cell(const Replicas& field, std::uint64_t rank, std::uint32_t face, std::uint64_t i, bool own) const {
    const bool along_x = face < kBelow, high = face == kRight || face == kAbove;
    const std::uint64_t width = along_x ? kGhosts : nx_, sides = along_x ? nx_ : nz_;
    const std::uint64_t begin = high ? (own ? sides - kGhosts : sides) : (own ? 0 : 0 - kGhosts);
    const std::uint64_t x = i % width, y = i / width % ny_, z = i / width / ny_;
    return cell(field, rank, along_x ? begin + x : x, y, along_x ? z : begin + z);
  }

  /// Cells of a face of a field, one an item; workgroups along y are the faces.
  struct Faces {
    bool packs;
    std::uint32_t rank, other, face, lanes;
    std::uint64_t field, first, cells;  ///< the first field; the item of lane 0; cells of the face
  };

  Faces faces_of(Kernel kernel, const Wave& wave) const {
    const std::uint64_t cells = cells_of(wave.group_y), other = neighbour(wave.group_z, wave.group_y);
    return {.packs = kernel < Kernel::UnpackStress,
            .rank = wave.group_z,
            .other = static_cast<std::uint32_t>(other),
            .face = wave.group_y,
            .lanes = other == wave.group_z ? 0 : live_lanes(wave, fields_of(kernel).length() * cells),
            .field = fields_of(kernel).begin,
            .first = wave.item(0),
            .cells = cells};
  }

  VirtAddr in_grid(const Faces& at, unsigned lane) const {
    if (lane >= at.lanes) return kIdle;
    const std::uint64_t i = at.first + lane;
    return face_cell(field_[at.field + i / at.cells], at.rank, at.face, i % at.cells, at.packs);
  }
  Row in_block(const Faces& at) const {
    const VirtAddr block = at.packs ? faces_.slot(at.rank, at.other) : faces_.received(at.rank, at.other);
    return {block + 4 * at.first, at.lanes};
  }

  Stream pack(Faces at) const {
    const auto from = load(4, [&](unsigned lane) { return in_grid(at, lane); });
    const auto to = store(4, [&] { return in_block(at); });
    co_yield salu(12);
    if (at.lanes == 0) co_return;
    co_yield valu(40);
    co_yield from;
    co_yield wait(0);
    co_yield to;
  }

  Stream unpack(Faces at) const {
    const auto from = load(4, [&] { return in_block(at); });
    const auto to = store(4, [&](unsigned lane) { return in_grid(at, lane); });
    co_yield salu(12);
    if (at.lanes == 0) co_return;
    co_yield valu(40);
    co_yield from;
    co_yield wait(0);
    co_yield to;
  }

  /// Which lanes of the tile take part, and how far off their cell is: those at one side load the cell two farther out.
  struct Part {
    std::uint32_t left, top, right, bottom;
    std::int64_t dx, dy;
  };
  static constexpr std::uint32_t kSides = 4, kOwn = kSides;
  static constexpr Part kParts[kSides + 1] = {{0, 0, 2, kTile, -2, 0},
                                              {kTile - 2, 0, kTile, kTile, 2, 0},
                                              {0, 0, kTile, 2, 0, -2},
                                              {0, kTile - 2, kTile, kTile, 0, 2},
                                              {0, 0, kTile, kTile, 0, 0}};

  struct At {
    std::uint32_t rank;
    std::uint64_t x, y, z, end;  ///< the tile's corner, the plane, and the one behind the slab
    std::uint32_t first, lanes;
    const Replicas* field = nullptr;
    std::uint32_t part = kOwn, face = kLeft;
    std::int64_t ahead = 0;  ///< planes from z
  };

  /// The cells of the wavefront's lanes: the rows of its part of the tile that are in the block. None: no lanes.
  Rows cells(const At& at) const {
    const Part& part = kParts[at.part];
    const std::uint32_t first_row = at.first / kTile;
    const std::uint32_t top = std::max(part.top, first_row);
    const std::uint64_t right = std::min<std::uint64_t>(part.right, nx_ - at.x);
    const std::uint64_t bottom = std::min<std::uint64_t>({part.bottom, ny_ - at.y, first_row + at.lanes / kTile});
    if (part.left >= right || top >= bottom) return {};
    return {.first = at.field == nullptr
                         ? VirtAddr{}
                         : cell(*at.field, at.rank, at.x + part.left + static_cast<std::uint64_t>(part.dx),
                                at.y + top + static_cast<std::uint64_t>(part.dy),
                                at.z + static_cast<std::uint64_t>(at.ahead)),
            .lanes = static_cast<std::uint32_t>(right) - part.left,
            .rows = static_cast<std::uint32_t>(bottom) - top,
            .width = kTile,
            .step = 4,
            .pitch = 4 * (nx_ + 2 * kGhosts),
            .lane = (top - first_row) * kTile + part.left};
  }

  /// Which parts of the tile this wavefront has lanes in, as bits.
  std::uint32_t parts_of(At at) const {
    std::uint32_t parts = 0;
    for (at.part = 0; at.part <= kOwn; ++at.part) {
      if (cells(at).lanes != 0) parts |= 1U << at.part;
    }
    return parts;
  }

  /// The own cells that the neighbour at a face has copies of, there.
  Rows published(const At& at) const {
    Rows rows = cells(at);
    const std::uint64_t to = neighbour(at.rank, at.face);
    if (to == at.rank || rows.lanes == 0) return {};
    Interval columns{at.x, at.x + rows.lanes};
    std::uint64_t x = 0, z = 0;  // how much less the cell's numbers are there
    switch (at.face) {
      case kLeft: columns.end = std::min(columns.end, kGhosts), x = 0 - nx_; break;
      case kRight: columns.begin = std::max(columns.begin, nx_ - kGhosts), x = nx_; break;
      case kBelow: columns.end = at.z < kGhosts ? columns.end : 0, z = 0 - nz_; break;
      default: columns.end = at.z >= nz_ - kGhosts ? columns.end : 0, z = nz_; break;
    }
    rows.lane += static_cast<std::uint32_t>(columns.begin - at.x);
    rows.lanes = static_cast<std::uint32_t>(columns.length());
    rows.first = cell(*at.field, to, columns.begin - x, at.y + at.first / kTile, at.z - z);
    return rows;
  }

  /// The next face that the wavefront stores cells of to a neighbour, from `at.face` on.
  bool next_face(At& at) const {
    while (at.face < kFaces && published(at).lanes == 0) ++at.face;
    return at.face < kFaces && !copies();
  }

  Stream stress(At at) const {
    const auto from = load(4, [&] { return cells(at); });
    const auto to = store(4, [&] { return cells(at); });
    const auto to_peer = store(4, [&] { return published(at); });

    co_yield salu(20);
    const std::uint32_t parts = parts_of(at);
    const bool alive = (parts >> kOwn & 1) != 0;
    for (at.field = &field_[kStresses]; at.field != &field_[kFields]; ++at.field) {  // fill the pipeline
      for (at.ahead = -2; at.ahead < 2; ++at.ahead) {
        if (alive) co_yield from;
      }
    }
    for (; at.z < at.end; ++at.z) {
      for (at.field = &field_[kStresses]; at.field != &field_[kFields]; ++at.field) {
        at.part = kOwn;
        at.ahead = 2;
        if (alive) co_yield from;
        at.ahead = 0;
        for (at.part = 0; at.part < kSides; ++at.part) {
          if ((parts >> at.part & 1) != 0) co_yield from;
        }
      }
      co_yield wait(0);
      co_yield local(27);
      co_yield barrier();
      co_yield local(36);
      co_yield valu(130);
      at.part = kOwn;
      for (at.field = field_; alive && at.field != &field_[kStresses]; ++at.field) {
        co_yield from;
        co_yield wait(0);
        co_yield to;
        for (at.face = 0; next_face(at); ++at.face) co_yield to_peer;
      }
      co_yield barrier();
    }
  }

  Stream velocity(unsigned component, At at) const {
    // Which stresses a component needs: its row of the symmetric tensor.
    static constexpr unsigned kTensor[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const auto from = load(4, [&] { return cells(at); });
    const auto to = store(4, [&] { return cells(at); });
    const auto to_peer = store(4, [&] { return published(at); });

    co_yield salu(20);
    const std::uint32_t parts = parts_of(at);
    const bool alive = (parts >> kOwn & 1) != 0;
    for (; at.z < at.end; ++at.z) {
      at.part = kOwn;
      for (unsigned i = 0; i < 3; ++i) {
        at.field = &field_[kTensor[component][i]];
        at.ahead = i == 2 ? 2 : 0;  // only the derivative along z needs other planes, which the pipeline holds
        if (alive) co_yield from;
      }
      at.ahead = 0;
      for (at.part = 0; at.part < kSides; ++at.part) {
        at.field = &field_[kTensor[component][at.part / 2]];
        if ((parts >> at.part & 1) != 0) co_yield from;
      }
      co_yield wait(0);
      co_yield local(4);
      co_yield barrier();
      co_yield local(8);
      co_yield valu(40);
      at.part = kOwn;
      at.field = &field_[kStresses + component];
      if (alive) {
        co_yield from;
        co_yield wait(0);
        co_yield to;
        for (at.face = 0; next_face(at); ++at.face) co_yield to_peer;
      }
      at.field = &displacement_;
      if (alive && component == 1) {
        co_yield from;
        co_yield wait(0);
        co_yield to;
      }
      co_yield barrier();
    }
  }

  std::uint64_t across_, nx_, ny_, nz_, slabs_;  // ranks along x; of a rank: cells, and pieces that are marched through
  Replicas field_[kFields];                      // stresses, then velocities
  Replicas displacement_;
  Mailbox faces_;
  std::vector<Kernel> kernels_;  // by launch
};

}  // namespace

std::shared_ptr<const Workload> make_eqwp(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<WavePropagation>(parameters);
}

}  // namespace nearfar::replicated
