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

/// Pages of the switch are never shared with other buffers, whatever the page size.
VirtAddr Workload::next_base(Placement placement) const {
  if (buffers_.empty()) return kFirstBuffer;
  const Buffer& last = buffers_.back();
  const bool apart = placement == Placement::Multicast || last.placement == Placement::Multicast;
  const std::uint64_t page = apart ? kPageBytes << kLargePageBits : kPageBytes;
  return VirtAddr{(last.base.value + last.bytes + page - 1) & ~(page - 1)};
}

VirtAddr Workload::allocate(std::string name, std::uint64_t bytes, Placement placement, const KernelUse& kernels) {
  assert(bytes > 0 && placement != Placement::Multicast && kernels.bytes <= bytes);
  const VirtAddr base = next_base(placement);
  buffers_.push_back({std::move(name), base, bytes, placement, kernels});
  return base;
}

VirtAddr Workload::allocate_multicast(std::string name, std::uint64_t bytes, const MulticastMembers& members) {
  assert(bytes > 0 && bytes <= members.apart && members.apart % kPageBytes == 0);
  const VirtAddr base = next_base(Placement::Multicast);
  buffers_.push_back({std::move(name), base, bytes, Placement::Multicast, {}, members});
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

void Workload::add_host_access(const HostAccess& access) {
  assert(access.bytes > 0);
  steps_.push_back(access);
}

void Workload::add_host_preparation() {
  for (const Buffer& buffer : buffers_) add_host_write(buffer.base);
}

const Buffer& Workload::buffer_at(VirtAddr base) const {
  const auto found = std::ranges::find(buffers_, base, &Buffer::base);
  assert(found != buffers_.end());
  return *found;
}

}  // namespace nearfar
