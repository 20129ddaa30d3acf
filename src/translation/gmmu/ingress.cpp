#include "translation/gmmu/ingress.h"

namespace nearfar {

void MessageIngress::receive(const Message& message) {
  TranslationPacketQueue& channel = stopped_[is_response(message.kind) ? 1 : 0];
  if (channel.empty() && client_.has_place(message)) {
    client_.accept(message);
    return;
  }
  ++stats_.stopped;
  auto* waiting = partition_.pool().allocate<TranslationPacket>();
  message.put(*waiting);
  waiting->when = partition_.now();
  channel.push(waiting);
}

void MessageIngress::place_freed() {
  if (going_on_ || stopped() == 0) return;
  going_on_ = true;
  partition_.schedule(partition_.pool().allocate<Event>(), room_handler_, partition_.now());
}

void MessageIngress::on_room(Event* event) {
  partition_.pool().release(event);
  going_on_ = false;
  for (TranslationPacketQueue& channel : stopped_) {
    while (!channel.empty()) {
      const Message message = Message::get(*channel.front());
      if (!client_.has_place(message)) break;
      TranslationPacket* first = channel.pop();
      stats_.stopped_cycles += partition_.now() - first->when;
      partition_.pool().release(first);
      client_.accept(message);
    }
  }
}

}  // namespace nearfar
