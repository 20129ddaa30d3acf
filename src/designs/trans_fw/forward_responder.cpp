#include "designs/trans_fw/forward_responder.h"

#include <algorithm>

#include "designs/trans_fw/messages.h"

namespace nearfar {

void ForwardStats::describe(StatVisitor& visitor) {
  visitor.counter("received", "faults", "Far faults of other GPUs that the host forwarded to this GPU.", received);
  visitor.counter("l2_tlb_hits", "faults", "Forwarded far faults that this GPU's L2 TLB answered.", tlb_hits);
  visitor.counter("found", "faults", "Forwarded far faults whose translation this GPU found.", found);
  visitor.counter("direct", "messages", "Translations that this GPU received from other GPUs for its own far faults.",
                  direct);
}

ForwardResponder::ForwardResponder(Gmmu& gmmu, L2Tlb& tlb, Messenger& messenger, const ForwardOptions& options)
    : gmmu_(gmmu),
      tlb_(tlb),
      messenger_(messenger),
      options_(options),
      probe_handler_(gmmu.partition().add_handler<&ForwardResponder::on_probed>(this)) {}

bool ForwardResponder::on_message(const Message& message) {
  if (message.kind == trans_fw::kDirect) {
    ++stats_.direct;
    // Else the page itself will come: what was found only let the host begin sooner.
    if (message.held) take_answer(message);
    return true;
  }
  if (message.kind != trans_fw::kForward) return false;
  ++stats_.received;
  if (!options_.probe_l2_tlb) {
    walk(message);
    return true;
  }
  auto* waiting = gmmu_.partition().pool().allocate<TranslationPacket>();
  message.put(*waiting);
  gmmu_.partition().schedule(waiting, probe_handler_, gmmu_.partition().now() + tlb_.latency());
  return true;
}

/// Another GPU has found the mapping that a fault of this one waits for.
void ForwardResponder::take_answer(const Message& direct) {
  Miss* miss = gmmu_.answered_miss(direct);
  if (miss == nullptr) return;
  const Cycle now = gmmu_.partition().now();
  miss->time.skip(direct.accounted);
  tlb_.charge(*miss, LatencyComponent::RemoteLink, now - direct.stamp - direct.extra);
  tlb_.charge(*miss, LatencyComponent::RemoteQueue, now - direct.extra);
  tlb_.charge(*miss, LatencyComponent::RemoteWalk);
  gmmu_.write_answer(direct, miss);
}

bool ForwardResponder::may_answer(const Pte& entry) const {
  return entry.valid() && (options_.remote_mappings_too || entry.page().device() == gmmu_.partition().device());
}

void ForwardResponder::on_probed(TranslationPacket* waiting) {
  const Message forward = Message::get(*waiting);
  gmmu_.partition().pool().release(waiting);
  const Mapping* held = tlb_.array().peek(forward.page);
  const Pte entry = gmmu_.usable(forward.page);
  if (held == nullptr || !may_answer(entry) || entry.page() != held->page) {
    walk(forward);
    return;
  }
  ++stats_.tlb_hits;
  const Mapping found{held->page, held->writable, gmmu_.epoch(held->page)};
  tell(forward, &found, 0, tlb_.latency());
}

void ForwardResponder::walk(const Message& forward) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  pending_[index] = forward;
  Walk& walk = gmmu_.walk_for(*this, trans_fw::kForwardedWalk, forward.page);
  walk.note = std::uint64_t{index} << 1;  // beside kInvalidated
  gmmu_.walkers().submit(walk, WalkSource::Request);
}

/// The forward that a walk was for; the walk needs it no more.
Message ForwardResponder::take_forward(const Walk& walk) {
  const auto index = static_cast<std::uint32_t>(walk.note >> 1);
  free_.push_back(index);
  return pending_[index];
}

void ForwardResponder::overtaken(Walk& walk) {
  const Walk was = walk;
  // One that was taken back before it may have let this one begin.
  if (!gmmu_.withdraw(walk)) return;
  tell(take_forward(was), nullptr, gmmu_.partition().now() - was.submitted, 0);
}

void ForwardResponder::walked(Walk& walk) {
  const Message forward = take_forward(walk);
  const Cycle now = gmmu_.partition().now();
  const Cycle queue = walk.started - walk.submitted;
  const bool invalidated = (walk.note & kInvalidated) != 0;
  const Pte entry = walk.cut_short || invalidated ? Pte{} : gmmu_.usable(walk.page);
  const Mapping found{entry.page(), entry.writable(), may_answer(entry) ? gmmu_.epoch(entry.page()) : Epoch{0}};
  tell(forward, may_answer(entry) ? &found : nullptr, queue, now - walk.started);
}

/// Tells the host what became of a forward, and the GPU that waits what was found.
void ForwardResponder::tell(const Message& forward, const Mapping* found, Cycle queue, Cycle walk) {
  Message message;
  message.page = forward.page;
  message.stamp = static_cast<std::uint32_t>(queue);
  message.extra = static_cast<std::uint16_t>(std::min<Cycle>(walk, 0xffff));
  if (found != nullptr) {
    ++stats_.found;
    message.mapping = *found;
    Message direct = message;
    direct.kind = trans_fw::kDirect;
    direct.faulted = true;
    direct.held = forward.held;
    direct.number = forward.number;
    direct.accounted = forward.accounted;
    messenger_.send(forward.to, direct);
  }
  message.kind = trans_fw::kNotice;
  message.held = found != nullptr;
  message.accounted = forward.stamp;
  messenger_.send(options_.host, message);
}

}  // namespace nearfar
