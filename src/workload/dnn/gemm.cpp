// Products in tiles through local memory: a workgroup of 16×16 items makes a tile of 16, 32 or 64 results on a side.
#include "workload/dnn/kernels.h"

namespace nearfar::dnn {
namespace {

constexpr std::uint32_t kSide = 16;  // of a workgroup, and what of the inner dimension is in local memory at once

/// Where a wavefront stands.
struct At {
  VirtAddr a, b, c, d;
  std::uint64_t k = 0;
  std::uint32_t row, column;           ///< of the tile
  std::uint32_t line;                  ///< row of lane 0 in the workgroup
  std::uint32_t down = 0, across = 0;  ///< from the tile's corner to the sixteen rows, and columns, in question
};

/// The lanes over a matrix from `row` and `column` on that lie inside it; none has lanes beyond its edges.
Rows patch(VirtAddr matrix, std::uint64_t pitch, std::uint32_t bytes, std::array<std::uint64_t, 2> from,
           std::array<std::uint64_t, 2> size) {
  const auto [row, column] = from;
  if (row >= size[0] || column >= size[1]) return {};
  return {.first = matrix + bytes * (row * pitch + column),
          .lanes = static_cast<std::uint32_t>(std::min<std::uint64_t>(kSide, size[1] - column)),
          .rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(kMaxLanes / kSide, size[0] - row)),
          .width = kSide,
          .step = bytes,
          .pitch = bytes * pitch};
}

template <class Operation>
bool has_lanes(const Operation& operation) {
  return operation.address().lanes != 0;
}

Stream multiply(const Gemm& g, At at) {
  const auto left = load(g.bytes, [&] {
    return patch(at.a, g.a.pitch, g.bytes, {at.row + at.down + at.line, at.k}, {g.m, g.k});
  });
  const auto right = load(g.bytes, [&] {
    const std::uint64_t column = at.column + at.across;
    return g.transposed ? patch(at.b, g.b.pitch, g.bytes, {column + at.line, at.k}, {g.n, g.k})
                        : patch(at.b, g.b.pitch, g.bytes, {at.k + at.line, column}, {g.k, g.n});
  });
  const auto addend = load(g.bytes, [&] {
    return patch(at.c, g.c.pitch, g.bytes, {at.row + at.down + at.line, at.column + at.across}, {g.m, g.n});
  });
  const auto result = store(g.bytes, [&] {
    return patch(at.d, g.d.pitch, g.bytes, {at.row + at.down + at.line, at.column + at.across}, {g.m, g.n});
  });
  const std::uint32_t parts = g.tile / kSide;

  co_yield salu(12);
  co_yield valu(12);
  for (; at.down < g.tile; at.down += kSide) {
    for (at.across = 0; at.across < g.tile; at.across += kSide) {
      if (has_lanes(result)) co_yield result;
    }
  }
  for (; at.k < g.k; at.k += kSide) {
    co_yield valu(8);
    for (at.down = 0; at.down < g.tile; at.down += kSide) {
      if (has_lanes(left)) co_yield left;
    }
    for (at.across = 0; at.across < g.tile; at.across += kSide) {
      if (has_lanes(right)) co_yield right;
    }
    co_yield wait(0);
    co_yield local(2 * parts);
    co_yield barrier();
    co_yield local(2 * kSide * parts);
    co_yield valu(kSide * parts * parts);
    co_yield barrier();
  }
  for (at.down = 0; at.down < g.tile; at.down += kSide) {
    for (at.across = 0; at.across < g.tile; at.across += kSide) {
      if (!has_lanes(result)) continue;
      co_yield addend;
      co_yield wait(0);
      co_yield valu(2);
      co_yield result;
    }
  }
  co_yield salu(1);
}

}  // namespace

Launch grid(const Gemm& kernel) {
  return {.kernel = {},
          .groups_x = static_cast<std::uint32_t>((kernel.n + kernel.tile - 1) / kernel.tile),
          .groups_y = static_cast<std::uint32_t>((kernel.m + kernel.tile - 1) / kernel.tile),
          .groups_z = kernel.heads,
          .size_x = kSide,
          .size_y = kSide,
          .local_bytes = std::uint64_t{2} * kSide * kernel.tile * kernel.bytes};
}

Stream stream(const Gemm& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z / kernel.heads, head = wave.group_z % kernel.heads;
  const auto begin = [&](const Matrix& matrix) { return matrix.at.on(rank) + kernel.bytes * matrix.head * head; };
  return multiply(kernel, {.a = begin(kernel.a),
                           .b = begin(kernel.b),
                           .c = begin(kernel.c),
                           .d = begin(kernel.d),
                           .row = kernel.tile * wave.group_y,
                           .column = kernel.tile * wave.group_x,
                           .line = wave.local(0) / kSide});
}

}  // namespace nearfar::dnn
