#include "interconnect/egress.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace nearfar {
namespace {

/// Plain stores that may wait for the link to one device, in messages: enough that it never runs dry between two looks.
constexpr std::uint32_t kPlainLimit = 64;

struct SizeClass {
  unsigned most;
  const char* name;
  const char* sentence;
};
constexpr std::array<SizeClass, EgressStats::kSizes> kSizeClasses = {{
    {3, "stores_below_4", "Stores that left for other devices and write fewer than 4 bytes of their line."},
    {4, "stores_of_4", "Stores that left for other devices and write 4 bytes of their line."},
    {8, "stores_of_5_to_8", "Stores that left for other devices and write 5 to 8 bytes of their line."},
    {16, "stores_of_9_to_16", "Stores that left for other devices and write 9 to 16 bytes of their line."},
    {31, "stores_of_17_to_31", "Stores that left for other devices and write 17 to 31 bytes of their line."},
    {63, "stores_of_32_to_63", "Stores that left for other devices and write 32 to 63 bytes of their line."},
    {127, "stores_of_64_to_127", "Stores that left for other devices and write 64 to 127 bytes of their line."},
    {128, "stores_of_128", "Stores that left for other devices and write 128 bytes of their line."},
}};
constexpr unsigned kSmall = 32;

}  // namespace

void EgressStats::describe(StatVisitor& visitor) {
  visitor.counter("stores", "stores",
                  "Posted stores to other devices: the bytes that one instruction of a wavefront writes in one line.",
                  stores);
  visitor.counter("store_bytes", "bytes", "Bytes that posted stores to other devices write.", store_bytes);
  visitor.counter("small_stores", "stores", "Posted stores to other devices that write fewer than 32 bytes.",
                  small_stores);
  for (std::size_t i = 0; i < kSizes; ++i) {
    visitor.counter(kSizeClasses[i].name, "stores", kSizeClasses[i].sentence, sizes[i]);
  }
  visitor.counter("messages", "messages",
                  "Messages in which posted stores left: a packet of a design, or packets that left together.",
                  messages);
  visitor.counter("packets", "packets", "Packets in which posted stores left for other devices.", packets);
  visitor.counter("wire_bytes", "bytes", "Bytes on the link of the packets in which posted stores left.", wire_bytes);
  visitor.counter("data_bytes", "bytes",
                  "Bytes of the program in the packets in which posted stores left, each as often as it was sent.",
                  data_bytes);
  visitor.counter("protocol_bytes", "bytes",
                  "Bytes on the link of posted stores that are no data: headers, sub-headers, masks, checks, padding.",
                  protocol_bytes);
  visitor.counter("host_bytes", "bytes", "Data bytes of posted stores that went to the host.", host_bytes);
  visitor.counter("waited_stores", "stores", "Posted stores that waited at the egress for its port or for the link.",
                  waited_stores);
  visitor.counter("wait_cycles", "cycles", "Time that posted stores waited at the egress, summed over stores.",
                  wait_cycles);
  visitor.counter("releases", "releases", "Releases, of fences of system scope and of kernels, that the egress made.",
                  releases);
  visitor.counter("release_cycles", "cycles",
                  "Time from the start of each release until all posted stores before it had been written, summed.",
                  release_cycles);
}

Egress::Egress(Partition& partition, NetworkInterface& network, const LinkSpec& spec, const Topology& topology,
               std::uint64_t line_bytes, ByteMaskPool& masks, DataWatch* watch, EgressClient& client)
    : partition_(partition),
      network_(network),
      masks_(masks),
      watch_(watch),
      client_(client),
      host_(topology.host()),
      burst_(spec.burst),
      limit_(kPlainLimit),
      whole_line_(ByteMask::all(static_cast<unsigned>(line_bytes))),
      peers_(topology.devices()),
      retry_handler_(partition.add_handler<&Egress::on_retry>(this)),
      timer_handler_(partition.add_handler<&Egress::on_timer>(this)) {
  for (std::size_t d = 0; d < peers_.size(); ++d) peers_[d].device = DeviceId{static_cast<std::uint16_t>(d)};
}

void Egress::set_design(EgressDesign& design) {
  design_ = &design;
  limit_ = design.banks();
  for (Peer& peer : peers_) {
    if (peer.device == partition_.device() || peer.device >= host_) continue;  // plain to the host and to a switch
    peer.queue = design.make_queue();
    peer.queue->set_watch(watch_ == nullptr ? nullptr : this);
  }
}

// ------------------------------------------------------------------------------------------------------- what leaves

