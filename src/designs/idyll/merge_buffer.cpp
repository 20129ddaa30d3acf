#include "designs/idyll/merge_buffer.h"

#include <algorithm>
#include <utility>

namespace nearfar {

MergeBuffer::MergeBuffer(std::uint32_t bases, std::uint32_t offsets) : offsets_(offsets), entries_(bases) {
  for (MergedPages& entry : entries_) entry.offsets.reserve(offsets);
}

std::uint32_t MergeBuffer::find(PageKey base) const {
  std::uint32_t index = 0;
  while (index < used_ && entries_[index].base != base) ++index;
  return index;
}

bool MergeBuffer::holds(PageKey page) const {
  const std::uint32_t index = find(base_of(page));
  if (index == used_) return false;
  const auto& offsets = entries_[index].offsets;
  return std::ranges::find(offsets, offset_of(page)) != offsets.end();
}

MergeBuffer::Way MergeBuffer::way_of(PageKey page) const {
  const std::uint32_t index = find(base_of(page));
  if (index == used_) return used_ < entries_.size() ? Way::Opens : Way::EvictsBase;
  const auto& offsets = entries_[index].offsets;
  if (std::ranges::find(offsets, offset_of(page)) != offsets.end()) return Way::Held;
  return offsets.size() < offsets_ ? Way::Merges : Way::EvictsOffsets;
}

void MergeBuffer::make_youngest(std::uint32_t index) {
  std::rotate(entries_.begin() + index, entries_.begin() + index + 1, entries_.begin() + used_);
}

void MergeBuffer::add(PageKey page, MergedPages& evicted) {
  const Way way = way_of(page);
  if (way == Way::EvictsBase) take_oldest(evicted);
  std::uint32_t index = find(base_of(page));
  if (way == Way::EvictsOffsets) {
    evicted.base = entries_[index].base;
    evicted.offsets.assign(entries_[index].offsets.begin(), entries_[index].offsets.end());
    entries_[index].offsets.clear();
  }
  if (index == used_) {
    entries_[used_++].base = base_of(page);
    entries_[index].offsets.clear();
  }
  if (way != Way::Held) entries_[index].offsets.push_back(offset_of(page));
  make_youngest(index);
}

bool MergeBuffer::remove(PageKey page) {
  const std::uint32_t index = find(base_of(page));
  if (index == used_ || std::erase(entries_[index].offsets, offset_of(page)) == 0) return false;
  if (entries_[index].offsets.empty()) {
    make_youngest(index);
    --used_;
  }
  return true;
}

void MergeBuffer::take_oldest(MergedPages& taken) {
  taken.base = entries_.front().base;
  taken.offsets.assign(entries_.front().offsets.begin(), entries_.front().offsets.end());
  make_youngest(0);
  --used_;
}

std::uint64_t MergeBuffer::pages() const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < used_; ++i) sum += entries_[i].offsets.size();
  return sum;
}

}  // namespace nearfar
