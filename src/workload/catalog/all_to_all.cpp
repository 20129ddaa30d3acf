// AllToAll: every rank has a piece for each, and in the end each has those that are for it: a matrix of pieces is
// transposed.
#include "workload/dnn/collective.h"

namespace nearfar {
namespace {

using namespace dnn;

class AllToAll final : public Collective {
 public:
  explicit AllToAll(const Parameters& parameters) : Collective(parameters, 1) {
    need_equal_pieces(parameters);
    const Tensor data = room("data"), received = room("received");
    repeat([&] {
      add("swap", Scatter{.from = data, .to = received, .pieces = pieces(), .sent = Sent::Swapped, .by = by_});
    });
  }
};

WorkloadInfo info() {
  return {.name = "AllToAll",
          .title = "a piece from each rank to each rank",
          .suite = "collectives",
          .sentence = "Whole lines from each GPU to all others, one after the other.",
          .parameters = collective_parameters({4 << 20, 64 << 20, 256 << 20})};
}

}  // namespace

constinit const CatalogEntry kAllToAll{info, construct<AllToAll>};

}  // namespace nearfar
