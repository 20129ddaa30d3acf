// What a device's replicated upper levels say of leaf tables: which GPU each one's home is. Each device has its own
// copy, which is changed by messages alone; a version says which of two homes is the later one.
#pragma once

#include <cstdint>
#include <vector>

#include "designs/disaggregated_page_table/table_page.h"
#include "translation/page.h"

namespace nearfar {

class TableHomes {
 public:
  static constexpr std::uint16_t kNone = 0xffff;        ///< no page has been mapped in it
  static constexpr std::uint16_t kReplicated = 0xfffe;  ///< each GPU has its own, as in the baseline

  struct Place {
    std::uint16_t home = kNone;
    std::uint16_t version = 0;
  };
  /// A process's pages, and the GPUs it runs on.
  struct Range {
    std::uint64_t first = 0;  ///< leaf table
    unsigned first_gpu = 0;
    unsigned gpus = 0;
    std::vector<Place> places;
  };

  void add_process(Pid pid, std::uint64_t first_page, std::uint64_t pages, unsigned first_gpu, unsigned gpus) {
    if (ranges_.size() <= pid) ranges_.resize(pid + std::size_t{1});
    Range& range = ranges_[pid];
    range = {first_page >> TablePage::kEntryBits, first_gpu, gpus, {}};
    if (pages != 0) range.places.resize(((first_page + pages - 1) >> TablePage::kEntryBits) - range.first + 1);
  }

  Place& of(PageKey page) { return ranges_[page.pid()].places[index(page)]; }
  const Place& of(PageKey page) const { return ranges_[page.pid()].places[index(page)]; }
  const Range& process(Pid pid) const { return ranges_[pid]; }
  /// Whether a leaf table has one home.
  bool is_disaggregated(PageKey page) const { return of(page).home != kReplicated; }

  static PageKey first_of(PageKey page) {
    return {page.pid(), page.number() >> TablePage::kEntryBits << TablePage::kEntryBits};
  }
  static PageRange range_of(PageKey page) { return {first_of(page), TablePage::kEntries}; }
  static bool newer(std::uint16_t a, std::uint16_t b) { return static_cast<std::int16_t>(a - b) > 0; }

 private:
  std::size_t index(PageKey page) const { return (page.number() >> TablePage::kEntryBits) - ranges_[page.pid()].first; }

  std::vector<Range> ranges_;
};

}  // namespace nearfar
