#include "translation/walk/walk_cache.h"

namespace nearfar {

LruSet::LruSet(std::uint32_t capacity) : capacity_(capacity), nodes_(1) {}

void LruSet::unlink(std::uint32_t at) {
  nodes_[nodes_[at].before].after = nodes_[at].after;
  nodes_[nodes_[at].after].before = nodes_[at].before;
}

void LruSet::link_first(std::uint32_t at) {
  nodes_[at].before = 0;
  nodes_[at].after = nodes_[0].after;
  nodes_[nodes_[0].after].before = at;
  nodes_[0].after = at;
}

void LruSet::use(std::uint64_t key) {
  const std::uint32_t at = places_.at(key);
  unlink(at);
  link_first(at);
}

void LruSet::insert(std::uint64_t key) {
  if (capacity_ == 0) return;
  if (holds(key)) {
    use(key);
    return;
  }
  auto at = static_cast<std::uint32_t>(nodes_.size());
  if (!free_.empty()) {
    at = free_.back();
    free_.pop_back();
  } else if (places_.size() < capacity_) {
    nodes_.emplace_back();
  } else {
    at = nodes_[0].before;
    unlink(at);
    places_.erase(nodes_[at].key);
  }
  nodes_[at].key = key;
  link_first(at);
  places_.emplace(key, at);
}

void LruSet::erase(std::uint64_t key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return;
  unlink(found->second);
  free_.push_back(found->second);
  places_.erase(found);
}

void WalkCache::drop(const PageRange& range, unsigned leaf, unsigned root) {
  const std::uint64_t end = range.first.number() + range.pages;
  for (unsigned level = leaf + 1; level <= root; ++level) {
    const std::uint64_t covered = std::uint64_t{1} << covered_bits(level - leaf);
    const std::uint64_t begin = (range.first.number() + covered - 1) / covered * covered;
    for (std::uint64_t number = begin; number + covered <= end; number += covered) {
      array(level).erase(key(PageKey{range.first.pid(), number}, leaf, level));
    }
  }
}

}  // namespace nearfar
