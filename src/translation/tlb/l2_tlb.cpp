#include "translation/tlb/l2_tlb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "sim/error.h"

namespace nearfar {

void L2TlbStats::describe(StatVisitor& visitor) {
  visitor.counter("lookups", "lookups", "Requests of L1 TLBs that were looked up in the L2 TLB.", lookups);
  visitor.counter("hits", "lookups", "L2 TLB lookups that found a mapping with the permission they needed.", hits);
  visitor.counter("misses", "lookups",
                  "L2 TLB lookups that found no mapping with the permission they needed, including those that merged "
                  "with a pending miss.",
                  misses);
  visitor.counter("merges", "lookups", "L2 TLB misses that merged with a pending miss of their page.", merges);
  visitor.counter("evictions", "pages", "Mappings that the L2 TLB replaced by others.", evictions);
  visitor.counter("permission_misses", "lookups", "L2 TLB lookups of stores that found a read-only mapping.",
                  permission_misses);
  visitor.counter("stale_results", "walks",
                  "Page walks whose result the L2 TLB dropped since the page had been invalidated meanwhile.",
                  stale_results);
  visitor.counter("port_wait_cycles", "cycles", "Time that lookups waited for the L2 TLB's port, summed over lookups.",
                  port_wait_cycles);
  visitor.counter("blocked_lookups", "lookups", "Lookups that waited since all MSHRs of the L2 TLB were in use.",
                  blocked_lookups);
}

void TlbPrefetchStats::describe(StatVisitor& visitor) {
  visitor.counter("issued", "pages",
                  "Prefetches of the L2 TLB: pages whose translation it requested before they were accessed.", issued);
  visitor.counter("useful", "pages", "Prefetched pages that the L2 TLB held when they were first requested.", useful);
  visitor.counter("late", "pages",
                  "Prefetched pages whose translation was on its way to the L2 TLB when they were first requested.",
                  late);
  visitor.counter("unused", "pages", "Prefetched pages that left the L2 TLB before they were requested.", unused);
  visitor.counter("unmapped", "pages", "Prefetches of pages without a mapping, or that the IOMMU dropped.", unmapped);
  visitor.counter(
      "dropped", "pages",
      "Prefetches that the L2 TLB did not issue since it had no free MSHR, or the walk no place in the queue.",
      dropped);
  visitor.counter("redundant", "pages",
                  "Prefetches that the L2 TLB did not issue since it held the page or waited for it already.",
                  redundant);
}

L2Tlb::L2Tlb(Partition& partition, const TlbSpec& spec, TranslationClient& client)
    : partition_(partition),
      spec_(spec),
      client_(client),
      tlb_(spec),
      port_(spec.lookups_per_cycle),
      mshrs_(spec.mshrs),
      lookup_handler_(partition.add_handler<&L2Tlb::on_lookup>(this)),
      second_handler_(partition.add_handler<&L2Tlb::on_second_lookup>(this)),
      ledger_(partition, partition.device()) {
  if (sub_entry_use() != nullptr) tlb_.set_eviction_observer(sub_entry_use_);
}

void L2Tlb::request(unsigned cu, PageKey page, bool write, Cycle arrival) {
  auto* lookup = partition_.pool().allocate<Lookup>();
  lookup->page = page;
  lookup->cu = static_cast<std::uint16_t>(cu);
  lookup->write = write;
  const Cycle start = port_.take(arrival);
  stats_.port_wait_cycles += start - arrival;
  partition_.schedule(lookup, lookup_handler_, start + spec_.latency);
}

void L2Tlb::on_lookup(Lookup* lookup) {
  if (blocked_.empty() && look_up(*lookup)) {
    partition_.pool().release(lookup);
    return;
  }
  ++stats_.blocked_lookups;
  blocked_.push(lookup);
}

/// False where a register is needed and none is free.
bool L2Tlb::look_up(const Lookup& lookup) {
  look_at_contents();
  const PageKey page = lookup.page;
  const bool write = lookup.write;
  const Mapping* held = tlb_.use(page);
  if (held != nullptr && (held->writable || !write)) {
    ++stats_.lookups;
    ++stats_.hits;
    client_.translated(lookup.cu, page, *held);
    if (prefetcher_ != nullptr && unused_.erase(page.value) != 0) {
      ++prefetch_stats_.useful;
      ask_prefetcher(&TlbPrefetcher::on_use, page);
    }
    return true;
  }
  Mshrs::Entry* entry = mshrs_.find(page);
  if (entry == nullptr && mshrs_.full()) return false;
  ++stats_.lookups;
  ++stats_.misses;
  if (held != nullptr) ++stats_.permission_misses;
  const Cycle now = partition_.now();
  if (entry != nullptr) {
    merge(entry->payload, lookup.cu, write);
    return true;
  }
  if (spec_.sub_entries != 1 && tlb_.holds_range(page)) sub_entry_use_.note_sub_miss();
  Miss& miss = mshrs_.allocate(page).payload;
  miss.page = page;
  miss.since = miss.time.stamp = now;
  miss.write = write;
  miss.targets.add(lookup.cu);
  handler_->missed(page, miss);
  if (prefetcher_ != nullptr) ask_prefetcher(&TlbPrefetcher::on_miss, page);
  return true;
}

/// A request joins a pending miss.
void L2Tlb::merge(Miss& miss, unsigned cu, bool write) {
  const Cycle now = partition_.now();
  ++stats_.merges;
  miss.targets.add(static_cast<std::uint16_t>(cu));
  miss.write = miss.write || write;
  if (!miss.prefetch) {
    ++miss.merged;
    miss.merged_since += now;
    return;
  }
  // It is a miss like any other from now on, and measured from now on.
  miss.prefetch = false;
  miss.since = miss.time.stamp = now;
  --prefetching_;
  ++prefetch_stats_.late;
  ask_prefetcher(&TlbPrefetcher::on_use, PageKey{miss.page});
}

// ----------------------------------------------------------------------------------------------------------- prefetch

void L2Tlb::ask_prefetcher(void (TlbPrefetcher::*event)(PageKey, PrefetchPages&), PageKey page) {
  PrefetchPages wanted;
  (prefetcher_->*event)(page, wanted);
  for (const PageKey each : wanted.pages()) prefetch(each);
}

void L2Tlb::prefetch(PageKey page) {
  if (tlb_.peek(page) != nullptr || mshrs_.find(page) != nullptr) {
    ++prefetch_stats_.redundant;
    return;
  }
  // A request that waits for an MSHR goes before.
  const bool mshr = blocked_.empty() && !mshrs_.full() && prefetching_ < spec_.mshrs / 2;
  if (!mshr || !handler_->has_prefetch_room()) {
    ++prefetch_stats_.dropped;
    return;
  }
  ++prefetch_stats_.issued;
  ++prefetching_;
  Miss& miss = mshrs_.allocate(page).payload;
  miss.page = page;
  miss.since = miss.time.stamp = partition_.now();
  miss.prefetch = miss.ahead = miss.unmeasured = true;
  handler_->missed(page, miss);
}

bool L2Tlb::drop_prefetch(PageKey page) {
  Mshrs::Entry& entry = *mshrs_.find(page);
  if (!entry.payload.prefetch) return false;
  ++prefetch_stats_.unmapped;
  --prefetching_;
  mshrs_.release(entry);
  unblock();
  return true;
}

// ------------------------------------------------------------------------------------------------------------ answers

void L2Tlb::charge(Miss& miss, LatencyComponent part, Cycle until) {
  if (miss.ahead) {
    // What passed before anyone asked for the page is nobody's time.
    if (miss.prefetch) miss.time.stamp = std::max(miss.time.stamp, until);
    if (until <= miss.time.stamp) return;
  }
  ledger_.charge(miss.time, partition_.device(), miss.page, miss.replayed ? LatencyComponent::Replay : part, until);
}

void L2Tlb::fill(PageKey page, const Mapping& mapping, std::uint32_t note) {
  look_at_contents();
  const std::optional<Tlb::Entry> victim = tlb_.insert(page, mapping, note);
  if (!victim) return;
  note_gone(victim->page);
  ++stats_.evictions;
  if (victims_ != nullptr) victims_->evicted(*victim);
}

/// A miss that someone waits for is answered: its time is complete.
void L2Tlb::measure(PageKey page, const Miss& miss) {
  const Cycle now = partition_.now();
  const Cycle latency = now - miss.since;
  if (miss.time.accounted != latency || miss.time.stamp != now) {
    throw SimulationError(fmt::format("page {:#x}: {} cycles of an L2 TLB miss of {} cycles have been put to a part",
                                      page.number(), miss.time.accounted, latency));
  }
  MissStats& sums = miss_stats();
  ++sums.count;
  sums.latency += latency;
  sums.histogram.add(latency);
  sums.merged_latency += miss.merged * now - miss.merged_since;
  if (Timeline* timeline = partition_.timeline()) {
    timeline->note(
        {TimelineEvent::Kind::Request, partition_.device().value, 0, "L2 TLB miss", miss.since, now, page.value, 1},
        page.number());
  }
}

void L2Tlb::answer(PageKey page, const Mapping& mapping) {
  Mshrs::Entry& entry = *mshrs_.find(page);
  Miss& miss = entry.payload;
  const bool prefetched = miss.prefetch;
  if (!prefetched) measure(page, miss);
  fill(page, mapping);
  if (prefetched) {
    --prefetching_;
    unused_.insert(page.value);
  }
  partition_.progress().steps += 1;
  const Targets targets = std::move(miss.targets);
  mshrs_.release(entry);
  targets.for_each([&](std::uint16_t cu) { client_.translated(cu, page, mapping); });
  handler_->answered(page);
  if (prefetcher_ != nullptr && !prefetched) ask_prefetcher(&TlbPrefetcher::on_fill, page);
  unblock();
}

/// Lookups that waited for a register go on, in order.
void L2Tlb::unblock() {
  if (unblocking_) return;
  unblocking_ = true;
  while (!blocked_.empty() && look_up(*blocked_.front())) partition_.pool().release(blocked_.pop());
  unblocking_ = false;
}

void L2Tlb::look_up_again(PageKey page) {
  pending(page)->state = MissState::Lookup;
  auto* lookup = partition_.pool().allocate<PageEvent>();
  lookup->page = page;
  partition_.schedule(lookup, second_handler_, partition_.now() + spec_.latency);
}

void L2Tlb::on_second_lookup(PageEvent* lookup) {
  const PageKey page = lookup->page;
  partition_.pool().release(lookup);
  Miss& miss = *pending(page);
  charge(miss, LatencyComponent::GmmuQueue);
  const Mapping* held = tlb_.use(page);
  if (held != nullptr && (held->writable || !miss.write)) {
    answer(page, Mapping{*held});
    return;
  }
  handler_->missed(page, miss);
}

bool L2Tlb::shoot_down(PageKey page) {
  look_at_contents();
  note_gone(page);
  return tlb_.erase(page);
}

/// The contents change only here, so what is held now was held at every instant since the last change.
void L2Tlb::look_at_contents() {
  while (next_snapshot_ < partition_.now()) {
    Snapshot snapshot{next_snapshot_, {}};
    tlb_.for_each([&](const Tlb::Entry& entry) { snapshot.pages.push_back(entry.page); });
    snapshots_.push_back(std::move(snapshot));
    next_snapshot_ += snapshot_every_;
  }
}

std::string L2Tlb::describe_waiting() {
  if (idle()) return {};
  Cycle oldest = kNever;
  PageKey page;
  mshrs_.for_each([&](Mshrs::Entry& entry) {
    if (entry.payload.since >= oldest) return;
    oldest = entry.payload.since;
    page = entry.line;
  });
  static constexpr const char* kStates[] = {
      "a walk", "an invalidation", "the host", "its table entry", "its second lookup", "the IOMMU", "its leaf table"};
  const Miss* miss = pending(page);
  return fmt::format("  L2 TLB: {} misses pending (page {:#x} waits for {} since cycle {}), {} lookups blocked\n",
                     mshrs_.used(), page.number(),
                     miss == nullptr ? "nothing" : kStates[static_cast<unsigned>(miss->state)], oldest,
                     blocked_.size());
}

}  // namespace nearfar
