#include "translation/uvm/tree_prefetcher.h"

#include <algorithm>

namespace nearfar {

void PrefetchStats::describe(StatVisitor& visitor) {
  visitor.counter("pages", "pages", "Pages that the UVM driver moved to a GPU ahead of any fault.", pages);
}

TreePrefetcher::TreePrefetcher(const UvmOptions& options, PageRecords& records, const Migrations& migrations)
    : host_(options.host),
      threshold_(options.uvm.prefetch_threshold),
      piece_(std::max<std::uint64_t>(16 >> options.size.bits, 1)),
      block_(std::max<std::uint64_t>(512 >> options.size.bits, 1)),
      records_(records),
      migrations_(migrations) {}

bool TreePrefetcher::is_on(const PageRecord& record, PageKey page, DeviceId gpu) const {
  return record.moving ? migrations_.destination(page) == gpu : record.owner.device() == gpu;
}

bool TreePrefetcher::may_come(const PageRecord& record) const {
  return !record.moving && !record.pinned && record.owner.device() == host_;
}

std::vector<PageKey> TreePrefetcher::behind(PageKey page, DeviceId gpu) {
  const auto key = [&](std::uint64_t number) { return PageKey{page.pid(), number}; };
  std::uint64_t first = page.number() / piece_ * piece_;
  std::uint64_t pages = piece_;
  for (std::uint64_t size = 2 * piece_; size <= block_; size *= 2) {
    const std::uint64_t begin = page.number() / size * size;
    std::uint64_t there = 0;
    std::uint64_t all = 0;
    for (std::uint64_t number = begin; number < begin + size; ++number) {
      const PageRecord* record = records_.find(key(number));
      if (record == nullptr) continue;
      ++all;
      const bool comes = number >= first && number < first + pages && may_come(*record);
      there += comes || is_on(*record, key(number), gpu) ? 1 : 0;
    }
    if (there * 100 <= all * threshold_) continue;
    first = begin;
    pages = size;
  }
  std::vector<PageKey> follow;
  for (std::uint64_t number = first; number < first + pages; ++number) {
    const PageRecord* record = records_.find(key(number));
    if (record != nullptr && may_come(*record)) follow.push_back(key(number));
  }
  return follow;
}

}  // namespace nearfar
