#include "workload/dnn/network.h"

#include <variant>

namespace nearfar::dnn {

Stream Network::wavefront(std::size_t launch, const Wave& wave) const {
  return std::visit([&](const auto& kernel) { return stream(kernel, wave); }, kernels_[launch]);
}

Tensor Network::on_each(const std::string& name, std::uint64_t bytes) {
  const std::uint64_t apart = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return {allocate(name, ranks_ * apart, Placement::Distribute), apart};
}

Tensor Network::shared(const std::string& name, std::uint64_t bytes) {
  return {allocate(name, bytes, Placement::Interleave), 0};
}

Tensor Network::multicast(const std::string& name, const Tensor& of, std::uint64_t bytes) {
  return {allocate_multicast(name, bytes, {.first = of.on(0), .apart = of.apart, .count = ranks_}), 0};
}

void Network::add(const char* name, const Kernel& kernel) {
  Launch launch = std::visit([](const auto& each) { return grid(each); }, kernel);
  launch.kernel = name;
  launch.groups_z *= static_cast<std::uint32_t>(ranks_);
  launch.split = Split::Offset;
  launch.split_dim = Dim::Z;
  add_launch(std::move(launch));
  kernels_.push_back(kernel);
}

}  // namespace nearfar::dnn
