#include "workload/catalog/polybench.h"

namespace nearfar::polybench {

Launch matrix_launch(std::string kernel, std::uint64_t rows, std::uint64_t columns) {
  return {.kernel = std::move(kernel),
          .groups_x = static_cast<std::uint32_t>((columns + kColumns - 1) / kColumns),
          .groups_y = static_cast<std::uint32_t>((rows + kRows - 1) / kRows),
          .size_x = kColumns,
          .size_y = kRows,
          .split = Split::Blocks};
}

Launch vector_launch(std::string kernel, std::uint64_t items, std::uint32_t group) {
  return linear_launch(std::move(kernel), items, group, Split::Offset);
}

namespace {

/// Where a wavefront stands: its first item, how many it has, and the step.
struct At {
  std::uint64_t first;
  std::uint32_t lanes;
  std::uint64_t step = 0;
};

Stream walk_along_rows(Walk walk, At at) {
  const auto element = load(walk.bytes, [&](unsigned lane) {
    return lane < at.lanes ? walk.matrix + walk.bytes * ((at.first + lane) * walk.pitch + at.step) : kIdle;
  });
  const auto factor = load(walk.bytes, [&] { return everybody_at(walk.vector + walk.bytes * at.step, at.lanes); });
  const auto sum = [&] { return Row{walk.sum + walk.bytes * at.first, at.lanes}; };
  const auto before = load(walk.bytes, sum);
  const auto result = store(walk.bytes, sum);

  co_yield salu(10);
  co_yield valu(8);
  if (at.lanes == 0) co_return;
  if (walk.start == Start::Zero) {
    co_yield result;
  } else {
    co_yield before;
  }
  for (; at.step < walk.steps; ++at.step) {
    co_yield valu(2);
    co_yield element;
    co_yield factor;
    co_yield valu(2);
    co_yield wait(0);
    co_yield valu(1);
    co_yield result;
    co_yield salu(5);
  }
  co_yield salu(1);
}

Stream walk_down_columns(Walk walk, At at) {
  const auto element = load(walk.bytes, [&] {
    return Row{walk.matrix + walk.bytes * (at.step * walk.pitch + at.first), at.lanes};
  });
  const auto factor = load(walk.bytes, [&] { return everybody_at(walk.vector + walk.bytes * at.step, at.lanes); });
  const auto sum = [&] { return Row{walk.sum + walk.bytes * at.first, at.lanes}; };
  const auto before = load(walk.bytes, sum);
  const auto result = store(walk.bytes, sum);
  const auto addend = load(walk.bytes, [&] { return Row{walk.addend + walk.bytes * at.first, at.lanes}; });

  co_yield salu(10);
  co_yield valu(8);
  if (at.lanes == 0) co_return;
  if (walk.start == Start::Zero) {
    co_yield result;
  } else {
    co_yield before;
  }
  for (; at.step < walk.steps; ++at.step) {
    co_yield valu(6);
    co_yield element;
    co_yield factor;
    co_yield valu(2);
    co_yield wait(0);
    co_yield valu(1);
    co_yield result;
    co_yield salu(5);
  }
  if (walk.addend != VirtAddr{}) {
    co_yield addend;
    co_yield wait(0);
    co_yield valu(1);
    co_yield result;
  }
  co_yield salu(1);
}

}  // namespace

Stream row_walk(const Walk& walk, const Wave& wave) {
  return walk_along_rows(walk, {wave.item(0), live_lanes(wave, walk.items)});
}

Stream column_walk(const Walk& walk, const Wave& wave) {
  return walk_down_columns(walk, {wave.item(0), live_lanes(wave, walk.items)});
}

Stream product(Product matrices, Patch patch) {
  std::uint64_t k = 0;
  const auto a = load(4, [&] { return patch.lanes_at(matrices.a + 4 * k, 4 * matrices.inner, 0); });
  const auto b = load(4, [&] { return patch.lanes_at(matrices.b + 4 * k * matrices.columns, 0, 4); });
  const auto sum = [&] { return patch.lanes_at(matrices.c, 4 * matrices.columns, 4); };
  const auto before = load(4, sum);
  const auto result = store(4, sum);

  co_yield salu(12);
  co_yield valu(14);
  if (patch.empty()) co_return;
  if (matrices.start == Start::Load) {
    co_yield before;
    co_yield wait(0);
    co_yield valu(1);
  }
  co_yield result;
  for (; k < matrices.inner; ++k) {
    co_yield valu(4);
    co_yield a;
    co_yield valu(1);
    co_yield b;
    co_yield valu(3);
    co_yield wait(1);
    co_yield valu(1);
    co_yield wait(0);
    co_yield valu(1);
    co_yield result;
    co_yield salu(3);
  }
  co_yield salu(1);
}

Launch Strips::launch(std::string kernel, std::uint64_t columns) const {
  return matrix_launch(std::move(kernel), chosen_ * kRows, columns);
}

WorkloadParameter Strips::parameter(std::uint64_t paper) {
  return sized("strips", "rows of workgroups that run, spread over all of them; 0 runs them all", {0, 0, paper}, 0,
               1 << 16);
}

WorkloadParameter group_parameter() {
  return constant("wg", "items in a workgroup (the suite has 32 for this program)", kGroup, 32, 1024, 32);
}

}  // namespace nearfar::polybench
