#include "translation/iommu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace nearfar {

void IommuStats::describe(StatVisitor& visitor) {
  visitor.counter("tlb.lookups", "lookups", "Requests of GPUs looked up.", lookups);
  visitor.counter("tlb.hits", "lookups", "Lookups that found the page.", hits);
  visitor.counter("tlb.l1_hits", "lookups", "Hits in the first of two levels.", l1_hits);
  visitor.counter("tlb.misses", "lookups", "Lookups that did not, joined ones included.", misses);
  visitor.counter("tlb.evictions", "pages", "Mappings replaced by others.", evictions);
  visitor.counter("merges", "lookups", "Misses that joined a walk that was pending.", merges);
  visitor.counter("input_wait_cycles", "cycles", "Time that requests waited for the TLB's port, summed.",
                  input_wait_cycles);
  visitor.counter("tlb.reuse_first", "lookups", "Requests for a page that was asked for the first time.", reuse_first);
  visitor.histogram("tlb.reuse_distance", "pages",
                    "Different pages asked for between two requests of one page, over powers of two.", reuse_distance);
}

// -------------------------------------------------------------------------------------------------- reuse distances

std::uint64_t ReuseMeter::note(PageKey page) {
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  return distance_.touch(numbers_.try_emplace(page.value, next).first->second);
}

// ------------------------------------------------------------------------------------------------------------- IOMMU

Iommu::Iommu(Partition& partition, const IommuSpec& spec, const WalkSpec& walk, const PageTableSpec& table,
             bool two_levels, IommuClient& client, WalkMemory* memory)
    : partition_(partition),
      spec_(spec),
      two_levels_(two_levels),
      client_(client),
      first_(spec.l1_tlb.entries, spec.l1_tlb.ways),
      tlb_(spec.tlb.entries, spec.tlb.ways),
      port_(spec.tlb.lookups_per_cycle),
      walkers_(partition, spec, walk, table.upper, *this, memory),
      lookup_handler_(partition.add_handler<&Iommu::on_lookup>(this)) {}

void Iommu::set_table(Pid pid, std::unique_ptr<PageTable> table) {
  if (tables_.size() <= pid) tables_.resize(pid + std::size_t{1});
  tables_[pid] = std::move(table);
}

void Iommu::request(DeviceId gpu, PageKey page, std::uint32_t accounted) {
  const Cycle now = partition_.now();
  Transaction* t = partition_.pool().take();
  t->mask = page.value;
  t->requester = gpu.value;
  t->accounted = accounted;
  const Cycle start = port_.take(now);
  stats_.input_wait_cycles += start - now;
  t->line = PhysLine{now};  // when it came
  Cycle latency = spec_.tlb.latency;
  if (two_levels_) {
    // Hits of the first level are answered early, those of the second after both.
    latency = spec_.l1_tlb.latency + (first_.peek(page) != nullptr ? 0 : spec_.tlb.latency);
  }
  partition_.schedule(t, lookup_handler_, start + latency);
}

void Iommu::on_lookup(Transaction* t) {
  if (input_.empty() && look_up(*t)) {
    partition_.pool().give(t);
    return;
  }
  input_.push(t);
}

/// False where the walkers' queue is full and a request may not wait outside it.
bool Iommu::look_up(const Transaction& t) {
  look_at_contents();
  const PageKey page{t.mask};
  const Cycle now = partition_.now();
  const Mapping* held = two_levels_ ? first_.use(page) : nullptr;
  const bool in_first = held != nullptr;
  if (held == nullptr) held = tlb_.use(page);
  Pending* pending = nullptr;
  if (held == nullptr) {
    const auto found = pending_.find(page.value);
    if (found != pending_.end()) pending = &found->second;
    if (pending == nullptr && two_levels_ && walkers_.full()) return false;
  }
  Waiter waiter{DeviceId{t.requester}, t.accounted, now};
  const auto looked = static_cast<std::uint32_t>(now - t.line.value);
  parts_.add(MissPart::IommuTlb, looked);
  waiter.accounted += looked;
  ++stats_.lookups;
  if (observed_) note_reuse(page);
  if (held != nullptr) {
    ++stats_.hits;
    if (in_first) ++stats_.l1_hits;
    const Mapping mapping = *held;
    if (two_levels_ && !in_first) first_.insert(page, mapping);
    respond(page, mapping, waiter);
    return true;
  }
  ++stats_.misses;
  if (pending != nullptr) {
    ++stats_.merges;
    pending->waiters.push_back(waiter);
    return true;
  }
  pending_[page.value].waiters.push_back(waiter);
  walkers_.submit(walkers_.make(WalkKind::Demand, page), WalkSource::Demand);
  return true;
}

void Iommu::note_reuse(PageKey page) {
  const std::uint64_t distance = reuse_.note(page);
  if (distance == ReuseMeter::kFirst) {
    ++stats_.reuse_first;
  } else {
    stats_.reuse_distance.add(distance);
  }
}

void Iommu::walked(Walk& walk) {
  look_at_contents();
  const Cycle now = partition_.now();
  const Pte entry = tables_[walk.page.pid()]->read(walk.page.number());
  const Mapping mapping{entry.page(), entry.writable(), 0};
  if (tlb_.insert(walk.page, mapping)) ++stats_.evictions;
  if (two_levels_) first_.insert(walk.page, mapping);
  const auto found = pending_.find(walk.page.value);
  const std::vector<Waiter> waiters = std::move(found->second.waiters);
  pending_.erase(found);
  for (Waiter waiter : waiters) {
    // Who joined late has waited for a walk that others began.
    const Cycle walk_from = std::max(walk.started, waiter.stamp);
    parts_.add(MissPart::IommuQueue, walk_from - waiter.stamp);
    parts_.add(MissPart::IommuWalk, now - walk_from);
    waiter.accounted += static_cast<std::uint32_t>(now - waiter.stamp);
    respond(walk.page, mapping, waiter);
  }
  partition_.progress().steps += 1;
}

void Iommu::queue_has_room() {
  if (taking_input_) return;  // each request that is let in may make room for the next
  taking_input_ = true;
  while (!input_.empty() && look_up(*input_.front())) partition_.pool().give(input_.pop());
  taking_input_ = false;
}

void Iommu::respond(PageKey page, const Mapping& mapping, const Waiter& waiter) {
  client_.iommu_answers(waiter.gpu, page, mapping, waiter.accounted);
}

void Iommu::look_at_contents() {
  while (next_snapshot_ < partition_.now()) {
    L2Tlb::Snapshot snapshot{next_snapshot_, {}};
    tlb_.for_each([&](const Tlb::Entry& entry) { snapshot.pages.push_back(entry.page); });
    snapshots_.push_back(std::move(snapshot));
    next_snapshot_ += snapshot_every_;
  }
}

std::string Iommu::describe_waiting() const {
  std::string text = walkers_.describe_waiting("IOMMU");
  if (!pending_.empty()) text += fmt::format("  IOMMU: {} pages wait for a walk\n", pending_.size());
  return text;
}

}  // namespace nearfar
