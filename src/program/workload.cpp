// What all workloads share: where their buffers lie, and which part of the grid a wavefront is.
#include "program/workload.h"

#include <cassert>
#include <utility>

namespace nearfar {

Wave Launch::wave(std::uint64_t group, std::uint32_t index, std::uint32_t lanes) const {
  assert(group < groups() && index < waves(lanes));
  const std::uint64_t row = group / groups_x;
  return {.group_x = static_cast<std::uint32_t>(group % groups_x),
          .group_y = static_cast<std::uint32_t>(row % groups_y),
          .group_z = static_cast<std::uint32_t>(row / groups_y),
          .index = index,
          .size_x = size_x,
          .size_y = size_y,
          .lanes = lanes};
}

VirtAddr Workload::allocate(std::string name, std::uint64_t bytes, Placement placement) {
  assert(bytes > 0);
  VirtAddr base = kFirstBuffer;
  if (!buffers_.empty()) {
    const Buffer& last = buffers_.back();
    base = VirtAddr{(last.base.value + last.bytes + kPageBytes - 1) & ~(kPageBytes - 1)};
  }
  buffers_.push_back({std::move(name), base, bytes, placement});
  return base;
}

}  // namespace nearfar
