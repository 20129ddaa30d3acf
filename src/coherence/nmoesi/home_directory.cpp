#include "coherence/nmoesi/home_directory.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "sim/error.h"

namespace nearfar::nmoesi {
namespace {

[[noreturn]] void unknown(const Message& message) {
  throw SimulationError(fmt::format("NMOESI: message {} for block {} found nothing at its home that it belongs to",
                                    static_cast<int>(message.kind), message.block));
}

}  // namespace

HomeDirectory::HomeDirectory(const HomeDirectoryOptions& options, Fabric& fabric)
    : options_(options), geometry_(options.geometry), fabric_(fabric) {}

void HomeDirectory::send(Message&& message, Agent to, Block block) {
  message.from = options_.self;
  message.to = to;
  message.block = block;
  fabric_.send(std::move(message));
}

const HomeDirectory::Entry& HomeDirectory::entry_of(Block block) const {
  static const Entry kNone;
  const auto found = entries_.find(block);
  return found == entries_.end() ? kNone : found->second;
}

LineImage HomeDirectory::memory(Line line) const {
  const auto found = memory_.find(line);
  return found == memory_.end() ? LineImage() : found->second;
}

// -------------------------------------------------------------------------------------------------------- transactions

HomeDirectory::Transaction* HomeDirectory::find(Block block) {
  const auto found = transactions_.find(block);
  return found == transactions_.end() ? nullptr : found->second;
}

Phase HomeDirectory::phase_of(Block block) const {
  const auto found = transactions_.find(block);
  if (found == transactions_.end()) return Phase::Q;
  const Transaction& transaction = *found->second;
  if (!transaction.active) return Phase::Room;
  if (!transaction.serving) return Phase::L;
  return transaction.answered ? Phase::G : Phase::C;
}

void HomeDirectory::receive(Message&& message) {
  if (coverage_ != nullptr) {
    (is_llc(message.from) ? llc_coverage_ : coverage_)->note(phase_of(message.block), message.kind);
  }
  switch (message.kind) {
    case Kind::Read:
    case Kind::ReadN:
    case Kind::Write:
    case Kind::Put:
    case Kind::Publish: enqueue(std::move(message)); return;
    case Kind::ProbeAck: on_probe_ack(std::move(message)); return;
    case Kind::DirUpdate: on_dir_update(std::move(message)); return;
    case Kind::Done: on_done(message); return;
    default: unknown(message);
  }
}

void HomeDirectory::enqueue(Message&& message) {
  const Block block = message.block;
  if (Transaction* under_way = find(block)) {
    under_way->queue.push_back(std::move(message));
    if (under_way->active) go_on(*under_way);
    return;
  }
  if (free_.empty()) {
    made_.push_back(std::make_unique<Transaction>());
    free_.push_back(made_.back().get());
  }
  Transaction& opened = *free_.back();
  free_.pop_back();
  opened.block = block;
  transactions_.emplace(block, &opened);
  opened.queue.push_back(std::move(message));
  if (active_ < options_.transactions) {
    activate(opened);
  } else {
    waiting_.push_back(block);
  }
}

void HomeDirectory::activate(Transaction& transaction) {
  transaction.active = true;
  ++active_;
  go_on(transaction);
}

void HomeDirectory::go_on(Transaction& transaction) {
  while (!transaction.serving) {
    if (transaction.queue.empty()) {
      if (transaction.granted == 0) close(transaction);
      return;
    }
    if (!may_begin(transaction, transaction.queue.front())) return;
    transaction.request = std::move(transaction.queue.front());
    transaction.queue.pop_front();
    transaction.serving = true;
    begin(transaction);
  }
}

/// Beside lines in G only other lines of the LLC may be granted or put, and only if nobody is probed for them.
bool HomeDirectory::may_begin(const Transaction& transaction, const Message& request) const {
  if (transaction.granted == 0) return true;
  if (!is_llc(request.from) || transaction.granted_lines.contains(request.line)) return false;
  const Entry& entry = entry_of(transaction.block);
  switch (request.kind) {
    case Kind::Put: return true;
    case Kind::Write: return entry.sharers == 0 && !entry.stale;
    default: return entry.owner == kNobody;
  }
}

void HomeDirectory::close(Transaction& transaction) {
  transactions_.erase(transaction.block);
  transaction.active = false;
  transaction.request = Message();
  free_.push_back(&transaction);
  --active_;
  if (waiting_.empty()) return;
  const Block block = waiting_.front();
  waiting_.pop_front();
  activate(*find(block));
}

void HomeDirectory::begin(Transaction& transaction) {
  transaction.answers = 0;
  transaction.done = transaction.updated = true;
  transaction.answered = false;
  transaction.shared = false;
  transaction.ready = 0;
  Entry& entry = entries_[transaction.block];
  if (transaction.settles()) {
    probe_stacks(transaction, entry.sharers);
    if (entry.in_llc) probe_llc(transaction, true, Message::kWholeBlock);
    answers_are_in(transaction);
    return;
  }
  switch (transaction.request.kind) {
    case Kind::Write: begin_write(transaction, entry); break;
    case Kind::Put: begin_put(transaction, entry); return;
    case Kind::Publish: begin_publish(transaction, entry); return;
    default: begin_read(transaction, entry);
  }
  answers_are_in(transaction);
}

void HomeDirectory::read_memory(Transaction& transaction) {
  ++stats_.memory_reads;
  const Message& request = transaction.request;
  const unsigned line = request.whole_block() ? 0 : request.line;
  const unsigned lines = request.whole_block() ? geometry_.block_lines : 1;
  transaction.ready = fabric_.read_memory(options_.self, transaction.block, line, lines);
}

/// Who answers a reader: the owner; or, where any holder may, the next one whose copy lacks nothing.
Agent HomeDirectory::choose_supplier(const Entry& entry, Agent requester) const {
  if (entry.owner != kNobody && entry.owner != requester) return entry.owner;
  if (options_.supplier != Supplier::AnySharer || entry.stale) return kNobody;
  const std::uint64_t others = entry.sharers & ~bit(requester);
  if (others == 0) return kNobody;
  const unsigned index = static_cast<unsigned>(requester - options_.first_child);
  const std::uint64_t behind = index >= 63 ? 0 : others & (~std::uint64_t{0} << (index + 1));
  return static_cast<Agent>(options_.first_child + std::countr_zero(behind != 0 ? behind : others));
}

void HomeDirectory::begin_read(Transaction& transaction, Entry& entry) {
  const Message& request = transaction.request;
  ++stats_.reads;
  if (is_llc(request.from)) {
    // Alone it could be stored to silently, and old lines of a marked block would stay beside it.
    transaction.shared = entry.sharers != 0 || entry.stale;
    read_memory(transaction);
    if (entry.owner != kNobody) {
      ++transaction.answers;
      ++stats_.probes;
      Message probe;
      probe.kind = Kind::ProbeRead;
      send(std::move(probe), entry.owner, transaction.block);
    }
    return;
  }
  transaction.done = false;
  const std::uint64_t others = entry.sharers & ~bit(request.from);
  if (entry.owner == request.from) entry.owner = kNobody;  // its copy left silently
  transaction.shared = others != 0;
  if (others == 0 && entry.in_llc) probe_llc(transaction, false, Message::kWholeBlock);
  const Agent supplier = choose_supplier(entry, request.from);
  // Where memory has bytes that copies lack, nobody but the home may answer: a reader might miss its own stores.
  const bool peer = options_.peer_transfer && !entry.stale;
  if (supplier == kNobody || !peer) read_memory(transaction);
  if (supplier == kNobody) return;
  ++stats_.probes;
  Message probe;
  probe.requester = request.from;
  if (peer) {
    transaction.updated = false;
    transaction.answered = true;
    Message listen;
    listen.kind = Kind::Listen;
    listen.requester = supplier;
    send(std::move(listen), request.from, transaction.block);
    probe.kind = Kind::FwdRead;
  } else if (entry.owner == supplier) {
    ++transaction.answers;
    probe.kind = Kind::ProbeRead;
  } else {
    --stats_.probes;
    return;
  }
  send(std::move(probe), supplier, transaction.block);
}

void HomeDirectory::begin_write(Transaction& transaction, Entry& entry) {
  const Message& request = transaction.request;
  ++stats_.writes;
  read_memory(transaction);
  if (is_llc(request.from)) {
    probe_stacks(transaction, entry.sharers);
    // Other lines of the block may change in memory: what the LLC has of them goes too.
    if ((entry.sharers != 0 || entry.stale) && entry.in_llc) probe_llc(transaction, true, request.line);
    return;
  }
  transaction.done = false;
  probe_stacks(transaction, entry.sharers & ~bit(request.from));
  if (entry.in_llc) probe_llc(transaction, true, Message::kWholeBlock);
}

void HomeDirectory::begin_put(Transaction& transaction, Entry& entry) {
  const Message& request = transaction.request;
  ++stats_.puts;
  Ack ack = Ack::Stale;
  if (is_llc(request.from)) {
    if (spent_.erase(geometry_.line_of(request.block, request.line)) == 0) {
      merge(request.block, request);
      if (request.changed != 0 && entry.sharers != 0) mark(request.block, entry);
      ack = Ack::Gone;
    }
  } else if ((entry.sharers & bit(request.from)) != 0) {
    merge(request.block, request);
    entry.sharers &= ~bit(request.from);
    if (entry.owner == request.from) entry.owner = kNobody;
    if (request.changed != 0 && (entry.sharers != 0 || entry.in_llc)) mark(request.block, entry);
    ack = Ack::Gone;
  }
  send_ack(request, ack);
  transaction.serving = false;
}

void HomeDirectory::begin_publish(Transaction& transaction, Entry& entry) {
  const Message& request = transaction.request;
  ++stats_.publishes;
  if ((entry.sharers & bit(request.from)) == 0) {
    send_ack(request, Ack::Stale);
    transaction.serving = false;
    return;
  }
  merge(request.block, request);
  const std::uint64_t others = entry.sharers & ~bit(request.from);
  // Of a marked block the publisher's own copy lacks bytes too.
  transaction.shared = others != 0 || entry.stale;
  probe_stacks(transaction, others);
  if (entry.in_llc) probe_llc(transaction, true, Message::kWholeBlock);
  answers_are_in(transaction);
}

/// Lowest index first.
void HomeDirectory::probe_stacks(Transaction& transaction, std::uint64_t children) {
  for (; children != 0; children &= children - 1) {
    ++transaction.answers;
    ++stats_.probes;
    Message probe;
    probe.kind = Kind::ProbeInv;
    send(std::move(probe), static_cast<Agent>(options_.first_child + std::countr_zero(children)), transaction.block);
  }
}

/// All its lines of the block but one.
void HomeDirectory::probe_llc(Transaction& transaction, bool invalidate, std::uint16_t except) {
  ++transaction.answers;
  Message probe;
  probe.kind = invalidate ? Kind::ProbeInv : Kind::ProbeRead;
  probe.lines = LineSet::all(geometry_.block_lines);
  if (except != Message::kWholeBlock) probe.lines.erase(except);
  send(std::move(probe), options_.llc, transaction.block);
}

// ------------------------------------------------------------------------------------------------------------- answers

/// Changed bytes come home.
void HomeDirectory::merge(Block block, const Message& message) {
  if (message.bytes) {
    for (const LineBytes& bytes : *message.bytes) {
      if (bytes.mask == 0) continue;
      stats_.bits_merged += static_cast<std::uint64_t>(std::popcount(bytes.mask));
      geometry_.overlay(memory_[geometry_.line_of(block, bytes.line)], bytes.image, bytes.mask);
    }
  }
  if (message.changed == 0) return;
  ++stats_.merges;
  stats_.merged_lines += message.changed;
  const bool whole = options_.whole_blocks && !is_llc(message.from);
  fabric_.write_memory(options_.self, block, message.whole_block() ? 0 : message.line,
                       whole ? geometry_.block_lines : message.changed);
}

void HomeDirectory::mark(Block block, Entry& entry) {
  if (entry.stale) return;
  entry.stale = true;
  ++stats_.marks;
  marked_.push_back(block);
}

void HomeDirectory::on_probe_ack(Message&& message) {
  Transaction* transaction = find(message.block);
  if (transaction == nullptr || transaction->answers == 0) unknown(message);
  Entry& entry = entries_[message.block];
  if (is_llc(message.from)) {
    if (message.bytes) {
      for (const LineBytes& bytes : *message.bytes) {
        if (bytes.put) spent_.insert(geometry_.line_of(message.block, bytes.line));
        if (bytes.mask != 0) ++message.changed;
      }
    }
    if (message.held == 0 && message.lines.size() == geometry_.block_lines) entry.in_llc = false;
  } else if (message.state == State::I) {
    entry.sharers &= ~bit(message.from);
    if (entry.owner == message.from) entry.owner = kNobody;
  } else if (entry.owner == message.from && message.state != State::O) {
    entry.owner = kNobody;
  }
  merge(message.block, message);
  if (is_llc(transaction->request.from) && !is_llc(message.from) && message.changed != 0) {
    stats_.synchronized_lines += options_.whole_blocks ? geometry_.block_lines : message.changed;
  }
  // A reader's probe leaves other holders with copies that lack what has come.
  const Message& request = transaction->request;
  const bool reads = !transaction->settles() && (request.kind == Kind::Read || request.kind == Kind::ReadN);
  if (reads && message.changed != 0 && !is_llc(message.from)) {
    const std::uint64_t readers = is_llc(request.from) ? 0 : bit(request.from);
    const bool in_llc = entry.in_llc;
    if ((entry.sharers & ~bit(message.from) & ~readers) != 0 || in_llc) mark(message.block, entry);
  }
  --transaction->answers;
  answers_are_in(*transaction);
  go_on(*transaction);
}

void HomeDirectory::on_dir_update(Message&& message) {
  Transaction* transaction = find(message.block);
  if (transaction == nullptr || transaction->updated) unknown(message);
  Entry& entry = entries_[message.block];
  const Message& request = transaction->request;
  merge(message.block, message);
  if (message.state == State::I) entry.sharers &= ~bit(message.from);
  if (entry.owner == message.from || message.state == State::O) {
    entry.owner = message.state == State::O ? message.from : kNobody;
  }
  if (message.changed != 0 && ((entry.sharers & ~bit(message.from) & ~bit(request.from)) != 0 || entry.in_llc)) {
    mark(message.block, entry);
  }
  transaction->updated = true;
  entry.sharers |= bit(request.from);
  if (message.sent) {
    ++stats_.peer_transfers;
  } else {
    read_memory(*transaction);
    send_data(*transaction, Kind::DataS);
  }
  finish_if_over(*transaction);
  go_on(*transaction);
}

void HomeDirectory::on_done(const Message& message) {
  Transaction* transaction = find(message.block);
  if (transaction == nullptr) unknown(message);
  if (is_llc(message.from)) {
    if (!transaction->granted_lines.contains(message.line)) unknown(message);
    transaction->granted_lines.erase(message.line);
    --transaction->granted;
  } else {
    if (transaction->done) unknown(message);
    transaction->done = true;
    finish_if_over(*transaction);
  }
  go_on(*transaction);
}

/// The last probe has been answered, or there was none.
void HomeDirectory::answers_are_in(Transaction& transaction) {
  if (transaction.answers != 0) return;
  Entry& entry = entries_[transaction.block];
  const Message& request = transaction.request;
  if (transaction.settles()) {
    entry.sharers = 0;
    entry.owner = kNobody;
    entry.stale = entry.in_llc = false;
    transaction.serving = false;
    return;
  }
  if (transaction.answered) {
    finish_if_over(transaction);
    return;
  }
  transaction.answered = true;
  const bool of_llc = is_llc(request.from);
  switch (request.kind) {
    case Kind::Write:
      entry.sharers = of_llc ? 0 : bit(request.from);
      entry.owner = of_llc ? kNobody : request.from;
      entry.stale = false;
      if (of_llc) entry.in_llc = true;
      send_data(transaction, Kind::DataX);
      return;
    case Kind::Publish: {
      entry.sharers = transaction.shared ? 0 : bit(request.from);
      entry.owner = transaction.shared ? kNobody : request.from;
      entry.stale = entry.in_llc = false;
      send_ack(request, transaction.shared ? Ack::Gone : Ack::Keep);
      transaction.serving = false;
      return;
    }
    default: break;
  }
  if (of_llc) {
    entry.in_llc = true;
    send_data(transaction, transaction.shared ? Kind::DataS : Kind::DataE);
    return;
  }
  entry.sharers |= bit(request.from);
  const bool alone = !transaction.shared && !entry.in_llc;
  if (alone) {
    entry.owner = request.from;
    entry.stale = false;
  }
  send_data(transaction, alone ? Kind::DataE : Kind::DataS);
}

void HomeDirectory::send_data(Transaction& transaction, Kind kind) {
  const Message& request = transaction.request;
  Message data;
  data.kind = kind;
  data.line = request.line;
  data.ready = transaction.ready;
  if (geometry_.follows_data) {
    data.bytes = std::make_unique<LineBytesList>();
    const unsigned first = request.whole_block() ? 0 : request.line;
    const unsigned count = request.whole_block() ? geometry_.block_lines : 1;
    for (unsigned i = first; i < first + count; ++i) {
      data.bytes->push_back(
          {static_cast<std::uint16_t>(i), State::I, false, 0, memory(geometry_.line_of(transaction.block, i))});
    }
  }
  send(std::move(data), request.from, transaction.block);
  if (!is_llc(request.from)) return;
  // The line is in G, and the block is not.
  transaction.granted_lines.insert(request.line);
  ++transaction.granted;
  finish_if_over(transaction);
}

void HomeDirectory::send_ack(const Message& request, Ack ack) {
  if (ack == Ack::Stale) {
    ++stats_.stale_puts;
    if (request.bytes) {
      for (const LineBytes& bytes : *request.bytes) {
        stats_.bits_dropped += static_cast<std::uint64_t>(std::popcount(bytes.mask));
      }
    }
  }
  Message answer;
  answer.kind = Kind::PutAck;
  answer.ack = ack;
  answer.line = request.line;
  send(std::move(answer), request.from, request.block);
}

void HomeDirectory::finish_if_over(Transaction& transaction) {
  if (transaction.answered && transaction.answers == 0 && transaction.done && transaction.updated) {
    transaction.serving = false;
  }
}

void HomeDirectory::settle_marks() {
  const std::vector<Block> marked = std::exchange(marked_, {});
  for (const Block block : marked) {
    Entry& entry = entries_[block];
    if (!entry.stale) continue;
    entry.stale = false;
    Message settles;
    settles.block = block;
    enqueue(std::move(settles));
  }
}

std::string HomeDirectory::describe_waiting() const {
  if (transactions_.empty()) return {};
  return fmt::format("  NMOESI home {}: {} blocks in progress, {} of them wait\n", options_.self, transactions_.size(),
                     waiting_.size());
}

}  // namespace nearfar::nmoesi
