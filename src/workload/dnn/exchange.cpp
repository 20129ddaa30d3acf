// How the ranks add up their arrays: around a ring, all to all, or by loads from everybody. 1024 items of each rank
// stride through what is exchanged, so that a wavefront stores whole lines.
#include "workload/dnn/kernels.h"

namespace nearfar::dnn {
namespace {

constexpr std::uint64_t kItems = 1024;

/// Where a wavefront stands in a piece.
struct At {
  std::uint64_t element;   ///< of lane 0, in the piece
  std::uint64_t length;    ///< of the piece
  std::uint32_t lanes;     ///< of the wavefront
  std::uint32_t copy = 0;  ///< which of several arrays

  std::uint32_t live() const { return static_cast<std::uint32_t>(std::min<std::uint64_t>(lanes, length - element)); }
};

Launch striding() { return linear_launch("", kItems, kGroup, Split::Offset); }

Stream push(VirtAddr from, VirtAddr to, At at) {
  const auto own = load(4, [&] { return Row{from + 4 * at.element, at.live()}; });
  const auto peers = store(4, [&] { return Row{to + 4 * at.element, at.live()}; });
  co_yield salu(8);
  for (; at.element < at.length; at.element += kItems) {
    co_yield valu(3);
    co_yield own;
    co_yield wait(0);
    co_yield peers;
  }
  co_yield salu(1);
}

Stream reduce(const Reduce& r, VirtAddr received, VirtAddr own, At at) {
  const auto theirs = load(4, [&] {
    return Row{received + 4 * (at.copy * r.pieces.longest() + at.element), at.live()};
  });
  const auto mine = load(4, [&] { return Row{own + 4 * at.element, at.live()}; });
  const auto result = store(4, [&] { return Row{own + 4 * at.element, at.live()}; });
  co_yield salu(8);
  for (; at.element < at.length; at.element += kItems) {
    co_yield valu(3);
    for (at.copy = 0; at.copy < r.copies; ++at.copy) co_yield theirs;
    co_yield mine;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(r.copies) + (r.average ? 1 : 0));
    co_yield result;
  }
  co_yield salu(1);
}

/// The ranks after this one, one after the other. What rank r sends lies in its place among those that a rank receives:
/// the r-th without the receiver's own.
Stream scatter(const Scatter& s, std::uint64_t rank, At at) {
  const std::uint64_t begin = at.element;
  std::uint64_t peer = rank;
  const auto own = load(4, [&] {
    return Row{s.from.on(rank) + 4 * (s.pieces.begin(s.own ? rank : peer) + at.element), at.live()};
  });
  const auto peers = store(4, [&] {
    const std::uint64_t to = s.own ? s.pieces.begin(rank) : (rank < peer ? rank : rank - 1) * s.pieces.longest();
    return Row{s.to.on(peer) + 4 * (to + at.element), at.live()};
  });
  co_yield salu(8);
  for (peer = (rank + 1) % s.pieces.ranks; peer != rank; peer = (peer + 1) % s.pieces.ranks) {
    at.length = s.pieces.length(s.own ? rank : peer);
    for (at.element = begin; at.element < at.length; at.element += kItems) {
      co_yield valu(3);
      co_yield own;
      co_yield wait(0);
      co_yield peers;
    }
  }
  co_yield salu(1);
}

Stream pull(const Pull& p, std::uint64_t rank, At at) {
  const auto theirs = load(4, [&] { return Row{p.from.on(at.copy) + 4 * at.element, at.live()}; });
  const auto result = store(4, [&] { return Row{p.to.on(rank) + 4 * at.element, at.live()}; });
  co_yield salu(8);
  for (; at.element < at.length; at.element += kItems) {
    co_yield valu(3);
    for (at.copy = 0; at.copy < p.pieces.ranks; ++at.copy) co_yield theirs;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(p.pieces.ranks));
    co_yield result;
  }
  co_yield salu(1);
}

}  // namespace

Launch grid(const Push&) { return striding(); }
Launch grid(const Reduce&) { return striding(); }
Launch grid(const Scatter&) { return striding(); }
Launch grid(const Pull&) { return striding(); }

Stream stream(const Push& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z, next = (rank + 1) % kernel.pieces.ranks;
  const std::uint64_t piece = (rank + kernel.ahead) % kernel.pieces.ranks;
  const std::uint64_t begin = 4 * kernel.pieces.begin(piece);
  return push(kernel.from.on(rank) + begin, kernel.to.on(next) + begin,
              {wave.item(0), kernel.pieces.length(piece), wave.lanes});
}

Stream stream(const Reduce& kernel, const Wave& wave) {
  const std::uint64_t piece = (wave.group_z + kernel.ahead) % kernel.pieces.ranks;
  const std::uint64_t begin = 4 * kernel.pieces.begin(piece);
  return reduce(kernel, kernel.received.on(wave.group_z) + (kernel.stacked ? 0 : begin),
                kernel.own.on(wave.group_z) + begin, {wave.item(0), kernel.pieces.length(piece), wave.lanes});
}

Stream stream(const Scatter& kernel, const Wave& wave) {
  return scatter(kernel, wave.group_z, {wave.item(0), 0, wave.lanes});
}

Stream stream(const Pull& kernel, const Wave& wave) {
  return pull(kernel, wave.group_z, {wave.item(0), kernel.pieces.total, wave.lanes});
}

}  // namespace nearfar::dnn
