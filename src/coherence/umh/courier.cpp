#include "coherence/umh/courier.h"

#include <algorithm>

namespace nearfar {

void HierarchyTraffic::describe(StatVisitor& visitor) {
  visitor.counter("net.bytes.request", "bytes",
                  "Bytes on links of requests for blocks of a unified memory hierarchy, headers included.", request);
  visitor.counter("net.bytes.data", "bytes",
                  "Bytes on links of messages with data of a unified memory hierarchy, headers included.", data);
  visitor.counter(
      "net.bytes.coherence", "bytes",
      "Bytes on links of probes, acknowledgements and other messages without data of a unified memory hierarchy, "
      "headers included.",
      coherence);
  visitor.counter(
      "net.bytes.completion", "bytes",
      "Bytes on links of notices that a block of a unified memory hierarchy is in its place, headers included.",
      completion);
}

Courier::Courier(Partition& partition, NetworkInterface& network, const UmhSpec& spec, const nmoesi::Geometry& geometry,
                 Deliver deliver)
    : partition_(partition),
      network_(network),
      spec_(spec),
      geometry_(geometry),
      deliver_(std::move(deliver)),
      handler_(partition.add_handler<&Courier::on_due>(this)) {}

/// Messages that are scheduled one after another for one cycle share an event.
Courier::Batch& Courier::schedule(Cycle when, std::uint16_t device) {
  if (last_is_open_ && later_[last_].when == when && later_[last_].device == device) return later_[last_];
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(later_.size()));
    later_.emplace_back();
  }
  last_ = free_.back();
  free_.pop_back();
  last_is_open_ = true;
  later_[last_].when = when;
  later_[last_].device = device;
  auto* event = partition_.pool().allocate<IndexEvent>();
  event->index = last_;
  partition_.schedule(event, handler_, when);
  return later_[last_];
}

void Courier::carry(nmoesi::Message&& message, Cycle when) {
  if (when <= partition_.now()) {
    due_.push_back(std::move(message));
  } else {
    schedule(when, kHere).messages.push_back(std::move(message));
  }
}

void Courier::send(nmoesi::Message&& message, DeviceId to) {
  if (message.ready <= partition_.now()) {
    leave(std::move(message), to);
  } else {
    schedule(message.ready, to.value).messages.push_back(std::move(message));
  }
}

void Courier::receive(Packet* packet, Cycle lookup) {
  nmoesi::Message message = static_cast<HierarchyPacket*>(packet)->take();
  partition_.pool().release(packet);
  partition_.progress().steps += 1;
  const bool looks_up = class_of(message.kind) != nmoesi::MessageClass::Response;
  carry(std::move(message), partition_.now() + (looks_up ? lookup : 0));
  work_off();
}

void Courier::on_due(IndexEvent* event) {
  const std::uint32_t index = event->index;
  partition_.pool().release(event);
  if (index == last_) last_is_open_ = false;
  Batch& batch = later_[index];
  for (nmoesi::Message& message : batch.messages) {
    if (batch.device == kHere) {
      due_.push_back(std::move(message));
    } else {
      leave(std::move(message), DeviceId{batch.device});
    }
  }
  batch.messages.clear();
  free_.push_back(index);
  work_off();
  on_worked_off();
}

void Courier::work_off() {
  if (working_) return;
  working_ = true;
  while (next_due_ != due_.size()) {
    nmoesi::Message message = std::move(due_[next_due_++]);
    deliver_(std::move(message));
  }
  due_.clear();
  next_due_ = 0;
  working_ = false;
}

/// Bytes behind the header.
std::uint32_t Courier::payload(const nmoesi::Message& message) const {
  using enum nmoesi::Kind;
  const auto block = static_cast<std::uint32_t>(spec_.block);
  switch (message.kind) {
    case DataS:
    case DataE:
    case DataX:
    case PeerData: return block;
    case Put:
    case Publish:
    case ProbeAck:
    case DirUpdate: {
      if (message.changed == 0) return 0;
      if (spec_.writeback == UmhWriteBack::WholeBlock) return block;
      const std::uint32_t map = std::max(8U, geometry_.block_lines / 8);
      const std::uint32_t mask = std::max(1U, geometry_.line_bytes / geometry_.granule / 8);
      return map + message.changed * (geometry_.line_bytes + mask);
    }
    case Done: return static_cast<std::uint32_t>(spec_.completion_bytes);
    default: return 0;
  }
}

void Courier::count(const nmoesi::Message& message, std::uint32_t payload, std::uint32_t bytes) {
  using enum nmoesi::Kind;
  switch (message.kind) {
    case Read:
    case ReadN:
    case Write: traffic_.request += bytes; break;
    case Done: traffic_.completion += bytes; break;
    case DirUpdate:
      traffic_.coherence += bytes - payload;
      traffic_.data += payload;
      break;
    default:
      (payload != 0 || message.kind == Put || message.kind == Publish ? traffic_.data : traffic_.coherence) += bytes;
  }
}

void Courier::leave(nmoesi::Message&& message, DeviceId to) {
  const std::uint32_t bytes_behind = payload(message);
  const bool bare = message.kind == nmoesi::Kind::Done && spec_.completion_bytes == 0;
  ++messages_;
  auto* packet = partition_.pool().allocate<HierarchyPacket>();
  switch (class_of(message.kind)) {
    case nmoesi::MessageClass::Request: packet->traffic_class = TrafficClass::Uncredited; break;
    case nmoesi::MessageClass::Probe: packet->traffic_class = TrafficClass::Invalidation; break;
    case nmoesi::MessageClass::Response: packet->traffic_class = TrafficClass::Response; break;
  }
  packet->destination = to.value;
  const nmoesi::Kind kind = message.kind;
  packet->put(std::move(message));
  const std::uint32_t bytes = network_.send_hierarchy(packet, bytes_behind, bare);
  nmoesi::Message sent;
  sent.kind = kind;
  count(sent, bytes_behind, bytes);
}

}  // namespace nearfar
