#include "translation/message.h"

namespace nearfar {

void send_translation_message(Partition& partition, NetworkInterface& network, std::uint64_t message_bytes,
                              PageSize size, DeviceId to, const Message& message) {
  Transaction* t = partition.pool().allocate<Transaction>();
  Message sent = message;
  sent.from = partition.device();
  sent.put(*t);
  t->destination = to.value;
  t->set_wire_bytes(static_cast<std::uint32_t>(message_bytes));
  if (message.kind == MessageKind::Data) {
    // A large page goes as a burst of small ones; the mapping rides with the last.
    for (std::uint64_t i = 1; i < size.frames(); ++i) {
      Transaction* part = partition.pool().copy(*t);
      part->user = static_cast<std::uint32_t>(MessageKind::Part);
      part->set_wire_bytes(static_cast<std::uint32_t>(kPageBytes));
      network.send_message(part);
    }
    t->set_wire_bytes(static_cast<std::uint32_t>(kPageBytes));
  }
  network.send_message(t);
}

}  // namespace nearfar
