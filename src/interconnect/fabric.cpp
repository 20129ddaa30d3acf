#include "interconnect/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/prefetch.h"

namespace nearfar {
namespace {

/// How far ahead of time requests may book a link. Beyond it they wait in their queue, where the bound holds; half of
/// it is worked off before the queue is looked at again, so one event serves many.
constexpr Cycle kBooking = 64;

/// Lanes that are prepared for a drain.
constexpr unsigned kPreparedLanes = 6;

/// The two classes that take turns on a link.
constexpr unsigned kRequests = 0;
constexpr unsigned kReplies = 1;

unsigned class_of(const Transaction& t) { return t.reply || t.kind == TransactionKind::Control ? kReplies : kRequests; }

/// Requests and replies are for lines of a page and take a packet each; other messages are one packet.
std::uint32_t packets(const Transaction& t) {
  return t.kind < TransactionKind::Control ? static_cast<std::uint32_t>(std::popcount(t.mask)) : 1;
}

/// Who was refused is woken when this many places are free, so that one wake-up moves several requests. The link
/// does not notice: the queue still holds more than it can send meanwhile.
std::uint32_t wake_margin(std::uint32_t queue) { return std::clamp<std::uint32_t>(queue / 8, 1, 32); }

}  // namespace

void FabricStats::describe(StatVisitor& visitor) {
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

Fabric::Fabric(Partition& partition, const LinkSpec& spec, const Topology& topology, std::uint64_t line_bytes,
               std::uint64_t clock_hertz, FabricClient& client)
    : partition_(partition),
      spec_(spec),
      topology_(topology),
      line_bytes_(line_bytes),
      client_(client),
      outputs_(topology.outputs(partition.device()),
               SharedSerializer(spec.bandwidth.bytes_per_second, clock_hertz,
                                std::max(spec.header, spec.reply_header) + line_bytes)),
      uplinks_(topology.last_hop_at_receiver() ? topology.switches() : 0, outputs_.front()),
      inputs_(topology.has_port_per_gpu(partition.device()) ? topology.devices() - 1 : 1, outputs_.front()),
      lanes_(topology.devices()),
      freed_(topology.devices(), 0),
      credit_batch_(std::max(1U, spec.credits / 4)),
      queue_limit_(spec.queue),
      wake_margin_(wake_margin(spec.queue)),
      drain_event_(partition.pool().take()),
      drain_handler_(partition.add_handler<&Fabric::on_drain>(this)) {
  for (unsigned to = 0; to < lanes_.size(); ++to) {
    lanes_[to].hop = topology.route(partition.device(), DeviceId{static_cast<std::uint8_t>(to)});
    lanes_[to].credits = spec.credits;
  }
  partition.set_admission<&Fabric::admit>(this);
  partition.set_port<&Fabric::on_arrival>(MessagePort::Fabric, this);
  partition.set_port<&Fabric::on_credit>(MessagePort::Credit, this);
  if (!partition.crowded()) return;
  partition.set_preparation<&Fabric::prepare_arrival, Fabric>(MessagePort::Fabric);
  partition.set_preparation<&Fabric::prepare_drain, Fabric>(drain_handler_);
}

/// A write of part of a line says which bytes.
std::uint64_t Fabric::write_packet(std::uint64_t bytes) const {
  return spec_.header + bytes + (bytes < line_bytes_ ? line_bytes_ / 8 : 0);
}

std::uint64_t Fabric::request_packet(const Transaction& t) const {
  if (t.kind == TransactionKind::Write) return write_packet(t.data_bytes);
  return spec_.header + (t.kind == TransactionKind::Atomic ? t.data_bytes : 0U);
}

std::uint64_t Fabric::reply_packet(const Transaction& t) const {
  if (t.kind == TransactionKind::Write) return spec_.reply_header;
  return spec_.reply_header + (t.kind == TransactionKind::Atomic ? t.data_bytes : line_bytes_);
}

/// Bytes of the packets of a train behind its first.
std::uint64_t Fabric::bytes_behind(const Transaction& t) const {
  const std::uint64_t behind = packets(t) - 1;
  if (behind == 0) return 0;
  if (t.reply || t.kind != TransactionKind::Write) return behind * t.wire_bytes;
  return (behind - 1) * write_packet(line_bytes_) + write_packet(t.last_bytes);
}

/// Takes the first lines off a train, as one of their own.
Transaction* Fabric::first_lines(Transaction& t, std::uint32_t count) {
  Transaction* first = partition_.pool().take();
  *first = t;
  for (std::uint32_t i = 0; i < count; ++i) t.mask &= t.mask - 1;
  first->mask &= ~t.mask;
  if (t.kind == TransactionKind::Write) {
    first->last_bytes = static_cast<std::uint32_t>(line_bytes_);
    t.data_bytes = static_cast<std::uint16_t>(packets(t) == 1 ? t.last_bytes : line_bytes_);
  }
  return first;
}

void Fabric::send_request(Transaction* t) {
  const unsigned to = t->destination;
  Lane& lane = lanes_[to];
  if (lane.queue.empty() && may_leave(lane)) {
    const bool whole = leave(t);
    wake_refused(to);
    if (whole) return;
  }
  stats_.queued_requests += packets(*t);
  if (lane.credits == 0) stats_.credit_waits += packets(*t);
  lane.queue.push(t);
  note_queue(to);
  schedule_drain();
}

/// The queue or the credits of a lane have changed.
void Fabric::note_queue(unsigned to) {
  const Lane& lane = lanes_[to];
  if (lane.queue.empty() || lane.credits == 0) {
    sendable_.erase(to);
  } else {
    sendable_.insert(to);
  }
}

bool Fabric::may_leave(const Lane& lane) const {
  return lane.credits != 0 && outputs_[lane.hop.output].free_at(kRequests) <= partition_.now() + kBooking;
}

/// Sends as much of a train as there are credits for; whether that is all of it.
bool Fabric::leave(Transaction* t) {
  Lane& lane = lanes_[t->destination];
  const std::uint32_t count = std::min(packets(*t), lane.credits);
  const bool whole = count == packets(*t);
  Transaction* leaving = whole ? t : first_lines(*t, count);
  leaving->wire_bytes = static_cast<std::uint16_t>(request_packet(*leaving));
  lane.credits -= count;
  lane.reserved -= count;
  stats_.request_packets += count;
  stats_.request_bytes += leaving->wire_bytes + bytes_behind(*leaving);
  forward(leaving, 0);
  return whole;
}

void Fabric::schedule_drain() {
  // With credits missing a drain would find nothing; the credits' return calls it.
  if (drain_scheduled_ || sendable_.empty()) return;
  Cycle when = kNever;
  for (unsigned to = sendable_.first_from(0); to != DeviceSet::kNone; to = sendable_.first_from(to + 1)) {
    const Cycle free = outputs_[lanes_[to].hop.output].free_at(kRequests);
    when = std::min(when, free > kBooking / 2 ? free - kBooking / 2 : 0);
    if (outputs_.size() == 1) break;
  }
  drain_scheduled_ = true;
  partition_.schedule(drain_event_, drain_handler_, std::max(when, partition_.now() + 1));
}

/// The lanes whose turn is next, and the first request of each.
void Fabric::prepare_drain(const Transaction&, PrefetchStep step) const {
  unsigned to = sendable_.first_around(next_destination_);
  for (unsigned i = 0; i < kPreparedLanes && to != DeviceSet::kNone; ++i, to = sendable_.first_around(to + 1)) {
    if (step == PrefetchStep::First) prefetch_line(&lanes_[to]);
    if (step == PrefetchStep::Second) prefetch_line(lanes_[to].queue.front());
  }
}

void Fabric::on_drain(Transaction*) {
  drain_scheduled_ = false;
  drain();
}

/// Lets queued requests leave, a train of one destination after one of another, while credits and links allow. Who
/// cannot leave now cannot later in this cycle either: credits and links only get fewer. Only where something left can
/// there be room for who was refused.
void Fabric::drain() {
  DeviceSet candidates = sendable_;
  DeviceSet left;
  for (unsigned to = candidates.first_around(next_destination_); to != DeviceSet::kNone;
       to = candidates.first_around(to + 1)) {
    Lane& lane = lanes_[to];
    if (!may_leave(lane)) {
      if (outputs_.size() == 1) break;  // all have credits: it is the link that is busy, for all of them
      candidates.erase(to);
      continue;
    }
    left.insert(to);
    next_destination_ = to + 1;
    Transaction* first = lane.queue.front();
    Transaction* following = first->next;
    if (leave(first)) lane.queue.replace_front(following);
    note_queue(to);
    if (!sendable_.contains(to)) candidates.erase(to);
  }
  for (unsigned to = left.first_from(0); to != DeviceSet::kNone; to = left.first_from(to + 1)) wake_refused(to);
  schedule_drain();
}

void Fabric::wake_refused(unsigned to) {
  Lane& lane = lanes_[to];
  if (lane.refused.empty() || lane.reserved + wake_margin_ > queue_limit_) return;
  while (!lane.refused.empty() && lane.reserved < queue_limit_) client_.fabric_has_room(lane.refused.pop());
  if (lane.refused.empty()) refusing_.erase(to);
}

void Fabric::answer(Transaction* t, Cycle after) {
  t->wire_bytes = static_cast<std::uint16_t>(reply_packet(*t));
  t->destination = t->requester;
  t->reply = true;
  t->stage_start = static_cast<std::uint32_t>(partition_.now() + after);
  stats_.reply_packets += packets(*t);
  stats_.reply_bytes += t->wire_bytes + bytes_behind(*t);
  forward(t, after);
}

void Fabric::send_control(Transaction* t) {
  ++stats_.control_packets;
  stats_.control_bytes += t->wire_bytes;
  t->kind = TransactionKind::Control;
  forward(t, 0);
}

void Fabric::send_message(Transaction* t) {
  ++stats_.message_packets;
  stats_.message_bytes += t->wire_bytes;
  forward(t, 0);
}

/// Puts a message on the link towards its destination. A train is known by its first packet; where packets are stored
/// and forwarded, each follows the one before it without a gap, as the links are equally fast.
void Fabric::forward(Transaction* t, Cycle after, bool of_others) {
  const Topology::Hop& hop = lanes_[t->destination].hop;
  const auto out = outputs_[hop.output].pass(class_of(*t), partition_.now(), t->wire_bytes, bytes_behind(*t));
  t->early_ticks = out.early;
  const Cycle arrival = out.cycle + hop.latency + after;
  // Perturbed once, where it begins.
  partition_.post(t, hop.next, MessagePort::Fabric,
                  of_others ? arrival : jitter_.arrival(arrival, t->destination, class_of(*t)));
}

/// When a message that has arrived is through this device's input: a train of replies with its last packet, for who
/// asked waits for all of them; any other with its first. Messages are asked for in order of arrival.
Cycle Fabric::admit(Transaction* t) {
  const bool here = t->destination == partition_.device().value;
  const bool complete = here && t->reply;
  const unsigned cls = class_of(*t);
  const std::uint64_t behind = bytes_behind(*t);
  if (topology_.shared_input()) {
    SharedSerializer& input = inputs_[inputs_.size() == 1 ? 0 : t->source];
    const auto in = input.pass_ending(cls, t->when, t->early_ticks, t->wire_bytes, behind);
    return complete ? in.last : in.cycle;
  }
  if (!topology_.last_hop_at_receiver()) {
    return complete ? inputs_.front().after(t->when, t->early_ticks, behind) : t->when;
  }
  const bool root = partition_.device() == topology_.host();
  SharedSerializer& link =
      root ? uplinks_[topology_.switch_of(DeviceId{static_cast<std::uint8_t>(t->source)})] : inputs_.front();
  const auto in = link.pass(cls, t->when, t->wire_bytes, behind);
  return (complete ? in.last : in.cycle) + spec_.latency;
}

void Fabric::prepare_arrival(const Transaction& t, PrefetchStep step) const {
  if (t.destination != partition_.device().value || t.kind >= TransactionKind::Control) return;
  if (step == PrefetchStep::First && !t.reply) prefetch_line(&lanes_[t.requester]);  // its answer takes this way
  client_.prepare_arrival(t, step);
}

void Fabric::on_arrival(Transaction* t) {
  if (t->destination == partition_.device().value) {
    receive(t);
    return;
  }
  stats_.forwarded_packets += packets(*t);
  forward(t, 0, true);
}

void Fabric::receive(Transaction* t) {
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
    client_.on_request(t, behind == 0 ? Pace() : inputs_.front().pace(behind, packets(*t) - 1));
  }
}

void Fabric::requests_taken(DeviceId source, std::uint32_t count) {
  freed_[source.value] += count;
  if (freed_[source.value] < credit_batch_) return;
  Transaction* t = partition_.pool().take();
  t->mask = freed_[source.value];
  freed_[source.value] = 0;
  partition_.post(t, source, MessagePort::Credit, partition_.now() + topology_.latency(partition_.device(), source));
}

void Fabric::on_credit(Transaction* t) {
  const unsigned from = t->source;
  lanes_[from].credits += static_cast<std::uint32_t>(t->mask);
  partition_.pool().give(t);
  note_queue(from);
  if (!sendable_.empty()) drain();
}

FabricStats& Fabric::stats() {
  stats_.busy_cycles = 0;
  for (const SharedSerializer& output : outputs_) stats_.busy_cycles += output.busy_cycles();
  return stats_;
}

bool Fabric::credits_settled(const Fabric& source) const {
  const std::size_t from = source.partition_.device().value;
  const std::size_t here = partition_.device().value;
  return source.lanes_[here].credits + freed_[from] == spec_.credits;
}

std::uint64_t Fabric::waiting() const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.reserved;
  return sum;
}

std::string Fabric::describe_waiting() const {
  std::string text;
  for (std::size_t to = 0; to < lanes_.size(); ++to) {
    if (lanes_[to].queue.empty()) continue;
    text += fmt::format("  link: {} requests wait to leave for device {}, {} credits left (oldest since cycle {})\n",
                        lanes_[to].queue.size(), to, lanes_[to].credits, lanes_[to].queue.front()->stage_start);
  }
  return text;
}

}  // namespace nearfar
