// What the sub-entries of a TLB's entries were used for: how many of them were filled when an entry left.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stats/stat.h"
#include "translation/tlb/tlb.h"

namespace nearfar {

/// Entries that left, by how many of their sub-entries were filled.
struct SubEntryCounts {
  std::array<std::uint64_t, Tlb::kMostSubEntries> evicted_with{};

  /// Names end in `suffix`: nothing for the sum over all processes, .pid<p> for one.
  void describe(StatVisitor& visitor, const std::string& suffix);
};

class SubEntryUse final : public TlbEvictionObserver {
 public:
  /// Counts for each process too, where there are several.
  void set_processes(std::size_t count) { by_process_.resize(count > 1 ? count : 0); }

  /// A page was not held, but its range was.
  void note_sub_miss() { ++sub_misses_; }
  void evicted(std::span<const TlbEntry> pages) override;
  void displaced(PageKey) override { ++displaced_; }

  void describe(StatVisitor& visitor);

 private:
  SubEntryCounts all_;
  std::vector<SubEntryCounts> by_process_;
  std::uint64_t sub_misses_ = 0;
  std::uint64_t displaced_ = 0;
};

}  // namespace nearfar
