// Sequential prefetching into the L2 TLB: a miss of a page fetches the translations of the next `degree` pages too, and
// the first use of one that was fetched ahead fetches one more (tagged prefetching, A. J. Smith, "Cache Memories",
// 1982, with pages in place of lines).
#pragma once

#include <cstdint>

#include "translation/design_component.h"
#include "translation/tlb/l2_tlb.h"

namespace nearfar {

class Section;

struct NextPageSpec {
  std::uint32_t degree = 1;
  bool tagged = true;

  void describe(Section& section);
};

class NextPage final : public DesignComponent, public TlbPrefetcher {
 public:
  NextPage(L2Tlb& tlb, const NextPageSpec& spec) : tlb_(tlb), spec_(spec) { tlb.set_prefetcher(*this); }

  const char* name() const override { return "next_page"; }
  void describe(StatVisitor& visitor) override { tlb_.prefetch_stats().describe(visitor); }

  void on_miss(PageKey page, PrefetchPages& out) override;
  void on_use(PageKey page, PrefetchPages& out) override;

 private:
  L2Tlb& tlb_;
  NextPageSpec spec_;
};

}  // namespace nearfar
