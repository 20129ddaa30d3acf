#include "gpu/copy_agent.h"

#include <fmt/format.h>

namespace nearfar {
namespace {

/// A line of the chunk is on its way from memory into the cache: the chunk waits so long before it looks again.
constexpr Cycle kRetry = 16;

constexpr std::uint64_t kNoLine = ~std::uint64_t{0};

}  // namespace

void CopyBytesStats::describe(StatVisitor& visitor) {
  visitor.counter("data_bytes", "bytes", "Bytes of chunks of copies that a device sent to other devices.", data_bytes);
  visitor.counter("protocol_bytes", "bytes",
                  "Bytes of the packets of copies that a device sent that are no data: headers, requests, completions.",
                  protocol_bytes);
  visitor.counter("host_bytes", "bytes", "Bytes of chunks of copies that a device sent to the host.", host_bytes);
}

CopyChunk chunk_of(const CopyMessage& message) {
  CopyChunk chunk;
  chunk.id = message.id;
  if (message.from.value != kNoLine) chunk.from = message.from;
  if (message.to.value != kNoLine) chunk.to = message.to;
  chunk.lines = message.lines;
  return chunk;
}

std::uint64_t lines_of_chunk(PhysLine first, std::uint32_t lines) {
  const std::uint64_t run = lines == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lines) - 1;
  return run << first.index();
}

CopyAgent::CopyAgent(Partition& partition, L2Cache& cache, NetworkInterface& network, DataWatch* watch, DeviceId host,
                     std::uint64_t header, std::uint64_t line)
    : partition_(partition),
      cache_(cache),
      network_(network),
      watch_(watch),
      host_(host),
      header_(header),
      line_(line),
      turn_handler_(partition.add_handler<&CopyAgent::on_turn>(this)),
      line_handler_(partition.add_handler<&CopyAgent::on_line>(this)) {
  if (device() == host_) cache_.set_other_writer(*this);
}

void CopyAgent::start(const CopyChunk& chunk) {
  if (!chunk.from) {
    deliver(chunk);
  } else if (chunk.from->device() != device()) {
    send(chunk.from->device(), CopyMessageKind::Read, chunk, header_);
  } else {
    take_turn(CopyMessageKind::Read, chunk);
  }
}

/// A chunk that needs no link has its turn in the next cycle.
void CopyAgent::take_turn(CopyMessageKind kind, const CopyChunk& chunk) {
  ++busy_;
  partition_.schedule(make(kind, chunk), turn_handler_, partition_.now() + 1);
}

CopyMessage* CopyAgent::make(CopyMessageKind kind, const CopyChunk& chunk) {
  auto* message = partition_.pool().allocate<CopyMessage>();
  message->kind = kind;
  message->from = chunk.from.value_or(PhysLine{kNoLine});
  message->to = chunk.to.value_or(PhysLine{kNoLine});
  message->id = chunk.id;
  message->lines = static_cast<std::uint16_t>(chunk.lines);
  return message;
}

void CopyAgent::on_message(CopyMessage* message) {
  if (message->kind == CopyMessageKind::Done) {
    const std::uint32_t id = message->id;
    partition_.pool().release(message);
    listener_->chunk_done(id);
    return;
  }
  ++busy_;
  on_turn(message);
}

/// A chunk is read or written as soon as none of its lines is on its way into the cache. The host's memory may be
/// slower than the links of all GPUs together: a chunk for it waits for room, behind those that wait already.
void CopyAgent::on_turn(CopyMessage* message) {
  if (finds_lines_pending(message)) return;
  const bool for_memory = message->kind == CopyMessageKind::Data && message->to.value != kNoLine && device() == host_;
  if (for_memory && (!waiting_.empty() || !finds_room(chunk_of(*message)))) {
    waiting_.push_back(message);
    return;
  }
  proceed(message);
}

bool CopyAgent::finds_lines_pending(CopyMessage* message) {
  const PhysLine first = message->kind == CopyMessageKind::Read ? message->from : message->to;
  if (first.value == kNoLine || !cache_.lines_pending(first.page(), lines_of_chunk(first, message->lines)))
    return false;
  partition_.schedule(message, turn_handler_, partition_.now() + kRetry);
  return true;
}

/// Memory that refuses a line says later that it has room.
bool CopyAgent::finds_room(const CopyChunk& chunk) {
  for (std::uint32_t i = 0; i < chunk.lines; ++i) {
    if (!cache_.dram().can_write(PhysLine{chunk.to->page(), chunk.to->index() + i})) return false;
  }
  return true;
}

void CopyAgent::dram_has_room() {
  while (!waiting_.empty() && finds_room(chunk_of(*waiting_.front()))) {
    CopyMessage* message = waiting_.front();
    waiting_.pop_front();
    if (!finds_lines_pending(message)) proceed(message);
  }
}

