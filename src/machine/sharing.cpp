#include "machine/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace nearfar {

void SharingStats::add_touches(const std::vector<const PageTouches*>& gpus) {
  std::size_t count = 0;
  for (const PageTouches* touches : gpus) count = std::max(count, touches->pages().size());
  constexpr std::uint64_t kEntries = 512;  // of a leaf table
  LeafTable table{std::vector<bool>(gpus.size()), false};
  for (std::size_t page = 0; page < count; ++page) {
    if (page != 0 && (gpus.front()->first() + page) % kEntries == 0) {
      add(table);
      table = {std::vector<bool>(gpus.size()), false};
    }
    std::size_t by = 0;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      if (page >= gpus[g]->pages().size()) continue;
      const PageTouches::Page& touched = gpus[g]->pages()[page];
      if (touched.reads + touched.writes == 0) continue;
      ++by;
      table.users[g] = true;
      reads += touched.reads;
      writes += touched.writes;
    }
    if (by == 0) continue;
    const std::size_t bin = std::min(by, kMost) - 1;
    ++pages[bin];
    accesses[bin] += reads + writes;
    if (by == 1) continue;
    table.has_shared_page = true;
    reads_to_shared += reads;
    writes_to_shared += writes;
  }
  add(table);
}

void SharingStats::add(const LeafTable& table) {
  const auto by = static_cast<std::size_t>(std::ranges::count(table.users, true));
  if (by == 0) return;
  ++leaf_tables[std::min(by, kMost) - 1];
  leaf_tables_replicated += by;
  leaf_tables_without_shared_page += by > 1 && !table.has_shared_page;
}

void SharingStats::add_snapshots(const std::vector<const std::vector<L2Tlb::Snapshot>*>& l2_tlbs,
                                 const std::vector<L2Tlb::Snapshot>* iommu) {
  // A device takes its snapshots when it next does something: one that has been idle has fewer.
  std::size_t count = ~std::size_t{0};
  for (const auto* tlb : l2_tlbs) count = std::min(count, tlb->size());
  if (iommu != nullptr) count = std::min(count, iommu->size());
  for (std::size_t i = 0; i < count && !l2_tlbs.empty(); ++i) {
    struct Holders {
      unsigned l2_tlbs = 0;
      bool iommu = false;
    };
    std::map<PageKey, Holders> places;
    for (const auto* tlb : l2_tlbs) {
      for (const PageKey page : (*tlb)[i].pages) ++places[page].l2_tlbs;
    }
    if (iommu != nullptr) {
      for (const PageKey page : (*iommu)[i].pages) places[page].iommu = true;
    }
    Held now;
    now.total = places.size();
    for (const auto& [page, place] : places) {
      if (place.l2_tlbs == 1) ++now.in_one_l2;
      if (place.l2_tlbs > 1) ++now.in_several_l2;
      if (place.l2_tlbs != 0 && place.iommu) ++now.in_l2_and_iommu;
    }
    ++snapshots;
    held.in_one_l2 += now.in_one_l2;
    held.in_several_l2 += now.in_several_l2;
    held.in_l2_and_iommu += now.in_l2_and_iommu;
    held.total += now.total;
    instants.push_back(now);
  }
}

void SharingStats::describe(StatVisitor& visitor) {
  for (std::size_t k = 0; k < kMost; ++k) {
    visitor.counter(
        fmt::format("pages.shared_by.{}", k + 1), "pages",
        fmt::format("Pages that exactly {} GPUs touched (in the statistic with the highest number, that many or more).",
                    k + 1),
        pages[k]);
    visitor.counter(fmt::format("accesses.to_pages_shared_by.{}", k + 1), "lines",
                    fmt::format("Line accesses to pages that exactly {} GPUs touched (in the statistic with the "
                                "highest number, that many or more).",
                                k + 1),
                    accesses[k]);
  }
  for (std::size_t k = 0; k < kMost; ++k) {
    visitor.counter(fmt::format("leaf_tables.shared_by.{}", k + 1), "tables",
                    fmt::format("Leaf tables, of 512 page-table entries, of whose pages exactly {} GPUs touched some "
                                "(in the statistic with the highest number, that many or more).",
                                k + 1),
                    leaf_tables[k]);
  }
  visitor.counter(
      "leaf_tables.shared_without_page", "tables",
      "Leaf tables of whose pages several GPUs touched some, although no single page was touched by two GPUs.",
      leaf_tables_without_shared_page);
  visitor.counter("leaf_tables.replicated", "tables",
                  "Leaf tables that GPUs need if each has a copy of those of whose pages it touched some.",
                  leaf_tables_replicated);
  visitor.counter("accesses.reads_to_shared", "lines", "Loads of lines of pages that several GPUs touched.",
                  reads_to_shared);
  visitor.counter("accesses.writes_to_shared", "lines", "Stores to lines of pages that several GPUs touched.",
                  writes_to_shared);
  visitor.counter("tlb.snapshot.count", "snapshots",
                  "Snapshots at which the contents of all L2 TLBs and of the IOMMU TLB were compared.", snapshots);
  visitor.counter("tlb.snapshot.in_one_l2", "pages", "Pages that exactly one L2 TLB held, summed over snapshots.",
                  held.in_one_l2);
  visitor.counter("tlb.snapshot.in_several_l2", "pages", "Pages that several L2 TLBs held, summed over snapshots.",
                  held.in_several_l2);
  visitor.counter("tlb.snapshot.in_l2_and_iommu", "pages",
                  "Pages that an L2 TLB and the IOMMU TLB held at once, summed over snapshots.", held.in_l2_and_iommu);
  visitor.counter("tlb.snapshot.total", "pages",
                  "Different pages that any L2 TLB or the IOMMU TLB held, summed over snapshots.", held.total);
}

}  // namespace nearfar
