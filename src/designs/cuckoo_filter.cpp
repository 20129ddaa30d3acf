#include "designs/cuckoo_filter.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nearfar {

CuckooFilter::CuckooFilter(const CuckooFilterSpec& spec, Hash hash)
    : spec_(spec),
      hash_(hash),
      random_(spec.seed),
      most_(static_cast<std::uint32_t>((std::uint64_t{1} << spec.counter_bits) - 1)),
      fingerprints_(std::size_t{spec.buckets} * spec.slots),
      sums_(std::size_t{1} << spec.fingerprint_bits),
      counters_(spec.counter_count()) {
  for (std::size_t f = 0; f < sums_.size(); ++f) {
    sums_[f] = static_cast<std::uint32_t>(hash(f, spec.seed) % spec.buckets);
  }
}

CuckooFilter::Place CuckooFilter::place_of(std::uint64_t key) const {
  const std::uint64_t h = hash_(key, spec_.seed);
  const auto first = static_cast<std::uint32_t>((h >> 32) * spec_.buckets >> 32);
  const auto fingerprint = static_cast<std::uint16_t>(1 + (h & 0xffff'ffff) % ((1U << spec_.fingerprint_bits) - 1));
  return {first, other(first, fingerprint), fingerprint};
}

std::uint32_t CuckooFilter::other(std::uint32_t bucket, std::uint16_t fingerprint) const {
  const std::uint32_t sum = sums_[fingerprint];
  return sum >= bucket ? sum - bucket : sum + spec_.buckets - bucket;
}

bool CuckooFilter::holds(std::uint32_t index, std::uint16_t fingerprint) const {
  const std::uint16_t* slots = bucket(index);
  return std::find(slots, slots + spec_.slots, fingerprint) != slots + spec_.slots;
}

CuckooFilter::Match CuckooFilter::look_up(std::uint64_t key) const {
  if (spec_.overflow == FilterOverflow::Exact) return items_.contains(key) ? Match::First : Match::None;
  const Place place = place_of(key);
  if (holds(place.first, place.fingerprint)) return Match::First;
  if (holds(place.second, place.fingerprint)) return Match::Second;
  if (counted_ != 0 && counters_[counter_of(place.first, place.fingerprint)] != 0) return Match::Counter;
  return Match::None;
}

/// Overwrites one slot of a bucket that holds `from`; 0 is an empty one.
bool CuckooFilter::replace(std::uint32_t index, std::uint16_t from, std::uint16_t to) {
  std::uint16_t* slots = bucket(index);
  std::uint16_t* found = std::find(slots, slots + spec_.slots, from);
  if (found == slots + spec_.slots) return false;
  *found = to;
  return true;
}

/// Whether a bucket has an empty slot; of the usual sizes without looking at each of them.
bool CuckooFilter::has_room(std::uint32_t index) const {
  constexpr std::uint64_t kOnes = 0x0001'0001'0001'0001, kTops = 0x8000'8000'8000'8000;
  if (spec_.slots != 2 && spec_.slots != 4) return holds(index, 0);
  std::uint64_t slots = ~std::uint64_t{0};
  std::memcpy(&slots, bucket(index), spec_.slots == 4 ? 8 : 4);
  return ((slots - kOnes) & ~slots & kTops) != 0;  // a borrow into the top bit of what was zero
}

bool CuckooFilter::insert(std::uint64_t key) {
  ++stored_;
  if (spec_.overflow == FilterOverflow::Exact) {
    ++items_[key];
    return true;
  }
  const Place place = place_of(key);
  if (replace(place.first, 0, place.fingerprint) || replace(place.second, 0, place.fingerprint)) return true;
  std::uint16_t homeless = place.fingerprint;
  std::uint32_t at = (draw() & 1) == 0 ? place.first : place.second;
  const bool full = stored_ > fingerprints_.size();  // then no slot need be searched for an empty one
  const std::uint64_t low =
      (spec_.slots & (spec_.slots - 1)) == 0 ? spec_.slots - 1 : 0;  // a mask is a quick remainder
  for (std::uint32_t kick = 0; kick < spec_.max_kicks; ++kick) {
    const std::uint64_t drawn = draw();
    std::swap(homeless, bucket(at)[low != 0 ? drawn & low : drawn % spec_.slots]);
    at = other(at, homeless);
    if (!full && has_room(at)) return replace(at, 0, homeless);
  }
  --stored_;
  if (spec_.overflow == FilterOverflow::Conservative) count(at, homeless);
  return false;
}

bool CuckooFilter::erase(std::uint64_t key) {
  if (spec_.overflow == FilterOverflow::Exact) {
    const auto found = items_.find(key);
    if (found == items_.end()) return false;
    if (--found->second == 0) items_.erase(found);
    --stored_;
    return true;
  }
  const Place place = place_of(key);
  if (replace(place.first, place.fingerprint, 0) || replace(place.second, place.fingerprint, 0)) {
    --stored_;
    return true;
  }
  return spec_.overflow == FilterOverflow::Conservative && uncount(place.first, place.fingerprint);
}

std::size_t CuckooFilter::counter_of(std::uint32_t bucket, std::uint16_t fingerprint) const {
  const std::uint64_t lower = std::min(bucket, other(bucket, fingerprint));
  return hash_(lower << 32 | fingerprint, spec_.seed) % counters_.size();
}

void CuckooFilter::count(std::uint32_t bucket, std::uint16_t fingerprint) {
  std::uint32_t& counter = counters_[counter_of(bucket, fingerprint)];
  if (counter == most_) return;
  ++counted_;
  if (++counter == most_) ++stuck_;
}

bool CuckooFilter::uncount(std::uint32_t bucket, std::uint16_t fingerprint) {
  std::uint32_t& counter = counters_[counter_of(bucket, fingerprint)];
  if (counter == 0) return false;
  if (counter == most_) return true;
  --counter;
  --counted_;
  return true;
}

/// SplitMix64.
std::uint64_t CuckooFilter::draw() {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

}  // namespace nearfar
