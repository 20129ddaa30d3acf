#include "translation/iommu/iommu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace nearfar {

void IommuProcessStats::describe(StatVisitor& visitor, const std::string& suffix, bool l3) {
  const std::string whose = suffix.empty() ? "." : ", for one of several processes over the whole run.";
  const std::string at = l3 ? "l3_tlb." : "tlb.";
  const std::string tlb = l3 ? "L3 TLB" : "IOMMU TLB";
  visitor.counter(at + "lookups" + suffix, "lookups",
                  fmt::format("Requests of GPUs that were looked up in the {}{}", tlb, whose), lookups);
  visitor.counter(at + "hits" + suffix, "lookups", fmt::format("{} lookups that found the page{}", tlb, whose), hits);
  visitor.counter(
      at + "misses" + suffix, "lookups",
      fmt::format("{} lookups that did not find the page, including those that merged with a pending translation{}",
                  tlb, whose),
      misses);
  visitor.counter(at + "evictions" + suffix, l3 ? "entries" : "pages",
                  fmt::format("{} that the {} evicted in favour of others{}", l3 ? "Entries" : "Mappings", tlb, whose),
                  evictions);
  visitor.counter(at + "reuse_first" + suffix, "lookups",
                  fmt::format("Requests to the {} for a page that had not been requested before{}", tlb, whose),
                  reuse_first);
  visitor.histogram(at + "reuse_distance" + suffix, "pages",
                    fmt::format("Different pages{} that the {} was asked for between two requests for one page{}",
                                suffix.empty() ? "" : " of the process", tlb, whose),
                    reuse_distance);
}

