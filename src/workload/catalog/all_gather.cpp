// AllGather: every rank has a piece of a buffer, and in the end all have the whole buffer.
#include "workload/dnn/collective.h"

namespace nearfar {
namespace {

using namespace dnn;

class AllGather final : public Collective {
 public:
  explicit AllGather(const Parameters& parameters) : Collective(parameters, 1) {
    need_equal_pieces(parameters);
    const Tensor data = room("data");
    const Tensor all = parameters["direct"] == 2 ? multicast("all", data, bytes_) : Tensor{};
    repeat([&] {
      if (parameters["direct"] == 2) {
        add("through", Through{.from = data, .to = all, .pieces = pieces(), .by = by_});
      } else if (parameters["direct"] == 1) {
        direct_gather(data, pieces(), by_);
      } else {
        ring_gather(data, pieces(), 0, by_);
      }
    });
  }
};

WorkloadInfo info() {
  auto parameters = collective_parameters({4 << 20, 64 << 20, 256 << 20});
  parameters.push_back(
      constant("direct",
               "1: every rank stores its piece into all others; 0: pieces go around a ring; with design nvls also 2: "
               "every rank stores its piece once, and the switch copies it to all",
               0, 0, 2));
  return {.name = "AllGather",
          .title = "the pieces of all ranks on every rank",
          .suite = "collectives",
          .sentence = "Whole lines to other GPUs: pieces go around a ring, or from each GPU to all others.",
          .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kAllGather{info, construct<AllGather>};

}  // namespace nearfar
