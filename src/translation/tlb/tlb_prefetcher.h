// The seam "L2 TLB prefetch": which pages a GPU translates before anyone asks for them. The baseline has none.
//
// The L2 TLB asks when a request misses, when a mapping that was asked for is filled, and when a mapping that was
// fetched ahead is used for the first time. The answer is a few pages. Those that are held or pending already are
// passed over. A page is dropped where half of the MSHRs wait for pages that nobody has asked for, where no MSHR is
// free or requests wait for one, and where the walkers below have no free place in their queue. One that has its place
// waits for its turn like any miss; what finds no mapping is forgotten: nothing is moved, and no fault is sent. A
// request that comes meanwhile joins it, and is measured from then on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/stat.h"
#include "translation/page.h"

namespace nearfar {

/// Pages to fetch ahead, at most as many as may be asked for at a time; what is too much is left out.
class PrefetchPages {
 public:
  static constexpr std::size_t kMost = 16;

  void add(PageKey page) {
    if (count_ < kMost) pages_[count_++] = page;
  }
  std::span<const PageKey> pages() const { return {pages_.data(), count_}; }

 private:
  std::array<PageKey, kMost> pages_;
  std::size_t count_ = 0;
};

class TlbPrefetcher {
 public:
  virtual ~TlbPrefetcher() = default;

  /// A request has missed, and none of the same page is pending.
  virtual void on_miss(PageKey /*page*/, PrefetchPages& /*out*/) {}
  /// A mapping that a request waits for has come.
  virtual void on_fill(PageKey /*page*/, PrefetchPages& /*out*/) {}
  /// A mapping that was fetched ahead has been asked for: for the first time, or while it was on its way.
  virtual void on_use(PageKey /*page*/, PrefetchPages& /*out*/) {}
};

struct TlbPrefetchStats {
  std::uint64_t issued = 0;
  std::uint64_t useful = 0;
  std::uint64_t late = 0;
  std::uint64_t unused = 0;
  std::uint64_t unmapped = 0;
  std::uint64_t dropped = 0;
  std::uint64_t redundant = 0;

  void describe(StatVisitor& visitor);
};

}  // namespace nearfar
