// How the ranks add up their arrays: around a ring, all to all, or by loads from everybody.
#include "workload/dnn/exchange.h"

namespace nearfar::dnn {
namespace {

/// What rank `sender` sends lies in its place among those that a rank receives: without the receiver's own.
std::uint64_t place_among(std::uint64_t sender, std::uint64_t receiver) {
  return sender < receiver ? sender : sender - 1;
}

/// Where rank `rank` stores a piece in a peer's array.
std::uint64_t place_of(const Scatter& s, std::uint64_t rank, std::uint64_t peer) {
  return s.sent == Sent::Theirs ? place_among(rank, peer) * s.pieces.longest() : s.pieces.begin(rank);
}

/// The ranks after this one, one after the other.
Stream scatter(const Scatter& s, std::uint64_t rank, At at) {
  const std::uint64_t begin = at.element;
  std::uint64_t peer = rank;
  const auto own = load(at.word, [&] {
    return Row{s.from.on(rank) + at.word * (s.pieces.begin(s.sent == Sent::Own ? rank : peer) + at.element), at.live()};
  });
  const auto peers = store(at.word, [&] {
    return Row{s.to.on(peer) + at.word * (place_of(s, rank, peer) + at.element), at.live()};
  });
  co_yield salu(8);
  for (; at.copy < s.pieces.ranks - (s.sent == Sent::Swapped ? 0 : 1); ++at.copy) {
    peer = (rank + 1 + at.copy) % s.pieces.ranks;
    at.length = s.pieces.length(s.sent == Sent::Own ? rank : peer);
    for (at.element = begin; at.element < at.length; at.element += at.items) {
      co_yield valu(3);
      co_yield own;
      co_yield wait(0);
      co_yield peers;
    }
  }
  co_yield salu(1);
}

Stream spread(const Spread& s, std::uint64_t rank, At at) {
  const auto own = load(at.word, [&] { return Row{s.from.on(rank) + at.offset(), at.live()}; });
  const auto peers = store(at.word, [&] {
    const std::uint64_t peer = (rank + at.copy) % s.pieces.ranks;
    return Row{s.to.on(peer) + at.word * place_among(rank, peer) * at.length + at.offset(), at.live()};
  });
  co_yield salu(8);
  for (; at.element < at.length; at.element += at.items) {
    co_yield valu(3);
    co_yield own;
    co_yield wait(0);
    for (at.copy = 1; at.copy < s.pieces.ranks; ++at.copy) co_yield peers;
  }
  co_yield salu(1);
}

Stream pull(const Pull& p, std::uint64_t rank, At at) {
  const auto theirs = load(at.word, [&] { return Row{p.from.on(at.copy) + at.offset(), at.live()}; });
  const auto result = store(at.word, [&] { return Row{p.to.on(rank) + at.offset(), at.live()}; });
  co_yield salu(8);
  for (; at.element < at.length; at.element += at.items) {
    co_yield valu(3);
    for (at.copy = 0; at.copy < p.pieces.ranks; ++at.copy) co_yield theirs;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(p.pieces.ranks) * (at.word / 4));
    co_yield result;
  }
  co_yield salu(1);
}

}  // namespace

Launch striding(const Striding& by) { return linear_launch("", by.items, kGroup, Split::Offset); }

Stream push(VirtAddr from, VirtAddr to, At at) {
  const auto own = load(at.word, [&] { return Row{from + at.offset(), at.live()}; });
  const auto peers = store(at.word, [&] { return Row{to + at.offset(), at.live()}; });
  co_yield salu(8);
  for (; at.element < at.length; at.element += at.items) {
    co_yield valu(3);
    co_yield own;
    co_yield wait(0);
    co_yield peers;
  }
  co_yield salu(1);
}

Stream reduce(Addends received, VirtAddr own, At at) {
  const auto theirs = load(at.word, [&] {
    return Row{received.first + received.apart * at.copy + at.offset(), at.live()};
  });
  const auto mine = load(at.word, [&] { return Row{own + at.offset(), at.live()}; });
  const auto result = store(at.word, [&] { return Row{own + at.offset(), at.live()}; });
  co_yield salu(8);
  for (; at.element < at.length; at.element += at.items) {
    co_yield valu(3);
    for (at.copy = 0; at.copy < received.copies; ++at.copy) co_yield theirs;
    co_yield mine;
    co_yield wait(0);
    co_yield valu((received.copies + received.average) * (at.word / 4));
    co_yield result;
  }
  co_yield salu(1);
}

Launch grid(const Push& kernel) { return striding(kernel.by); }
Launch grid(const Reduce& kernel) { return striding(kernel.by); }
Launch grid(const Scatter& kernel) { return striding(kernel.by); }
Launch grid(const Spread& kernel) { return striding(kernel.by); }
Launch grid(const Pull& kernel) { return striding(kernel.by); }
Launch grid(const Through& kernel) { return striding(kernel.by); }

Stream stream(const Push& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z, next = (rank + 1) % kernel.pieces.ranks;
  const std::uint64_t piece = (rank + kernel.ahead) % kernel.pieces.ranks;
  const std::uint64_t begin = kernel.by.word * kernel.pieces.begin(piece);
  return push(kernel.from.on(rank) + begin, kernel.to.on(next) + begin,
              At(wave, kernel.by, kernel.pieces.length(piece)));
}

Stream stream(const Reduce& kernel, const Wave& wave) {
  const std::uint64_t piece = (wave.group_z + kernel.ahead) % kernel.pieces.ranks;
  const std::uint64_t begin = kernel.by.word * kernel.pieces.begin(piece);
  const Addends received{.first = kernel.received.on(wave.group_z) + (kernel.stacked ? 0 : begin),
                         .apart = kernel.by.word * kernel.pieces.longest(),
                         .copies = static_cast<std::uint32_t>(kernel.copies),
                         .average = kernel.average ? 1U : 0U};
  return reduce(received, kernel.own.on(wave.group_z) + begin, At(wave, kernel.by, kernel.pieces.length(piece)));
}

Stream stream(const Scatter& kernel, const Wave& wave) { return scatter(kernel, wave.group_z, At(wave, kernel.by, 0)); }

Stream stream(const Spread& kernel, const Wave& wave) {
  return spread(kernel, wave.group_z, At(wave, kernel.by, kernel.pieces.total));
}

Stream stream(const Pull& kernel, const Wave& wave) {
  return pull(kernel, wave.group_z, At(wave, kernel.by, kernel.pieces.total));
}

/// The loop is that of a push: what adds and what copies is the memory.
Stream stream(const Through& kernel, const Wave& wave) {
  const std::uint64_t rank = wave.group_z;
  const std::uint64_t begin = kernel.whole ? 0 : kernel.by.word * kernel.pieces.begin(rank);
  return push(kernel.from.on(rank) + begin, kernel.to.on(rank) + begin,
              At(wave, kernel.by, kernel.whole ? kernel.pieces.total : kernel.pieces.length(rank)));
}

}  // namespace nearfar::dnn
