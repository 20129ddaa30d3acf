// The page tables of a GPU, and all who must know of what is written into them: the tracker of page accesses, the
// oracle, and a design's observer.
#pragma once

#include <memory>
#include <vector>

#include "translation/gmmu/gmmu_stats.h"
#include "translation/gmmu/page_access_tracker.h"
#include "translation/page.h"
#include "translation/translation_oracle.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk_filter.h"

namespace nearfar {

class LocalTables {
 public:
  LocalTables(DeviceId gpu, PageSize size, PageAccessTracker& tracker, GmmuStats& stats, TranslationOracle* oracle)
      : gpu_(gpu), size_(size), tracker_(tracker), stats_(stats), oracle_(oracle) {}

  void set(Pid pid, std::unique_ptr<PageTable> table);
  void set_observer(PteObserver& observer) { observer_ = &observer; }
  PageTable& of(Pid pid) const { return *tables_[pid]; }
  Pte read(PageKey page) const { return of(page.pid()).read(page.number()); }
  void write(PageKey page, Pte entry) { of(page.pid()).write(page.number(), entry); }

  /// A mapping may be used from now on. The observer knows of it.
  void grant(PageKey page, const Mapping& mapping);
  /// The same for a mapping that it does not know of.
  void map(PageKey page, const Mapping& mapping) {
    announce(page);
    grant(page, mapping);
  }
  /// Writes a mapping that is void already, for an entry that is hidden.
  void write_void(PageKey page, const Mapping& mapping) { write(page, Pte::leaf(mapping, size_.bits != 0)); }
  /// Makes an entry invalid, and counts whether that was necessary.
  void invalidate(PageKey page);
  void make_read_only(PageKey page);
  void count_necessary(PageKey page) { ++(read(page).valid() ? stats_.necessary : stats_.unnecessary); }

  /// The observer hears of a new mapping before the entry says so, that it may never be behind it. False: it has
  /// nothing to hear.
  bool announce(PageKey page);
  /// The mapping that was announced will not be written.
  void take_back(PageKey page) { observer_->unmapped(page); }

 private:
  DeviceId gpu_;
  PageSize size_;
  PageAccessTracker& tracker_;
  GmmuStats& stats_;
  TranslationOracle* oracle_;
  PteObserver* observer_ = nullptr;
  std::vector<std::unique_ptr<PageTable>> tables_;  ///< by process
};

}  // namespace nearfar
