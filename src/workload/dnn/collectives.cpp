// The launches of collective operations. Ranks wait for each other only between launches: no flags are polled.
#include "workload/dnn/network.h"

namespace nearfar::dnn {

void Network::ring(const Tensor& array, const Tensor& received, const Pieces& pieces, bool average,
                   const Striding& by) {
  ring_reduce(array, received, pieces, 0, average, by);
  ring_gather(array, pieces, 1, by);
}

void Network::ring_reduce(const Tensor& array, const Tensor& received, const Pieces& pieces, std::uint64_t first,
                          bool average, const Striding& by) {
  for (std::uint64_t s = 0; s + 1 < ranks_; ++s) {
    const std::uint64_t ahead = first + ranks_ - s;
    add("push", Push{.from = array, .to = received, .pieces = pieces, .ahead = ahead, .by = by});
    add("reduce", Reduce{.received = received,
                         .own = array,
                         .pieces = pieces,
                         .ahead = ahead - 1,
                         .average = average && s + 2 == ranks_,
                         .by = by});
  }
}

void Network::ring_gather(const Tensor& array, const Pieces& pieces, std::uint64_t first, const Striding& by) {
  for (std::uint64_t s = 0; s + 1 < ranks_; ++s) {
    add("push", Push{.from = array, .to = array, .pieces = pieces, .ahead = first + ranks_ - s, .by = by});
  }
}

void Network::direct_reduce(const Tensor& array, const Tensor& received, const Pieces& pieces, bool average,
                            const Striding& by) {
  add("scatter", Scatter{.from = array, .to = received, .pieces = pieces, .by = by});
  add("reduce", Reduce{.received = received,
                       .own = array,
                       .pieces = pieces,
                       .copies = ranks_ - 1,
                       .stacked = true,
                       .average = average,
                       .by = by});
}

void Network::direct_gather(const Tensor& array, const Pieces& pieces, const Striding& by) {
  add("gather", Scatter{.from = array, .to = array, .pieces = pieces, .sent = Sent::Own, .by = by});
}

void Network::one_shot(const Tensor& array, const Tensor& received, std::uint64_t words, const Striding& by) {
  add("spread", Spread{.from = array, .to = received, .pieces = {words, ranks_}, .by = by});
  add("reduce",
      Reduce{
          .received = received, .own = array, .pieces = {words, 1}, .copies = ranks_ - 1, .stacked = true, .by = by});
}

void Network::tree(const Tensor& array, const Tensor& received, const Pieces& chunks, const Striding& by) {
  TreeStep at{.own = array, .received = received, .tree = {ranks_}, .chunks = chunks, .by = by};
  const std::uint64_t steps = chunks.ranks + at.tree.depth() - 1;
  for (at.step = 0; at.step < steps; ++at.step) {
    add("climb", Climb{at});
    add("join", Join{at});
  }
  for (at.step = 0; at.step < steps; ++at.step) add("descend", Descend{at});
}

}  // namespace nearfar::dnn