void IommuStats::describe(StatVisitor& visitor) {
  const char* who = l3 ? "L3 TLB" : "IOMMU";
  const char* tlb = l3 ? "L3 TLB" : "IOMMU TLB";
  all.describe(visitor, "", l3);
  for (std::size_t p = 0; p < by_process.size(); ++p) by_process[p].describe(visitor, fmt::format(".pid{}", p), l3);
  if (!l3) {
    visitor.counter("tlb.l1_hits", "lookups", "IOMMU TLB lookups that hit in the first of its two levels.", l1_hits);
  }
  visitor.counter("merges", "lookups",
                  fmt::format("{} misses that merged with a pending translation of their page.", tlb), merges);
  visitor.counter(
      "duplicates", "answers",
      fmt::format("Translations that the {} dropped since another answer for their page had come first.", who),
      duplicates);
  visitor.counter("faults", "answers",
                  fmt::format("Requests that the {} answered with a fault since the page table had no mapping.", who),
                  faults);
  visitor.counter("pending_waits", "lookups",
                  fmt::format("{} lookups that waited since the table of pending translations was full.", tlb),
                  pending_waits);
  visitor.counter("input_wait_cycles", "cycles",
                  fmt::format("Time that requests waited for the port of the {}, summed over requests.", tlb),
                  input_wait_cycles);
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
      first_(spec.l1_tlb),
      tlb_(spec.tlb),
      port_(spec.tlb.lookups_per_cycle),
      walkers_(partition, spec, walk, table.upper, *this, memory),
      pending_(spec.pending),
      lookup_handler_(partition.add_handler<&Iommu::on_lookup>(this)),
      parts_(partition) {
  if (sub_entry_use() != nullptr) tlb_.set_eviction_observer(*this);
}

void Iommu::set_l3_array(SharedTlbArray& array) {
  array_ = &array;
  array.set_eviction_observer(*this);
}

void Iommu::set_table(Pid pid, std::unique_ptr<PageTable> table) {
  if (tables_.size() <= pid) tables_.resize(pid + std::size_t{1});
  tables_[pid] = std::move(table);
  if (tables_.size() < 2) return;
  stats_.by_process.resize(tables_.size());
  sub_entry_use_.set_processes(tables_.size());
  reuse_by_process_.resize(tables_.size());
}

/// Counts something of a page for all, and for its process where there are several.
template <class Update>
void Iommu::count(PageKey page, Update update) {
  update(stats_.all);
  if (!stats_.by_process.empty()) update(stats_.by_process[page.pid()]);
}

void Iommu::request(const Message& message) {
  const Cycle now = partition_.now();
  const PageKey page = message.page;
  auto* lookup = partition_.pool().allocate<Lookup>();
  lookup->page = page;
  lookup->arrival = now;
  lookup->accounted = static_cast<std::uint32_t>(now) - message.stamp;  // on the link
  lookup->gpu = message.from;
  lookup->measured = !message.unmeasured;
  lookup->prefetch = message.prefetch;
  const Cycle start = port_.take(now);
  stats_.input_wait_cycles += start - now;
  Cycle latency = spec_.tlb.latency;
  if (two_levels_) {
    // Hits of the first level are answered early, those of the second after both.
    latency = spec_.l1_tlb.latency + (first_.peek(page) != nullptr ? 0 : spec_.tlb.latency);
  }
  partition_.schedule(lookup, lookup_handler_, start + latency);
}

void Iommu::on_lookup(Lookup* lookup) {
  if (input_.empty() && look_up(*lookup)) {
    partition_.pool().release(lookup);
    return;
  }
  ++stats_.pending_waits;
  input_.push(lookup);
}

/// False where there is no room to wait: the table is full, or, with two levels, the walkers' queue. A prefetch does
/// not wait for room, nor where a walk would wait for a place in the queue: it is answered with no mapping.
bool Iommu::look_up(const Lookup& lookup) {
  look_at_contents();
  const PageKey page = lookup.page;
  const DeviceId gpu = lookup.gpu;
  const Cycle now = partition_.now();
  const Mapping* held = two_levels_ ? first_.use(page) : nullptr;
  const bool in_first = held != nullptr;
  if (held == nullptr) held = use(page);
  PendingTranslation* pending = held == nullptr ? pending_.find(page) : nullptr;
  if (held == nullptr && pending == nullptr) {
    if (lookup.prefetch && (pending_.full() || walkers_.full())) {
      respond(page, nullptr, Waiter{gpu, {now, 0}, false});
      return true;
    }
    if (pending_.full() || (two_levels_ && walkers_.full())) return false;
  }

  Waiter waiter{gpu, {lookup.arrival - lookup.accounted, 0}, lookup.measured};
  spend(page, waiter, LatencyComponent::IommuLink, lookup.arrival);
  spend(page, waiter, LatencyComponent::IommuTlb, lookup.when);
  spend(page, waiter, LatencyComponent::IommuQueue, now);  // for room, or behind others that did
  count(page, [](IommuProcessStats& stats) { ++stats.lookups; });
  if (observed_) note_reuse(page);
  if (held != nullptr) {
    count(page, [](IommuProcessStats& stats) { ++stats.hits; });
    if (in_first) ++stats_.l1_hits;
    const Mapping mapping = *held;
    if (two_levels_ && !in_first) first_.insert(page, mapping);
    if (content_ != nullptr) content_->hit(Tlb::Entry{*tlb_.entry(page)}, gpu);
    respond(page, &mapping, waiter);
    return true;
  }
  count(page, [](IommuProcessStats& stats) { ++stats.misses; });
  if (pending != nullptr) {
    ++stats_.merges;
    pending->waiters.push_back(waiter);
    return true;
  }
  note_sub_miss(page);
  PendingTranslation& opened = pending_.open(page);
  opened.waiters.push_back(waiter);
  if (content_ == nullptr || content_->missed(opened)) start_walk(opened);
  return true;
}

void Iommu::note_sub_miss(PageKey page) {
  if (sub_entry_use() == nullptr) return;
  if (array_ == nullptr ? tlb_.holds_range(page) : array_->holds_range(page)) sub_entry_use_.note_sub_miss();
}

/// An entry with sub-entries has left.
void Iommu::evicted(std::span<const TlbEntry> pages) {
  count(pages.front().page, [](IommuProcessStats& stats) { ++stats.evictions; });
  sub_entry_use_.evicted(pages);
}

void Iommu::note_reuse(PageKey page) {
  const auto add = [](IommuProcessStats& stats, std::uint64_t distance) {
    if (distance == ReuseMeter::kFirst) {
      ++stats.reuse_first;
    } else {
      stats.reuse_distance.add(distance);
    }
  };
  add(stats_.all, reuse_.note(page));
  if (!reuse_by_process_.empty()) add(stats_.by_process[page.pid()], reuse_by_process_[page.pid()].note(page));
}

void Iommu::start_walk(PendingTranslation& pending) {
  pending.walk = &walkers_.make(WalkKind::Demand, pending.page);
  pending.walk->owner = &pending;
  walkers_.submit(*pending.walk, WalkSource::Demand);
}

void Iommu::walked(Walk& walk) {
  PendingTranslation& pending = *static_cast<PendingTranslation*>(walk.owner);
  pending.walk = nullptr;
  partition_.progress().steps += 1;
  if (pending.served) {
    note_duplicate();
    close_if_done(pending);
    return;
  }
  const Cycle now = partition_.now();
  for (Waiter& waiter : pending.waiters) {
    // Who joined late has waited for a walk that others began.
    spend(walk.page, waiter, LatencyComponent::IommuQueue, std::max(walk.started, waiter.time.stamp));
    spend(walk.page, waiter, LatencyComponent::IommuWalk, now);
  }
  const Pte entry = tables_[walk.page.pid()]->read(walk.page.number());
  const Mapping mapping{entry.page(), entry.writable(), 0};
  if (entry.valid()) {
    if (content_ != nullptr) {
      content_->walked(pending, mapping);
    } else {
      fill(walk.page, mapping, pending.waiters.front().gpu.value);
      if (two_levels_) first_.insert(walk.page, mapping);
    }
  }
  respond_all(pending, entry.valid() ? &mapping : nullptr);
  close_if_done(pending);
}

/// Puts a requester's time since its stamp to a part.
void Iommu::spend(PageKey page, Waiter& waiter, LatencyComponent part, Cycle until) {
  if (waiter.measured) {
    parts_.charge(waiter.time, waiter.gpu, page, part, until);
  } else {
    waiter.time.stamp = until;
  }
}

std::optional<Tlb::Entry> Iommu::fill(PageKey page, const Mapping& mapping, std::uint32_t note) {
  look_at_contents();
  if (array_ != nullptr) {
    array_->insert(page, mapping, note);
    return std::nullopt;
  }
  std::optional<Tlb::Entry> victim = tlb_.insert(page, mapping, note);
  if (victim && sub_entry_use() == nullptr) count(victim->page, [](IommuProcessStats& stats) { ++stats.evictions; });
  return victim;
}

void Iommu::remove(PageKey page) {
  look_at_contents();
  tlb_.erase(page);
}

void Iommu::charge(PendingTranslation& pending, LatencyComponent part, LatencyComponent last, Cycle at_most) {
  const Cycle now = partition_.now();
  for (Waiter& waiter : pending.waiters) {
    spend(pending.page, waiter, part, now - std::min(at_most, now - waiter.time.stamp));
    spend(pending.page, waiter, last, now);
  }
}

void Iommu::answer(PendingTranslation& pending, const Mapping& mapping) {
  partition_.progress().steps += 1;
  respond_all(pending, &mapping);
  if (pending.walk != nullptr && walkers_.withdraw(*pending.walk)) pending.walk = nullptr;
}

void Iommu::question_answered(PendingTranslation& pending) {
  --pending.questions;
  close_if_done(pending);
}

void Iommu::respond_all(PendingTranslation& pending, const Mapping* mapping) {
  for (const Waiter& waiter : pending.waiters) respond(pending.page, mapping, waiter);
  pending_.serve(pending);
}

void Iommu::respond(PageKey page, const Mapping* mapping, const Waiter& waiter) {
  if (mapping == nullptr) ++stats_.faults;
  client_.iommu_answers(waiter.gpu, page, mapping, static_cast<std::uint32_t>(waiter.time.accounted));
}

void Iommu::close_if_done(PendingTranslation& pending) {
  if (pending.done()) pending_.close(pending);
  take_input();
}

/// Lookups that waited for room go on, in order.
void Iommu::take_input() {
  if (taking_input_) return;
  taking_input_ = true;
  while (!input_.empty() && look_up(*input_.front())) partition_.pool().release(input_.pop());
  taking_input_ = false;
}

void Iommu::look_at_contents() {
  while (next_snapshot_ < partition_.now()) {
    L2Tlb::Snapshot snapshot{next_snapshot_, {}};
    std::vector<std::uint32_t> homes(kMaxGpus, 0);
    const auto note = [&](const Tlb::Entry& entry) {
      snapshot.pages.push_back(entry.page);
      ++homes[entry.note & kHomeMask];
    };
    array_ == nullptr ? tlb_.for_each(note) : array_->for_each(note);
    snapshots_.push_back(std::move(snapshot));
    occupancy_.push_back(std::move(homes));
    next_snapshot_ += snapshot_every_;
  }
}

std::string Iommu::describe_waiting() const {
  const char* who = stats_.l3 ? "L3 TLB" : "IOMMU";
  std::string text = walkers_.describe_waiting(who);
  if (!pending_.empty()) text += fmt::format("  {}: {} translations pending\n", who, pending_.used());
  if (!input_.empty()) text += fmt::format("  {}: {} lookups wait for room\n", who, input_.size());
  return text;
}

}  // namespace nearfar
