// A question from outside for a GPU's L2 TLB: it takes a lookup like any other, and is answered with what was found.
#pragma once

#include "sim/partition.h"
#include "translation/message.h"
#include "translation/tlb/l2_tlb.h"

namespace nearfar {

/// IOMMU or GPU → GPU: does your L2 TLB hold `page`? `stamp` names the question.
inline const MessageKind kTlbQuery = add_message_kind({.name = "tlb-query"});
/// GPU → who asked: `held`, with `mapping`; `accounted` cycles went to the lookup.
inline const MessageKind kTlbReply = add_message_kind({.name = "tlb-reply", .response = true});

/// Has `handler` called when the lookup for this question has been made.
inline void start_foreign_lookup(Partition& partition, L2Tlb& tlb, const Message& question, HandlerId handler) {
  auto* lookup = partition.pool().allocate<TranslationPacket>();
  Message waiting = question;
  waiting.accounted = static_cast<std::uint32_t>(partition.now());
  waiting.put(*lookup);
  partition.schedule(lookup, handler, tlb.start_foreign_lookup());
}

/// The answer, with the cycles that it took here, when the lookup has been made.
inline Message finish_foreign_lookup(Partition& partition, L2Tlb& tlb, TranslationPacket* lookup) {
  Message reply = Message::get(*lookup);
  partition.pool().release(lookup);
  reply.kind = kTlbReply;
  reply.accounted = static_cast<std::uint32_t>(partition.now()) - reply.accounted;
  if (const Mapping* held = tlb.array().use(reply.page)) {
    reply.held = true;
    reply.mapping = *held;
  }
  return reply;
}

}  // namespace nearfar
