#include "coherence/coherence_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace nearfar {

void CoherenceStats::describe(StatVisitor& visitor) {
  visitor.counter("sent_write", "messages",
                  "Invalidations that a GPU sent to sharers of its lines since a line was written.", sent_write);
  visitor.counter("sent_eviction", "messages",
                  "Invalidations that a GPU sent to sharers of its lines since a directory entry was replaced.",
                  sent_eviction);
  visitor.counter("sent_bytes", "bytes", "Bytes of the invalidations that a GPU sent, headers included.", sent_bytes);
  visitor.counter("received", "messages", "Invalidations that a GPU received.", received);
  visitor.counter("markers", "messages",
                  "Markers that a GPU sent behind its invalidations at kernel boundaries and fences.", markers);
  visitor.counter("boundaries", "boundaries", "Kernel boundaries at which a GPU waited for invalidations to arrive.",
                  boundaries);
  visitor.counter("boundary_marker_cycles", "cycles",
                  "Time from the release of a kernel boundary until the markers of all GPUs had come, or without "
                  "markers until no invalidation was under way, summed over boundaries.",
                  boundary_marker_cycles);
  visitor.counter("boundary_flush_cycles", "cycles",
                  "Time from the release of a kernel boundary until the dirty lines of a GPU's L2 had been handed to "
                  "memory, summed over boundaries.",
                  boundary_flush_cycles);
  visitor.counter("fences", "fences", "System-scope fences for which every GPU sent markers.", fences);
  visitor.counter("fence_cycles", "cycles",
                  "Time that system-scope fences waited for markers to be answered, summed over fences.", fence_cycles);
  visitor.histogram("waiting", "messages",
                    "Invalidations that waited for the link to a GPU when one more was sent there.", waiting);
}

CoherenceController::CoherenceController(Partition& partition, NetworkInterface& network, L2Cache& l2,
                                         CoherenceClient& client, DeviceId host, unsigned units,
                                         std::vector<GpuRange> applications, bool markers)
    : partition_(partition),
      network_(network),
      l2_(l2),
      client_(client),
      host_(host),
      applications_(std::move(applications)),
      markers_(markers),
      send_handler_(partition.add_handler<&CoherenceController::on_send>(this)),
      boundaries_(applications_.size()),
      fences_(units) {
  partition.set_port<&CoherenceController::on_announcement>(MessagePort::Announcement, this);
}

// ------------------------------------------------------------------------------------------------------ as the home

/// Reads of the home itself change nothing. The host keeps no copies, so that what it writes is as if the home did.
void CoherenceController::ordered(const LineRequest& request, Cycle after) {
  const DeviceId requester = request.requester();
  const bool remote = requester != partition_.device() && requester != host_;
  if (!remote && !request.writes()) return;
  if (coverage_ != nullptr) cover_request(request);
  if (!remote) {
    directory_->local_write(request.line, out_);
  } else if (request.writes()) {
    directory_->remote_write(request.line, requester, out_);
  } else {
    directory_->remote_read(request.line, requester, out_);
  }
  if (!out_.empty()) send_invalidations(after);
}

void CoherenceController::overwritten(PhysLine line) {
  directory_->local_write(line, out_);
  if (!out_.empty()) send_invalidations(0);
}

/// They leave when the lookup of the request that caused them has ended.
void CoherenceController::send_invalidations(Cycle after) {
  const Cycle due = partition_.now() + after;
  last_due_ = std::max(last_due_, due);
  for (const Invalidation& invalidation : out_) {
    const bool evicted = invalidation.cause == InvalidationCause::Eviction;
    ++(evicted ? stats_.sent_eviction : stats_.sent_write);
    if (evicted && l2_.timeline() != nullptr) l2_.timeline()->directory_evicted(invalidation.page, invalidation.lines);
    auto* message = partition_.pool().allocate<CoherenceMessage>();
    message->kind = CoherenceKind::Invalidation;
    message->page = invalidation.page;
    message->lines = invalidation.lines;
    message->written = invalidation.written;
    message->cause = invalidation.cause;
    message->destination = invalidation.to.value;
    partition_.schedule(message, send_handler_, due);
    if (!markers_) network_.announce(invalidation.to);
  }
  out_.clear();
}

