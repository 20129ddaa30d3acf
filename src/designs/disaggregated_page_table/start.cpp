#include "designs/disaggregated_page_table/start.h"

#include "designs/metro_hash.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kHomeSeed = 0x445054;

}  // namespace

void StartOfLeafTables::set_home(PageKey page, TableHomes::Place place) {
  registry.homes().of(page) = place;
  for (LeafTablesOfGpu* gpu : gpus) gpu->homes().of(page) = place;
  if (place.home < gpus.size()) gpus[place.home]->start_table(page);
}

void StartOfLeafTables::add_process(Pid pid, std::uint64_t first_page, std::uint64_t pages, unsigned first_gpu,
                                    unsigned count) {
  registry.homes().add_process(pid, first_page, pages, first_gpu, count);
  for (LeafTablesOfGpu* gpu : gpus) gpu->homes().add_process(pid, first_page, pages, first_gpu, count);
  // GPUs with a page of their own under one leaf table each have a table of their own, as in the baseline.
  const auto record = [&](std::uint64_t number) -> const PageRecord& { return mmu.driver().new_record({pid, number}); };
  for (std::uint64_t n = first_page; n < first_page + pages; ++n) {
    if (record(n).exists && record(n).pinned) set_home({pid, n}, {TableHomes::kReplicated, 0});
  }
  for (std::uint64_t n = first_page; n < first_page + pages; ++n) {
    const PageKey page{pid, n};
    const TableHomes::Place place = registry.homes().of(page);
    if (!record(n).exists || place.home == TableHomes::kReplicated) continue;
    const PhysPage owner = record(n).owner;
    const bool mapped = owner.device().value < gpus.size();
    if (place.home == TableHomes::kNone && spec.home == TableHome::Hash) {
      const std::uint64_t hash = metro_hash(TableHomes::first_of(page).value, kHomeSeed);
      set_home(page, {static_cast<std::uint16_t>(first_gpu + hash % count), 1});
    } else if (place.home == TableHomes::kNone && mapped) {
      set_home(page, {owner.device().value, 1});
    }
    if (mapped) {
      gpus[registry.homes().of(page).home]->write_at_start(page, {owner, true, record(n).epoch}, owner.device());
    }
  }
}

}  // namespace nearfar
