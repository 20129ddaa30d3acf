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
    const bool in_switch = parameters["direct"] == 2;
    const Tensor data = room("data"), received = in_switch ? Tensor{} : room("received");
    const Tensor all = in_switch ? multicast("all", data, bytes_) : Tensor{};
    repeat([&] {
      if (parameters["direct"] == 2) {
        add("through", Through{.from = all, .to = data, .pieces = pieces(), .by = by_});
      } else if (parameters["direct"] == 1) {
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
      "direct",
      "1: every rank stores into all others what is theirs; 0: partial sums go around a ring; with design nvls also 2: "
      "every rank loads the sum of its piece from the switch",
      0, 0, 2));
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
