// Every thing in use marks the moment of its last touch; the marks after that moment are the others touched since.
// Moments are counted in a binary indexed tree, and renumbered without gaps when they run out.
#include "stats/reuse_distance.h"

#include <algorithm>
#include <bit>

namespace nearfar {
namespace {

constexpr std::uint32_t kFewestMoments = 1 << 16;

}  // namespace

ReuseDistance::ReuseDistance(std::uint64_t things)
    : last_(things), thing_(kFewestMoments + 1), marks_(kFewestMoments + 1) {}

std::uint64_t ReuseDistance::touch(std::uint64_t thing) {
  if (thing >= last_.size()) last_.resize(thing + 1 + thing / 2);
  if (now_ + 1 == thing_.size()) start_over();
  ++now_;
  std::uint64_t distance = kFirst;
  if (const std::uint32_t before = last_[thing]; before != 0) {
    distance = in_use_ - marked_until(before);
    mark(before, -1);
  } else {
    ++in_use_;
  }
  mark(now_, 1);
  last_[thing] = now_;
  thing_[now_] = static_cast<std::uint32_t>(thing);
  return distance;
}

void ReuseDistance::mark(std::uint32_t moment, std::int32_t by) {
  for (; moment < marks_.size(); moment += moment & -moment) marks_[moment] += static_cast<std::uint32_t>(by);
}

std::uint32_t ReuseDistance::marked_until(std::uint32_t moment) const {
  std::uint32_t sum = 0;
  for (; moment > 0; moment &= moment - 1) sum += marks_[moment];
  return sum;
}

void ReuseDistance::start_over() {
  std::uint32_t live = 0;
  for (std::uint32_t moment = 1; moment <= now_; ++moment) {
    const std::uint32_t thing = thing_[moment];
    if (last_[thing] != moment) continue;
    thing_[++live] = thing;
    last_[thing] = live;
  }
  now_ = live;
  const std::size_t moments = std::max<std::size_t>(kFewestMoments, 4 * std::bit_ceil(std::size_t{live})) + 1;
  thing_.resize(moments);
  marks_.assign(moments, 0);
  for (std::uint32_t moment = 1; moment < moments; ++moment) {  // the tree of `live` ones and then zeros
    const std::uint32_t begin = moment - (moment & -moment);
    marks_[moment] = std::min(moment, live) - std::min(begin, live);
  }
}

void ReuseCurve::add(std::uint64_t distance) {
  ++touches;
  if (distance == ReuseDistance::kFirst) {
    ++first;
    return;
  }
  for (auto k = static_cast<unsigned>(std::bit_width(distance)); k < kCapacities; ++k) ++hits[k];
}

double ReuseCurve::hit_rate(unsigned log2_capacity) const {
  return touches == 0 ? 0 : static_cast<double>(hits[log2_capacity]) / static_cast<double>(touches);
}

}  // namespace nearfar
