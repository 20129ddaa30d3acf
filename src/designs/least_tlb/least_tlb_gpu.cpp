#include "designs/least_tlb/least_tlb_gpu.h"

#include <fmt/format.h>

#include "designs/foreign_lookup.h"
#include "designs/least_tlb/messages.h"
#include "sim/error.h"

namespace nearfar {

void LeastTlbGpuStats::describe(StatVisitor& visitor) {
  visitor.counter("remote_lookups", "lookups", "Lookups of the L2 TLB on behalf of the IOMMU.", remote_lookups);
  visitor.counter("remote_lookup_hits", "lookups", "Lookups of the L2 TLB on behalf of the IOMMU that found the page.",
                  remote_lookup_hits);
  visitor.counter("spill_fills", "pages", "Mappings spilled by the IOMMU TLB that the L2 TLB accepted.", spill_fills);
  visitor.counter(
      "spills_refused", "pages",
      "Mappings spilled by the IOMMU TLB that were dropped since the L2 TLB held the page or waited for it.",
      spills_refused);
  visitor.counter("spill_drops", "pages", "Spilled mappings that the L2 TLB evicted and that were dropped.",
                  spill_drops);
  visitor.histogram("chain_length", "spills", "Spills that one eviction led to, for chains that ended in an L2 TLB.",
                    chain_length);
}

LeastTlbGpu::LeastTlbGpu(Partition& partition, L2Tlb& tlb, Messenger& messenger, DeviceId host,
                         const LeastTlbSpec& spec, bool multi)
    : partition_(partition),
      tlb_(tlb),
      messenger_(messenger),
      host_(host),
      spec_(spec),
      multi_(multi),
      lookup_handler_(partition.add_handler<&LeastTlbGpu::on_lookup>(this)) {
  tlb.set_victims(*this);
}

void LeastTlbGpu::evicted(const Tlb::Entry& victim) {
  const SpillState state = SpillState::of(victim.note);
  if (state.spilled && state.left == 0) {
    ++stats_.spill_drops;
    spill_gone(victim.page);
    end_chain();
    return;
  }
  Message message;
  message.kind = least_tlb::kVictim;
  message.page = victim.page;
  message.mapping = victim.mapping;
  message.stamp = ChainedNote{victim.note, chain_}.pack();
  chain_ = 0;
  messenger_.send(host_, message);
}

bool LeastTlbGpu::on_message(const Message& message) {
  if (message.kind == least_tlb::kSpill) {
    take_spill(message);
    return true;
  }
  if (message.kind != kTlbQuery) return false;
  start_foreign_lookup(partition_, tlb_, message, lookup_handler_);
  return true;
}

void LeastTlbGpu::on_lookup(TranslationPacket* lookup) {
  const Message reply = finish_foreign_lookup(partition_, tlb_, lookup);
  ++stats_.remote_lookups;
  if (reply.held) {
    ++stats_.remote_lookup_hits;
    // Processes share nothing: what was spilled here goes back to the one that needs it.
    if (multi_) tlb_.shoot_down(reply.page);
  }
  messenger_.send(host_, reply);
}

void LeastTlbGpu::take_spill(const Message& message) {
  const ChainedNote packed = ChainedNote::of(message.stamp);
  chain_ = packed.chain;
  if (tlb_.array().peek(message.page) != nullptr || tlb_.pending(message.page) != nullptr) {
    ++stats_.spills_refused;
    spill_gone(message.page);
  } else {
    ++stats_.spill_fills;
    tlb_.fill(message.page, message.mapping, packed.note);
  }
  end_chain();
}

void LeastTlbGpu::spill_gone(PageKey page) {
  Message message;
  message.kind = least_tlb::kSpillGone;
  message.page = page;
  messenger_.send(host_, message);
}

/// Nothing more follows from a spill; a victim that went to the IOMMU has taken the chain with it.
void LeastTlbGpu::end_chain() {
  if (chain_ != 0) stats_.chain_length.add(chain_);
  chain_ = 0;
}

void LeastTlbGpu::check() const {
  tlb_.array().for_each([&](const Tlb::Entry& entry) {
    const SpillState state = SpillState::of(entry.note);
    if (!state.spilled || state.home != partition_.device() || !spec_.spill.exclude_home) return;
    throw SimulationError(fmt::format("check: GPU {} holds page {:#x} as spilled, but it is its own",
                                      partition_.device().value, entry.page.number()));
  });
}

}  // namespace nearfar
