#include "interconnect/network_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/error.h"

namespace nearfar {
namespace {

const LineRequest& as_lines(const Packet& packet) { return static_cast<const LineRequest&>(packet); }

std::uint32_t packets(const Packet& packet) { return packets_of(packet); }

/// Who waits is woken when this many places are free, so that one wake-up moves several requests. The link
/// does not notice: the queue still holds more than it can send meanwhile.
std::uint32_t wake_margin(std::uint32_t queue) { return std::clamp<std::uint32_t>(queue / 8, 1, 32); }

/// A mapping in an answer of translation.
constexpr std::uint32_t kMappingBytes = 8;

}  // namespace

void LinkStats::describe(StatVisitor& visitor) {
  visitor.counter("request_packets", "packets", "Request packets that a device sent to other devices.",
                  request_packets);
  visitor.counter("request_bytes", "bytes", "Bytes of the request packets that a device sent, headers included.",
                  request_bytes);
  visitor.counter("reply_packets", "packets", "Reply and acknowledgement packets that a device sent to other devices.",
                  reply_packets);
  visitor.counter("reply_bytes", "bytes",
                  "Bytes of the reply and acknowledgement packets that a device sent, headers included.", reply_bytes);
  visitor.counter("control_packets", "packets",
                  "Control packets that a device sent: messages of launches, workgroups and completions.",
                  control_packets);
  visitor.counter("control_bytes", "bytes", "Bytes of the control packets that a device sent.", control_bytes);
  visitor.counter("copy_packets", "packets",
                  "Packets of copies between launches that a device sent: chunks, requests for them and completions.",
                  copy_packets);
  visitor.counter("copy_bytes", "bytes",
                  "Bytes of the packets of copies between launches that a device sent, headers included.", copy_bytes);
  visitor.counter("message_packets", "packets", "Packets of translation messages that a device sent.", message_packets);
  visitor.counter("message_bytes", "bytes", "Bytes of the translation messages that a device sent.", message_bytes);
  visitor.counter("page_packets", "packets",
                  "Packets with 4 KiB of a migrating page that a device sent; a format that has smaller packets counts "
                  "them as one.",
                  page_packets);
  visitor.counter("page_bytes", "bytes", "Bytes of the migrating pages that a device sent, headers included.",
                  page_bytes);
  visitor.counter("coherence_packets", "packets",
                  "Packets of the coherence protocol that a device sent: invalidations, markers, fences and their "
                  "answers; in a unified memory hierarchy all of its messages.",
                  coherence_packets);
  visitor.counter("coherence_bytes", "bytes", "Bytes of the packets of the coherence protocol that a device sent.",
                  coherence_bytes);
  visitor.counter("forwarded_packets", "packets",
                  "Packets between other devices that a device forwarded (topologies ring and pcie-tree).",
                  forwarded_packets);
  visitor.counter("received_packets", "packets", "Packets that a device received as their destination.",
                  received_packets);
  visitor.counter("received_bytes", "bytes",
                  "Bytes of the packets that a device received as their destination, headers included.",
                  received_bytes);
  visitor.counter("queued_requests", "packets",
                  "Request packets that waited at their sender for a credit or for the link.", queued_requests);
  visitor.counter("credit_waits", "packets",
                  "Request packets that found no credit of their destination when they reached the network interface.",
                  credit_waits);
  visitor.counter("busy_cycles", "cycles", "Time that the outputs of a device were sending, summed over outputs.",
                  busy_cycles);
}

void DestinationStats::describe(StatVisitor& visitor) {
  visitor.counter("packets", "packets", "Packets that a device sent to one other device.", packets);
  visitor.counter("bytes", "bytes", "Bytes of the packets that a device sent to one other device, headers included.",
                  bytes);
}

void NetworkClient::on_coherence(Packet* packet) {
  throw SimulationError(
      fmt::format("device {} has no coherence controller, but got one of its messages", packet->destination));
}

void NetworkClient::on_hierarchy(Packet* packet) {
  throw SimulationError(
      fmt::format("device {} has no unified memory hierarchy, but got one of its messages", packet->destination));
}

NetworkInterface::NetworkInterface(Partition& partition, const LinkSpec& spec, const Topology& topology,
                                   std::uint64_t line_bytes, std::uint64_t clock_hertz, NetworkClient& client,
                                   ByteMaskPool& masks)
    : partition_(partition),
      spec_(spec),
      topology_(topology),
      line_bytes_(line_bytes),
      client_(client),
      masks_(masks),
      format_(make_packet_format(spec, line_bytes)),
      outputs_(topology.outputs(partition.device()), LinkPort(spec.packet_rate().bytes_per_second, clock_hertz)),
      inputs_(topology.inputs(partition.device()), outputs_.front()),
      destinations_(topology.devices()),
      arrived_(topology.devices()),
      freed_(topology.devices(), 0),
      credit_batch_(std::max(1U, spec.credits / kCreditBatches)),
      queue_limit_(spec.queue),
      wake_margin_(wake_margin(spec.queue)),
      room_check_(std::max<Cycle>(1, outputs_.front().duration(wake_margin_ * (spec.header + line_bytes / 4)))),
      room_event_(partition.pool().allocate<Event>()),
      room_handler_(partition.add_handler<&NetworkInterface::on_room>(this)) {
  const auto line = static_cast<std::uint32_t>(line_bytes);
  whole_write_bytes_ = format_->wire_bytes(PacketRole::WriteRequest, line, false);
  read_request_bytes_ = format_->wire_bytes(PacketRole::ReadRequest, 0, false);
  read_reply_bytes_ = format_->wire_bytes(PacketRole::ReadReply, line, false);
  write_reply_bytes_ = format_->wire_bytes(PacketRole::WriteReply, 0, false);
  for (unsigned to = 0; to < destinations_.size(); ++to) {
    destinations_[to].hop = topology.route(partition.device(), DeviceId{static_cast<std::uint16_t>(to)});
    destinations_[to].credits = spec.credits;
    destinations_[to].store_headers = spec.credits;
    destinations_[to].store_data = spec.data_credits;
  }
  if (has_link_layer()) link_layers_.resize(destinations_.size());
  partition.set_network(this);
  partition.set_port<&NetworkInterface::on_arrival>(MessagePort::Network, this);
  partition.set_port<&NetworkInterface::on_credit>(MessagePort::Credit, this);
}

/// A write of part of a line says which bytes.
std::uint32_t NetworkInterface::write_packet(const ByteMask& mask) const {
  return mask.count() == line_bytes_ ? whole_write_bytes_ : format_->store(mask).bytes;
}

/// Other layers speak of messages with a plain header; other formats have their own sizes for them.
void NetworkInterface::set_message_size(Packet& packet, std::uint32_t header) const {
  if (spec_.is_plain()) return;
  const std::uint32_t payload = packet.wire_bytes - std::min<std::uint32_t>(packet.wire_bytes, header);
  const bool data = payload >= line_bytes_;
  packet.set_wire_bytes(data ? format_->write(0, payload).bytes
                             : format_->wire_bytes(PacketRole::Control, payload, false));
}

/// The size of a request's first packet.
std::uint32_t NetworkInterface::request_packet(const LineRequest& request) const {
  if (request.kind == RequestKind::Write) {
    const ByteMasksId masks = as_store(request).masks;
    return masks == 0 ? whole_write_bytes_ : write_packet(masks_.at(masks).first);
  }
  if (request.kind != RequestKind::Atomic) return read_request_bytes_;
  return format_->wire_bytes(PacketRole::AtomicRequest, as_load(request).operand_bytes, false);
}

std::uint32_t NetworkInterface::reply_packet(const LineRequest& request) const {
  if (request.kind == RequestKind::Write) return write_reply_bytes_;
  if (request.kind != RequestKind::Atomic) return read_reply_bytes_;
  return format_->wire_bytes(PacketRole::AtomicReply, as_load(request).operand_bytes, false);
}

/// Bytes of the packets of a burst behind its first.
std::uint64_t NetworkInterface::bytes_behind(const Packet& packet) const {
  if (packet.type != PacketType::Lines) return 0;
  const std::uint64_t behind = packets(packet) - 1;
  if (behind == 0) return 0;
  const LineRequest& lines = as_lines(packet);
  if (lines.reply() || lines.kind != RequestKind::Write) return behind * packet.wire_bytes;
  const ByteMasksId masks = as_store(lines).masks;
  const std::uint64_t last = masks == 0 ? whole_write_bytes_ : write_packet(masks_.at(masks).last);
  return (behind - 1) * whole_write_bytes_ + last;
}

/// Takes the first lines off a burst, as one of their own.
LineRequest* NetworkInterface::first_lines(LineRequest& burst, std::uint32_t count) {
  LineRequest* first = partition_.pool().copy(burst);
  for (std::uint32_t i = 0; i < count; ++i) burst.mask &= burst.mask - 1;
  first->mask &= ~burst.mask;
  if (burst.kind != RequestKind::Write || burst.reply() || as_store(burst).masks == 0) return first;
  // Only the edges of the whole burst may be partial: each part keeps its own.
  const ByteMask whole = ByteMask::all(static_cast<unsigned>(line_bytes_));
  const EdgeMasks edges = masks_.at(as_store(burst).masks);
  masks_.release(partition_.device(), as_store(burst).masks);
  const auto keep = [&](LineRequest& part, const EdgeMasks& masks) {
    const bool all = masks.first == whole && masks.last == whole;
    as_store(part).masks = all ? 0 : masks_.allocate(partition_.device(), masks);
  };
  keep(*first, {edges.first, whole});
  keep(burst, burst.one_line() ? EdgeMasks{edges.last, whole} : EdgeMasks{whole, edges.last});
  return first;
}

// ------------------------------------------------------------------------------------------------------------ outputs

void NetworkInterface::send_request(LineRequest* request) {
  request->traffic_class = TrafficClass::Request;
  request->origin = partition_.device().value;
  request->destination = request->line.device().value;
  send(request, TrafficClass::Request, 0);
}

void NetworkInterface::answer(LineRequest* request, Cycle after) {
  request->set_wire_bytes(reply_packet(*request));
  request->destination = request->origin;
  request->origin = partition_.device().value;
  request->traffic_class = TrafficClass::Response;
  request->stage_start = static_cast<std::uint32_t>(partition_.now() + after);
  stats_.reply_packets += packets(*request);
  stats_.reply_bytes += request->wire_bytes + bytes_behind(*request);
  send(request, TrafficClass::Response, after);
}

void NetworkInterface::send_control(Packet* packet) {
  packet->type = PacketType::Control;
  packet->traffic_class = TrafficClass::Response;
  packet->origin = partition_.device().value;
  packet->set_wire_bytes(format_->wire_bytes(PacketRole::Control, 0, false));
  ++stats_.control_packets;
  stats_.control_bytes += packet->wire_bytes;
  send(packet, TrafficClass::Response, 0);
}

std::uint32_t NetworkInterface::send_copy(Packet* packet) {
  packet->type = PacketType::Copy;
  packet->traffic_class = TrafficClass::Response;
  packet->origin = partition_.device().value;
  set_message_size(*packet, static_cast<std::uint32_t>(spec_.header));
  const std::uint32_t bytes = packet->wire_bytes;
  ++stats_.copy_packets;
  stats_.copy_bytes += bytes;
  send(packet, TrafficClass::Response, 0);
  return bytes;
}

void NetworkInterface::send_message(Packet* packet) {
  packet->type = PacketType::Translation;
  packet->origin = partition_.device().value;
  // It has room for a mapping, which answers carry.
  const bool answer = packet->traffic_class == TrafficClass::Response;
  set_message_size(*packet, packet->wire_bytes - (answer ? kMappingBytes : 0));
  ++stats_.message_packets;
  stats_.message_bytes += packet->wire_bytes;
  send(packet, packet->traffic_class, 0);
}

void NetworkInterface::send_page(Packet* packet) {
  packet->type = PacketType::Translation;
  packet->origin = partition_.device().value;
  packet->set_wire_bytes(format_->write(0, kPageBytes).bytes);
  ++stats_.page_packets;
  stats_.page_bytes += packet->wire_bytes;
  send(packet, packet->traffic_class, 0);
}

void NetworkInterface::send_coherence(Packet* packet, PacketRole role) {
  packet->type = PacketType::Coherence;
  packet->origin = partition_.device().value;
  packet->set_wire_bytes(format_->wire_bytes(role, 0, false));
  ++stats_.coherence_packets;
  stats_.coherence_bytes += packet->wire_bytes;
  send(packet, packet->traffic_class, 0);
}

std::uint32_t NetworkInterface::send_hierarchy(Packet* packet, std::uint32_t payload, bool bare) {
  packet->type = PacketType::Hierarchy;
  packet->origin = partition_.device().value;
  std::uint32_t bytes = 0;
  if (!bare) {
    const bool data = payload >= line_bytes_ && !spec_.is_plain();
    bytes = data ? format_->write(0, payload).bytes : format_->wire_bytes(PacketRole::Control, payload, false);
  }
  packet->set_wire_bytes(bytes);
  ++stats_.coherence_packets;
  stats_.coherence_bytes += bytes;
  send(packet, packet->traffic_class, 0);
  return bytes;
}

/// A message leaves at once where nobody else does, or waits for its turn. Its sender's pipeline still owes `after`
/// cycles; it may have begun to come out of it `begun` ticks ago.
void NetworkInterface::send(Packet* packet, TrafficClass traffic, Cycle after, std::uint64_t begun) {
  const unsigned to = packet->destination;
  DestinationQueue& destination = destinations_[to];
  LinkPort& output = outputs_[destination.hop.output];
  Fifo<Packet>& queue = queue_of(destination.queues, traffic);
  const std::uint64_t now = output.ticks(partition_.now());
  packet->when = after;
  const bool request = traffic == TrafficClass::Request;
  if (request && refusing_.contains(to)) schedule_room();
  if (output.waiting()) work_off(output, now);
  if (!output.waiting() && output.free() <= now && queue.empty() && may_go(destination, traffic, *packet)) {
    output.took_turn(traffic, to);
    if (depart(output, destination, traffic, packet, now - begun)) return;
  }
  if (request) {
    stats_.queued_requests += packets(*packet);
    if (destination.credits == 0) stats_.credit_waits += packets(*packet);
  }
  queue.push(packet);
  if (may_go(destination, traffic, *queue.front())) output.add(traffic, to, now);
}

/// The first burst of a message enters the link, at tick `from` or when that is free; whether it is all of the message.
/// A burst is known by its first packet; where packets are stored and forwarded, each follows the one before it without
/// a gap, as the links are equally fast.
inline bool NetworkInterface::depart(LinkPort& output, DestinationQueue& destination, TrafficClass traffic,
                                     Packet* packet, std::uint64_t from) {
  const bool request = traffic == TrafficClass::Request;
  const std::uint32_t all = packets(*packet);
  const bool stores = packet->type == PacketType::Stores;
  const std::uint32_t count = stores ? all : std::min({all, spec_.burst, request ? destination.credits : ~0U});
  const bool whole = count == all;
  Packet* leaving = whole ? packet : first_lines(static_cast<LineRequest&>(*packet), count);
  if (request && stores) {
    take_store_credits(destination, *packet);
  } else if (request) {
    leaving->set_wire_bytes(request_packet(as_lines(*leaving)));
    destination.credits -= count;
    destination.reserved -= count;
  }
  const std::uint64_t behind = bytes_behind(*leaving);
  if (request) {
    stats_.request_packets += count;
    stats_.request_bytes += leaving->wire_bytes + behind;
  }
  const bool own = leaving->origin == partition_.device().value;
  if (own) {
    destination.stats.packets += count;
    destination.stats.bytes += leaving->wire_bytes + behind;
  }
  const Cycle after = leaving->when;
  const auto out = output.pass(from, leaving->wire_bytes, behind);
  leaving->early_ticks = out.early;
  Cycle arrival = out.cycle + destination.hop.latency + after;
  // Perturbed once, where it begins.
  if (jitter_.on() && own) {
    arrival = jitter_.arrival(arrival, leaving->destination, static_cast<unsigned>(leaving->traffic_class));
  }
  partition_.post(leaving, destination.hop.next, MessagePort::Network, arrival);
  return whole;
}

/// Lets what waits for an output leave in turn, as far as the link is free before tick `until`. All that was ready by
/// then has been announced.
void NetworkInterface::let_leave(LinkPort& output, std::uint64_t until) {
  while (output.waiting() && output.free() < until) {
    const LinkPort::Turn turn = output.next();
    DestinationQueue& destination = destinations_[turn.flow];
    Fifo<Packet>& queue = queue_of(destination.queues, turn.traffic);
    Packet* first = queue.front();
    Packet* following = Fifo<Packet>::behind(first);
    if (depart(output, destination, turn.traffic, first, 0)) queue.replace_front(following);
    if (queue.empty() || !may_go(destination, turn.traffic, *queue.front())) output.remove(turn.traffic, turn.flow);
  }
}

void NetworkInterface::end_window(Cycle limit) {
  for (LinkPort& output : outputs_) {
    if (output.waiting()) work_off(output, output.ticks(limit));
  }
}

/// Nobody knows when a queue has room before it has: while somebody waits for it, it is looked at now and then.
bool NetworkInterface::find_room(unsigned to, Waiter waiter) {
  DestinationQueue& destination = destinations_[to];
  LinkPort& output = outputs_[destination.hop.output];
  if (output.waiting()) work_off(output, output.ticks(partition_.now()));
  if (destination.reserved < queue_limit_) return true;
  destination.waiters.push(waiter);
  refusing_.insert(to);
  schedule_room();
  return false;
}

void NetworkInterface::schedule_room() {
  if (room_scheduled_) return;
  room_scheduled_ = true;
  partition_.schedule(room_event_, room_handler_, partition_.now() + room_check_);
}

void NetworkInterface::on_room(Event*) {
  room_scheduled_ = false;
  bool moves = false;
  for (unsigned to = refusing_.first_from(0); to != DeviceSet::kNone; to = refusing_.first_from(to + 1)) {
    DestinationQueue& destination = destinations_[to];
    LinkPort& output = outputs_[destination.hop.output];
    if (output.waiting()) work_off(output, output.ticks(partition_.now()));
    if (destination.reserved + wake_margin_ <= queue_limit_) {
      while (!destination.waiters.empty() && destination.reserved < queue_limit_)
        client_.network_has_room(destination.waiters.pop());
      if (destination.waiters.empty()) refusing_.erase(to);
    }
    const Fifo<Packet>& queue = queue_of(destination.queues, TrafficClass::Request);
    moves = moves || (!destination.waiters.empty() && !queue.empty() &&
                      may_go(destination, TrafficClass::Request, *queue.front()));
  }
  if (moves) schedule_room();  // else credits that return or another request call for it
}

// ------------------------------------------------------------------------------------------------------------- inputs

/// The port that a message passes on its way in; null where links end at the device itself, one for each neighbour.
LinkPort* NetworkInterface::input_of(const Event& message) {
  if (inputs_.size() > 1) {
    return &inputs_[topology_.shared_input() ? message.source : topology_.switch_of(DeviceId{message.source})];
  }
  return topology_.shared_input() || topology_.last_hop_at_receiver() ? &inputs_.front() : nullptr;
}

/// Credits and announcements pass no port, but keep their place among what the same source sent.
void NetworkInterface::arrive(Event* message) {
  LinkPort* input = input_of(*message);
  const bool passes_port = message->handler == static_cast<HandlerId>(MessagePort::Network);
  if (!passes_port) {
    if (input != nullptr && input->waiting()) admit_until(*input, input->ticks(message->when));
    partition_.deliver(message);
    return;
  }
  auto* packet = static_cast<Packet*>(message);
  if (timeline_ != nullptr) timeline_->came(*packet);
  if (input == nullptr) {
    if (completes(*packet)) {
      packet->when = inputs_.front().after(packet->when, packet->early_ticks, bytes_behind(*packet));
    }
    partition_.deliver(packet);
    return;
  }
  const bool cut_through = topology_.shared_input();
  const std::uint64_t there = input->ticks(packet->when) - (cut_through ? packet->early_ticks : 0);
  if (input->waiting()) admit_until(*input, there);
  if (!input->waiting() && input->free() <= there) {
    input->took_turn(packet->traffic_class, packet->source);
    admit(*input, packet, cut_through ? there - input->ticks_of_bytes(packet->wire_bytes) : there);
    return;
  }
  queue_of(arrived_[packet->source], packet->traffic_class).push(packet);
  input->add(packet->traffic_class, packet->source, there);
}

/// Whether a packet is there with the last of its burst: who asked for lines waits for all of them.
bool NetworkInterface::completes(const Packet& packet) const {
  return packet.traffic_class == TrafficClass::Response && packet.destination == partition_.device().value;
}

/// A message that came passes an input.
inline void NetworkInterface::admit(LinkPort& input, Packet* packet, std::uint64_t from) {
  const auto in = input.pass(from, packet->wire_bytes, bytes_behind(*packet));
  packet->when = (completes(*packet) ? in.last : in.cycle) + (topology_.last_hop_at_receiver() ? spec_.latency : 0);
  partition_.deliver(packet);
}

void NetworkInterface::let_in(LinkPort& input, std::uint64_t until) {
  while (input.waiting() && input.free() < until) {
    const LinkPort::Turn turn = input.next();
    Fifo<Packet>& queue = queue_of(arrived_[turn.flow], turn.traffic);
    Packet* first = queue.pop();
    if (queue.empty()) input.remove(turn.traffic, turn.flow);
    admit(input, first, 0);
  }
}

void NetworkInterface::all_arrived(Cycle limit) {
  for (LinkPort& input : inputs_) {
    if (input.waiting()) admit_until(input, input.ticks(limit - 1) + 1);
  }
}

Cycle NetworkInterface::next_time() const {
  Cycle next = kNever;
  for (const LinkPort& output : outputs_) {
    if (output.waiting()) next = std::min(next, output.free_within());
  }
  for (const LinkPort& input : inputs_) {
    if (input.waiting()) next = std::min(next, input.free_cycle());
  }
  return next;
}

void NetworkInterface::on_arrival(Packet* packet) {
  if (timeline_ != nullptr) timeline_->delivered(*packet, bytes_behind(*packet));
  if (!link_layers_.empty()) send_link_packets(*packet);
  if (packet->destination == partition_.device().value) {
    receive(packet);
    return;
  }
  stats_.forwarded_packets += packets(*packet);
  const TrafficClass traffic = packet->traffic_class;
  // In transit its credit has been taken.
  send(packet, traffic == TrafficClass::Request ? TrafficClass::Uncredited : traffic, 0);
}

void NetworkInterface::receive(Packet* packet) {
  const std::uint64_t behind = bytes_behind(*packet);
  stats_.received_packets += packets(*packet);
  stats_.received_bytes += packet->wire_bytes + behind;
  switch (packet->type) {
    case PacketType::Control: client_.on_control(packet); return;
    case PacketType::Copy: client_.on_copy(packet); return;
    case PacketType::Translation: client_.on_message(packet); return;
    case PacketType::Coherence: client_.on_coherence(packet); return;
    case PacketType::Hierarchy: client_.on_hierarchy(packet); return;
    case PacketType::Stores: client_.on_stores(static_cast<StorePacket*>(packet)); return;
    case PacketType::Lines: break;
  }
  auto* lines = static_cast<LineRequest*>(packet);
  if (lines->reply()) {
    client_.on_reply(lines);
  } else {
    client_.on_request(lines, behind == 0 ? Spacing() : inputs_.front().spacing(behind, packets(*packet) - 1));
  }
}

/// What left for a device before goes before, whenever that was decided: messages of one cycle are handled in the order
/// of posting.
void NetworkInterface::settle_order(DeviceId to) {
  LinkPort& output = outputs_[destinations_[to.value].hop.output];
  if (output.waiting()) work_off(output, output.ticks(partition_.now()));
}

std::uint64_t NetworkInterface::waiting_invalidations(DeviceId to) {
  settle_order(to);
  return queue_of(destinations_[to.value].queues, TrafficClass::Invalidation).size();
}

void NetworkInterface::announce(DeviceId to) {
  settle_order(to);
  partition_.post(partition_.pool().allocate<Event>(), to, MessagePort::Announcement,
                  partition_.now() + topology_.lookahead());
}

void NetworkInterface::requests_taken(DeviceId source, std::uint32_t count) {
  freed_[source.value] += count;
  if (freed_[source.value] < credit_batch_) return;
  settle_order(source);
  auto* message = partition_.pool().allocate<CreditMessage>();
  message->credits = freed_[source.value];
  freed_[source.value] = 0;
  partition_.post(message, source, MessagePort::Credit,
                  partition_.now() + topology_.latency(partition_.device(), source));
}

void NetworkInterface::on_credit(CreditMessage* message) {
  const unsigned from = message->source;
  DestinationQueue& destination = destinations_[from];
  LinkPort& output = outputs_[destination.hop.output];
  const std::uint64_t now = output.ticks(partition_.now());
  if (output.waiting()) work_off(output, now);
  const StoresReturned stores = message->stores;
  destination.credits += message->credits;
  destination.store_headers += stores.headers;
  destination.store_data += stores.data;
  partition_.pool().release(message);
  const Fifo<Packet>& queue = queue_of(destination.queues, TrafficClass::Request);
  if (!queue.empty() && may_go(destination, TrafficClass::Request, *queue.front())) {
    output.add(TrafficClass::Request, from, now);
    if (refusing_.contains(from)) schedule_room();
  }
  const DeviceId source{static_cast<std::uint16_t>(from)};
  // Stores may also have waited behind a request that had no credit.
  if (destination.stores != 0 || stores.headers != 0) client_.store_credits_came(source);
  if (stores.drained != 0) client_.stores_drained(source, stores.drained);
}

LinkStats& NetworkInterface::stats() {
  stats_.busy_cycles = 0;
  for (const LinkPort& output : outputs_) stats_.busy_cycles += output.busy_cycles();
  return stats_;
}

bool NetworkInterface::credits_settled(const NetworkInterface& source) const {
  const std::size_t from = source.partition_.device().value;
  const std::size_t here = partition_.device().value;
  const DestinationQueue& way = source.destinations_[here];
  if (way.store_headers != spec_.credits || way.store_data != spec_.data_credits) return false;
  return way.credits + freed_[from] == spec_.credits;
}

std::uint64_t NetworkInterface::waiting() const {
  std::uint64_t sum = 0;
  for (const DestinationQueue& destination : destinations_) sum += destination.reserved + destination.stores;
  return sum;
}

std::string NetworkInterface::describe_waiting() const {
  std::string text;
  for (std::size_t to = 0; to < destinations_.size(); ++to) {
    const Fifo<Packet>& queue = destinations_[to].queues[static_cast<std::size_t>(TrafficClass::Request)];
    if (queue.empty()) continue;
    if (queue.front()->type == PacketType::Stores) {
      text += fmt::format("  link: stores wait to leave for device {}, credits left for {} packets and {} x 16 B\n", to,
                          destinations_[to].store_headers, destinations_[to].store_data);
      continue;
    }
    text += fmt::format("  link: {} requests wait to leave for device {}, {} credits left (oldest since cycle {})\n",
                        queue.size(), to, destinations_[to].credits, as_lines(*queue.front()).stage_start);
  }
  return text;
}

}  // namespace nearfar
