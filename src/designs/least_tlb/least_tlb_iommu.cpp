#include "designs/least_tlb/least_tlb_iommu.h"

#include <fmt/format.h>

#include "designs/foreign_lookup.h"
#include "designs/least_tlb/messages.h"
#include "sim/error.h"

namespace nearfar {

void LeastTlbProcessStats::describe(StatVisitor& visitor, const std::string& suffix) {
  const std::string whose = suffix.empty() ? "." : ", for one of several processes over the whole run.";
  visitor.counter("remote_forwards" + suffix, "questions",
                  "Requests that the IOMMU sent to GPUs whose L2 TLB may hold the page" + whose, remote_forwards);
  visitor.counter("remote_hits" + suffix, "questions",
                  "Requests of the IOMMU to GPUs that were answered with the page before its walk ended" + whose,
                  remote_hits);
  visitor.counter("remote_misses" + suffix, "questions",
                  "Requests of the IOMMU to GPUs that were answered without the page" + whose, remote_misses);
  visitor.counter("spills" + suffix, "pages", "Mappings that were spilled from the IOMMU TLB to an L2 TLB" + whose,
                  spills);
}

void LeastTlbIommuStats::describe(StatVisitor& visitor) {
  all.describe(visitor, "");
  for (std::size_t p = 0; p < by_process.size(); ++p) by_process[p].describe(visitor, fmt::format(".pid{}", p));
  visitor.counter("remote_late", "questions",
                  "Requests of the IOMMU to GPUs that were answered with the page after its walk had ended.",
                  remote_late);
  visitor.counter("victims", "pages", "Victims of L2 TLBs that were inserted into the IOMMU TLB.", victims);
  visitor.counter("discards", "pages", "Mappings that the IOMMU TLB evicted without spilling them.", discards);
  visitor.histogram("chain_length", "spills",
                    "Spills that one eviction led to, for chains that ended in the IOMMU TLB.", chain_length);
}

LeastTlbIommu::LeastTlbIommu(Partition& partition, Iommu& iommu, Messenger& messenger, const LeastTlbSpec& spec,
                             bool multi, unsigned gpus)
    : partition_(partition),
      iommu_(iommu),
      messenger_(messenger),
      spec_(spec),
      multi_(multi),
      gpus_(gpus),
      tracker_(spec.tracker, gpus),
      counters_(gpus, spec.counter_bits),
      late_handler_(partition.add_handler<&LeastTlbIommu::on_late_reply>(this)) {
  if (multi) stats_.by_process.resize(gpus);
  iommu.set_content(*this);
}

void LeastTlbIommu::describe(StatVisitor& visitor) {
  stats_.describe(visitor);
  tracker_.stats().describe(visitor);
}

template <class Update>
void LeastTlbIommu::count(PageKey page, Update update) {
  update(stats_.all);
  if (multi_) update(stats_.by_process[page.pid()]);
}

// ------------------------------------------------------------------------------------------------- what the IOMMU asks

void LeastTlbIommu::hit(const Tlb::Entry& entry, DeviceId gpu) {
  iommu_.remove(entry.page);
  counters_.leave(SpillState::of(entry.note).home);
  if (!multi_) tracker_.insert(gpu, entry.page);
}

bool LeastTlbIommu::missed(PendingTranslation& pending) {
  const unsigned asker = pending.waiters.front().gpu.value;
  for (unsigned distance = 1; distance < gpus_; ++distance) {
    const DeviceId gpu{static_cast<std::uint16_t>((asker + distance) % gpus_)};
    if (!tracker_.holds(gpu, pending.page)) continue;
    if (pending.questions == 0 || spec_.forward_to == ForwardTo::All) ask(pending, gpu);
  }
  return spec_.race || pending.questions == 0;
}

void LeastTlbIommu::ask(PendingTranslation& pending, DeviceId gpu) {
  ++pending.questions;
  if (asked_.size() <= pending.id) asked_.resize(pending.id + std::size_t{1});
  asked_[pending.id] = partition_.now();
  count(pending.page, [](LeastTlbProcessStats& stats) { ++stats.remote_forwards; });
  Message message;
  message.kind = kTlbQuery;
  message.page = pending.page;
  message.stamp = pending.id;
  messenger_.send(gpu, message);
}

void LeastTlbIommu::walked(const PendingTranslation& pending, const Mapping&) { note_held(pending); }

/// All who wait are about to hold the page. With spilling the tracker knows spilled pages alone.
void LeastTlbIommu::note_held(const PendingTranslation& pending) {
  if (multi_) return;
  for (const PendingTranslation::Waiter& waiter : pending.waiters) tracker_.insert(waiter.gpu, pending.page);
}

// ------------------------------------------------------------------------------------------------------- what GPUs say

bool LeastTlbIommu::on_message(const Message& message) {
  if (message.kind == kTlbReply) {
    reply_came(message);
  } else if (message.kind == least_tlb::kVictim) {
    take_victim(message);
  } else if (message.kind == least_tlb::kSpillGone) {
    tracker_.erase(message.from, message.page);
  } else {
    return false;
  }
  return true;
}

void LeastTlbIommu::reply_came(const Message& message) {
  const Cycle usable = asked_[message.stamp] + spec_.remote_latency;
  if (usable <= partition_.now()) {
    take_reply(message);
    return;
  }
  auto* waiting = partition_.pool().allocate<TranslationPacket>();
  message.put(*waiting);
  partition_.schedule(waiting, late_handler_, usable);
}

void LeastTlbIommu::on_late_reply(TranslationPacket* waiting) {
  const Message message = Message::get(*waiting);
  partition_.pool().release(waiting);
  take_reply(message);
}

void LeastTlbIommu::take_reply(const Message& message) {
  PendingTranslation& pending = iommu_.pending(message.stamp);
  if (multi_ && message.held) tracker_.erase(message.from, message.page);
  if (!message.held) {
    count(message.page, [](LeastTlbProcessStats& stats) { ++stats.remote_misses; });
    const bool last = pending.questions == 1;
    if (last && !pending.served && pending.walk == nullptr) {
      iommu_.charge(pending, LatencyComponent::RemoteLink, LatencyComponent::RemoteWalk, message.accounted);
      iommu_.start_walk(pending);
    }
  } else if (pending.served) {
    ++stats_.remote_late;
    iommu_.note_duplicate();
  } else {
    count(message.page, [](LeastTlbProcessStats& stats) { ++stats.remote_hits; });
    iommu_.charge(pending, LatencyComponent::RemoteLink, LatencyComponent::RemoteWalk, message.accounted);
    note_held(pending);
    iommu_.answer(pending, message.mapping);
  }
  iommu_.question_answered(pending);
}

void LeastTlbIommu::take_victim(const Message& message) {
  ++stats_.victims;
  const ChainedNote packed = ChainedNote::of(message.stamp);
  const SpillState state =
      packed.note == 0 ? SpillState{message.from, false, spec_.spill.count} : SpillState::of(packed.note);
  if (!multi_ || state.spilled) tracker_.erase(message.from, message.page);
  bool goes_on = false;
  if (const Tlb::Entry* held = iommu_.tlb().entry(message.page)) {
    const Tlb::Entry refreshed = *held;
    iommu_.fill(refreshed.page, refreshed.mapping, refreshed.note);
  } else {
    counters_.enter(state.home);
    if (const auto victim = iommu_.fill(message.page, message.mapping, state.note())) {
      goes_on = spill(*victim, packed.chain);
    }
  }
  if (!goes_on && packed.chain != 0) stats_.chain_length.add(packed.chain);
}

/// An entry has had to leave the IOMMU TLB: false where it goes nowhere.
bool LeastTlbIommu::spill(const Tlb::Entry& entry, std::uint32_t chain) {
  SpillState state = SpillState::of(entry.note);
  const DeviceId home = state.home;
  // The counters as they are with both the entry that comes and the one that goes.
  const auto receiver =
      multi_ && state.left > 0
          ? counters_.receiver(spec_.spill.exclude_home ? std::optional<DeviceId>(home) : std::nullopt)
          : std::nullopt;
  counters_.leave(home);
  if (!receiver) {
    ++stats_.discards;
    return false;
  }
  state.spilled = true;
  --state.left;
  count(entry.page, [](LeastTlbProcessStats& stats) { ++stats.spills; });
  tracker_.insert(*receiver, entry.page);
  Message message;
  message.kind = least_tlb::kSpill;
  message.page = entry.page;
  message.mapping = entry.mapping;
  message.stamp = ChainedNote{state.note(), chain + 1}.pack();
  messenger_.send(*receiver, message);
  return true;
}

// --------------------------------------------------------------------------------------------------------------- check

void LeastTlbIommu::check() const {
  std::vector<std::uint32_t> entries(gpus_, 0);
  iommu_.tlb().for_each([&](const Tlb::Entry& entry) { ++entries[SpillState::of(entry.note).home.value]; });
  for (unsigned g = 0; g < gpus_; ++g) {
    if (entries[g] == counters_[g]) continue;
    throw SimulationError(fmt::format("check: the IOMMU TLB has {} entries of GPU {}, but its Eviction Counter says {}",
                                      entries[g], g, counters_[g]));
  }
  const LeastTlbProcessStats& all = stats_.all;
  if (all.remote_forwards != all.remote_hits + all.remote_misses + stats_.remote_late) {
    throw SimulationError(fmt::format("check: of {} questions to GPUs {} were answered", all.remote_forwards,
                                      all.remote_hits + all.remote_misses + stats_.remote_late));
  }
}

}  // namespace nearfar
