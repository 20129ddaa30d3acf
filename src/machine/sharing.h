// What GPUs share: pages that several of them touch, and translations that several of their TLBs hold. Put together
// after a run from what each device noted for itself.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stats/stat.h"
#include "translation/page_touches.h"
#include "translation/tlb/l2_tlb.h"

namespace nearfar {

struct SharingStats {
  static constexpr std::size_t kMost = 16;  ///< pages of more GPUs count as of this many

  std::array<std::uint64_t, kMost> pages{};        ///< by number of GPUs - 1
  std::array<std::uint64_t, kMost> accesses{};     ///< the same, each page by its line accesses
  std::array<std::uint64_t, kMost> leaf_tables{};  ///< page-table pages of the lowest level, the same
  std::uint64_t leaf_tables_without_shared_page = 0;
  std::uint64_t leaf_tables_replicated = 0;  ///< summed over the GPUs that need a copy
  std::uint64_t reads_to_shared = 0;
  std::uint64_t writes_to_shared = 0;
  /// Pages at one instant, or summed over several.
  struct Held {
    std::uint64_t in_one_l2 = 0;
    std::uint64_t in_several_l2 = 0;
    std::uint64_t in_l2_and_iommu = 0;
    std::uint64_t total = 0;  ///< different ones, in any TLB
  };
  Held held;
  std::uint64_t snapshots = 0;
  std::vector<Held> instants;

  /// The touches of all GPUs of one application.
  void add_touches(const std::vector<const PageTouches*>& gpus);
  /// What the TLBs held at the same instants; `iommu` may be missing.
  void add_snapshots(const std::vector<const std::vector<L2Tlb::Snapshot>*>& l2_tlbs,
                     const std::vector<L2Tlb::Snapshot>* iommu);
  void describe(StatVisitor& visitor);

 private:
  /// What GPUs touched of the pages of one leaf table.
  struct LeafTable {
    std::vector<bool> users;  ///< by GPU
    bool has_shared_page = false;
  };
  void add(const LeafTable& table);
};

}  // namespace nearfar
