#include "coherence/nmoesi/line_cache.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "sim/error.h"

namespace nearfar::nmoesi {
namespace {

[[noreturn]] void out_of_turn(const Message& message) {
  throw SimulationError(fmt::format("NMOESI: message {} for line {} of block {} found nothing that it belongs to",
                                    static_cast<int>(message.kind), message.line, message.block));
}

}  // namespace

LineCache::LineCache(const LineCacheOptions& options, Fabric& fabric, CacheClient* client)
    : options_(options),
      geometry_(options.geometry),
      fabric_(fabric),
      client_(client),
      tags_(options.sets, options.ways, options.index, Replacement::Lru),
      masks_(tags_.slots(), 0) {
  if (geometry_.follows_data) images_.resize(tags_.slots());
  if (options.children == 0) return;
  sharers_.resize(tags_.slots(), 0);
  owners_.resize(tags_.slots(), kNobody);
}

void LineCache::send(Message&& message, Agent to, Line line) {
  message.from = options_.self;
  message.to = to;
  message.block = geometry_.block_of(line);
  message.line = geometry_.index_of(line);
  fabric_.send(std::move(message));
}

// -------------------------------------------------------------------------------------------------------- transactions

LineCache::Transaction* LineCache::find(Line line) {
  const auto found = transactions_.find(line);
  return found == transactions_.end() ? nullptr : found->second;
}

LineCache::Transaction& LineCache::open(Line line) {
  if (Transaction* found = find(line)) return *found;
  if (free_.empty()) {
    made_.push_back(std::make_unique<Transaction>());
    free_.push_back(made_.back().get());
  }
  Transaction& opened = *free_.back();
  free_.pop_back();
  opened.line = line;
  opened.phase = Phase::Q;
  transactions_.emplace(line, &opened);
  const Slot slot = tags_.find(line);
  if (slot != TagArray::kNone) tags_.state(slot) |= kBusy;
  return opened;
}

void LineCache::close(Transaction& transaction) {
  const Slot slot = tags_.find(transaction.line);
  if (slot != TagArray::kNone) {
    tags_.state(slot) &= static_cast<std::uint8_t>(~kBusy);
    if (state(slot) == State::I) tags_.invalidate(slot);
  }
  transactions_.erase(transaction.line);
  transaction.queue.clear();
  transaction.next = 0;
  transaction.current = Request();
  transaction.probe = nullptr;
  free_.push_back(&transaction);
}

void LineCache::wait(const CoreAccess& access) {
  Request request;
  request.access = access;
  enqueue(access.line, std::move(request));
}

void LineCache::enqueue(Line line, Request&& request) {
  Transaction& transaction = open(line);
  transaction.queue.push_back(std::move(request));
  if (transaction.phase == Phase::Q) go_on(transaction);
  retry_room();
}

/// A line that is quiet: the parent's probe goes first, then what waits, in order.
void LineCache::go_on(Transaction& transaction) {
  while (transaction.phase == Phase::Q) {
    if (transaction.probe != nullptr) {
      serve_probe(transaction);
      continue;
    }
    if (transaction.next == transaction.queue.size()) {
      close(transaction);
      return;
    }
    transaction.current = std::move(transaction.queue[transaction.next++]);
    if (transaction.next == transaction.queue.size()) {
      transaction.queue.clear();
      transaction.next = 0;
    }
    begin(transaction);
  }
}

void LineCache::begin(Transaction& transaction) {
  const Request& request = transaction.current;
  switch (request.what) {
    case Request::What::Evict: begin_eviction(transaction); return;
    case Request::What::Publish: begin_publishing(transaction); return;
    case Request::What::Message:
      if (request.message.kind == Kind::Put) {
        put_by_child(request.message);
        return;
      }
      break;
    case Request::What::Access: break;
  }
  const bool of_core = request.what == Request::What::Access;
  const Kind asked = request.message.kind;
  const Event event = of_core ? request.access.event : asked == Kind::Write ? Event::Store : Event::Load;
  const Slot slot = tags_.find(transaction.line);
  const State held = slot == TagArray::kNone ? State::I : state(slot);
  if (coverage_ != nullptr) coverage_->note(held, event);
  switch (transition(*options_.table, held, event).action) {
    case Action::ReadRequest: ask(transaction, of_core && event == Event::NStore ? Kind::ReadN : Kind::Read); return;
    case Action::WriteRequest: ask(transaction, Kind::Write); return;
    default: serve(transaction);
  }
}

/// A way for a line that has none: the victim leaves at once, or its children have to give it back first.
bool LineCache::make_room(Line line) {
  const auto is_busy = [&](Slot slot) { return tags_.valid(slot) && (tags_.state(slot) & kBusy) != 0; };
  Slot slot = tags_.victim(line);
  if (is_busy(slot)) {
    const Slot ways = static_cast<Slot>(std::bit_ceil(options_.ways));
    const Slot first = slot & ~(ways - 1);
    slot = TagArray::kNone;
    for (Slot way = 0; way < options_.ways && slot == TagArray::kNone; ++way) {
      if (!is_busy(first + way)) slot = first + way;
    }
    if (slot == TagArray::kNone) return false;
  }
  if (tags_.valid(slot)) {
    const Line victim = tags_.key(slot);
    Transaction& leaving = open(victim);
    leaving.queue.push_back({.what = Request::What::Evict, .access = {}, .message = {}});
    go_on(leaving);
    if (tags_.find(victim) != TagArray::kNone) return false;
  }
  tags_.fill(slot, line);
  tags_.state(slot) = static_cast<std::uint8_t>(State::I) | kBusy;
  masks_[slot] = 0;
  if (!images_.empty()) images_[slot] = LineImage();
  if (!sharers_.empty()) {
    sharers_[slot] = 0;
    owners_[slot] = kNobody;
  }
  return true;
}

void LineCache::retry_room() {
  for (std::size_t i = 0; i < room_.size();) {
    const Line line = room_[i];
    Transaction* transaction = find(line);
    if (!make_room(line)) {
      ++i;
      continue;
    }
    room_.erase(room_.begin() + static_cast<std::ptrdiff_t>(i));
    transaction->phase = Phase::Q;
    const Request& request = transaction->current;
    const bool writes = request.what == Request::What::Access ? request.access.event == Event::Store
                                                              : request.message.kind == Kind::Write;
    const bool n_store = request.what == Request::What::Access && request.access.event == Event::NStore;
    ask(*transaction, writes ? Kind::Write : n_store ? Kind::ReadN : Kind::Read);
  }
}

// ------------------------------------------------------------------------------------------------------------ requests

void LineCache::receive(Message&& message) {
  if (coverage_ != nullptr && class_of(message.kind) != MessageClass::Probe) {
    coverage_->note(phase_of(geometry_.line_of(message.block, message.line)), message.kind);
  }
  switch (message.kind) {
    case Kind::Read:
    case Kind::ReadN:
    case Kind::Write:
    case Kind::Put: on_child_request(std::move(message)); break;
    case Kind::ProbeRead:
    case Kind::ProbeInv: on_probe(std::move(message)); break;
    case Kind::DataS:
    case Kind::DataE:
    case Kind::DataX: on_data(std::move(message)); break;
    case Kind::ProbeAck: on_child_answer(std::move(message)); break;
    case Kind::PutAck: on_put_ack(message); break;
    case Kind::Done: {
      Transaction* transaction = find(geometry_.line_of(message.block, message.line));
      if (transaction == nullptr || transaction->phase != Phase::G) out_of_turn(message);
      transaction->phase = Phase::Q;
      go_on(*transaction);
      break;
    }
    default: out_of_turn(message);
  }
  retry_room();
}

void LineCache::on_child_request(Message&& message) {
  const Line line = geometry_.line_of(message.block, message.line);
  const Transaction* transaction = find(line);
  if (message.kind == Kind::Put && transaction != nullptr) {
    const bool serves_probe = transaction->probe != nullptr && transaction->answers != 0;
    const bool waits = transaction->phase == Phase::W || transaction->phase == Phase::Room;
    if (waits && !serves_probe) {
      put_by_child(message);
      return;
    }
  }
  Request request;
  request.what = Request::What::Message;
  request.message = std::move(message);
  enqueue(line, std::move(request));
}

/// The parent is asked before children are probed.
void LineCache::ask(Transaction& transaction, Kind kind) {
  if (tags_.find(transaction.line) == TagArray::kNone && !make_room(transaction.line)) {
    transaction.phase = Phase::Room;
    room_.push_back(transaction.line);
    return;
  }
  transaction.phase = Phase::W;
  Message message;
  message.kind = kind;
  message.n_store = kind == Kind::ReadN || transaction.current.message.kind == Kind::ReadN;
  message.state = state(tags_.find(transaction.line));
  send(std::move(message), options_.parent, transaction.line);
}

/// What the parent grants comes under the bytes that this copy has changed (Rule 5).
void LineCache::on_data(Message&& message) {
  const Line line = geometry_.line_of(message.block, message.line);
  Transaction* transaction = find(line);
  if (transaction == nullptr || transaction->phase != Phase::W) out_of_turn(message);
  const Slot slot = tags_.find(line);
  if (!images_.empty() && message.bytes) {
    LineImage image = std::move(message.bytes->front().image);
    geometry_.overlay(image, images_[slot], masks_[slot]);
    images_[slot] = std::move(image);
  }
  tags_.touch(slot);
  if (message.kind == Kind::DataX) {
    set_state(slot, masks_[slot] != 0 ? State::M : State::E);
  } else {
    set_state(slot, message.kind == Kind::DataE ? State::E : State::S);
  }
  Message done;
  done.kind = Kind::Done;
  send(std::move(done), options_.parent, line);
  transaction->phase = Phase::Q;
  serve(*transaction);
  go_on(*transaction);
}

/// The copy is good enough for the request.
void LineCache::serve(Transaction& transaction) {
  if (transaction.current.what == Request::What::Message) {
    serve_child(transaction);
    return;
  }
  const CoreAccess access = transaction.current.access;
  const Slot slot = tags_.find(transaction.line);
  perform(slot, access, transition(*options_.table, state(slot), access.event).next);
  client_->performed(access, image_of(slot));
}

void LineCache::serve_child(Transaction& transaction) {
  const Message& request = transaction.current.message;
  const Slot slot = tags_.find(transaction.line);
  const std::uint32_t child = std::uint32_t{1} << (request.from - options_.first_child);
  if (request.kind == Kind::Write) {
    const std::uint32_t others = sharers_[slot] & ~child;
    if (others != 0) {
      probe_children(transaction, others, true, Probing::Request);
      return;
    }
  } else if (owners_[slot] != kNobody && owners_[slot] != request.from) {
    probe_children(transaction, std::uint32_t{1} << (owners_[slot] - options_.first_child), false, Probing::Request);
    return;
  }
  grant(transaction);
}

void LineCache::grant(Transaction& transaction) {
  const Message& request = transaction.current.message;
  const Slot slot = tags_.find(transaction.line);
  const std::uint32_t child = std::uint32_t{1} << (request.from - options_.first_child);
  Message answer;
  if (request.kind == Kind::Write) {
    sharers_[slot] = child;
    owners_[slot] = request.from;
    answer.kind = Kind::DataX;
  } else {
    sharers_[slot] |= child;
    const bool alone = request.kind == Kind::Read && sharers_[slot] == child && is_exclusive(state(slot));
    if (alone) {
      owners_[slot] = request.from;
    } else if (owners_[slot] == request.from) {
      owners_[slot] = kNobody;
    }
    answer.kind = alone ? Kind::DataE : Kind::DataS;
  }
  if (!images_.empty()) {
    answer.bytes = std::make_unique<LineBytesList>();
    answer.bytes->push_back({geometry_.index_of(transaction.line), state(slot), false, 0, images_[slot]});
  }
  transaction.phase = Phase::G;
  send(std::move(answer), request.from, transaction.line);
}

/// Lowest index first.
void LineCache::probe_children(Transaction& transaction, std::uint32_t children, bool invalidate, Probing why) {
  if (why != Probing::Parent) transaction.phase = Phase::C;
  transaction.probing = why;
  transaction.answers = static_cast<unsigned>(std::popcount(children));
  for (; children != 0; children &= children - 1) {
    Message probe;
    probe.kind = invalidate ? Kind::ProbeInv : Kind::ProbeRead;
    send(std::move(probe), static_cast<Agent>(options_.first_child + std::countr_zero(children)), transaction.line);
  }
}

void LineCache::on_child_answer(Message&& message) {
  const Line line = geometry_.line_of(message.block, message.line);
  Transaction* transaction = find(line);
  if (transaction == nullptr || transaction->answers == 0) out_of_turn(message);
  const Slot slot = tags_.find(line);
  if (message.bytes) {
    for (const LineBytes& bytes : *message.bytes) merge(slot, bytes.mask, &bytes.image);
  }
  if (message.state == State::I) sharers_[slot] &= ~(std::uint32_t{1} << (message.from - options_.first_child));
  if (owners_[slot] == message.from && message.state != State::O) owners_[slot] = kNobody;
  if (--transaction->answers != 0) return;
  switch (transaction->probing) {
    case Probing::Request: grant(*transaction); break;
    case Probing::Eviction: leave(*transaction); break;
    case Probing::Parent: {
      Probe& probe = *std::exchange(transaction->probe, nullptr);
      answer_probe(line, probe);
      break;
    }
  }
  if (transaction->phase == Phase::C) transaction->phase = Phase::Q;
  go_on(*transaction);
}

void LineCache::merge(Slot slot, Mask mask, const LineImage* image) {
  if (mask == 0) return;
  if (!images_.empty()) geometry_.overlay(images_[slot], *image, mask);
  masks_[slot] |= mask;
  set_state(slot, merged(state(slot)));
}

void LineCache::put_by_child(const Message& message) {
  const Line line = geometry_.line_of(message.block, message.line);
  const Slot slot = tags_.find(line);
  const std::uint32_t child = std::uint32_t{1} << (message.from - options_.first_child);
  Message ack;
  ack.kind = Kind::PutAck;
  ack.ack = Ack::Stale;
  if (slot != TagArray::kNone && (sharers_[slot] & child) != 0) {
    merge(slot, message.mask, message.bytes ? &message.bytes->front().image : nullptr);
    sharers_[slot] &= ~child;
    if (owners_[slot] == message.from) owners_[slot] = kNobody;
    ack.ack = Ack::Gone;
  }
  send(std::move(ack), message.from, line);
}

// ------------------------------------------------------------------------------------------------------------- leaving

void LineCache::evict(Line line) {
  if (tags_.find(line) == TagArray::kNone && find(line) == nullptr) return;
  enqueue(line, {.what = Request::What::Evict, .access = {}, .message = {}});
}

void LineCache::evict_all() {
  for (Slot slot = 0; slot < tags_.slots(); ++slot) {
    if (tags_.valid(slot)) evict(tags_.key(slot));
  }
}

/// Kernels that are short spend their time here, so it looks at little: masks alone where nothing is under way.
std::uint64_t LineCache::publish_all() {
  const bool quiet = transactions_.empty();
  std::uint64_t changed = 0;
  for (Slot slot = 0; slot < tags_.slots(); ++slot) {
    if (masks_[slot] == 0 && (quiet || (tags_.state(slot) & kBusy) == 0)) continue;
    if (!tags_.valid(slot)) continue;
    if (masks_[slot] != 0) ++changed;
    enqueue(tags_.key(slot), {.what = Request::What::Publish, .access = {}, .message = {}});
  }
  return changed;
}

std::uint64_t LineCache::changed_lines() const {
  std::uint64_t count = 0;
  for (Slot slot = 0; slot < tags_.slots(); ++slot) count += tags_.valid(slot) && masks_[slot] != 0 ? 1 : 0;
  return count;
}

void LineCache::drop_clean() {
  for (Slot slot = 0; slot < tags_.slots(); ++slot) {
    if (tags_.valid(slot) && (tags_.state(slot) & kBusy) == 0 && !may_be_changed(state(slot))) drop(slot);
  }
}

void LineCache::begin_eviction(Transaction& transaction) {
  const Slot slot = tags_.find(transaction.line);
  if (slot == TagArray::kNone || state(slot) == State::I) return;
  if (!sharers_.empty() && sharers_[slot] != 0) {
    probe_children(transaction, sharers_[slot], true, Probing::Eviction);
    return;
  }
  leave(transaction);
}

/// No child has a copy any more.
void LineCache::leave(Transaction& transaction) {
  const Slot slot = tags_.find(transaction.line);
  if (coverage_ != nullptr) coverage_->note(state(slot), Event::Eviction);
  const bool writes_back = transition(*options_.table, state(slot), Event::Eviction).action == Action::WriteBack &&
                           (masks_[slot] != 0 || state(slot) == State::O);
  transaction.phase = Phase::Q;
  transaction.published = false;
  if (writes_back || options_.notifies_clean) put(transaction, slot, Kind::Put);
  drop(slot);
  if (transaction.phase == Phase::P && transaction.probe != nullptr) {
    answer_from_put(transaction, *std::exchange(transaction.probe, nullptr));
  }
}

void LineCache::begin_publishing(Transaction& transaction) {
  const Slot slot = tags_.find(transaction.line);
  if (slot == TagArray::kNone || masks_[slot] == 0) return;
  transaction.published = true;
  put(transaction, slot, Kind::Publish);
}

void LineCache::put(Transaction& transaction, Slot slot, Kind kind) {
  transaction.phase = Phase::P;
  transaction.put_full = true;
  transaction.put_mask = masks_[slot];
  Message message;
  message.kind = kind;
  message.state = state(slot);
  message.mask = masks_[slot];
  message.changed = masks_[slot] != 0 ? 1 : 0;
  if (!images_.empty()) {
    transaction.put_image = images_[slot];
    message.bytes = std::make_unique<LineBytesList>();
    message.bytes->push_back({geometry_.index_of(transaction.line), State::I, false, masks_[slot], images_[slot]});
  }
  send(std::move(message), options_.parent, transaction.line);
}

void LineCache::on_put_ack(const Message& message) {
  const Line line = geometry_.line_of(message.block, message.line);
  Transaction* transaction = find(line);
  if (transaction == nullptr || transaction->phase != Phase::P) out_of_turn(message);
  const Slot slot = tags_.find(line);
  if (transaction->published && transaction->put_full && slot != TagArray::kNone && message.ack == Ack::Keep) {
    masks_[slot] = 0;
    set_state(slot, message.state);
  }
  transaction->put_full = false;
  transaction->phase = Phase::Q;
  go_on(*transaction);
}

void LineCache::drop(Slot slot) {
  masks_[slot] = 0;
  if (!sharers_.empty()) {
    sharers_[slot] = 0;
    owners_[slot] = kNobody;
  }
  tags_.invalidate(slot);
}

// ------------------------------------------------------------------------------------------------ probes of the parent

void LineCache::on_probe(Message&& message) {
  if (free_probes_.empty()) {
    probes_.push_back(std::make_unique<Probe>());
    free_probes_.push_back(probes_.back().get());
  }
  Probe& probe = *free_probes_.back();
  free_probes_.pop_back();
  probe.asked = std::move(message);
  probe.left = 1;
  probe.held = 0;
  probe.state = State::I;
  probe.bytes.reset();
  if (probe.asked.whole_block()) {
    probe.asked.lines.for_each([&](unsigned index) {
      ++probe.left;
      probe_line(geometry_.line_of(probe.asked.block, index), probe);
    });
  } else {
    ++probe.left;
    probe_line(geometry_.line_of(probe.asked.block, probe.asked.line), probe);
  }
  part_done(probe);
}

void LineCache::probe_line(Line line, Probe& probe) {
  if (coverage_ != nullptr) coverage_->note(phase_of(line), probe.asked.kind);
  Transaction* transaction = find(line);
  if (transaction == nullptr) {
    const Slot slot = tags_.find(line);
    if (slot == TagArray::kNone || children_to_probe(slot, probe) == 0) {
      answer_probe(line, probe);
      return;
    }
    transaction = &open(line);
    transaction->probe = &probe;
    go_on(*transaction);
    return;
  }
  switch (transaction->phase) {
    case Phase::P: answer_from_put(*transaction, probe); return;
    case Phase::C:
    case Phase::G:
    case Phase::L: transaction->probe = &probe; return;
    case Phase::Q:
    case Phase::Room:
    case Phase::W: transaction->probe = &probe; serve_probe(*transaction);
  }
}

/// Serves a probe from the copy as it is. With children it takes their answers, and what the line waits for goes on
/// waiting meanwhile.
void LineCache::serve_probe(Transaction& transaction) {
  const Slot slot = tags_.find(transaction.line);
  const std::uint32_t children = slot == TagArray::kNone ? 0 : children_to_probe(slot, *transaction.probe);
  if (children == 0) {
    answer_probe(transaction.line, *std::exchange(transaction.probe, nullptr));
    return;
  }
  const bool invalidates = must_invalidate(slot, *transaction.probe);
  if (transaction.phase == Phase::Q) transaction.phase = Phase::C;
  probe_children(transaction, children, invalidates, Probing::Parent);
}

bool LineCache::must_invalidate(Slot slot, const Probe& probe) const {
  return probe.invalidates() ||
         (state(slot) != State::I && transition(*options_.table, state(slot), Event::ReadRequest).next == State::I);
}

std::uint32_t LineCache::children_to_probe(Slot slot, const Probe& probe) const {
  if (sharers_.empty()) return 0;
  if (must_invalidate(slot, probe)) return sharers_[slot];
  return owners_[slot] == kNobody ? 0 : std::uint32_t{1} << (owners_[slot] - options_.first_child);
}

/// This level's own row of the table.
void LineCache::answer_probe(Line line, Probe& probe) {
  const Slot slot = tags_.find(line);
  const State before = slot == TagArray::kNone ? State::I : state(slot);
  const Event event = probe.invalidates() ? Event::WriteRequest : Event::ReadRequest;
  if (coverage_ != nullptr) coverage_->note(before, event);
  const Transition& to = transition(*options_.table, before, event);
  const Mask mask = slot != TagArray::kNone && to.action == Action::SendData ? masks_[slot] : 0;
  if (mask != 0 || (to.next == State::I && !probe.invalidates())) {
    if (!probe.bytes) probe.bytes = std::make_unique<LineBytesList>();
    LineBytes& bytes = probe.bytes->emplace_back();
    bytes.line = geometry_.index_of(line);
    bytes.state = to.next;
    bytes.mask = mask;
    if (mask != 0 && !images_.empty()) bytes.image = images_[slot];
  }
  if (slot != TagArray::kNone) {
    if (mask != 0) masks_[slot] = 0;
    set_state(slot, to.next);
    if (to.next == State::I) {
      const bool busy = (tags_.state(slot) & kBusy) != 0;
      if (!busy) {
        drop(slot);
      } else {
        masks_[slot] = 0;
        if (!sharers_.empty()) {
          sharers_[slot] = 0;
          owners_[slot] = kNobody;
        }
      }
    }
  }
  probe_done(probe, to.next);
}

/// Race R3: whatever the probe is, it takes the bytes that have been put, and the copy is gone.
void LineCache::answer_from_put(Transaction& transaction, Probe& probe) {
  if (!probe.bytes) probe.bytes = std::make_unique<LineBytesList>();
  LineBytes& bytes = probe.bytes->emplace_back();
  bytes.line = geometry_.index_of(transaction.line);
  bytes.state = State::I;
  bytes.put = true;
  if (transaction.put_full) {
    bytes.mask = transaction.put_mask;
    bytes.image = transaction.put_image;
  }
  transaction.put_full = false;
  const Slot slot = tags_.find(transaction.line);
  if (transaction.published && slot != TagArray::kNone) {
    masks_[slot] = 0;
    set_state(slot, State::I);
  }
  probe_done(probe, State::I);
}

void LineCache::probe_done(Probe& probe, State state) {
  probe.state = state;
  if (state != State::I) ++probe.held;
  part_done(probe);
}

void LineCache::part_done(Probe& probe) {
  if (--probe.left != 0) return;
  Message answer;
  answer.kind = Kind::ProbeAck;
  answer.state = probe.state;
  answer.held = probe.held;
  answer.bytes = std::move(probe.bytes);
  answer.from = options_.self;
  answer.to = probe.asked.from;
  answer.block = probe.asked.block;
  answer.line = probe.asked.line;
  answer.lines = probe.asked.lines;
  free_probes_.push_back(&probe);
  fabric_.send(std::move(answer));
}

// ---------------------------------------------------------------------------------------------- what others may look
// at

State LineCache::state_of(Line line) const {
  const Slot slot = tags_.find(line);
  return slot == TagArray::kNone ? State::I : state(slot);
}

Mask LineCache::mask_of(Line line) const {
  const Slot slot = tags_.find(line);
  return slot == TagArray::kNone ? 0 : masks_[slot];
}

const LineImage* LineCache::image_of_line(Line line) const {
  const Slot slot = tags_.find(line);
  return slot == TagArray::kNone || images_.empty() ? nullptr : &images_[slot];
}

std::uint32_t LineCache::sharers_of(Line line) const {
  const Slot slot = tags_.find(line);
  return slot == TagArray::kNone || sharers_.empty() ? 0 : sharers_[slot];
}

Agent LineCache::owner_of(Line line) const {
  const Slot slot = tags_.find(line);
  return slot == TagArray::kNone || owners_.empty() ? kNobody : owners_[slot];
}

Phase LineCache::phase_of(Line line) const {
  const auto found = transactions_.find(line);
  return found == transactions_.end() ? Phase::Q : found->second->phase;
}

std::string LineCache::describe_waiting() const {
  if (transactions_.empty()) return {};
  return fmt::format("  NMOESI cache {}: {} lines in progress, {} of them wait for a way\n", options_.self,
                     transactions_.size(), room_.size());
}

}  // namespace nearfar::nmoesi
