// The disaggregated page table before the first cycle: the homes of leaf tables that are known, and the entries of
// pages that start on a GPU.
#pragma once

#include <vector>

#include "designs/disaggregated_page_table/leaf_tables_of_gpu.h"
#include "designs/disaggregated_page_table/table_registry.h"

namespace nearfar {

struct StartOfLeafTables {
  DptSpec spec;
  HostMmu& mmu;
  TableRegistry& registry;
  std::vector<LeafTablesOfGpu*> gpus;

  /// A process's pages, whose records the host has, on the GPUs [first_gpu, first_gpu + count).
  void add_process(Pid pid, std::uint64_t first_page, std::uint64_t pages, unsigned first_gpu, unsigned count);

 private:
  void set_home(PageKey page, TableHomes::Place place);
};

}  // namespace nearfar