void Egress::request(LineRequest* request) {
  Peer& peer = peers_[request->line.device().value];
  if (peer.waiting.empty() && (request->kind != RequestKind::Write || may_store(peer))) {
    take(peer, request);
    return;
  }
  peer.waiting.push(request);
  schedule_retry(peer);
}

/// Whether a store may enter: the port is free, and not too much waits for the link already.
bool Egress::may_store(Peer& peer) {
  if (peer.port_free > partition_.now()) return false;
  return network_.stores_waiting(peer.device) < (peer.queue ? limit_ : kPlainLimit);
}

void Egress::work(Peer& peer) {
  while (!peer.waiting.empty()) {
    if (peer.waiting.front()->kind == RequestKind::Write && !may_store(peer)) {
      schedule_retry(peer);
      return;
    }
    take(peer, peer.waiting.pop());
  }
}

void Egress::on_retry(IndexEvent* event) {
  Peer& peer = peers_[event->index];
  partition_.pool().release(event);
  peer.retry_scheduled = false;
  work(peer);
}

/// When the port is free and the next message has left; where that lacks credits, these call.
void Egress::schedule_retry(Peer& peer) {
  if (peer.retry_scheduled) return;
  Cycle when = std::max(partition_.now() + 1, peer.port_free);
  if (network_.stores_waiting(peer.device) >= (peer.queue ? limit_ : kPlainLimit)) {
    const Cycle departure = network_.next_departure(peer.device);
    if (departure == kNever) return;
    when = std::max(when, departure);
  }
  peer.retry_scheduled = true;
  auto* event = partition_.pool().allocate<IndexEvent>();
  event->index = peer.device.value;
  partition_.schedule(event, retry_handler_, when);
}

void Egress::credits_came(DeviceId from) { work(peers_[from.value]); }

void Egress::take(Peer& peer, LineRequest* request) {
  if (request->kind == RequestKind::Write) {
    accept(peer, request);
    return;
  }
  if (peer.queue) before(peer, *request);
  network_.send_request(request);
}

/// A load or an atomic must not pass stores to its line that are held back.
void Egress::before(Peer& peer, const LineRequest& request) {
  const PhysPage page = request.line.page();
  bool all = false;
  for (std::uint64_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
    if (request.kind == RequestKind::Atomic) {
      peer.queue->before_atomic(line, batches_);
    } else {
      all |= peer.queue->before_load(line, batches_);
    }
  }
  send_ready(peer);
  if (all) flush(FlushCause::Load);
}

void Egress::accept(Peer& peer, LineRequest* request) {
  const Cycle now = partition_.now();
  const std::uint32_t lines = request->lines();
  const unsigned unit = request->unit;
  const PhysPage page = request->line.page();
  const ByteMasksId id = as_store(*request).masks;
  const EdgeMasks edges = id == 0 ? EdgeMasks{whole_line_, whole_line_} : masks_.at(id);
  const std::uint64_t waited = static_cast<std::uint32_t>(now) - request->stage_start;
  if (waited != 0) {
    stats_.waited_stores += lines;
    stats_.wait_cycles += lines * waited;
  }
  for (std::uint64_t rest = request->mask; rest != 0; rest &= rest - 1) {
    LineStore store{PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))}, whole_line_, request->record};
    if (rest == request->mask) {
      store.mask = edges.first;
    } else if ((rest & (rest - 1)) == 0) {
      store.mask = edges.last;
    }
    count(store);
    if (peer.queue) {
      peer.queue->store(store, batches_);
    } else {
      send_plain(store);
    }
  }
  masks_.release(partition_.device(), id);
  partition_.pool().release(request);
  send_ready(peer);
  if (peer.queue) {
    const std::uint32_t each = design_->stores_per_cycle();
    peer.port_free = now + (lines + each - 1) / each;
    peer.last_store = now;
    if (design_->timeout() != 0 && !peer.queue->empty()) schedule_timer(peer);
  }
  network_.unreserve(peer.device, lines);
  client_.stores_accepted(unit, page, lines);
}

/// Stores of one instruction that leave at once travel together, up to a burst.
void Egress::send_plain(const LineStore& store) {
  std::vector<StoreBatch*>& ready = batches_.ready();
  const bool joins = !ready.empty() && ready.back()->lines.size() < burst_;
  StoreBatch& batch = joins ? *ready.back() : batches_.add(FlushCause::None);
  batch.add(store);
  ++batch.stores;
  batch.wire += format().store(store.mask);
}

void Egress::count(const LineStore& store) {
  const unsigned bytes = store.mask.count();
  ++stats_.stores;
  stats_.store_bytes += bytes;
  if (bytes < kSmall) ++stats_.small_stores;
  const auto size = std::ranges::find_if(kSizeClasses, [&](const SizeClass& each) { return bytes <= each.most; });
  ++stats_.sizes[static_cast<std::size_t>(size - kSizeClasses.begin())];
}

