#include "designs/cuckoo_filter.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace nearfar {

CuckooFilter::CuckooFilter(const CuckooFilterSpec& spec, Hash hash)
    : spec_(spec),
      hash_(hash),
      fingerprints_((1U << spec.fingerprint_bits) - 1),
      random_(spec.seed),
      most_(static_cast<std::uint32_t>((std::uint64_t{1} << spec.counter_bits) - 1)),
      slots_(std::size_t{spec.buckets} * spec.slots),
      empty_(spec.buckets, static_cast<std::uint8_t>(spec.slots)),
      others_(spec.buckets),
      sums_(std::size_t{1} << spec.fingerprint_bits),
      counters_(spec.counter_count()) {
  assert(spec.slots <= 255);
  for (std::size_t f = 0; f < sums_.size(); ++f) {
    sums_[f] = static_cast<std::uint32_t>(hash(f, spec.seed) % spec.buckets);
  }
}

CuckooFilter::Place CuckooFilter::place_of(std::uint64_t key) const {
  const std::uint64_t h = hash_(key, spec_.seed);
  const auto first = static_cast<std::uint32_t>((h >> 32) * spec_.buckets >> 32);
  const auto fingerprint = static_cast<std::uint16_t>(1 + fingerprints_.remainder(h & 0xffff'ffff));
  return {first, other(first, fingerprint), fingerprint};
}

std::uint32_t CuckooFilter::other(std::uint32_t bucket, std::uint16_t fingerprint) const {
  const std::uint32_t sum = sums_[fingerprint];
  return sum >= bucket ? sum - bucket : sum + spec_.buckets - bucket;
}

/// The slot of a bucket with this fingerprint (0: an empty one), or null.
const CuckooFilter::Slot* CuckooFilter::find(std::uint32_t index, std::uint16_t fingerprint) const {
  const Slot* slot = slots_.data() + std::size_t{index} * spec_.slots;
  for (std::uint32_t i = 0; i < spec_.slots; ++i, ++slot) {
    if (slot->fingerprint == fingerprint) return slot;
  }
  return nullptr;
}

CuckooFilter::Match CuckooFilter::look_up(std::uint64_t key) const {
  if (spec_.overflow == FilterOverflow::Exact) return items_.contains(key) ? Match::First : Match::None;
  const Place place = place_of(key);
  if (find(place.first, place.fingerprint) != nullptr) return Match::First;
  if (find(place.second, place.fingerprint) != nullptr) return Match::Second;
  if (counted_ != 0 && counters_[counter_of(place.first, place.fingerprint)] != 0) return Match::Counter;
  return Match::None;
}

/// Puts a fingerprint into an empty slot of a bucket, if it has one.
bool CuckooFilter::store(std::uint32_t index, Slot content) {
  if (empty_[index] == 0) return false;
  *find(index, 0) = content;
  if (--empty_[index] == 0) exits_ -= others_[index];
  ++others_[content.other];
  if (empty_[content.other] != 0) ++exits_;
  return true;
}

/// Takes a fingerprint out of a bucket, if it is there.
bool CuckooFilter::remove(std::uint32_t index, std::uint16_t fingerprint) {
  Slot* found = find(index, fingerprint);
  if (found == nullptr) return false;
  const std::uint32_t second = std::exchange(*found, {}).other;
  --others_[second];
  if (empty_[second] != 0) --exits_;
  if (empty_[index]++ == 0) exits_ += others_[index];
  walked_in_vain_ = false;
  return true;
}

bool CuckooFilter::insert(std::uint64_t key) {
  ++stored_;
  if (spec_.overflow == FilterOverflow::Exact) {
    ++items_[key];
    return true;
  }
  const Place place = place_of(key);
  if (store(place.first, {place.second, place.fingerprint}) || store(place.second, {place.first, place.fingerprint})) {
    return true;
  }
  std::uint16_t homeless = place.fingerprint;
  std::uint32_t at = place.first, from = place.second;  // its two buckets: both are full
  if ((draw() & 1) != 0) std::swap(at, from);
  // Kicks only find an empty slot if some fingerprint can move to one, and they do not change whether one can; nor is a
  // long walk in vain followed by another before a slot has become empty. Where there is no hope, one kick chooses who
  // is left over as well as hundreds would.
  const bool may_find_room = exits_ != 0 && !walked_in_vain_;
  const std::uint32_t kicks = may_find_room ? spec_.max_kicks : std::min(spec_.max_kicks, 1U);
  // Who comes to a bucket has the one before as its other, and who leaves it the one behind: of `others_` only the ends
  // of the walk change.
  ++others_[from];
  ++others_[at];
  std::uint64_t drawn = 0;
  for (std::uint32_t kick = 0; kick < kicks && empty_[at] == 0; ++kick) {
    drawn = kick % 4 == 0 ? draw() : drawn << 16;  // four choices of 16 bits: the walk may be long
    Slot& slot = bucket(at)[(drawn >> 48) * spec_.slots >> 16];
    const Slot victim = std::exchange(slot, {from, homeless});
    homeless = victim.fingerprint;
    from = std::exchange(at, victim.other);
  }
  --others_[from];
  --others_[at];
  if (empty_[at] != 0) {
    --exits_;
    return store(at, {from, homeless});
  }
  if (may_find_room) walked_in_vain_ = spec_.max_kicks >= spec_.buckets / 2;  // a shorter walk has seen too little
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
