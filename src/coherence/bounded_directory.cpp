#include "coherence/bounded_directory.h"

#include <fmt/format.h>

#include <cstddef>

#include "coherence/directory_check.h"

namespace nearfar {

BoundedDirectory::BoundedDirectory(const DirectorySpec& spec, const DirectoryHome& home, std::uint32_t lines_per_block,
                                   std::uint32_t vectors)
    : home_(home),
      blocks_(home, lines_per_block),
      vectors_(vectors),
      array_(spec.all_entries(), spec.ways, spec.index, spec.replacement),
      sharers_(std::size_t{array_.size()} * vectors, home.gpus) {}

BoundedDirectory::Entry BoundedDirectory::find_or_allocate(std::uint64_t block, Invalidations& out) {
  Entry entry = array_.find(block);
  if (entry != DirectoryArray::kNone) {
    array_.use(entry);
    return entry;
  }
  entry = array_.place_for(block);
  if (!array_.is_free(entry)) {
    invalidate_entry(entry, out);
    ++stats_.evictions;
    free(entry);
  }
  array_.allocate(entry, block);
  ++stats_.allocations;
  return entry;
}

void BoundedDirectory::free(Entry entry) {
  sharers_.clear(std::size_t{entry} * vectors_, vectors_);
  array_.free(entry);
}

void BoundedDirectory::drop_page(PhysPage page) {
  const std::uint64_t first = blocks_.first_of(page);
  for (std::uint64_t block = first; block < first + blocks_.blocks_per_page(); ++block) {
    const Entry entry = array_.find(block);
    if (entry != DirectoryArray::kNone) free(entry);
  }
}

void BoundedDirectory::check() const {
  require_none(array_.problem(), home_);
  for (Entry entry = 0; entry < array_.size(); ++entry) {
    const std::size_t first = std::size_t{entry} * vectors_;
    const bool shared = sharers_.any(first, vectors_);
    if (array_.is_free(entry)) {
      if (shared) require_none(fmt::format("entry {} is free and has sharers", entry), home_);
      continue;
    }
    if (!shared) require_none(fmt::format("the entry of block {:#x} has no sharers", array_.block(entry)), home_);
    for (std::uint32_t i = 0; i < vectors_; ++i) {
      require_none(problem_with_sharers(sharers_.get(first + i), home_), home_);
    }
  }
}

}  // namespace nearfar
