// Kernels with an element an item: unrolled images, transpositions and their like, element-wise arithmetic.
#include "workload/dnn/kernels.h"

namespace nearfar::dnn {
namespace {

/// Where a wavefront stands: its rank, its first element, and how many it has.
struct At {
  std::uint64_t rank, first;
  std::uint32_t lanes;
};

Launch items(std::uint64_t elements) { return linear_launch("", elements, kGroup, Split::Offset); }

/// The element that element e is made from; none where a dilation has zeros.
VirtAddr source(const Gather& g, VirtAddr from, std::uint64_t e) {
  std::uint64_t index[3] = {e / g.extent[2] / g.extent[1], e / g.extent[2] % g.extent[1], e % g.extent[2]};
  if (g.every > 1) {
    if (index[1] % g.every != 0 || index[2] % g.every != 0) return kIdle;
    index[1] /= g.every;
    index[2] /= g.every;
  }
  std::uint64_t at = g.origin;
  for (std::size_t d = 0; d < 3; ++d) at += index[d] * static_cast<std::uint64_t>(g.stride[d]);
  return from + g.bytes * at;
}

Stream gather(const Gather& g, At at) {
  const auto from = load(
      g.bytes, [&](unsigned lane) { return lane < at.lanes ? source(g, g.from.on(at.rank), at.first + lane) : kIdle; });
  const auto to = store(g.bytes, [&] { return Row{g.to.on(at.rank) + g.bytes * at.first, at.lanes}; });
  co_yield salu(8);
  if (at.lanes == 0) co_return;
  co_yield valu(40);
  if (anybody(from, at.lanes)) {
    co_yield from;
    co_yield wait(0);
  }
  co_yield to;
  co_yield salu(1);
}

Stream map(const Map& m, At at) {
  std::uint32_t i = 0;
  const auto in = load(4, [&] { return Row{m.in[i].on(at.rank) + 4 * at.first, at.lanes}; });
  const auto by_channel = load(4, [&](unsigned lane) {
    const std::uint64_t channel = (at.first + lane) / m.area % m.channels;
    return lane < at.lanes ? m.by_channel[i].on(at.rank) + 4 * channel : kIdle;
  });
  const auto out = store(4, [&] { return Row{m.out[i].on(at.rank) + 4 * at.first, at.lanes}; });
  co_yield salu(6);
  if (at.lanes == 0) co_return;
  co_yield valu(3);
  for (; i < m.inputs; ++i) co_yield in;
  for (i = 0; i < m.channel_inputs; ++i) co_yield by_channel;
  co_yield wait(0);
  co_yield valu(m.arithmetic);
  for (i = 0; i < m.outputs; ++i) co_yield out;
  co_yield salu(1);
}

}  // namespace

Launch grid(const Unroll& kernel) { return kernel.shape.launch(); }

Stream stream(const Unroll& kernel, const Wave& wave) {
  return unroll(kernel.shape, kernel.from.on(wave.group_z), kernel.to.on(wave.group_z), wave);
}

Launch grid(const Gather& kernel) { return items(kernel.elements()); }

Stream stream(const Gather& kernel, const Wave& wave) {
  return gather(kernel, {wave.group_z, wave.item(0), live_lanes(wave, kernel.elements())});
}

Launch grid(const Map& kernel) { return items(Pieces{kernel.elements, kernel.pieces}.longest()); }

Stream stream(const Map& kernel, const Wave& wave) {
  const Pieces pieces{kernel.elements, kernel.pieces};
  const std::uint64_t piece = kernel.pieces > 1 ? wave.group_z : 0;
  return map(kernel, {wave.group_z, pieces.begin(piece) + wave.item(0), live_lanes(wave, pieces.length(piece))});
}

}  // namespace nearfar::dnn
