#include "translation/tlb/sub_entry_use.h"

#include <fmt/format.h>

namespace nearfar {

void SubEntryCounts::describe(StatVisitor& visitor, const std::string& suffix) {
  for (std::size_t n = 1; n <= evicted_with.size(); ++n) {
    const std::string whose = suffix.empty() ? "" : " of one of several processes, over the whole run";
    visitor.counter(
        fmt::format("evicted_with_{}{}", n, suffix), "entries",
        fmt::format("Entries of the TLB that were evicted with {} of their sub-entries in use{}.", n, whose),
        evicted_with[n - 1]);
  }
}

void SubEntryUse::evicted(std::span<const TlbEntry> pages) {
  ++all_.evicted_with[pages.size() - 1];
  // Processes that share an entry have used their own sub-entries of it.
  for (std::size_t p = 0; p < by_process_.size(); ++p) {
    std::size_t used = 0;
    for (const TlbEntry& entry : pages) used += entry.page.pid() == p ? 1U : 0U;
    if (used != 0) ++by_process_[p].evicted_with[used - 1];
  }
}

void SubEntryUse::describe(StatVisitor& visitor) {
  visitor.counter("sub_misses", "lookups",
                  "Lookups of the TLB that began a miss although the entry of the page's range was there, without the "
                  "page's sub-entry.",
                  sub_misses_);
  visitor.counter("displaced", "pages",
                  "Sub-entries of the TLB that a page of one process took from a page of another process.", displaced_);
  all_.describe(visitor, "");
  for (std::size_t p = 0; p < by_process_.size(); ++p) by_process_[p].describe(visitor, fmt::format(".pid{}", p));
}

}  // namespace nearfar
