#include "translation/walk/walk_concurrency.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {

void WalkConcurrencyStats::describe(StatVisitor& visitor) {
  visitor.counter("concurrent.leaf_reads", "lines",
                  "Reads of page-table lines with leaf entries, in runs with `translation.observe`.", leaf_reads);
  visitor.counter("concurrent.leaf", "lines",
                  "Reads of page-table lines with leaf entries that a concurrent page walk reads too, in runs with "
                  "`translation.observe`.",
                  leaf);
  visitor.counter("concurrent.avoidable", "lines",
                  "Reads of page-table lines with leaf entries that a concurrent page walk had read before, in runs "
                  "with `translation.observe`.",
                  avoidable);
  visitor.counter("concurrent.upper_reads", "lines",
                  "Reads of page-table lines with upper-level entries, in runs with `translation.observe`.",
                  upper_reads);
  visitor.counter("concurrent.upper", "lines",
                  "Reads of page-table lines with upper-level entries of which a concurrent page walk reads another "
                  "entry, in runs with `translation.observe`.",
                  upper);
  for (std::size_t level = 2; level <= 5; ++level) {
    visitor.counter(fmt::format("concurrent.L{}", level), "lines",
                    fmt::format("Reads of page-table lines with entries of level {} of which a concurrent page walk "
                                "reads another entry, in runs with `translation.observe`.",
                                level),
                    by_level[level - 2]);
  }
}

void WalkConcurrency::entered(const Walk& walk) {
  resident_[&walk] = first_ + requests_.size();
  requests_.push_back({walk.queued, kNever});
}

void WalkConcurrency::read(const Walk& walk, unsigned level, bool leaf, PhysLine line, std::uint64_t entry) {
  const std::uint64_t reader = resident_.at(&walk);
  const Cycle since = request(reader).entered;
  ++(leaf ? stats_.leaf_reads : stats_.upper_reads);
  std::vector<Record>& records = by_line_[line.value];
  Record mine{reader, entry, false};
  bool after_another = false;
  for (Record& record : records) {
    if (record.request < first_ || record.request == reader || request(record.request).ended <= since) continue;
    if (!leaf && record.entry == entry) continue;
    count(record, level, leaf);
    count(mine, level, leaf);
    after_another = true;
  }
  if (leaf && after_another) ++stats_.avoidable;
  records.push_back(mine);
  if (++records_ >= sweep_at_) forget_records();
}

void WalkConcurrency::count(Record& record, unsigned level, bool leaf) {
  if (record.counted) return;
  record.counted = true;
  ++(leaf ? stats_.leaf : stats_.upper);
  if (!leaf) ++stats_.by_level[level - 2];
}

void WalkConcurrency::ended(const Walk& walk, Cycle now) {
  const auto found = resident_.find(&walk);
  requests_[found->second - first_].ended = now;
  resident_.erase(found);
  forget_requests();
}

/// A request can be forgotten when it had ended before the oldest resident one came: none can be concurrent with it.
void WalkConcurrency::forget_requests() {
  oldest_ = std::max(oldest_, first_);
  while (oldest_ < first_ + requests_.size() && request(oldest_).ended != kNever) ++oldest_;
  const Cycle oldest_came = oldest_ < first_ + requests_.size() ? request(oldest_).entered : kNever;
  while (!requests_.empty() && requests_.front().ended <= oldest_came && requests_.front().ended != kNever) {
    requests_.pop_front();
    ++first_;
  }
}

void WalkConcurrency::forget_records() {
  records_ = 0;
  boost::unordered::erase_if(by_line_, [&](auto& line) {
    std::erase_if(line.second, [&](const Record& record) { return record.request < first_; });
    records_ += line.second.size();
    return line.second.empty();
  });
  sweep_at_ = 2 * records_ + 4096;
}

}  // namespace nearfar