void CoherenceController::on_send(CoherenceMessage* message) {
  const PacketRole role =
      message->kind == CoherenceKind::Invalidation ? PacketRole::Invalidation : PacketRole::CoherenceControl;
  switch (message->kind) {
    case CoherenceKind::FenceRequest: message->traffic_class = TrafficClass::Uncredited; break;
    case CoherenceKind::FenceAck: message->traffic_class = TrafficClass::Response; break;
    default: message->traffic_class = TrafficClass::Invalidation; break;
  }
  if (role == PacketRole::Invalidation) {
    stats_.waiting.add(network_.waiting_invalidations(DeviceId{message->destination}));
  }
  network_.send_coherence(message, role);
  if (role == PacketRole::Invalidation) stats_.sent_bytes += message->wire_bytes;
}

/// Invalidations that have been sent may still be on their way through the pipeline.
void CoherenceController::send_behind_invalidations(const CoherenceMessage& message, DeviceId to) {
  auto* sent = partition_.pool().allocate<CoherenceMessage>();
  *sent = message;
  sent->destination = to.value;
  partition_.schedule(sent, send_handler_, std::max(partition_.now(), last_due_));
}

template <class Visit>
void CoherenceController::for_each_other(std::uint8_t application, Visit visit) const {
  const GpuRange gpus = applications_[application];
  for (unsigned g = gpus.first; g < gpus.first + unsigned{gpus.count}; ++g) {
    if (g != partition_.device().value) visit(DeviceId{static_cast<std::uint16_t>(g)});
  }
}

void CoherenceController::send_markers(CoherenceMessage marker) {
  for_each_other(marker.application, [&](DeviceId gpu) {
    ++stats_.markers;
    send_behind_invalidations(marker, gpu);
  });
}

// ----------------------------------------------------------------------------------------- kernel boundaries, fences

void CoherenceController::start_boundary(std::uint8_t application) {
  boundaries_[application].started = true;
  boundaries_[application].since = partition_.now();
  if (markers_) {
    CoherenceMessage marker;
    marker.kind = CoherenceKind::BoundaryMarker;
    marker.application = application;
    send_markers(marker);
  }
  settle_boundary(application);
}

void CoherenceController::settle_boundary(std::uint8_t application) {
  Boundary& boundary = boundaries_[application];
  const unsigned others = markers_ ? applications_[application].count - 1U : 0;
  if (!boundary.started || boundary.markers < others || under_way_ != 0) return;
  boundary.markers -= others;
  boundary.started = false;
  ++stats_.boundaries;
  stats_.boundary_marker_cycles += partition_.now() - boundary.since;
  client_.boundary_settled(application);
}

void CoherenceController::on_announcement(Event* event) {
  partition_.pool().release(event);
  ++under_way_;
}

/// Without markers it may be the last that a boundary waits for.
void CoherenceController::invalidation_came() {
  if (markers_ || --under_way_ != 0) return;
  for (std::size_t a = 0; a < boundaries_.size(); ++a) settle_boundary(static_cast<std::uint8_t>(a));
}

/// Every GPU sends a marker to every other, and each marker is answered to the GPU with the fence.
void CoherenceController::start_fence(std::uint8_t application, unsigned cu) {
  const unsigned gpus = applications_[application].count;
  Fence& fence = fences_[cu];
  fence.open = gpus * (gpus - 1);
  fence.since = partition_.now();
  if (fence.open == 0) {
    client_.fence_settled(cu);
    return;
  }
  CoherenceMessage message;
  message.application = application;
  message.fence_gpu = partition_.device().value;
  message.fence_unit = static_cast<std::uint16_t>(cu);
  message.kind = CoherenceKind::FenceMarker;
  send_markers(message);
  message.kind = CoherenceKind::FenceRequest;
  for_each_other(application, [&](DeviceId gpu) { send_behind_invalidations(message, gpu); });
}

void CoherenceController::fence_answered(unsigned cu) {
  Fence& fence = fences_[cu];
  if (--fence.open != 0) return;
  ++stats_.fences;
  stats_.fence_cycles += partition_.now() - fence.since;
  client_.fence_settled(cu);
}

