// What all workloads share: where their buffers lie, and which part of the grid a wavefront is.
#include "program/workload.h"

#include <algorithm>
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

void Workload::add_launch(Launch launch) {
  steps_.push_back(LaunchStep{launches_.size()});
  launches_.push_back(std::move(launch));
}

void Workload::add_copy(const Copy& copy) {
  assert(copy.bytes > 0 && copy.rows > 0 && (copy.from || copy.to));
  assert(copy.rows == 1 || copy.bytes <= copy.pitch);
  steps_.push_back(copy);
}

std::uint64_t Workload::bytes_of(VirtAddr buffer) const {
  const auto found = std::ranges::find(buffers_, buffer, &Buffer::base);
  assert(found != buffers_.end());
  return found->bytes;
}

}  // namespace nearfar
