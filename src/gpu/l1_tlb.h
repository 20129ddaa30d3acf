// The L1 TLB of a compute unit: its array, its MSHRs, and the accesses that wait in them for a translation, or behind
// them for their turn.
#pragma once

#include <cstdint>

#include "gpu/page_access.h"
#include "memory/cache/mshr.h"
#include "sim/pool.h"
#include "stats/stat.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/tlb/tlb.h"
#include "translation/translation_spec.h"

namespace nearfar {

struct L1TlbStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t merges = 0;
  std::uint64_t permission_misses = 0;

  void describe(StatVisitor& visitor);
};

class L1Tlb {
 public:
  using Mshrs = MshrFile<ParkedQueue, PageKey>;

  explicit L1Tlb(const TlbSpec& spec)
      : tlb_(spec), port_(spec.lookups_per_cycle), latency_(spec.latency), mshrs_(spec.mshrs) {}

  /// A sufficient mapping, or null. Counts as a lookup.
  const Mapping* look_up(PageKey page, bool write) {
    ++stats_.lookups;
    const Mapping* held = tlb_.use(page);
    if (held != nullptr && (held->writable || !write)) {
      ++stats_.hits;
      return held;
    }
    ++stats_.misses;
    if (held != nullptr) ++stats_.permission_misses;
    return nullptr;
  }
  /// Whether a lookup would find a sufficient mapping. Does not count.
  bool holds(PageKey page, bool write) {
    const Mapping* held = tlb_.peek(page);
    return held != nullptr && (held->writable || !write);
  }
  /// When the result of a lookup that starts now is there.
  Cycle result_at(Cycle now) { return port_.take(now) + latency_; }

  /// Whether a miss of this page finds no MSHR, neither one to merge with nor a free one.
  bool no_mshr(PageKey page) { return mshrs_.full() && mshrs_.find(page) == nullptr; }
  bool mshrs_full() const { return mshrs_.full(); }
  /// Copies an access aside to wait.
  ParkedAccess& park(const PageAccess& access);
  /// A parked access waits for the translation of its page. True where it is the first: then the page has to be
  /// requested.
  bool wait_for_page(PageKey page, ParkedAccess& access);
  /// The translation of a page has come: the mapping is kept, and the answer is who waited for it.
  ParkedQueue fill(PageKey page, const Mapping& mapping);
  /// Those of whom the mapping was not sufficient wait for another.
  void wait_again(PageKey page, const ParkedQueue& waiters) { mshrs_.allocate(page).payload = waiters; }
  void release(ParkedAccess* access) { pool_.release(access); }

  /// Where an older access waits that a younger one of the same wavefront must not pass.
  enum class Older : std::uint8_t { None, Missing, Translated, Again };
  Older find_older(const PageAccess& access, PageKey page);

  /// Parked accesses that have their translation and wait for their turn.
  ParkedQueue& translated() { return translated_; }
  /// Those that have given their translation up, and wait for an MSHR to ask for it again, in order.
  ParkedQueue& again() { return again_; }
  /// Those of which `gives_up` says so no longer have their translation.
  template <class Decide>
  void translate_again(Decide gives_up);
  void invalidate(PageKey page) { tlb_.erase(page); }
  L1TlbStats& stats() { return stats_; }
  std::uint64_t parked() const { return pool_.live(); }

 private:
  Tlb tlb_;
  LookupPort port_;
  Cycle latency_;
  Mshrs mshrs_;
  ParkedQueue translated_;
  ParkedQueue again_;
  Pool<ParkedAccess, 16> pool_;
  L1TlbStats stats_;
};

template <class Decide>
void L1Tlb::translate_again(Decide gives_up) {
  ParkedAccess* before = nullptr;
  for (ParkedAccess* access = translated_.front(); access != nullptr;) {
    ParkedAccess* following = ParkedQueue::behind(access);
    if (gives_up(*access)) {
      translated_.remove(access, before);
      again_.push(access);
    } else {
      before = access;
    }
    access = following;
  }
}

}  // namespace nearfar
