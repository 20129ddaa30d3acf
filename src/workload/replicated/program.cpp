#include "workload/replicated/program.h"

#include <utility>

namespace nearfar::replicated {
namespace {

constexpr std::uint64_t kLine = 128;

}  // namespace

Program::Program(const Parameters& parameters)
    : ranks_(std::uint64_t{1} << parameters.log2("ranks", "must be 0, 1, 2, 4, 8 or 16")),
      exchange_(static_cast<Exchange>(parameters["exchange"])) {}

Replicas Program::replicate(const std::string& name, std::uint64_t bytes) {
  const std::uint64_t apart = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return {allocate(name, ranks_ * apart, Placement::Distribute), apart};
}

Mailbox Program::mailbox(const std::string& name, std::uint64_t block_bytes) {
  const std::uint64_t block = (block_bytes + kLine - 1) / kLine * kLine;
  Mailbox box{.in = replicate(name, ranks_ * block), .out = {}, .block = block, .exchange = exchange_};
  if (copies()) box.out = replicate(name + "_out", ranks_ * block);
  return box;
}

void Program::add_on_each(Launch launch) {
  if (std::exchange(copying_, false)) add_sync();
  launch.groups_z *= static_cast<std::uint32_t>(ranks_);
  launch.split = Split::Offset;
  launch.split_dim = Dim::Z;
  add_launch(std::move(launch));
}

void Program::bring(Copy copy) {
  copy.wait = false;
  add_copy(copy);
  copying_ = true;
}

}  // namespace nearfar::replicated
