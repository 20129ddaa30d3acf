// The tree prefetcher of the UVM driver: pages of the host that follow one which a fault brings to a GPU.
//
// A block of 2 MiB is a binary tree over its pieces of 64 KiB. The faulting page's piece comes whole; and so does the
// largest region above it, up to the block, of which the GPU has more than a threshold, counting what is on its way.
#pragma once

#include <cstdint>
#include <vector>

#include "stats/stat.h"
#include "translation/uvm/host_tables.h"
#include "translation/uvm/migration.h"
#include "translation/uvm/records.h"

namespace nearfar {

struct PrefetchStats {
  std::uint64_t pages = 0;

  void describe(StatVisitor& visitor);
};

class TreePrefetcher {
 public:
  TreePrefetcher(const UvmOptions& options, PageRecords& records, const Migrations& migrations);

  /// The pages that follow `page`, which is on its way to `gpu`, in order.
  std::vector<PageKey> behind(PageKey page, DeviceId gpu);

  PrefetchStats& stats() { return stats_; }

 private:
  bool is_on(const PageRecord& record, PageKey page, DeviceId gpu) const;
  bool may_come(const PageRecord& record) const;

  DeviceId host_;
  std::uint32_t threshold_;
  std::uint64_t piece_;  ///< pages in 64 KiB, at least one
  std::uint64_t block_;  ///< pages in 2 MiB, at least one
  PageRecords& records_;
  const Migrations& migrations_;
  PrefetchStats stats_;
};

}  // namespace nearfar
