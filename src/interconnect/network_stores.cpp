// Posted stores at a network interface: their credits, their place among requests, what goes back to their source; and
// the packets of the link layer that all packets cause.
#include <fmt/format.h>

#include <algorithm>

#include "interconnect/network_interface.h"
#include "sim/error.h"

namespace nearfar {
namespace {

/// A packet of the link layer on the wire.
constexpr std::uint32_t kLinkPacket = 8;

}  // namespace

void LinkLayerStats::describe(StatVisitor& visitor) {
  visitor.counter("packets", "packets",
                  "Acknowledgements and credit updates of the PCIe link layer that a device sent.", packets);
  visitor.counter("bytes", "bytes", "Bytes on the link of the PCIe link-layer packets that a device sent.", bytes);
}

void NetworkClient::on_stores(StorePacket* packet) {
  throw SimulationError(fmt::format("device {} takes no posted stores, but got some", packet->destination));
}

void NetworkInterface::send_stores(StorePacket* packet) { send_stores(packet, 0); }

void NetworkInterface::forward_stores(StorePacket* packet) {
  send_stores(packet, packet->early_ticks + rate().ticks_of_bytes(packet->wire_bytes));
}

void NetworkInterface::send_stores(StorePacket* packet, std::uint64_t begun) {
  packet->type = PacketType::Stores;
  packet->traffic_class = TrafficClass::Request;
  packet->origin = partition_.device().value;
  // Packets that leave together need credits together, but no more than there are.
  packet->headers = std::min(packet->packets, spec_.credits);
  packet->data = std::min(packet->data, spec_.data_credits);
  ++destinations_[packet->destination].stores;
  send(packet, TrafficClass::Request, 0, begun);
}

bool NetworkInterface::has_credits(const DestinationQueue& destination, const Packet& stores) {
  const auto& packet = static_cast<const StorePacket&>(stores);
  return destination.store_headers >= packet.headers && destination.store_data >= packet.data;
}

void NetworkInterface::take_store_credits(DestinationQueue& destination, const Packet& stores) {
  const auto& packet = static_cast<const StorePacket&>(stores);
  destination.store_headers -= packet.headers;
  destination.store_data -= packet.data;
  --destination.stores;
}

std::uint32_t NetworkInterface::stores_waiting(DeviceId to) {
  DestinationQueue& destination = destinations_[to.value];
  if (destination.stores == 0) return 0;
  LinkPort& output = outputs_[destination.hop.output];
  if (output.waiting()) work_off(output, output.ticks(partition_.now()));
  return destination.stores;
}

Cycle NetworkInterface::next_departure(DeviceId to) {
  DestinationQueue& destination = destinations_[to.value];
  const Fifo<Packet>& queue = queue_of(destination.queues, TrafficClass::Request);
  if (!queue.empty() && !may_go(destination, TrafficClass::Request, *queue.front())) return kNever;
  // What is decided at tick t is what was ready before it: in the cycle after the port becomes free.
  return std::max(partition_.now(), outputs_[destination.hop.output].free_within()) + 1;
}

void NetworkInterface::unreserve(DeviceId to, std::uint32_t count) {
  destinations_[to.value].reserved -= count;
  if (refusing_.contains(to.value)) schedule_room();
}

/// Notices and credits take no bytes; they arrive one latency after the receiver is through with the stores.
void NetworkInterface::return_stores(DeviceId source, const StoresReturned& returned, Cycle after) {
  settle_order(source);
  auto* message = partition_.pool().allocate<CreditMessage>();
  message->stores = returned;
  partition_.post(message, source, MessagePort::Credit,
                  partition_.now() + after + topology_.latency(partition_.device(), source));
}

/// A packet from a neighbour has come: now and then it is acknowledged, and the neighbour gets its credits back.
void NetworkInterface::send_link_packets(const Packet& received) {
  LinkLayer& layer = link_layers_[received.source];
  const std::uint32_t count = packets_of(received);
  layer.packets += count;
  layer.credits += count;
  const std::uint32_t sent = layer.packets / spec_.pcie.ack_every + layer.credits / spec_.pcie.credit_every;
  layer.packets %= spec_.pcie.ack_every;
  layer.credits %= spec_.pcie.credit_every;
  if (sent == 0) return;
  LinkPort& output = outputs_[destinations_[received.source].hop.output];
  const std::uint64_t now = output.ticks(partition_.now());
  if (output.waiting()) work_off(output, now);
  output.pass(now, std::uint64_t{sent} * kLinkPacket, 0);
  link_layer_stats_.packets += sent;
  link_layer_stats_.bytes += std::uint64_t{sent} * kLinkPacket;
}

}  // namespace nearfar
