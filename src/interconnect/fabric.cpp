#include "interconnect/fabric.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {
namespace {

/// How far ahead of time requests may book a link. Beyond it they wait in their queue, where the bound holds; half of
/// it is worked off before the queue is looked at again, so one event serves many.
constexpr Cycle kBooking = 64;

/// The two classes that take turns on a link.
constexpr unsigned kRequests = 0;
constexpr unsigned kReplies = 1;

unsigned class_of(const Transaction& t) { return t.reply || t.kind == TransactionKind::Control ? kReplies : kRequests; }

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
      client_(client),
      outputs_(topology.outputs(partition.device()),
               SharedSerializer(spec.bandwidth.bytes_per_second, clock_hertz,
                                std::max(spec.header, spec.reply_header) + line_bytes)),
      uplinks_(topology.last_hop_at_receiver() ? topology.switches() : 0, outputs_.front()),
      input_(outputs_.front()),
      lanes_(topology.devices()),
      freed_(topology.devices(), 0),
      credit_batch_(std::max(1U, spec.credits / 4)),
      queue_limit_(spec.queue),
      wake_margin_(wake_margin(spec.queue)),
      drain_event_(partition.pool().take()),
      drain_handler_(partition.add_handler<&Fabric::on_drain>(this)) {
  for (Lane& lane : lanes_) lane.credits = spec.credits;
  partition.set_admission<&Fabric::admit>(this);
  partition.set_port<&Fabric::on_arrival>(MessagePort::Fabric, this);
  partition.set_port<&Fabric::on_credit>(MessagePort::Credit, this);
}

void Fabric::send_request(Transaction* t) {
  Lane& lane = lanes_[t->destination];
  if (lane.queue.empty() && may_leave(*t)) {
    leave(t);
    wake_refused(lane);
    return;
  }
  ++stats_.queued_requests;
  if (lane.credits == 0) ++stats_.credit_waits;
  lane.queue.push(t);
  ++queued_;
  schedule_drain();
}

bool Fabric::may_leave(const Transaction& t) const {
  if (lanes_[t.destination].credits == 0) return false;
  const unsigned output = topology_.route(partition_.device(), DeviceId{t.destination}).output;
  return outputs_[output].free_at(kRequests) <= partition_.now() + kBooking;
}

void Fabric::leave(Transaction* t) {
  Lane& lane = lanes_[t->destination];
  --lane.credits;
  --lane.reserved;
  ++stats_.request_packets;
  stats_.request_bytes += t->wire_bytes;
  forward(t, 0);
}

void Fabric::schedule_drain() {
  if (drain_scheduled_) return;
  // With credits missing a drain now would find nothing; the credits' return calls it.
  Cycle when = kNever;
  for (unsigned to = 0; to < lanes_.size(); ++to) {
    if (lanes_[to].queue.empty() || lanes_[to].credits == 0) continue;
    const unsigned output = topology_.route(partition_.device(), DeviceId{static_cast<std::uint8_t>(to)}).output;
    const Cycle free = outputs_[output].free_at(kRequests);
    when = std::min(when, free > kBooking / 2 ? free - kBooking / 2 : 0);
  }
  if (when == kNever) return;
  drain_scheduled_ = true;
  partition_.schedule(drain_event_, drain_handler_, std::max(when, partition_.now() + 1));
}

void Fabric::on_drain(Transaction*) {
  drain_scheduled_ = false;
  drain();
}

/// Lets queued requests leave, one destination after another, while credits and links allow.
void Fabric::drain() {
  const auto destinations = static_cast<unsigned>(lanes_.size());
  for (unsigned stuck = 0; stuck < destinations && queued_ > 0;) {
    TransactionQueue& queue = lanes_[next_destination_].queue;
    next_destination_ = (next_destination_ + 1) % destinations;
    if (queue.empty() || !may_leave(*queue.front())) {
      ++stuck;
      continue;
    }
    stuck = 0;
    --queued_;
    leave(queue.pop());
  }
  for (Lane& lane : lanes_) wake_refused(lane);
  if (queued_ > 0) schedule_drain();
}

void Fabric::wake_refused(Lane& lane) {
  if (lane.refused.empty() || lane.reserved + wake_margin_ > queue_limit_) return;
  while (!lane.refused.empty() && lane.reserved < queue_limit_) client_.fabric_has_room(lane.refused.pop());
}

void Fabric::answer(Transaction* t, std::uint64_t line_bytes, Cycle after) {
  std::uint64_t data = 0;
  if (t->kind == TransactionKind::Read || t->kind == TransactionKind::ScalarRead) data = line_bytes;
  if (t->kind == TransactionKind::Atomic) data = t->data_bytes;
  t->wire_bytes = static_cast<std::uint16_t>(spec_.reply_header + data);
  t->destination = t->requester;
  t->reply = true;
  t->stage_start = static_cast<std::uint32_t>(partition_.now() + after);
  ++stats_.reply_packets;
  stats_.reply_bytes += t->wire_bytes;
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

/// Puts a message on the link towards its destination.
void Fabric::forward(Transaction* t, Cycle after) {
  const Topology::Hop hop = topology_.route(partition_.device(), DeviceId{t->destination});
  const auto out = outputs_[hop.output].pass(class_of(*t), partition_.now(), t->wire_bytes);
  t->early_ticks = out.early;
  partition_.post(t, hop.next, MessagePort::Fabric, out.cycle + hop.latency + after);
}

/// When a message that has arrived is through this device's input. Messages are asked for in order of arrival.
Cycle Fabric::admit(Transaction* t) {
  if (t->kind < TransactionKind::Control && t->destination == partition_.device().value) client_.coming(*t);
  const unsigned cls = class_of(*t);
  const bool shared = topology_.shared_input() && topology_.ports(partition_.device()) == 1;
  if (shared) return input_.pass_ending(cls, t->when, t->early_ticks, t->wire_bytes).cycle;
  if (!topology_.last_hop_at_receiver()) return t->when;
  const bool root = partition_.device() == topology_.host();
  SharedSerializer& link =
      root ? uplinks_[topology_.switch_of(DeviceId{static_cast<std::uint8_t>(t->source)})] : input_;
  return link.pass(cls, t->when, t->wire_bytes).cycle + spec_.latency;
}

void Fabric::on_arrival(Transaction* t) {
  if (t->destination == partition_.device().value) {
    receive(t);
    return;
  }
  ++stats_.forwarded_packets;
  forward(t, 0);
}

void Fabric::receive(Transaction* t) {
  ++stats_.received_packets;
  stats_.received_bytes += t->wire_bytes;
  if (t->kind == TransactionKind::Control) {
    client_.on_control(t);
  } else if (t->kind == TransactionKind::Message) {
    client_.on_message(t);
  } else if (t->reply) {
    client_.on_reply(t);
  } else {
    client_.on_request(t);
  }
}

void Fabric::request_taken(DeviceId source) {
  if (++freed_[source.value] < credit_batch_) return;
  Transaction* t = partition_.pool().take();
  t->mask = freed_[source.value];
  freed_[source.value] = 0;
  partition_.post(t, source, MessagePort::Credit, partition_.now() + topology_.latency(partition_.device(), source));
}

void Fabric::on_credit(Transaction* t) {
  lanes_[t->source].credits += static_cast<std::uint32_t>(t->mask);
  partition_.pool().give(t);
  if (queued_ > 0) drain();
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
