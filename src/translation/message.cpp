#include "translation/message.h"

namespace nearfar {

void send_translation_message(Partition& partition, NetworkInterface& network, std::uint64_t message_bytes,
                              PageSize size, DeviceId to, const Message& message) {
  auto* packet = partition.pool().allocate<TranslationPacket>();
  Message sent = message;
  sent.from = partition.device();
  sent.put(*packet);
  packet->destination = to.value;
  packet->set_wire_bytes(static_cast<std::uint32_t>(message_bytes));
  if (message.kind == MessageKind::Data) {
    // A large page goes as a burst of small ones; the mapping rides with the last.
    for (std::uint64_t i = 1; i < size.frames(); ++i) {
      TranslationPacket* part = partition.pool().copy(*packet);
      part->kind = MessageKind::Part;
      part->set_wire_bytes(static_cast<std::uint32_t>(kPageBytes));
      network.send_message(part);
    }
    packet->set_wire_bytes(static_cast<std::uint32_t>(kPageBytes));
  }
  network.send_message(packet);
}

}  // namespace nearfar
