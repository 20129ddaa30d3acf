#include "operations.h"

namespace nearfar::fuzz {
namespace {

bool is_memory(OpKind kind) {
  return kind == OpKind::Load || kind == OpKind::Store || kind == OpKind::Atomic || kind == OpKind::ScalarLoad;
}

}  // namespace

std::uint64_t operations(const Workload& workload, std::uint64_t limit) {
  std::uint64_t count = 0;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < launch.waves(kMaxLanes); ++w) {
        Stream stream = workload.wavefront(l, launch.wave(group, w, kMaxLanes));
        for (Plain op = stream.step(); kind_of(op) != OpKind::End; op = stream.step()) {
          if (is_memory(kind_of(op)) && ++count > limit) return count;
        }
      }
    }
  }
  return count;
}

}  // namespace nearfar::fuzz