/// A marker of a fence has come.
void CoherenceController::acknowledge(const CoherenceMessage& marker) {
  if (marker.fence_gpu == partition_.device().value) {
    fence_answered(marker.fence_unit);
    return;
  }
  CoherenceMessage answer;
  answer.kind = CoherenceKind::FenceAck;
  answer.application = marker.application;
  answer.fence_gpu = marker.fence_gpu;
  answer.fence_unit = marker.fence_unit;
  auto* sent = partition_.pool().allocate<CoherenceMessage>();
  *sent = answer;
  sent->destination = marker.fence_gpu;
  on_send(sent);
}

// ---------------------------------------------------------------------------------------------------- what comes in

void CoherenceController::prefetch(const LineRequest& request) const {
  for (std::uint64_t rest = request.mask; rest != 0; rest &= rest - 1) {
    directory_->prefetch(PhysLine{request.line.page(), static_cast<unsigned>(std::countr_zero(rest))});
  }
}

void CoherenceController::prefetch(const CoherenceMessage& message) const {
  if (message.kind == CoherenceKind::Invalidation) l2_.prefetch_remote_lines(message.page, message.lines);
}

void CoherenceController::on_message(CoherenceMessage* message) {
  switch (message->kind) {
    case CoherenceKind::Invalidation:
      ++stats_.received;
      l2_.invalidate_remote_lines(message->page, message->lines, message->written,
                                  message->cause == InvalidationCause::Eviction);
      invalidation_came();
      break;
    case CoherenceKind::BoundaryMarker:
      ++boundaries_[message->application].markers;
      settle_boundary(message->application);
      break;
    case CoherenceKind::FenceRequest: {
      CoherenceMessage marker;
      marker.kind = CoherenceKind::FenceMarker;
      marker.application = message->application;
      marker.fence_gpu = message->fence_gpu;
      marker.fence_unit = message->fence_unit;
      send_markers(marker);
      break;
    }
    case CoherenceKind::FenceMarker: acknowledge(*message); break;
    case CoherenceKind::FenceAck: fence_answered(message->fence_unit); break;
  }
  partition_.pool().release(message);
}

void CoherenceController::cover_request(const LineRequest& request) {
  const DeviceId requester = request.requester();
  const bool remote = requester != partition_.device() && requester != host_;
  const Sharers recorded = directory_->sharers(request.line);
  const Sharers own = remote ? sharer(requester) : 0;
  const bool others = (recorded & ~own) != 0;
  DirectoryState state = others ? DirectoryState::OthersOnly : DirectoryState::Untracked;
  if ((recorded & own) != 0) state = others ? DirectoryState::RequesterAndOthers : DirectoryState::RequesterOnly;
  DirectoryEvent event = DirectoryEvent::LocalWrite;
  if (remote) event = request.writes() ? DirectoryEvent::RemoteWrite : DirectoryEvent::RemoteRead;
  coverage_->count(state, event);
}

bool CoherenceController::idle() const {
  return under_way_ == 0 &&
         std::all_of(fences_.begin(), fences_.end(), [](const Fence& fence) { return fence.open == 0; }) &&
         std::all_of(boundaries_.begin(), boundaries_.end(),
                     [](const Boundary& boundary) { return !boundary.started && boundary.markers == 0; });
}

std::string CoherenceController::describe_waiting() const {
  std::string text;
  for (std::size_t a = 0; a < boundaries_.size(); ++a) {
    if (!boundaries_[a].started) continue;
    text += fmt::format(
        "  coherence: the boundary of application {} has {} markers since cycle {}, {} invalidations "
        "are announced\n",
        a, boundaries_[a].markers, boundaries_[a].since, under_way_);
  }
  for (std::size_t cu = 0; cu < fences_.size(); ++cu) {
    if (fences_[cu].open == 0) continue;
    text += fmt::format("  coherence: a fence of compute unit {} waits for {} markers since cycle {}\n", cu,
                        fences_[cu].open, fences_[cu].since);
  }
  return text;
}

}  // namespace nearfar
