#include "designs/trans_fw/pending_request_table.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace nearfar {

void PrtStats::describe(StatVisitor& visitor) {
  visitor.counter("lookups", "lookups", "L2 TLB misses looked up in the Pending Request Table.", lookups);
  visitor.counter("positives", "lookups",
                  "Lookups of the Pending Request Table that found the page, rightly or not, and led to a page walk.",
                  positives);
  visitor.counter(
      "short_circuits", "lookups",
      "Lookups of the Pending Request Table that did not find the page and led to a far fault without a page walk.",
      short_circuits);
  visitor.counter(
      "false_positives", "lookups",
      "Lookups that the Pending Request Table answered positively for pages without a valid page-table entry.",
      false_positives);
  visitor.counter("false_negatives", "lookups",
                  "Lookups that the Pending Request Table answered negatively for pages with a valid page-table entry.",
                  false_negatives);
  visitor.counter("saturated_lookups", "lookups",
                  "Lookups that the Pending Request Table answered positively by an overflow counter alone.",
                  saturated_lookups);
  visitor.counter("inserts", "items", "Pages, or regions of pages, that were inserted into the Pending Request Table.",
                  inserts);
  visitor.counter("deletes", "items", "Pages, or regions of pages, that were deleted from the Pending Request Table.",
                  deletes);
  visitor.counter("overflows", "items",
                  "Insertions into the Pending Request Table that left a fingerprint without a free slot.", overflows);
}

PendingRequestTable::PendingRequestTable(Gmmu& gmmu, const PrtSpec& spec, CuckooFilter::Hash hash)
    : gmmu_(gmmu), spec_(spec), filter_(spec.filter, hash) {}

bool PendingRequestTable::admits(PageKey page) {
  const CuckooFilter::Match match = filter_.look_up(key_of(page));
  const bool valid = gmmu_.table(page.pid()).read(page.number()).valid();
  ++stats_.lookups;
  if (match == CuckooFilter::Match::None) {
    ++stats_.short_circuits;
    if (!valid) return false;
    ++stats_.false_negatives;
    if (spec_.filter.overflow != FilterOverflow::Drop) {
      throw SimulationError(fmt::format("the Pending Request Table of GPU {} missed page {:#x}, which is mapped",
                                        gmmu_.partition().device().value, page.number()));
    }
    return false;
  }
  ++stats_.positives;
  if (match == CuckooFilter::Match::Counter) ++stats_.saturated_lookups;
  if (!valid) ++stats_.false_positives;
  return true;
}

void PendingRequestTable::maps(PageKey page) {
  const std::uint64_t key = key_of(page);
  if (spec_.region_pages > 1 && ++valid_in_[key] > 1) return;
  ++stats_.inserts;
  ++items_;
  if (!filter_.insert(key)) ++stats_.overflows;
  check_count();
}

void PendingRequestTable::unmapped(PageKey page) {
  const std::uint64_t key = key_of(page);
  if (spec_.region_pages > 1) {
    const auto found = valid_in_.find(key);
    if (--found->second != 0) return;
    valid_in_.erase(found);
  }
  ++stats_.deletes;
  --items_;
  filter_.erase(key);
  check_count();
}

/// What is stored and what is counted make up the items, unless a counter has come to its end.
void PendingRequestTable::check_count() const {
  if (spec_.filter.overflow == FilterOverflow::Drop || filter_.stuck() != 0) return;
  if (filter_.stored() + filter_.counted() == items_) return;
  throw SimulationError(
      fmt::format("the Pending Request Table of GPU {} holds {} fingerprints and counts {} for {} items",
                  gmmu_.partition().device().value, filter_.stored(), filter_.counted(), items_));
}

}  // namespace nearfar