void CopyAgent::proceed(CopyMessage* message) {
  const CopyChunk chunk = chunk_of(*message);
  const ChangedBytes* changed = message->changed;
  const bool reads = message->kind == CopyMessageKind::Read;
  partition_.pool().release(message);
  reads ? read(chunk) : write(chunk, changed);
}

void CopyAgent::read(const CopyChunk& chunk) {
  const PhysLine first = *chunk.from;
  cache_.write_back_lines(first.page(), lines_of_chunk(first, chunk.lines));
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(readings_.size()));
    readings_.emplace_back();
  }
  const std::uint32_t reading = free_.back();
  free_.pop_back();
  readings_[reading] = {chunk, chunk.lines};
  if (useful_ != nullptr && chunk.to) note_changes(chunk);
  for (std::uint32_t i = 0; i < chunk.lines; ++i) {
    const PhysLine line{first.page(), first.index() + i};
    if (watch_ != nullptr) watch_->copied_from(chunk.id, line);
    auto* of_line = partition_.pool().allocate<IndexEvent>();
    of_line->index = reading;
    cache_.dram().read(line, of_line, line_handler_, 0);
  }
}

/// A line has been read; with the last one the chunk leaves.
void CopyAgent::on_line(IndexEvent* event) {
  const std::uint32_t place = event->index;
  Reading& reading = readings_[place];
  partition_.pool().release(event);
  if (--reading.lines_left != 0) return;
  const CopyChunk chunk = reading.chunk;
  free_.push_back(place);
  --busy_;
  deliver(chunk);
}

void CopyAgent::deliver(const CopyChunk& chunk) {
  const DeviceId to = chunk.to ? chunk.to->device() : host_;
  if (to != device()) {
    send(to, CopyMessageKind::Data, chunk, header_ + chunk.lines * line_);
  } else {
    take_turn(CopyMessageKind::Data, chunk);
  }
}

void CopyAgent::note_changes(const CopyChunk& chunk) {
  if (chunk.to->device() == device()) return;
  if (changed_.size() <= chunk.id) changed_.resize(chunk.id + std::size_t{1});
  if (!changed_[chunk.id]) changed_[chunk.id] = std::make_unique<ChangedBytes>();
  for (std::uint32_t i = 0; i < chunk.lines; ++i) {
    (*changed_[chunk.id])[i] =
        useful_->take_changes(PhysLine{chunk.from->page(), chunk.from->index() + i}, chunk.to->device());
  }
}

void CopyAgent::note_arrival(const CopyChunk& chunk, const ChangedBytes* changed) {
  const auto bytes = static_cast<unsigned>(line_);
  for (std::uint32_t i = 0; i < chunk.lines; ++i) {
    const PhysLine line{chunk.to->page(), chunk.to->index() + i};
    if (chunk.from && chunk.from->device() == device()) {
      useful_->copied_within(line, bytes);
    } else {
      useful_->copied(line, bytes, changed == nullptr ? ByteMask::all(bytes) : (*changed)[i]);
    }
  }
}

void CopyAgent::write(const CopyChunk& chunk, const ChangedBytes* changed) {
  if (chunk.to) {
    if (useful_ != nullptr) note_arrival(chunk, changed);
    cache_.overwrite_lines(chunk.to->page(), lines_of_chunk(*chunk.to, chunk.lines));
    if (watch_ != nullptr) watch_->copied_to(chunk.id, *chunk.to, chunk.lines);
  }
  --busy_;
  done(chunk);
}

void CopyAgent::done(const CopyChunk& chunk) {
  if (device() == host_) {
    listener_->chunk_done(chunk.id);
  } else {
    send(host_, CopyMessageKind::Done, chunk, header_);
  }
}

void CopyAgent::send(DeviceId to, CopyMessageKind kind, const CopyChunk& chunk, std::uint64_t bytes) {
  CopyMessage* message = make(kind, chunk);
  message->destination = to.value;
  message->set_wire_bytes(static_cast<std::uint32_t>(bytes));
  if (kind == CopyMessageKind::Data && chunk.id < changed_.size()) message->changed = changed_[chunk.id].get();
  const std::uint64_t data = kind == CopyMessageKind::Data ? chunk.lines * line_ : 0;
  stats_.data_bytes += data;
  if (to == host_) stats_.host_bytes += data;
  stats_.protocol_bytes += network_.send_copy(message) - data;
}

std::string CopyAgent::describe_waiting() const {
  return busy_ == 0 ? std::string() : fmt::format("  copies: {} chunks are read or written\n", busy_);
}

}  // namespace nearfar
