#include "designs/tlb_probing/tlb_prober.h"

#include <algorithm>

#include "config/schema.h"
#include "designs/foreign_lookup.h"

namespace nearfar {

void TlbProbingSpec::describe(Section& section) {
  section.integer("hops", hops, {1, kMaxGpus}, "GPUs",
                  "Number of neighbours along the ring, in each direction, whose L2 TLBs are probed.");
  section.flag("overlap", overlap, "If true, the IOMMU is asked together with the neighbours; if false, after them.");
}

void TlbProberStats::describe(StatVisitor& visitor) {
  visitor.counter("probes", "misses", "L2 TLB misses for which the L2 TLBs of neighbours were probed.", probes);
  visitor.counter("hits", "misses", "L2 TLB misses that a probed neighbour answered.", hits);
  visitor.counter("misses", "misses", "L2 TLB misses that no probed neighbour could answer.", misses);
  visitor.counter("late", "answers", "Answers of probed neighbours that came after another answer had been used.",
                  late);
  visitor.counter("duplicates", "answers",
                  "Answers of the IOMMU that were dropped since the answer of a neighbour had been used.", duplicates);
  visitor.counter("remote_lookups", "lookups", "Lookups of the L2 TLB on behalf of a neighbour.", remote_lookups);
  visitor.counter("remote_lookup_hits", "lookups",
                  "Lookups of the L2 TLB on behalf of a neighbour that found the page.", remote_lookup_hits);
}

TlbProber::TlbProber(Partition& partition, L2Tlb& tlb, Messenger& messenger, const TlbProbingSpec& spec, unsigned gpus)
    : partition_(partition),
      tlb_(tlb),
      below_(tlb.handler()),
      messenger_(messenger),
      spec_(spec),
      lookup_handler_(partition.add_handler<&TlbProber::on_lookup>(this)) {
  const unsigned here = partition.device().value;
  for (unsigned hop = 1; hop <= std::min(spec.hops, gpus - 1); ++hop) {
    for (const unsigned at : {(here + hop) % gpus, (here + gpus - hop) % gpus}) {
      const DeviceId gpu{static_cast<std::uint16_t>(at)};
      if (at != here && std::ranges::find(neighbours_, gpu) == neighbours_.end()) neighbours_.push_back(gpu);
    }
  }
  tlb.set_handler(*this);
}

void TlbProber::missed(PageKey page, Miss& miss) {
  // Neighbours are asked for what someone waits for.
  if (neighbours_.empty() || miss.ahead) {
    below_.missed(page, miss);
    return;
  }
  ++stats_.probes;
  miss.state = MissState::Ats;
  miss.unmeasured = spec_.overlap;
  Message message;
  message.kind = kTlbQuery;
  message.page = page;
  message.stamp = ++next_number_;
  probes_[page.value] = {next_number_, static_cast<std::uint32_t>(neighbours_.size())};
  for (const DeviceId gpu : neighbours_) messenger_.send(gpu, message);
  if (spec_.overlap) below_.missed(page, miss);
}

bool TlbProber::on_message(const Message& message) {
  if (message.kind == kTlbQuery) {
    start_foreign_lookup(partition_, tlb_, message, lookup_handler_);
  } else if (message.kind == kTlbReply) {
    take_reply(message);
  } else {
    return message.kind == MessageKind::AtsResponse && take_response(message.page);
  }
  return true;
}

void TlbProber::on_lookup(TranslationPacket* lookup) {
  const Message reply = finish_foreign_lookup(partition_, tlb_, lookup);
  ++stats_.remote_lookups;
  if (reply.held) ++stats_.remote_lookup_hits;
  messenger_.send(reply.from, reply);
}

void TlbProber::take_reply(const Message& reply) {
  const auto found = probes_.find(reply.page.value);
  if (found == probes_.end() || found->second.number != reply.stamp) {
    ++stats_.late;
    return;
  }
  Miss& miss = *tlb_.pending(reply.page);
  if (reply.held) {
    ++stats_.hits;
    probes_.erase(found);
    charge(miss, reply);
    if (spec_.overlap) ++to_drop_[reply.page.value];
    tlb_.answer(reply.page, reply.mapping);
    return;
  }
  if (--found->second.left != 0) return;
  ++stats_.misses;
  probes_.erase(found);
  if (spec_.overlap) return;
  charge(miss, reply);
  below_.missed(reply.page, miss);
}

/// The time of a miss up to now went to the neighbour whose answer ended it.
void TlbProber::charge(Miss& miss, const Message& reply) {
  tlb_.charge(miss, LatencyComponent::RemoteLink, partition_.now() - reply.accounted);
  tlb_.charge(miss, LatencyComponent::RemoteWalk);
}

/// The IOMMU has answered: true where a neighbour was faster.
bool TlbProber::take_response(PageKey page) {
  const auto found = to_drop_.find(page.value);
  if (found != to_drop_.end()) {
    ++stats_.duplicates;
    if (--found->second == 0) to_drop_.erase(found);
    return true;
  }
  probes_.erase(page.value);
  return false;
}

}  // namespace nearfar
