#include "translation/walk_cache.h"

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
  if (places_.size() < capacity_) {
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

}  // namespace nearfar
