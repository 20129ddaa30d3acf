#include "translation/gmmu/ingress.h"

namespace nearfar {

void MessageIngress::receive(const Message& message) {
  TransactionQueue& channel = stopped_[is_response(message.kind) ? 1 : 0];
  if (channel.empty() && client_.has_place(message)) {
    client_.accept(message);
    return;
  }
  ++stats_.stopped;
  Transaction* t = partition_.pool().allocate<Transaction>();
  message.put(*t);
  t->when = partition_.now();
  channel.push(t);
}

void MessageIngress::place_freed() {
  if (going_on_ || stopped() == 0) return;
  going_on_ = true;
  partition_.schedule(partition_.pool().allocate<Transaction>(), room_handler_, partition_.now());
}

void MessageIngress::on_room(Transaction* t) {
  partition_.pool().release(t);
  going_on_ = false;
  for (TransactionQueue& channel : stopped_) {
    while (!channel.empty()) {
      const Message message = Message::get(*channel.front());
      if (!client_.has_place(message)) break;
      Transaction* first = channel.pop();
      stats_.stopped_cycles += partition_.now() - first->when;
      partition_.pool().release(first);
      client_.accept(message);
    }
  }
}

}  // namespace nearfar
