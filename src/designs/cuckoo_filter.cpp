#include "designs/cuckoo_filter.h"

#include <algorithm>
#include <utility>

namespace nearfar {

CuckooFilter::CuckooFilter(const CuckooFilterSpec& spec, Hash hash)
    : spec_(spec),
      hash_(hash),
      random_(spec.seed),
      most_(static_cast<std::uint32_t>((std::uint64_t{1} << spec.counter_bits) - 1)),
      fingerprints_(std::size_t{spec.buckets} * spec.slots),
      buckets_(spec.buckets, {spec.slots, 0}),
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

/// Puts a fingerprint into an empty slot of a bucket, if it has one.
bool CuckooFilter::store(std::uint32_t index, std::uint16_t fingerprint) {
  if (buckets_[index].empty == 0) return false;
  *std::find(bucket(index), bucket(index) + spec_.slots, 0) = fingerprint;
  if (--buckets_[index].empty == 0) exits_ -= buckets_[index].others;
  Bucket& second = buckets_[other(index, fingerprint)];
  ++second.others;
  if (second.empty != 0) ++exits_;
  return true;
}

/// Takes a fingerprint out of a bucket, if it is there.
bool CuckooFilter::remove(std::uint32_t index, std::uint16_t fingerprint) {
  std::uint16_t* end = bucket(index) + spec_.slots;
  std::uint16_t* found = std::find(bucket(index), end, fingerprint);
  if (found == end) return false;
  *found = 0;
  Bucket& second = buckets_[other(index, fingerprint)];
  --second.others;
  if (second.empty != 0) --exits_;
  if (buckets_[index].empty++ == 0) exits_ += buckets_[index].others;
  return true;
}

bool CuckooFilter::insert(std::uint64_t key) {
  ++stored_;
  if (spec_.overflow == FilterOverflow::Exact) {
    ++items_[key];
    return true;
  }
  const Place place = place_of(key);
  if (store(place.first, place.fingerprint) || store(place.second, place.fingerprint)) return true;
  std::uint16_t homeless = place.fingerprint;
  std::uint32_t at = place.first, from = place.second;  // its two buckets: both are full
  if ((draw() & 1) != 0) std::swap(at, from);
  // Kicks only find an empty slot if some fingerprint can move to one, and they do not change whether one can. Where
  // none can, one kick chooses who is left over as well as hundreds would.
  const std::uint32_t kicks = exits_ != 0 ? spec_.max_kicks : std::min(spec_.max_kicks, 1U);
  for (std::uint32_t kick = 0; kick < kicks; ++kick) {
    std::swap(homeless, bucket(at)[(draw() >> 32) * spec_.slots >> 32]);
    ++buckets_[from].others;
    from = std::exchange(at, other(at, homeless));
    --buckets_[at].others;
    if (buckets_[at].empty == 0) continue;
    --exits_;
    return store(at, homeless);
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
  if (remove(place.first, place.fingerprint) || remove(place.second, place.fingerprint)) {
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
