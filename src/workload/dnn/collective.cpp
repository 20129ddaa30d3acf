#include "workload/dnn/collective.h"

#include <algorithm>

namespace nearfar::dnn {
namespace {

/// The multiple of `step` that is nearest to a value, but not 0.
std::uint64_t nearest_multiple(std::uint64_t value, std::uint64_t step) {
  return std::max<std::uint64_t>((value + step / 2) / step, 1) * step;
}

}  // namespace

Collective::Collective(const Parameters& parameters, unsigned passes)
    : Network(parameters["ranks"]),
      bytes_(parameters["bytes"]),
      iterations_(parameters["iterations"]),
      by_{.items = parameters.u32("items"), .word = parameters.u32("word")},
      factor_(passes * static_cast<double>(ranks() - 1) / static_cast<double>(ranks())) {
  parameters.log2("word", "must be 4, 8 or 16");
  if (bytes_ % by_.word != 0) {
    parameters.refuse("bytes", "must be a multiple of word", nearest_multiple(bytes_, by_.word));
  }
}

void Collective::need_equal_pieces(const Parameters& parameters) const {
  if (words() % ranks() == 0) return;
  parameters.refuse("bytes", "must be a multiple of ranks times word", nearest_multiple(bytes_, ranks() * by_.word));
}

std::vector<WorkloadParameter> collective_parameters(const std::array<std::uint64_t, 3>& bytes) {
  return {sized("bytes", "bytes of the buffer of each rank", bytes, 4, std::uint64_t{1} << 32, 4),
          constant("ranks", "GPUs that take part, as many as the system has", 4, 2, 64),
          constant("iterations", "how often the operation runs, one time after the other", 1, 1, 1000),
          constant("items", "items of each rank that copy and add", 16384, 64, 1 << 20, 64),
          constant("word", "bytes that an item loads or stores at once: 4, 8 or 16", 16, 4, 16, 4)};
}

}  // namespace nearfar::dnn