/// Sends what the queue of a peer has let go.
void Egress::send_ready(Peer& peer) {
  for (StoreBatch* batch : batches_.ready()) {
    auto* packet = partition_.pool().allocate<StorePacket>();
    packet->batch = batch;
    packet->packets = batch->wire.packets;
    packet->set_wire_bytes(batch->wire.bytes);
    packet->destination = peer.device.value;
    packet->data = batch->wire.data_credits;
    ++stats_.messages;
    stats_.packets += batch->wire.packets;
    stats_.wire_bytes += batch->wire.bytes;
    stats_.data_bytes += batch->data_bytes;
    stats_.protocol_bytes += batch->wire.bytes - batch->data_bytes;
    if (peer.device == host_) stats_.host_bytes += batch->data_bytes;
    peer.in_flight.push(batch);
    ++peer.sent;
    ++in_flight_;
    network_.send_stores(packet);
  }
  batches_.ready().clear();
}

void Egress::flush(FlushCause cause) {
  for (Peer& peer : peers_) {
    if (!peer.queue || peer.queue->empty()) continue;
    peer.queue->flush(cause, batches_);
    send_ready(peer);
  }
}

// ----------------------------------------------------------------------------------------------------------- timeout

void Egress::schedule_timer(Peer& peer) {
  if (peer.timer_scheduled) return;
  peer.timer_scheduled = true;
  auto* event = partition_.pool().allocate<IndexEvent>();
  event->index = peer.device.value;
  partition_.schedule(event, timer_handler_, peer.last_store + design_->timeout());
}

void Egress::on_timer(IndexEvent* event) {
  Peer& peer = peers_[event->index];
  partition_.pool().release(event);
  peer.timer_scheduled = false;
  if (peer.queue->empty()) return;
  if (peer.last_store + design_->timeout() > partition_.now()) {
    schedule_timer(peer);
    return;
  }
  peer.queue->flush(FlushCause::Timeout, batches_);
  send_ready(peer);
}

// ---------------------------------------------------------------------------------------------------------- releases

bool Egress::release(Waiter waiter, FlushCause cause) {
  ++stats_.releases;
  flush(cause);
  if (in_flight_ == 0) return true;
  Release release;
  if (!spare_.empty()) {
    release.until = std::move(spare_.back());
    spare_.pop_back();
  }
  release.until.clear();
  for (const Peer& peer : peers_) release.until.push_back(peer.sent);
  release.waiter = waiter;
  release.begun = partition_.now();
  releases_.push(std::move(release));
  return false;
}

bool Egress::complete(const Release& release) const {
  for (std::size_t d = 0; d < peers_.size(); ++d) {
    if (peers_[d].written < release.until[d]) return false;
  }
  return true;
}

void Egress::drained(DeviceId from, std::uint32_t count) {
  Peer& peer = peers_[from.value];
  for (std::uint32_t i = 0; i < count; ++i) {
    StoreBatch* batch = peer.in_flight.pop();
    if (watch_ != nullptr) {
      for (const LineStore& store : batch->lines) watch_->stores_delivered(store.record, store.line);
    }
    batches_.recycle(*batch);
  }
  peer.written += count;
  in_flight_ -= count;
  partition_.progress().steps += 1;
  while (!releases_.empty() && complete(releases_.front())) {
    Release done = releases_.pop();
    stats_.release_cycles += partition_.now() - done.begun;
    spare_.push_back(std::move(done.until));
    client_.released(done.waiter);
  }
}

// --------------------------------------------------------------------------------------------------- the data oracle

void Egress::merged(PhysLine line, std::uint32_t into, std::uint32_t added) {
  watch_->stores_merged(into, added, line);
}

std::uint32_t Egress::cut(PhysLine line, std::uint32_t record, const ByteMask& piece) {
  return watch_->store_cut(record, line, piece);
}

bool Egress::idle() const {
  return in_flight_ == 0 && std::ranges::all_of(peers_, [](const Peer& peer) {
           return peer.waiting.empty() && (!peer.queue || peer.queue->empty());
         });
}

std::string Egress::describe_waiting() const {
  std::string text;
  for (const Peer& peer : peers_) {
    const bool holds = peer.queue && !peer.queue->empty();
    if (peer.waiting.empty() && peer.in_flight.empty() && !holds) continue;
    text +=
        fmt::format("  egress: {} requests wait to enter for device {}, {} messages not written there{}\n",
                    peer.waiting.size(), peer.device.value, peer.in_flight.size(), holds ? ", stores held back" : "");
  }
  return text;
}

}  // namespace nearfar
