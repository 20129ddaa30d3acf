#include "translation/message.h"

namespace nearfar {

void send_translation_message(Partition& partition, NetworkInterface& network, std::uint64_t message_bytes,
                              std::uint64_t pieces, DeviceId to, const Message& message) {
  auto* packet = partition.pool().allocate<TranslationPacket>();
  Message sent = message;
  sent.from = partition.device();
  sent.put(*packet);
  packet->destination = to.value;
  if (traits_of(message.kind).table_page) {
    network.send_page(packet);
    return;
  }
  if (message.kind != MessageKind::Data || pieces == 0) {
    packet->set_wire_bytes(static_cast<std::uint32_t>(message_bytes));
    network.send_message(packet);
    return;
  }
  // A large page goes as a burst of small ones; the mapping comes with the last.
  for (std::uint64_t i = 1; i < pieces; ++i) {
    TranslationPacket* part = partition.pool().copy(*packet);
    part->kind = MessageKind::Part;
    network.send_page(part);
  }
  network.send_page(packet);
}

}  // namespace nearfar
