#include "interconnect/store_ingress.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"

namespace nearfar {
namespace {

/// A line at the L2 names the message that it came with in 16 bits.
constexpr std::uint32_t kMostMessages = 0xffff;

}  // namespace

void StoreIngressStats::describe(StatVisitor& visitor) {
  visitor.counter("messages", "messages", "Messages with posted stores that came from other devices.", messages);
  visitor.counter("lines", "lines", "Writes to lines that posted stores of other devices were made into.", lines);
  visitor.counter("unpacked_pieces", "pieces",
                  "Pieces that the de-packetizer took out of packets and wrote: runs of bytes of a line.",
                  unpacked_pieces);
  visitor.counter("full_messages", "messages",
                  "Packets with packed stores that found no room for all their pieces in the de-packetizer.",
                  full_messages);
}

StoreIngress::StoreIngress(Partition& partition, L2Cache& l2, NetworkInterface& network, ByteMaskPool& masks,
                           std::uint64_t line_bytes, unsigned devices)
    : partition_(partition),
      l2_(l2),
      network_(network),
      masks_(masks),
      whole_line_(ByteMask::all(static_cast<unsigned>(line_bytes))),
      by_source_(devices),
      turn_handler_(partition.add_handler<&StoreIngress::on_turn>(this)) {}

std::uint32_t StoreIngress::take_place() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(arrivals_.size()));
    arrivals_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  if (place > kMostMessages) throw SimulationError("more messages with stores are under way than a device can name");
  free_.pop_back();
  return place;
}

void StoreIngress::on_stores(StorePacket* packet) {
  const std::uint32_t number = take_place();
  Arrival& arrival = arrivals_[number];
  arrival = {};
  arrival.batch = packet->batch;
  arrival.source = DeviceId{packet->origin};
  arrival.unwritten = static_cast<std::uint32_t>(packet->batch->lines.size());
  arrival.pieces_left = packet->batch->pieces;
  arrival.owed = {packet->headers, packet->data, 1};
  arrival.ready = partition_.now();
  partition_.pool().release(packet);
  by_source_[arrival.source.value].push(number);
  ++live_;
  ++stats_.messages;
  stats_.lines += arrival.unwritten;
  stats_.unpacked_pieces += arrival.pieces_left;
  if (arrival.pieces_left + in_use_ > entries_) ++stats_.full_messages;
  Waiting waits;
  waits.arrival = number;
  waiting_.push(waits);
  work();
}

void StoreIngress::on_request(LineRequest* request, Spacing spacing) {
  if (waiting_.empty()) {
    l2_.remote_request(request, spacing);
    return;
  }
  Waiting waits;
  waits.request = request;
  waits.spacing = spacing;
  waiting_.push(waits);
}

void StoreIngress::on_turn(Event* event) {
  partition_.pool().release(event);
  turn_scheduled_ = false;
  work();
}

/// What waits goes on in order, until something lacks room or time in the de-packetizer.
void StoreIngress::work() {
  if (working_) return;
  working_ = true;
  while (!waiting_.empty()) {
    const Waiting first = waiting_.front();
    if (first.request == nullptr && !unpack(first.arrival)) break;
    waiting_.pop();
    if (first.request != nullptr) l2_.remote_request(first.request, first.spacing);
  }
  working_ = false;
}

/// Writes the lines of a message; false where it has to go on later.
bool StoreIngress::unpack(std::uint32_t number) {
  while (arrivals_[number].next != arrivals_[number].batch->lines.size()) {
    Arrival& arrival = arrivals_[number];
    unsigned pieces = 0;
    if (arrival.batch->pieces != 0) {
      return_credits_early(arrival);
      pieces = arrival.batch->lines[arrival.next].mask.runs();
      if (!pass_buffer(arrival, pieces)) return false;
    }
    write_line(number, pieces);
  }
  return true;
}

/// A packet has left the input buffer when all that is left of it fits the de-packetizer.
void StoreIngress::return_credits_early(Arrival& arrival) {
  if (arrival.owed.headers == 0 || arrival.pieces_left + in_use_ > entries_) return;
  NetworkInterface::StoresReturned credits = arrival.owed;
  credits.drained = 0;
  arrival.owed = {0, 0, 1};
  network_.return_stores(arrival.source, credits, 0);
}

/// Whether the next pieces of a packet are written now: they have room, and their time has come.
bool StoreIngress::pass_buffer(Arrival& arrival, unsigned pieces) {
  if (in_use_ != 0 && in_use_ + pieces > entries_) {
    arrival.stalled = true;  // until written() calls
    return false;
  }
  if (arrival.stalled) arrival.ready = partition_.now();
  arrival.stalled = false;
  const std::uint64_t end = std::max(unpacked_, arrival.ready * per_cycle_) + pieces;
  const Cycle due = (end + per_cycle_ - 1) / per_cycle_;
  if (due > partition_.now()) {
    if (!turn_scheduled_) partition_.schedule(partition_.pool().allocate<Event>(), turn_handler_, due);
    turn_scheduled_ = true;
    return false;
  }
  unpacked_ = end;
  return true;
}

void StoreIngress::write_line(std::uint32_t number, unsigned pieces) {
  Arrival& arrival = arrivals_[number];
  const LineStore& store = arrival.batch->lines[arrival.next];
  ++arrival.next;
  arrival.pieces_left -= pieces;
  in_use_ += pieces;
  if (useful_ != nullptr) useful_->delivered(store.line, store.mask);
  auto* request = partition_.pool().allocate<StoreRequest>();
  request->type = PacketType::Stores;
  request->kind = RequestKind::Write;
  request->origin = arrival.source.value;
  request->destination = partition_.device().value;
  request->line = store.line;
  request->mask = std::uint64_t{1} << store.line.index();
  request->record = store.record;
  request->unit = static_cast<std::uint16_t>(number);
  request->fill = static_cast<std::uint8_t>(pieces);
  if (store.mask != whole_line_) {
    request->masks = masks_.allocate(partition_.device(), {store.mask, whole_line_});
  }
  l2_.remote_request(request, Spacing());
}

void StoreIngress::written(LineRequest* request, Cycle after) {
  Arrival& arrival = arrivals_[request->unit];
  in_use_ -= request->fill;
  partition_.pool().release(request);
  arrival.last_written = std::max(arrival.last_written, partition_.now() + after);
  if (--arrival.unwritten == 0) tell_source(arrival.source);
  work();
}

/// Messages of a source that have been written, in order.
void StoreIngress::tell_source(DeviceId source) {
  Ring<std::uint32_t>& arrivals = by_source_[source.value];
  NetworkInterface::StoresReturned returned;
  Cycle last = partition_.now();
  while (!arrivals.empty() && arrivals_[arrivals.front()].unwritten == 0) {
    const Arrival& arrival = arrivals_[arrivals.front()];
    returned.headers += arrival.owed.headers;
    returned.data += arrival.owed.data;
    ++returned.drained;
    last = std::max(last, arrival.last_written);
    free_.push_back(arrivals.pop());
    --live_;
  }
  if (returned.drained != 0) network_.return_stores(source, returned, last - partition_.now());
}

std::string StoreIngress::describe_waiting() const {
  if (live_ == 0) return {};
  return fmt::format("  ingress: {} messages with stores are not written\n", live_);
}

}  // namespace nearfar
