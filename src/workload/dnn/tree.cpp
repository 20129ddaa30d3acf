// How the ranks add up their arrays along a binary tree: up to the root, and the sum down again. In every step the
// levels work on different chunks, each on the one that the level before it had in the step before.
#include "workload/dnn/exchange.h"

namespace nearfar::dnn {
namespace {

/// The chunk in its turn `steps` after the first level began; an empty one before and after all of them.
At at_chunk(const TreeStep& t, const Wave& wave, std::uint64_t steps, std::uint64_t& begin) {
  const bool idle = t.step < steps || t.step - steps >= t.chunks.ranks;
  begin = idle ? 0 : t.by.word * t.chunks.begin(t.step - steps);
  return At(wave, t.by, idle ? 0 : t.chunks.length(t.step - steps));
}

Stream descend(const Descend& d, std::uint64_t rank, std::uint64_t begin, At at) {
  const auto own = load(at.word, [&] { return Row{d.own.on(rank) + begin + at.offset(), at.live()}; });
  const auto children = store(at.word, [&] {
    return Row{d.own.on(2 * rank + 1 + at.copy) + begin + at.offset(), at.live()};
  });
  co_yield salu(8);
  for (; at.element < at.length; at.element += at.items) {
    co_yield valu(3);
    co_yield own;
    co_yield wait(0);
    for (at.copy = 0; at.copy < d.tree.children(rank); ++at.copy) co_yield children;
  }
  co_yield salu(1);
}

}  // namespace

Launch grid(const TreeStep& kernel) { return striding(kernel.by); }

Stream stream(const Climb& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z;
  std::uint64_t begin = 0;
  if (rank == 0) return push({}, {}, At(wave, kernel.by, 0));
  const At at = at_chunk(kernel, wave, kernel.tree.depth() - Tree::level(rank), begin);
  const std::uint64_t slot = kernel.by.word * kernel.chunks.total * Tree::side(rank);
  return push(kernel.own.on(rank) + begin, kernel.received.on(Tree::parent(rank)) + slot + begin, at);
}

Stream stream(const Join& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z, children = kernel.tree.children(rank);
  std::uint64_t begin = 0;
  if (children == 0) return push({}, {}, At(wave, kernel.by, 0));
  const At at = at_chunk(kernel, wave, kernel.tree.depth() - Tree::level(rank) - 1, begin);
  const Addends received{.first = kernel.received.on(rank) + begin,
                         .apart = kernel.by.word * kernel.chunks.total,
                         .copies = static_cast<std::uint32_t>(children)};
  return reduce(received, kernel.own.on(rank) + begin, at);
}

Stream stream(const Descend& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z;
  std::uint64_t begin = 0;
  if (kernel.tree.children(rank) == 0) return push({}, {}, At(wave, kernel.by, 0));
  const At at = at_chunk(kernel, wave, Tree::level(rank), begin);
  return descend(kernel, rank, begin, at);
}

}  // namespace nearfar::dnn
