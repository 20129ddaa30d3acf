#include "program/split.h"

#include <algorithm>
#include <cassert>

namespace nearfar {

Split effective_split(Split asked, DispatchPolicy policy, unsigned gpus) {
  Split split = asked;
  switch (policy) {
    case DispatchPolicy::Workload: break;
    case DispatchPolicy::Offset: split = Split::Offset; break;
    case DispatchPolicy::Blocks: split = Split::Blocks; break;
    case DispatchPolicy::RoundRobin: split = Split::RoundRobin; break;
    case DispatchPolicy::Greedy: split = Split::Greedy; break;
  }
  return split == Split::Greedy && gpus == 1 ? Split::Blocks : split;
}

Share::Share(const Launch& launch, Split split, unsigned gpu, unsigned gpus, unsigned cus_per_gpu,
             std::uint64_t chunk) {
  assert(gpu < gpus && cus_per_gpu > 0 && split != Split::Greedy);
  const std::uint64_t groups = launch.groups();
  switch (split) {
    case Split::Offset: {
      const std::uint64_t extents[] = {launch.groups_x, launch.groups_y, launch.groups_z};
      const auto dim = static_cast<unsigned>(launch.split_dim);
      std::uint64_t inner = 1;
      for (unsigned d = 0; d < dim; ++d) inner *= extents[d];
      const std::uint64_t begin = gpu * extents[dim] / gpus;
      const std::uint64_t end = (gpu + std::uint64_t{1}) * extents[dim] / gpus;
      first_ = begin * inner;
      run_ = std::max<std::uint64_t>((end - begin) * inner, 1);
      stride_ = extents[dim] * inner;
      size_ = groups / extents[dim] * (end - begin);
      break;
    }
    case Split::Blocks: {
      const std::uint64_t all_cus = std::uint64_t{gpus} * cus_per_gpu;
      const std::uint64_t block = cus_per_gpu * ((groups + all_cus - 1) / all_cus);
      first_ = std::min(gpu * block, groups);
      size_ = std::min(block, groups - first_);
      run_ = std::max<std::uint64_t>(size_, 1);
      break;
    }
    case Split::RoundRobin:
      first_ = gpu * chunk;
      run_ = chunk;
      stride_ = gpus * chunk;
      size_ = groups / stride_ * chunk;
      if (groups % stride_ > first_) size_ += std::min(groups % stride_ - first_, chunk);
      break;
    case Split::Listed:
      for (std::uint64_t group = 0; group < groups; ++group) {
        if (launch.places->gpu[group] == gpu) listed_.push_back(group);
      }
      size_ = listed_.size();
      break;
    case Split::Greedy: break;
  }
}

bool places_fit(const Launch& launch, unsigned gpus, unsigned cus_per_gpu) {
  if (launch.split != Split::Listed) return true;
  const auto below = [](unsigned limit) { return [limit](std::uint16_t place) { return place < limit; }; };
  return std::ranges::all_of(launch.places->gpu, below(gpus)) &&
         std::ranges::all_of(launch.places->cu, below(cus_per_gpu));
}

ShareQueue::ShareQueue(const Launch& launch, Split split, unsigned gpu, unsigned gpus, unsigned cus_per_gpu,
                       std::uint64_t chunk)
    : share_(launch, split, gpu, gpus, cus_per_gpu, chunk) {
  if (split != Split::Listed || launch.places->cu.empty()) return;
  by_cu_.resize(cus_per_gpu);
  for (std::uint64_t i = 0; i < share_.size(); ++i) by_cu_[launch.places->cu[share_[i]]].groups.push_back(share_[i]);
}

std::optional<std::uint64_t> ShareQueue::take(unsigned cu) {
  if (empty()) return std::nullopt;
  if (by_cu_.empty()) return share_[taken_++];
  Line& line = by_cu_[cu];
  if (line.next == line.groups.size()) return std::nullopt;
  ++taken_;
  return line.groups[line.next++];
}

}  // namespace nearfar
