// What a single token costs a decoder: products of matrices with a vector, and its attention to the tokens before it.
// Both stream through memory once, 16 bytes an item.
#include "workload/dnn/kernels.h"

namespace nearfar::dnn {
namespace {

constexpr std::uint32_t kVector = 16;  // bytes that an item loads at once

constexpr std::uint32_t kRowGroup = 1024, kRowItems = 64, kRowsEach = 2;  // of a workgroup of a product
constexpr std::uint32_t kRows = kRowGroup / kRowItems * kRowsEach;
constexpr std::uint64_t kTile = kRowGroup * kVector;  // bytes of the vector that are in local memory at once

struct RowAt {
  std::uint64_t rank;
  std::uint64_t row;    ///< first of the wavefront
  std::uint32_t group;  ///< local id of lane 0
  std::uint32_t lanes;
  std::uint64_t tile = 0, byte = 0;  ///< where the tile begins in a row; where the wavefront stands in the tile
  std::uint32_t r = 0, to = 0;       ///< which row; which rank is stored to

  std::uint32_t lane() const { return group % kRowItems; }  ///< of lane 0, among the items of a row
};

/// `lanes` lanes of 16 bytes side by side, of which those before `end` take part.
Row vectors(VirtAddr base, std::uint64_t byte, std::uint64_t end, std::uint32_t lanes) {
  const std::uint64_t left = byte < end ? (end - byte) / kVector : 0;
  return {base + byte, static_cast<std::uint32_t>(std::min<std::uint64_t>(lanes, left))};
}

/// Where a row's result goes: to the rank itself, or to one of all.
VirtAddr result_of(const Gemv& g, const RowAt& at, std::uint64_t row) {
  return g.ranks > 1 ? g.y.on(at.to) + g.bytes * (at.rank * g.rows + row) : g.y.on(at.rank) + g.bytes * row;
}

Stream multiply_rows(const Gemv& g, RowAt at) {
  const auto factors = load(
      kVector, [&] { return vectors(g.x.on(at.rank), at.tile + kVector * at.group, g.bytes * g.columns, at.lanes); });
  const auto weights = load(kVector, [&] {
    const std::uint64_t pitch = g.bytes * g.columns;
    return vectors(g.w.on(at.rank) + pitch * (at.row + at.r), at.tile + at.byte + kVector * at.lane(), pitch, at.lanes);
  });
  const auto result = store(g.bytes, [&] { return Row{result_of(g, at, at.row + at.r), 1}; });
  const auto results = store(g.bytes, [&] {  // of the whole workgroup
    const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(kRows, g.rows - at.row));
    return Row{result_of(g, at, at.row), rows};
  });

  co_yield salu(12);
  for (; at.tile < g.bytes * g.columns; at.tile += kTile) {
    if (factors.address().lanes != 0) {
      co_yield factors;
      co_yield wait(0);
      co_yield local(1);
    }
    co_yield barrier();
    for (at.byte = 0; at.byte < kTile; at.byte += kRowItems * kVector) {
      for (at.r = 0; at.r < kRowsEach; ++at.r) {
        if (at.row + at.r < g.rows && weights.address().lanes != 0) co_yield weights;
      }
      if (at.tile + at.byte >= g.bytes * g.columns) break;
      co_yield wait(0);
      co_yield local(1);
      co_yield valu(8 * kRowsEach);
    }
    co_yield barrier();
  }
  co_yield valu(12 * kRowsEach);
  if (g.collect) {
    co_yield local(kRowsEach);
    co_yield barrier();
  }
  for (; at.to < g.ranks; ++at.to) {
    if (g.collect) {
      if (at.group == 0) co_yield results;
      continue;
    }
    for (at.r = 0; at.r < kRowsEach; ++at.r) {
      if (at.lane() == 0 && at.row + at.r < g.rows) co_yield result;
    }
  }
  co_yield salu(1);
}

constexpr std::uint32_t kHeadGroup = 256;

struct HeadAt {
  std::uint64_t rank, head;
  std::uint32_t group;  ///< local id of lane 0
  std::uint32_t lanes;
  std::uint64_t token = 0;  ///< of the workgroup's first item
  std::uint32_t to = 0;
};

Stream attend(const Attend& a, HeadAt at) {
  const std::uint32_t vectors_each = static_cast<std::uint32_t>(a.width * a.bytes) / kVector;  // of a token
  const auto part = [&](const Tensor& cache, unsigned lane) {
    const std::uint64_t item = at.group + lane, token = at.token + item / vectors_each;
    if (token >= a.context) return kIdle;
    return cache.on(at.rank) + a.bytes * (token * a.heads + at.head) * a.width + kVector * (item % vectors_each);
  };
  const auto query = load(kVector, [&](unsigned lane) {
    return a.query.on(at.rank) + a.bytes * at.head * a.width + kVector * ((at.group + lane) % vectors_each);
  });
  const auto key = load(kVector, [&](unsigned lane) { return part(a.keys, lane); });
  const auto value = load(kVector, [&](unsigned lane) { return part(a.values, lane); });
  const auto result = store(kVector, [&] {
    const VirtAddr to = a.ranks > 1 ? a.to.on(at.to) + a.bytes * at.rank * a.heads * a.width : a.to.on(at.rank);
    return vectors(to + a.bytes * at.head * a.width, kVector * at.group, kVector * vectors_each, at.lanes);
  });
  const std::uint32_t stride = kHeadGroup / vectors_each;

  co_yield salu(12);
  co_yield valu(8);
  co_yield query;
  for (; at.token < a.context; at.token += stride) {
    if (anybody(key, at.lanes)) co_yield key;
    co_yield wait(0);
    co_yield valu(8);
    co_yield local(1);
  }
  co_yield barrier();
  co_yield local(4);
  co_yield valu(static_cast<unsigned>(30 * ((a.context + kHeadGroup - 1) / kHeadGroup)));
  co_yield barrier();
  for (at.token = 0; at.token < a.context; at.token += stride) {
    if (anybody(value, at.lanes)) co_yield value;
    co_yield local(1);
    co_yield wait(0);
    co_yield valu(8);
  }
  co_yield local(2);
  co_yield barrier();
  co_yield valu(12);
  if (at.group < vectors_each) {
    for (; at.to < a.ranks; ++at.to) co_yield result;
  }
  co_yield salu(1);
}

}  // namespace

Launch grid(const Gemv& kernel) {
  const std::uint64_t groups = (kernel.rows + kRows - 1) / kRows;
  return linear_launch("", groups * kRowGroup, kRowGroup, Split::Offset, kTile + sizeof(float) * kRows);
}

Stream stream(const Gemv& kernel, const Wave& wave) {
  const std::uint32_t group = wave.local(0);
  return multiply_rows(kernel, {.rank = wave.group_z,
                                .row = std::uint64_t{kRows} * wave.group_x + kRowsEach * (group / kRowItems),
                                .group = group,
                                .lanes = wave.lanes});
}

Launch grid(const Attend& kernel) {
  const std::uint64_t scores = sizeof(float) * kernel.context;
  return linear_launch("", kernel.heads * kHeadGroup, kHeadGroup, Split::Offset, scores);
}

Stream stream(const Attend& kernel, const Wave& wave) {
  return attend(kernel, {.rank = wave.group_z, .head = wave.group_x, .group = wave.local(0), .lanes = wave.lanes});
}

}  // namespace nearfar::dnn
