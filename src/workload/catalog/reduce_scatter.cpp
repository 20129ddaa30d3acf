// ReduceScatter: every rank has a buffer, and in the end each has its piece of the sum of all buffers. It works in
// place: what else a rank had is partly summed afterwards.
#include "workload/dnn/collective.h"

namespace nearfar {
namespace {

using namespace dnn;

class ReduceScatter final : public Collective {
 public:
  explicit ReduceScatter(const Parameters& parameters) : Collective(parameters, 1) {
    need_equal_pieces(parameters);
    const Tensor data = room("data"), received = room("received");
    repeat([&] {
      if (parameters["direct"] == 1) {
        direct_reduce(data, received, pieces(), false, by_);
      } else {
        ring_reduce(data, received, pieces(), ranks() - 1, false, by_);
      }
    });
  }
};

WorkloadInfo info() {
  auto parameters = collective_parameters({1 << 20, 32 << 20, 128 << 20});
  parameters.push_back(constant(
      "direct", "1: every rank stores into all others what is theirs; 0: partial sums go around a ring", 0, 0, 1));
  return {
      .name = "ReduceScatter",
      .title = "a piece of the sum of all ranks' buffers on each rank",
      .suite = "collectives",
      .sentence = "Whole lines to other GPUs: partial sums go around a ring, or pieces from each GPU to all others.",
      .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kReduceScatter{info, construct<ReduceScatter>};

}  // namespace nearfar
