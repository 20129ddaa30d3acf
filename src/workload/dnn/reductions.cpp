// Sums over rows, channels and classes.
#include "workload/dnn/kernels.h"

namespace nearfar::dnn {
namespace {

struct At {
  std::uint64_t rank, first;
  std::uint32_t lanes;
  std::uint64_t step = 0;
};

Stream sum_rows(const Sum& s, At at) {
  const auto element = load(4, [&] {
    return Rows{.first = s.from.on(at.rank) + 4 * (at.first * s.length + at.step),
                .lanes = at.lanes,
                .step = static_cast<std::uint32_t>(4 * s.length)};
  });
  const auto result = store(4, [&] { return Row{s.to.on(at.rank) + 4 * at.first, at.lanes}; });
  co_yield salu(8);
  if (at.lanes == 0) co_return;
  co_yield valu(4);
  for (; at.step < s.length; ++at.step) {
    co_yield valu(2);
    co_yield element;
    co_yield wait(0);
    co_yield valu(1);
  }
  co_yield result;
  co_yield salu(1);
}

/// A wavefront of a workgroup that goes through all elements of a channel, a stride of the workgroup at a time.
struct Channel {
  std::uint64_t rank, number;
  std::uint64_t element;  ///< of lane 0
  std::uint32_t lanes;    ///< of the wavefront, with an element or without
  std::uint32_t i = 0;    ///< which array
};

Stream sum_channel(const Moments& m, Channel at) {
  const bool first = at.element == 0;
  const auto element = load(4, [&](unsigned lane) {
    const std::uint64_t e = at.element + lane;
    if (e >= m.images * m.area) return kIdle;
    return m.in[at.i].on(at.rank) + 4 * ((e / m.area * m.channels + at.number) * m.area + e % m.area);
  });
  const auto result = store(4, [&] { return Row{m.out[at.i].on(at.rank) + 4 * at.number, 1}; });
  co_yield salu(8);
  co_yield valu(6);
  for (; at.element < m.images * m.area; at.element += kGroup) {
    co_yield valu(4);
    for (at.i = 0; at.i < m.inputs; ++at.i) co_yield element;
    co_yield wait(0);
    co_yield valu(3);
  }
  co_yield local(1);
  co_yield barrier();
  co_yield local(2);
  co_yield valu(12);
  for (at.i = 0; first && at.i < 2; ++at.i) co_yield result;
  co_yield salu(1);
}

Stream classify(const Softmax& s, At at) {
  const auto result = [&](const Tensor& tensor) {
    return Row{tensor.on(at.rank) + 4 * (at.step * s.images + at.first), at.lanes};
  };
  const auto score = load(4, [&] { return result(s.from); });
  const auto probability = store(4, [&] { return result(s.to); });
  co_yield salu(8);
  if (at.lanes == 0) co_return;
  for (; at.step < s.classes; ++at.step) {
    co_yield score;
    co_yield wait(0);
    co_yield valu(15);
  }
  for (at.step = 0; at.step < s.classes; ++at.step) {
    co_yield score;
    co_yield wait(0);
    co_yield valu(15);
    co_yield probability;
  }
  co_yield salu(1);
}

/// A wavefront of a workgroup that goes twice through a row.
struct Along {
  std::uint64_t rank, row;
  std::uint64_t column;  ///< of lane 0
  std::uint32_t lanes;
};

Stream pass_twice(const RowPass& r, Along at) {
  const std::uint64_t begin = at.column;
  const auto part = [&](const Tensor& tensor, std::uint64_t row) {
    const auto lanes = static_cast<std::uint32_t>(std::min<std::uint64_t>(at.lanes, r.length - at.column));
    return Row{tensor.on(at.rank) + r.bytes * (row * r.length + at.column), lanes};
  };
  const auto element = load(r.bytes, [&] { return part(r.from, at.row); });
  const auto scale = load(r.bytes, [&] { return part(r.scale, 0); });
  const auto shift = load(r.bytes, [&] { return part(r.shift, 0); });
  const auto result = store(r.bytes, [&] { return part(r.to, at.row); });
  co_yield salu(8);
  for (; at.column < r.length; at.column += kGroup) {
    co_yield element;
    co_yield wait(0);
    co_yield valu(r.arithmetic / 2);
  }
  co_yield local(1);
  co_yield barrier();
  co_yield local(2);
  co_yield valu(12);
  for (at.column = begin; at.column < r.length; at.column += kGroup) {
    co_yield element;
    if (r.scaled) {
      co_yield scale;
      co_yield shift;
    }
    co_yield wait(0);
    co_yield valu(r.arithmetic - r.arithmetic / 2);
    co_yield result;
  }
  co_yield salu(1);
}

Launch a_group_each(std::uint64_t groups) {
  Launch launch = linear_launch("", groups * kGroup, kGroup, Split::Offset);
  launch.local_bytes = 2 * sizeof(float) * kGroup;
  return launch;
}

}  // namespace

Launch grid(const Sum& kernel) { return linear_launch("", kernel.rows, kGroup, Split::Offset); }

Stream stream(const Sum& kernel, const Wave& wave) {
  return sum_rows(kernel, {wave.group_z, wave.item(0), live_lanes(wave, kernel.rows)});
}

Launch grid(const Moments& kernel) { return a_group_each(kernel.channels); }

Stream stream(const Moments& kernel, const Wave& wave) {
  return sum_channel(kernel, {wave.group_z, wave.group_x, wave.local(0), wave.lanes});
}

Launch grid(const Softmax& kernel) { return linear_launch("", kernel.images, kGroup, Split::Offset); }

Stream stream(const Softmax& kernel, const Wave& wave) {
  return classify(kernel, {wave.group_z, wave.item(0), live_lanes(wave, kernel.images)});
}

Launch grid(const RowPass& kernel) { return a_group_each(kernel.rows); }

Stream stream(const RowPass& kernel, const Wave& wave) {
  return pass_twice(kernel, {wave.group_z, wave.group_x, wave.local(0), wave.lanes});
}

}  // namespace nearfar::dnn
