#include "coherence/nmoesi/stack_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/error.h"

namespace nearfar::nmoesi {
namespace {

[[noreturn]] void unexpected(const Message& message) {
  throw SimulationError(
      fmt::format("NMOESI: message {} for block {} found nothing in the stack's directory that it "
                  "belongs to",
                  static_cast<int>(message.kind), message.block));
}

}  // namespace

StackDirectory::StackDirectory(const StackDirectoryOptions& options, Agent first_home, unsigned homes, Fabric& fabric,
                               StackListener* listener)
    : options_(options),
      geometry_(options.geometry),
      first_home_(first_home),
      homes_(homes),
      fabric_(fabric),
      listener_(listener) {}

void StackDirectory::send_home(Message&& message, Block block) {
  message.from = options_.self;
  message.to = static_cast<Agent>(first_home_ + block % homes_);
  message.block = block;
  fabric_.send(std::move(message));
}

void StackDirectory::send_child(Message&& message, Block block) {
  message.from = options_.self;
  message.to = options_.child;
  message.block = block;
  fabric_.send(std::move(message));
}

// -------------------------------------------------------------------------------------------- entries and transactions

StackDirectory::Entry* StackDirectory::find_entry(Block block) {
  const auto found = sets_.find(set_of(block));
  if (found == sets_.end()) return nullptr;
  for (std::uint32_t i = found->second; i != kNoEntry; i = entries_[i].next_in_set) {
    if (entries_[i].block == block) return &entries_[i];
  }
  return nullptr;
}

const StackDirectory::Entry* StackDirectory::entry_of(Block block) const {
  return const_cast<StackDirectory*>(this)->find_entry(block);
}

State StackDirectory::state_of(Block block) const {
  const Entry* entry = entry_of(block);
  return entry == nullptr ? State::I : entry->state;
}

Phase StackDirectory::phase_of(Block block) const {
  const auto found = transactions_.find(block);
  if (found == transactions_.end()) return Phase::Q;
  return found->second->phase == Phase::Q && found->second->granted != 0 ? Phase::L : found->second->phase;
}

StackDirectory::Transaction* StackDirectory::find(Block block) {
  const auto found = transactions_.find(block);
  return found == transactions_.end() ? nullptr : found->second;
}

StackDirectory::Transaction& StackDirectory::open(Block block) {
  if (Transaction* found = find(block)) return *found;
  if (free_.empty()) {
    made_.push_back(std::make_unique<Transaction>());
    free_.push_back(made_.back().get());
  }
  Transaction& opened = *free_.back();
  free_.pop_back();
  opened.block = block;
  opened.phase = Phase::Q;
  transactions_.emplace(block, &opened);
  if (Entry* entry = find_entry(block)) entry->busy = true;
  return opened;
}

void StackDirectory::close(Transaction& transaction) {
  if (Entry* entry = find_entry(transaction.block)) {
    entry->busy = false;
    if (entry->state == State::I) remove(*entry);
  }
  transactions_.erase(transaction.block);
  transaction.current = Request();
  free_.push_back(&transaction);
}

void StackDirectory::remove(Entry& entry) {
  if (listener_ != nullptr) listener_->block_left(entry.touched.size());
  const auto set = sets_.find(set_of(entry.block));
  const auto index = [&](std::uint32_t i) { return &entries_[i] == &entry; };
  std::uint32_t* link = &set->second;
  while (!index(*link)) link = &entries_[*link].next_in_set;
  const std::uint32_t removed = *link;
  *link = entry.next_in_set;
  if (set->second == kNoEntry) sets_.erase(set);
  entry.used = false;
  entry.state = State::I;
  entry.present.clear();
  free_entries_.push_back(removed);
}

/// A way of its set, a transaction of those that may be under way, and room for what the victim puts.
bool StackDirectory::make_room(Block block) {
  if (under_way_ >= options_.transactions) return false;
  const auto set = sets_.find(set_of(block));
  Entry* victim = nullptr;
  std::uint32_t held = 0;
  for (std::uint32_t i = set == sets_.end() ? kNoEntry : set->second; i != kNoEntry; i = entries_[i].next_in_set) {
    ++held;
    if (!entries_[i].busy && (victim == nullptr || entries_[i].age < victim->age)) victim = &entries_[i];
  }
  if (held >= options_.ways) {
    if (victim == nullptr || puts_ >= options_.put_buffer) return false;
    const Block leaving = victim->block;
    ++stats_.evictions;
    Transaction& transaction = open(leaving);
    transaction.queue.push_back({Request::What::Evict, {}, 0});
    go_on(transaction);
    if (find_entry(leaving) != nullptr) return false;
  }
  std::uint32_t index = 0;
  if (free_entries_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
    entries_.back().masks.resize(geometry_.block_lines, 0);
    if (geometry_.follows_data) entries_.back().images.resize(geometry_.block_lines);
  } else {
    index = free_entries_.back();
    free_entries_.pop_back();
  }
  Entry& entry = entries_[index];
  entry.block = block;
  entry.state = State::I;
  entry.used = true;
  entry.busy = true;
  entry.age = ++clock_;
  entry.present.clear();
  entry.touched.clear();
  std::ranges::fill(entry.masks, 0);
  const auto [place, is_new] = sets_.try_emplace(set_of(block), kNoEntry);
  entry.next_in_set = place->second;
  place->second = index;
  return true;
}

void StackDirectory::retry_room() {
  sweep();
  for (std::size_t i = 0; i < room_.size();) {
    const Block block = room_[i];
    Transaction* transaction = find(block);
    if (find_entry(block) == nullptr && !make_room(block)) {
      ++i;
      continue;
    }
    if (under_way_ >= options_.transactions) return;
    room_.erase(room_.begin() + static_cast<std::ptrdiff_t>(i));
    const Message& request = transaction->current.message;
    transaction->phase = Phase::Q;
    ask(*transaction, request.kind);
  }
}

// ------------------------------------------------------------------------------------------------- the L2 asks for
// lines

void StackDirectory::receive(Message&& message) {
  if (coverage_ != nullptr && message.kind != Kind::Listen) coverage_->note(phase_of(message.block), message.kind);
  switch (message.kind) {
    case Kind::Read:
    case Kind::ReadN:
    case Kind::Write:
    case Kind::Put:
    case Kind::Publish: on_child_request(std::move(message)); break;
    case Kind::ProbeRead:
    case Kind::ProbeInv:
    case Kind::FwdRead: on_probe(std::move(message)); break;
    case Kind::DataS:
    case Kind::DataE:
    case Kind::DataX:
    case Kind::PeerData: on_data(std::move(message)); break;
    case Kind::ProbeAck: on_recalled(std::move(message)); break;
    case Kind::PutAck: on_put_ack(message); break;
    case Kind::Listen: break;  // it says what PeerData will say again
    case Kind::Done: {
      Transaction* transaction = find(message.block);
      if (transaction == nullptr || !transaction->granted_lines.contains(message.line)) unexpected(message);
      transaction->granted_lines.erase(message.line);
      --transaction->granted;
      go_on(*transaction);
      break;
    }
    default: unexpected(message);
  }
  retry_room();
}

void StackDirectory::on_child_request(Message&& message) {
  const bool puts = message.kind == Kind::Put || message.kind == Kind::Publish;
  Transaction* transaction = find(message.block);
  if (puts && transaction != nullptr) {
    const bool waits = transaction->phase == Phase::W || transaction->phase == Phase::Room;
    if (waits && !transaction->recalling && !transaction->granted_lines.contains(message.line)) {
      put_by_child(message);
      return;
    }
  }
  Transaction& opened = open(message.block);
  Request request;
  request.message = std::move(message);
  request.since = listener_ == nullptr ? 0 : listener_->now();
  opened.queue.push_back(std::move(request));
  go_on(opened);
}

/// Whether what waits first may begin, as far as lines in G go.
bool StackDirectory::may_begin(const Transaction& transaction, const Request& request) {
  if (request.what != Request::What::Message) return transaction.granted == 0;
  if (transaction.granted_lines.contains(request.message.line)) return false;
  if (request.message.kind != Kind::Write) return true;
  const Entry* entry = find_entry(transaction.block);
  return transaction.granted == 0 || (entry != nullptr && is_exclusive(entry->state));
}

void StackDirectory::go_on(Transaction& transaction) {
  while (transaction.phase == Phase::Q) {
    if (transaction.has_probe) {
      if (transaction.granted != 0) return;
      serve_probe(transaction);
      continue;
    }
    if (transaction.queue.empty()) {
      if (transaction.granted == 0) close(transaction);
      return;
    }
    if (!may_begin(transaction, transaction.queue.front())) return;
    transaction.current = std::move(transaction.queue.front());
    transaction.queue.pop_front();
    begin(transaction);
  }
}

void StackDirectory::begin(Transaction& transaction) {
  switch (transaction.current.what) {
    case Request::What::Evict: begin_eviction(transaction); return;
    case Request::What::Publish: begin_publishing(transaction); return;
    case Request::What::Message: break;
  }
  if (listener_ != nullptr) listener_->waited(transaction.current.since);
  const Message& request = transaction.current.message;
  if (request.kind == Kind::Put || request.kind == Kind::Publish) {
    put_by_child(request);
  } else {
    begin_access(transaction);
  }
}

void StackDirectory::begin_access(Transaction& transaction) {
  const Message& request = transaction.current.message;
  Entry* entry = find_entry(transaction.block);
  const State state = entry == nullptr ? State::I : entry->state;
  const Event event = request.kind == Kind::Write ? Event::Store : Event::Load;
  if (coverage_ != nullptr) coverage_->note(state, event);
  const Action action = transition(*options_.table, state, event).action;
  if (action == Action::Hit) {
    ++stats_.hits;
    entry->age = ++clock_;
    grant(transaction, *entry, request, true);
    return;
  }
  ++(state == State::I ? stats_.misses : stats_.upgrades);
  ask(transaction, request.kind);
}

void StackDirectory::ask(Transaction& transaction, Kind kind) {
  const bool has_way = find_entry(transaction.block) != nullptr;
  if (under_way_ >= options_.transactions || (!has_way && !make_room(transaction.block))) {
    transaction.phase = Phase::Room;
    room_.push_back(transaction.block);
    return;
  }
  transaction.phase = Phase::W;
  ++under_way_;
  Message message;
  message.kind = kind == Kind::Read && transaction.current.message.n_store ? Kind::ReadN : kind;
  message.state = find_entry(transaction.block)->state;
  send_home(std::move(message), transaction.block);
}

void StackDirectory::on_data(Message&& message) {
  Transaction* transaction = find(message.block);
  if (transaction == nullptr || transaction->phase != Phase::W) unexpected(message);
  Entry& entry = *find_entry(message.block);
  --under_way_;
  const bool exclusive = message.kind == Kind::DataX;
  bool changed = false;
  for (unsigned i = 0; i < geometry_.block_lines; ++i) {
    changed |= entry.masks[i] != 0;
    if (entry.images.empty()) continue;
    LineImage image = std::move((*message.bytes)[i].image);
    geometry_.overlay(image, entry.images[i], entry.masks[i]);
    entry.images[i] = std::move(image);
  }
  fabric_.write_memory(options_.self, message.block, 0, geometry_.block_lines);
  if (exclusive) {
    entry.state = changed ? State::M : State::E;
  } else {
    entry.state = message.kind == Kind::DataE ? State::E : State::S;
  }
  Message done;
  done.kind = Kind::Done;
  send_home(std::move(done), message.block);
  transaction->phase = Phase::Q;
  if (exclusive) {
    purge(*transaction);
  } else {
    grant(*transaction, entry, transaction->current.message, false);
  }
  go_on(*transaction);
}

/// Copies of other lines in the L2 may lack bytes that other devices wrote.
void StackDirectory::purge(Transaction& transaction) {
  Entry& entry = *find_entry(transaction.block);
  LineSet others = entry.present;
  others.erase(transaction.current.message.line);
  if (others.empty()) {
    grant(transaction, entry, transaction.current.message, false);
    return;
  }
  transaction.phase = Phase::C;
  recall_lines(transaction, others, true, Recall::Purge);
}

void StackDirectory::grant(Transaction& transaction, Entry& entry, const Message& request, bool reads_memory) {
  Message answer;
  answer.line = request.line;
  if (request.kind == Kind::Write) {
    answer.kind = Kind::DataX;
  } else {
    answer.kind = request.kind == Kind::Read && is_exclusive(entry.state) ? Kind::DataE : Kind::DataS;
  }
  entry.present.insert(request.line);
  entry.touched.insert(request.line);
  transaction.granted_lines.insert(request.line);
  ++transaction.granted;
  if (reads_memory) answer.ready = fabric_.read_memory(options_.self, transaction.block, request.line, 1);
  if (!entry.images.empty()) {
    answer.bytes = std::make_unique<LineBytesList>();
    answer.bytes->push_back({request.line, entry.state, false, 0, entry.images[request.line]});
  }
  send_child(std::move(answer), transaction.block);
}

/// A line is put, and its copy in the L2 is gone; or published, and stays, unchanged from now on.
void StackDirectory::put_by_child(const Message& message) {
  Entry* entry = find_entry(message.block);
  Message ack;
  ack.kind = Kind::PutAck;
  ack.line = message.line;
  ack.ack = Ack::Stale;
  if (entry != nullptr && entry->present.contains(message.line)) {
    LineBytes bytes{message.line, State::I, false, message.mask, {}};
    if (message.bytes) bytes.image = message.bytes->front().image;
    merge(*entry, bytes);
    if (message.kind == Kind::Put) {
      entry->present.erase(message.line);
      ack.ack = Ack::Gone;
    } else {
      ack.ack = Ack::Keep;
      ack.state = is_exclusive(entry->state) ? State::E : State::S;
    }
  } else {
    ++stats_.stale_puts;
  }
  send_child(std::move(ack), message.block);
}

void StackDirectory::merge(Entry& entry, const LineBytes& bytes) {
  if (bytes.mask == 0) return;
  if (!entry.images.empty()) geometry_.overlay(entry.images[bytes.line], bytes.image, bytes.mask);
  entry.masks[bytes.line] |= bytes.mask;
  entry.state = merged(entry.state);
  stats_.bits_merged += static_cast<std::uint64_t>(std::popcount(bytes.mask));
  fabric_.write_memory(options_.self, entry.block, bytes.line, 1);
}

// ---------------------------------------------------------------------------------------------- lines come back,
// blocks go

void StackDirectory::recall_lines(Transaction& transaction, const LineSet& lines, bool invalidate, Recall why) {
  transaction.recalling = true;
  transaction.recall = why;
  ++stats_.recalls;
  stats_.lines_recalled += lines.size();
  Message probe;
  probe.kind = invalidate ? Kind::ProbeInv : Kind::ProbeRead;
  probe.lines = lines;
  send_child(std::move(probe), transaction.block);
}

void StackDirectory::on_recalled(Message&& message) {
  Transaction* transaction = find(message.block);
  if (transaction == nullptr || !transaction->recalling) unexpected(message);
  transaction->recalling = false;
  Entry& entry = *find_entry(message.block);
  if (message.bytes) {
    for (const LineBytes& bytes : *message.bytes) {
      merge(entry, bytes);
      if (bytes.state == State::I) entry.present.erase(bytes.line);
    }
  }
  const bool gone = transaction->recall == Recall::Purge || transaction->recall == Recall::Eviction ||
                    transaction->recall == Recall::Gone ||
                    (transaction->recall == Recall::Parent &&
                     (transaction->phase == Phase::P || must_invalidate(entry, transaction->probe)));
  if (gone) message.lines.for_each([&](unsigned line) { entry.present.erase(line); });
  switch (transaction->recall) {
    case Recall::Purge:
      // What the purge brought has been changed here.
      transaction->phase = Phase::Q;
      grant(*transaction, entry, transaction->current.message, false);
      break;
    case Recall::Eviction: leave(*transaction); break;
    case Recall::Gone:
      entry.state = State::I;
      transaction->phase = Phase::Q;
      break;
    case Recall::Parent:
      if (transaction->phase == Phase::P) {
        answer_from_put(*transaction);
        if (!std::exchange(transaction->acknowledged, false)) break;
        --puts_;
        transaction->phase = Phase::Q;
        break;
      }
      answer_probe(*transaction);
      if (transaction->phase == Phase::C) transaction->phase = Phase::Q;
      break;
  }
  go_on(*transaction);
}

void StackDirectory::evict(Block block) {
  if (find_entry(block) == nullptr) return;
  ++stats_.evictions;
  Transaction& transaction = open(block);
  transaction.queue.push_back({Request::What::Evict, {}, 0});
  go_on(transaction);
  retry_room();
}

void StackDirectory::evict_all(bool clean_too) {
  sweep_ = Request::What::Evict;
  for (const Entry& entry : entries_) {
    if (entry.used && (clean_too || may_be_changed(entry.state))) to_sweep_.push_back(entry.block);
  }
  retry_room();
}

void StackDirectory::publish_all() {
  sweep_ = Request::What::Publish;
  for (const Entry& entry : entries_) {
    if (entry.used && (entry.state == State::N || entry.state == State::O)) to_sweep_.push_back(entry.block);
  }
  retry_room();
}

/// Block after block, as the put buffer has room.
void StackDirectory::sweep() {
  while (!to_sweep_.empty() && puts_ < options_.put_buffer) {
    const Block block = to_sweep_.front();
    to_sweep_.pop_front();
    if (find_entry(block) == nullptr) continue;
    Transaction& transaction = open(block);
    transaction.queue.push_back({sweep_, {}, 0});
    go_on(transaction);
  }
}

void StackDirectory::begin_eviction(Transaction& transaction) {
  Entry* entry = find_entry(transaction.block);
  if (entry == nullptr || entry->state == State::I) return;
  if (!entry->present.empty()) {
    transaction.phase = Phase::C;
    recall_lines(transaction, entry->present, true, Recall::Eviction);
    return;
  }
  leave(transaction);
}

void StackDirectory::leave(Transaction& transaction) {
  Entry& entry = *find_entry(transaction.block);
  if (coverage_ != nullptr) coverage_->note(entry.state, Event::Eviction);
  const bool writes_back = transition(*options_.table, entry.state, Event::Eviction).action == Action::WriteBack;
  transaction.phase = Phase::Q;
  transaction.published = false;
  if (writes_back || options_.notifies_clean) put(transaction, entry, Kind::Put);
  remove(entry);
  if (transaction.phase == Phase::P && transaction.has_probe) answer_from_put(transaction);
}

void StackDirectory::begin_publishing(Transaction& transaction) {
  Entry* entry = find_entry(transaction.block);
  if (entry == nullptr || (entry->state != State::N && entry->state != State::O)) return;
  bool changed = false;
  for (const Mask mask : entry->masks) changed |= mask != 0;
  if (!changed && entry->state == State::O) return;
  ++stats_.published;
  transaction.published = true;
  put(transaction, *entry, Kind::Publish);
}

void StackDirectory::put(Transaction& transaction, Entry& entry, Kind kind) {
  transaction.phase = Phase::P;
  transaction.put_full = true;
  transaction.put.clear();
  collect(entry, transaction.put);
  ++puts_;
  Message message;
  message.kind = kind;
  message.state = entry.state;
  message.changed = static_cast<std::uint16_t>(transaction.put.size());
  if (message.changed != 0) {
    ++stats_.changed_puts;
    stats_.put_lines += message.changed;
    message.ready = fabric_.read_memory(options_.self, transaction.block, 0, message.changed);
  }
  if (geometry_.follows_data) message.bytes = std::make_unique<LineBytesList>(transaction.put);
  send_home(std::move(message), transaction.block);
}

/// The lines with changed bytes.
void StackDirectory::collect(Entry& entry, LineBytesList& bytes) const {
  for (unsigned i = 0; i < geometry_.block_lines; ++i) {
    if (entry.masks[i] == 0) continue;
    bytes.push_back({static_cast<std::uint16_t>(i), State::I, false, entry.masks[i],
                     entry.images.empty() ? LineImage() : entry.images[i]});
  }
}

void StackDirectory::on_put_ack(const Message& message) {
  Transaction* transaction = find(message.block);
  if (transaction == nullptr || transaction->phase != Phase::P) unexpected(message);
  if (transaction->recalling) {
    transaction->acknowledged = true;
    return;
  }
  --puts_;
  const bool counts = transaction->put_full;
  transaction->put_full = false;
  transaction->phase = Phase::Q;
  Entry* entry = transaction->published ? find_entry(message.block) : nullptr;
  if (entry != nullptr && counts) {
    std::ranges::fill(entry->masks, 0);
    if (message.ack == Ack::Keep) {
      entry->state = State::E;
    } else if (entry->present.empty()) {
      entry->state = State::I;
    } else {
      transaction->phase = Phase::C;
      recall_lines(*transaction, entry->present, true, Recall::Gone);
    }
  }
  go_on(*transaction);
}

// ------------------------------------------------------------------------------------------------- probes of the
// parent

void StackDirectory::on_probe(Message&& message) {
  Transaction& transaction = open(message.block);
  transaction.has_probe = true;
  transaction.probe = std::move(message);
  switch (transaction.phase) {
    case Phase::P: answer_from_put(transaction); return;
    case Phase::Q: go_on(transaction); return;
    case Phase::Room:
    case Phase::W: serve_probe(transaction); return;
    case Phase::C:
    case Phase::G:
    case Phase::L: return;
  }
}

bool StackDirectory::must_invalidate(const Entry& entry, const Message& probe) const {
  if (probe.kind == Kind::ProbeInv) return true;
  return entry.state == State::O && transition(*options_.table, State::O, Event::ReadRequest).next == State::I;
}

void StackDirectory::serve_probe(Transaction& transaction) {
  Entry* entry = find_entry(transaction.block);
  if (entry == nullptr || entry->present.empty()) {
    answer_probe(transaction);
    return;
  }
  if (transaction.phase == Phase::Q) transaction.phase = Phase::C;
  recall_lines(transaction, entry->present, must_invalidate(*entry, transaction.probe), Recall::Parent);
}

Message StackDirectory::answer_to(const Message& probe) const {
  Message answer;
  answer.kind = probe.kind == Kind::FwdRead ? Kind::DirUpdate : Kind::ProbeAck;
  answer.requester = probe.requester;
  return answer;
}

/// This level's own row of the table.
void StackDirectory::answer_probe(Transaction& transaction) {
  const Message& probe = transaction.probe;
  Entry* entry = find_entry(transaction.block);
  const State before = entry == nullptr ? State::I : entry->state;
  const bool invalidates = probe.kind == Kind::ProbeInv;
  const Event event = invalidates ? Event::WriteRequest : Event::ReadRequest;
  if (coverage_ != nullptr) coverage_->note(before, event);
  const Transition& to = transition(*options_.table, before, event);
  Message answer = answer_to(probe);
  answer.state = to.next;
  if (probe.kind == Kind::FwdRead) {
    const bool supplies = before == State::E || before == State::M || before == State::O ||
                          (before == State::S && options_.supplies_shared);
    if (supplies) {
      ++stats_.peer_supplies;
      answer.sent = true;
      Message data;
      data.kind = Kind::PeerData;
      data.from = options_.self;
      data.to = probe.requester;
      data.block = transaction.block;
      data.ready = fabric_.read_memory(options_.self, transaction.block, 0, geometry_.block_lines);
      if (geometry_.follows_data) {
        data.bytes = std::make_unique<LineBytesList>();
        for (unsigned i = 0; i < geometry_.block_lines; ++i) {
          data.bytes->push_back({static_cast<std::uint16_t>(i), before, false, 0, entry->images[i]});
        }
      }
      fabric_.send(std::move(data));
    }
  }
  if (entry != nullptr) {
    if (to.action == Action::SendData && before != State::E) {
      LineBytesList bytes;
      collect(*entry, bytes);
      answer.changed = static_cast<std::uint16_t>(bytes.size());
      if (answer.changed != 0 && !answer.sent) {
        answer.ready = fabric_.read_memory(options_.self, transaction.block, 0, answer.changed);
      }
      if (geometry_.follows_data) answer.bytes = std::make_unique<LineBytesList>(std::move(bytes));
      std::ranges::fill(entry->masks, 0);
    }
    entry->state = to.next;
    if (to.next == State::I) {
      std::ranges::fill(entry->masks, 0);
      entry->present.clear();
    }
  }
  transaction.has_probe = false;
  send_home(std::move(answer), transaction.block);
}

/// Race R3: the bytes that have been put go with the answer, and the copy is gone; nothing goes to a peer. Of a block
/// that was published the L2 may still have lines, which are unchanged.
void StackDirectory::answer_from_put(Transaction& transaction) {
  Entry* entry = transaction.published ? find_entry(transaction.block) : nullptr;
  if (entry != nullptr && !entry->present.empty()) {
    recall_lines(transaction, entry->present, true, Recall::Parent);
    return;
  }
  Message answer = answer_to(transaction.probe);
  answer.state = State::I;
  if (transaction.put_full) {
    answer.changed = static_cast<std::uint16_t>(transaction.put.size());
    if (geometry_.follows_data) answer.bytes = std::make_unique<LineBytesList>(transaction.put);
  }
  transaction.put_full = false;
  transaction.has_probe = false;
  if (entry != nullptr) {
    std::ranges::fill(entry->masks, 0);
    entry->state = State::I;
  }
  send_home(std::move(answer), transaction.block);
}

std::string StackDirectory::describe_waiting() const {
  if (transactions_.empty()) return {};
  return fmt::format("  NMOESI directory {}: {} blocks in progress, {} of them wait for room\n", options_.self,
                     transactions_.size(), room_.size());
}

}  // namespace nearfar::nmoesi
