// Pooling: the largest element of every window, an item a result; backwards, an item an element of the plane, which
// looks at all windows that it is in.
#include "workload/dnn/kernels.h"

namespace nearfar::dnn {
namespace {

/// A well-mixed number from a number.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct At {
  std::uint64_t rank, first;
  std::uint32_t lanes;
  std::uint32_t y = 0, x = 0;  ///< row and column in the window; backwards, which window
};

struct Place {
  std::uint64_t plane, y, x;
};

Place place(std::uint64_t element, std::uint64_t side) {
  return {element / side / side, element / side % side, element % side};
}

Stream largest(const Pool& p, At at) {
  const auto element = load(4, [&](unsigned lane) {
    if (lane >= at.lanes) return kIdle;
    const Place to = place(at.first + lane, p.result_side);
    const std::uint64_t y = to.y * p.stride + at.y - p.pad, x = to.x * p.stride + at.x - p.pad;
    return y < p.side && x < p.side ? p.from.on(at.rank) + 4 * ((to.plane * p.side + y) * p.side + x) : kIdle;
  });
  const auto result = store(4, [&] { return Row{p.to.on(at.rank) + 4 * at.first, at.lanes}; });
  const auto where = store(4, [&] { return Row{p.places.on(at.rank) + 4 * at.first, at.lanes}; });
  co_yield salu(8);
  if (at.lanes == 0) co_return;
  co_yield valu(10);
  for (; at.y < p.kernel; ++at.y) {
    for (at.x = 0; at.x < p.kernel; ++at.x) {
      if (anybody(element, at.lanes)) co_yield element;
    }
  }
  co_yield wait(0);
  co_yield valu(p.kernel * p.kernel);
  co_yield result;
  co_yield where;
  co_yield salu(1);
}

/// The window (at.y, at.x) windows before the last one that begins at or before the lane's element; none where the
/// element is not in it.
bool window_of(const Pool& p, const At& at, const Place& element, Place& window) {
  window = {element.plane, (element.y + p.pad) / p.stride - at.y, (element.x + p.pad) / p.stride - at.x};
  if (window.y >= p.result_side || window.x >= p.result_side) return false;  // also those before the first
  return element.y + p.pad - window.y * p.stride < p.kernel && element.x + p.pad - window.x * p.stride < p.kernel;
}

Stream spread(const Pool& p, At at) {
  const auto where = load(4, [&](unsigned lane) {
    Place window;
    if (lane >= at.lanes || !window_of(p, at, place(at.first + lane, p.side), window)) return kIdle;
    return p.places.on(at.rank) + 4 * ((window.plane * p.result_side + window.y) * p.result_side + window.x);
  });
  const auto gradient = load(4, [&](unsigned lane) {
    const Place element = place(at.first + lane, p.side);
    Place window;
    if (lane >= at.lanes || !window_of(p, at, element, window)) return kIdle;
    const std::uint64_t y = element.y + p.pad - window.y * p.stride, x = element.x + p.pad - window.x * p.stride;
    if (p.place_of(at.rank, window.plane, window.y, window.x) != y * p.kernel + x) return kIdle;
    return p.from.on(at.rank) + 4 * ((window.plane * p.result_side + window.y) * p.result_side + window.x);
  });
  const auto result = store(4, [&] { return Row{p.to.on(at.rank) + 4 * at.first, at.lanes}; });
  const std::uint32_t windows = (p.kernel + p.stride - 1) / p.stride;
  co_yield salu(8);
  if (at.lanes == 0) co_return;
  co_yield valu(10);
  for (; at.y < windows; ++at.y) {
    for (at.x = 0; at.x < windows; ++at.x) {
      if (!anybody(where, at.lanes)) continue;
      co_yield where;
      co_yield wait(0);
      co_yield valu(2);
      if (anybody(gradient, at.lanes)) co_yield gradient;
    }
  }
  co_yield wait(0);
  co_yield result;
  co_yield salu(1);
}

}  // namespace

std::uint32_t Pool::place_of(std::uint64_t rank, std::uint64_t plane, std::uint64_t y, std::uint64_t x) const {
  // At the edges a window has fewer rows or columns inside the plane.
  const auto inside = [&](std::uint64_t begin) {
    const std::uint64_t first = begin < pad ? pad - begin : 0;
    const std::uint64_t end = std::min<std::uint64_t>(kernel, side + pad - begin);
    return std::pair(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first));
  };
  const auto [top, rows] = inside(y * stride);
  const auto [left, columns] = inside(x * stride);
  const std::uint64_t drawn = mix(salt + mix(((rank * planes + plane) * result_side + y) * result_side + x));
  const auto chosen = static_cast<std::uint32_t>(drawn % (rows * columns));
  return (top + chosen / columns) * kernel + left + chosen % columns;
}

Launch grid(const Pool& kernel) {
  const std::uint64_t side = kernel.backward ? kernel.side : kernel.result_side;
  return linear_launch("", kernel.planes * side * side, kGroup, Split::Offset);
}

Stream stream(const Pool& kernel, const Wave& wave) {
  const std::uint64_t side = kernel.backward ? kernel.side : kernel.result_side;
  const At at{wave.group_z, wave.item(0), live_lanes(wave, kernel.planes * side * side)};
  return kernel.backward ? spread(kernel, at) : largest(kernel, at);
}

}  // namespace nearfar::dnn
