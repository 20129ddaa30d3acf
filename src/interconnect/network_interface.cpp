#include "interconnect/network_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/prefetch.h"

namespace nearfar {
namespace {

LinkPort::Channel channel_of(const Transaction& t) {
  if (t.reply || t.kind == TransactionKind::Control) return LinkPort::kReplies;
  return t.kind == TransactionKind::Message ? LinkPort::kOthers : LinkPort::kRequests;
}

/// Whether a message is a device's own, or one in transit. Launches and translation carry other things in `line`, and
/// their requester is whoever sends them, in answers too.
bool begins_at(DeviceId device, const Transaction& t) {
  if (t.kind >= TransactionKind::Control || !t.reply) return t.requester == device.value;
  return t.line.device() == device;
}

/// Requests and replies are for lines of a page and take a packet each; other messages are one packet.
std::uint32_t packets(const Transaction& t) {
  return t.kind < TransactionKind::Control ? static_cast<std::uint32_t>(std::popcount(t.mask)) : 1;
}

/// Who was waiters is woken when this many places are free, so that one wake-up moves several requests. The link
/// does not notice: the queue still holds more than it can send meanwhile.
std::uint32_t wake_margin(std::uint32_t queue) { return std::clamp<std::uint32_t>(queue / 8, 1, 32); }

}  // namespace

void LinkStats::describe(StatVisitor& visitor) {
  visitor.counter("request_packets", "packets", "Requests sent to other devices.", request_packets);
  visitor.counter("request_bytes", "bytes", "Bytes of these, headers included.", request_bytes);
  visitor.counter("reply_packets", "packets", "Replies and acknowledgements sent to other devices.", reply_packets);
  visitor.counter("reply_bytes", "bytes", "Bytes of these, headers included.", reply_bytes);
  visitor.counter("control_packets", "packets", "Launch, workgroup and completion messages sent.", control_packets);
  visitor.counter("control_bytes", "bytes", "Bytes of these.", control_bytes);
  visitor.counter("message_packets", "packets", "Translation messages sent, pages included.", message_packets);
  visitor.counter("message_bytes", "bytes", "Bytes of these.", message_bytes);
  visitor.counter("forwarded_packets", "packets", "Packets of others passed on (ring, tree).", forwarded_packets);
  visitor.counter("received_packets", "packets", "Packets received for this device.", received_packets);
  visitor.counter("received_bytes", "bytes", "Bytes of these, headers included.", received_bytes);
  visitor.counter("queued_requests", "packets", "Requests that had to wait for a credit or for the link.",
                  queued_requests);
  visitor.counter("credit_waits", "packets", "Requests that found no credit of their destination when they came.",
                  credit_waits);
  visitor.counter("busy_cycles", "cycles", "Time that the device's outputs were sending, summed over them.",
                  busy_cycles);
}

NetworkInterface::NetworkInterface(Partition& partition, const LinkSpec& spec, const Topology& topology,
                                   std::uint64_t line_bytes, std::uint64_t clock_hertz, NetworkClient& client)
    : partition_(partition),
      spec_(spec),
      topology_(topology),
      line_bytes_(line_bytes),
      client_(client),
      outputs_(topology.outputs(partition.device()), LinkPort(spec.bandwidth.bytes_per_second, clock_hertz)),
      inputs_(topology.inputs(partition.device()), outputs_.front()),
      destinations_(topology.devices()),
      arrived_(topology.devices()),
      freed_(topology.devices(), 0),
      credit_batch_(std::max(1U, spec.credits / kCreditBatches)),
      queue_limit_(spec.queue),
      wake_margin_(wake_margin(spec.queue)),
      room_check_(std::max<Cycle>(1, outputs_.front().duration(wake_margin_ * (spec.header + line_bytes / 4)))),
      room_event_(partition.pool().allocate()),
      room_handler_(partition.add_handler<&NetworkInterface::on_room>(this)) {
  for (unsigned to = 0; to < destinations_.size(); ++to) {
    destinations_[to].hop = topology.route(partition.device(), DeviceId{static_cast<std::uint8_t>(to)});
    destinations_[to].credits = spec.credits;
  }
  partition.set_network(this);
  partition.set_port<&NetworkInterface::on_arrival>(MessagePort::Network, this);
  partition.set_port<&NetworkInterface::on_credit>(MessagePort::Credit, this);
  if (!partition.many_partitions()) return;
  partition.set_preparation<&NetworkInterface::prepare_arrival, NetworkInterface>(MessagePort::Network);
}

/// A write of part of a line says which bytes.
std::uint64_t NetworkInterface::write_packet(std::uint64_t bytes) const {
  return spec_.header + bytes + (bytes < line_bytes_ ? line_bytes_ / 8 : 0);
}

std::uint64_t NetworkInterface::request_packet(const Transaction& t) const {
  if (t.kind == TransactionKind::Write) return write_packet(t.data_bytes);
  return spec_.header + (t.kind == TransactionKind::Atomic ? t.data_bytes : 0U);
}

std::uint64_t NetworkInterface::reply_packet(const Transaction& t) const {
  if (t.kind == TransactionKind::Write) return spec_.reply_header;
  return spec_.reply_header + (t.kind == TransactionKind::Atomic ? t.data_bytes : line_bytes_);
}

/// Bytes of the packets of a burst behind its first.
std::uint64_t NetworkInterface::bytes_behind(const Transaction& t) const {
  const std::uint64_t behind = packets(t) - 1;
  if (behind == 0) return 0;
  if (t.reply || t.kind != TransactionKind::Write) return behind * t.wire_bytes;
  return (behind - 1) * write_packet(line_bytes_) + write_packet(t.last_bytes);
}

/// Takes the first lines off a burst, as one of their own.
Transaction* NetworkInterface::first_lines(Transaction& t, std::uint32_t count) {
  Transaction* first = partition_.pool().allocate();
  *first = t;
  for (std::uint32_t i = 0; i < count; ++i) t.mask &= t.mask - 1;
  first->mask &= ~t.mask;
  if (t.kind == TransactionKind::Write) {
    first->last_bytes = static_cast<std::uint32_t>(line_bytes_);
    t.data_bytes = static_cast<std::uint16_t>(packets(t) == 1 ? t.last_bytes : line_bytes_);
  }
  return first;
}

// ------------------------------------------------------------------------------------------------------------ outputs

void NetworkInterface::send_request(Transaction* t) { send(t, LinkPort::kRequests, 0); }

void NetworkInterface::answer(Transaction* t, Cycle after) {
  t->wire_bytes = static_cast<std::uint16_t>(reply_packet(*t));
  t->destination = t->requester;
  t->reply = true;
  t->stage_start = static_cast<std::uint32_t>(partition_.now() + after);
  stats_.reply_packets += packets(*t);
  stats_.reply_bytes += t->wire_bytes + bytes_behind(*t);
  send(t, LinkPort::kReplies, after);
}

void NetworkInterface::send_control(Transaction* t) {
  ++stats_.control_packets;
  stats_.control_bytes += t->wire_bytes;
  t->kind = TransactionKind::Control;
  send(t, LinkPort::kReplies, 0);
}

void NetworkInterface::send_message(Transaction* t) {
  ++stats_.message_packets;
  stats_.message_bytes += t->wire_bytes;
  send(t, channel_of(*t), 0);
}

/// A message leaves at once where nobody else does, or waits for its turn. Its sender's pipeline still owes `after`
/// cycles.
void NetworkInterface::send(Transaction* t, Channel channel, Cycle after) {
  const unsigned to = t->destination;
  DestinationQueue& destination = destinations_[to];
  LinkPort& output = outputs_[destination.hop.output];
  TransactionQueue& queue = destination.queues[channel];
  const std::uint64_t now = output.ticks(partition_.now());
  t->when = after;
  if (channel == LinkPort::kRequests && refusing_.contains(to)) schedule_room();
  if (output.waiting()) work_off(output, now);
  if (!output.waiting() && output.free() <= now && queue.empty() && may_go(destination, channel)) {
    output.took_turn(channel, to);
    if (depart(output, destination, channel, t, now)) return;
  }
  if (channel == LinkPort::kRequests) {
    stats_.queued_requests += packets(*t);
    if (destination.credits == 0) stats_.credit_waits += packets(*t);
  }
  queue.push(t);
  if (may_go(destination, channel)) output.add(channel, to, now);
}

/// The first burst of a message enters the link, at tick `from` or when that is free; whether it is all of the message.
/// A burst is known by its first packet; where packets are stored and forwarded, each follows the one before it without
/// a gap, as the links are equally fast.
bool NetworkInterface::depart(LinkPort& output, DestinationQueue& destination, Channel channel, Transaction* t,
                              std::uint64_t from) {
  const bool request = channel == LinkPort::kRequests;
  const std::uint32_t count = std::min({packets(*t), spec_.burst, request ? destination.credits : ~0U});
  const bool whole = count == packets(*t);
  Transaction* leaving = whole ? t : first_lines(*t, count);
  if (request) {
    leaving->wire_bytes = static_cast<std::uint16_t>(request_packet(*leaving));
    destination.credits -= count;
    destination.reserved -= count;
    stats_.request_packets += count;
    stats_.request_bytes += leaving->wire_bytes + bytes_behind(*leaving);
  }
  const Cycle after = leaving->when;
  const auto out = output.pass(from, leaving->wire_bytes, bytes_behind(*leaving));
  leaving->early_ticks = out.early;
  Cycle arrival = out.cycle + destination.hop.latency + after;
  // Perturbed once, where it begins.
  if (begins_at(partition_.device(), *leaving)) {
    arrival = jitter_.arrival(arrival, leaving->destination, channel_of(*leaving));
  }
  partition_.post(leaving, destination.hop.next, MessagePort::Network, arrival);
  return whole;
}

/// Lets what waits for an output leave in turn, as far as the link is free before tick `until`. All that was ready by
/// then has been announced.
void NetworkInterface::work_off(LinkPort& output, std::uint64_t until) {
  while (output.waiting() && output.free() < until) {
    const LinkPort::Turn turn = output.next();
    DestinationQueue& destination = destinations_[turn.flow];
    TransactionQueue& queue = destination.queues[turn.channel];
    Transaction* first = queue.front();
    Transaction* following = first->next;
    if (depart(output, destination, turn.channel, first, 0)) queue.replace_front(following);
    if (queue.empty() || !may_go(destination, turn.channel)) output.remove(turn.channel, turn.flow);
  }
}

void NetworkInterface::end_window(Cycle limit) {
  for (LinkPort& output : outputs_) {
    if (output.waiting()) work_off(output, output.ticks(limit));
  }
}

/// Nobody knows when a queue has room before it has: while somebody waits for it, it is looked at now and then.
bool NetworkInterface::find_room(unsigned to, std::uint16_t waiter) {
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

void NetworkInterface::on_room(Transaction*) {
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
    moves = moves || (!destination.waiters.empty() && !destination.queues[LinkPort::kRequests].empty() &&
                      destination.credits != 0);
  }
  if (moves) schedule_room();  // else credits that return or another request call for it
}

// ------------------------------------------------------------------------------------------------------------- inputs

/// The port that a message passes on its way in; null where links end at the device itself, one for each neighbour.
LinkPort* NetworkInterface::input_of(const Transaction& t) {
  if (inputs_.size() > 1) {
    return &inputs_[topology_.shared_input() ? t.source
                                             : topology_.switch_of(DeviceId{static_cast<std::uint8_t>(t.source)})];
  }
  return topology_.shared_input() || topology_.last_hop_at_receiver() ? &inputs_.front() : nullptr;
}

/// Credits pass no port, but keep their place among what the same source sent.
void NetworkInterface::arrive(Transaction* t) {
  LinkPort* input = input_of(*t);
  const bool credit = t->handler == static_cast<HandlerId>(MessagePort::Credit);
  if (input == nullptr) {
    if (!credit && t->reply && t->destination == partition_.device().value) {
      t->when = inputs_.front().after(t->when, t->early_ticks, bytes_behind(*t));
    }
    partition_.deliver(t);
    return;
  }
  const bool cut_through = topology_.shared_input() && !credit;
  const std::uint64_t there = input->ticks(t->when) - (cut_through ? t->early_ticks : 0);
  if (input->waiting()) admit_until(*input, there);
  if (credit) {
    partition_.deliver(t);
    return;
  }
  const Channel channel = channel_of(*t);
  if (!input->waiting() && input->free() <= there) {
    input->took_turn(channel, t->source);
    admit(*input, t, cut_through ? there - input->ticks_of_bytes(t->wire_bytes) : there);
    return;
  }
  arrived_[t->source][channel].push(t);
  input->add(channel, t->source, there);
}

/// A message that came passes an input: a burst of replies is there with its last packet, for who asked waits for all
/// of them; any other with its first.
void NetworkInterface::admit(LinkPort& input, Transaction* t, std::uint64_t from) {
  const bool complete = t->reply && t->destination == partition_.device().value;
  const auto in = input.pass(from, t->wire_bytes, bytes_behind(*t));
  t->when = (complete ? in.last : in.cycle) + (topology_.last_hop_at_receiver() ? spec_.latency : 0);
  partition_.deliver(t);
}

void NetworkInterface::admit_until(LinkPort& input, std::uint64_t until) {
  while (input.waiting() && input.free() < until) {
    const LinkPort::Turn turn = input.next();
    TransactionQueue& queue = arrived_[turn.flow][turn.channel];
    Transaction* first = queue.pop();
    if (queue.empty()) input.remove(turn.channel, turn.flow);
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

void NetworkInterface::prepare_arrival(const Transaction& t, PrefetchStep step) const {
  if (t.destination != partition_.device().value || t.kind >= TransactionKind::Control) return;
  if (step == PrefetchStep::First && !t.reply) prefetch_line(&destinations_[t.requester]);  // its answer takes this way
  client_.prepare_arrival(t, step);
}

void NetworkInterface::on_arrival(Transaction* t) {
  if (t->destination == partition_.device().value) {
    receive(t);
    return;
  }
  stats_.forwarded_packets += packets(*t);
  const Channel channel = channel_of(*t);
  send(t, channel == LinkPort::kRequests ? LinkPort::kOthers : channel, 0);  // its credit has been taken
}

void NetworkInterface::receive(Transaction* t) {
  const std::uint64_t behind = bytes_behind(*t);
  stats_.received_packets += packets(*t);
  stats_.received_bytes += t->wire_bytes + behind;
  if (t->kind == TransactionKind::Control) {
    client_.on_control(t);
  } else if (t->kind == TransactionKind::Message) {
    client_.on_message(t);
  } else if (t->reply) {
    client_.on_reply(t);
  } else {
    client_.on_request(t, behind == 0 ? Spacing() : inputs_.front().spacing(behind, packets(*t) - 1));
  }
}

void NetworkInterface::requests_taken(DeviceId source, std::uint32_t count) {
  freed_[source.value] += count;
  if (freed_[source.value] < credit_batch_) return;
  // What left before goes before, whenever that was decided: messages of one cycle are handled in order of posting.
  LinkPort& output = outputs_[destinations_[source.value].hop.output];
  if (output.waiting()) work_off(output, output.ticks(partition_.now()));
  Transaction* t = partition_.pool().allocate();
  t->mask = freed_[source.value];
  freed_[source.value] = 0;
  partition_.post(t, source, MessagePort::Credit, partition_.now() + topology_.latency(partition_.device(), source));
}

void NetworkInterface::on_credit(Transaction* t) {
  const unsigned from = t->source;
  DestinationQueue& destination = destinations_[from];
  LinkPort& output = outputs_[destination.hop.output];
  const std::uint64_t now = output.ticks(partition_.now());
  if (output.waiting()) work_off(output, now);
  destination.credits += static_cast<std::uint32_t>(t->mask);
  partition_.pool().release(t);
  if (destination.queues[LinkPort::kRequests].empty()) return;
  output.add(LinkPort::kRequests, from, now);
  if (refusing_.contains(from)) schedule_room();
}

LinkStats& NetworkInterface::stats() {
  stats_.busy_cycles = 0;
  for (const LinkPort& output : outputs_) stats_.busy_cycles += output.busy_cycles();
  return stats_;
}

bool NetworkInterface::credits_settled(const NetworkInterface& source) const {
  const std::size_t from = source.partition_.device().value;
  const std::size_t here = partition_.device().value;
  return source.destinations_[here].credits + freed_[from] == spec_.credits;
}

std::uint64_t NetworkInterface::waiting() const {
  std::uint64_t sum = 0;
  for (const DestinationQueue& destination : destinations_) sum += destination.reserved;
  return sum;
}

std::string NetworkInterface::describe_waiting() const {
  std::string text;
  for (std::size_t to = 0; to < destinations_.size(); ++to) {
    const TransactionQueue& queue = destinations_[to].queues[LinkPort::kRequests];
    if (queue.empty()) continue;
    text += fmt::format("  link: {} requests wait to leave for device {}, {} credits left (oldest since cycle {})\n",
                        queue.size(), to, destinations_[to].credits, queue.front()->stage_start);
  }
  return text;
}

}  // namespace nearfar
