#include "gpu/copy_agent.h"

#include <fmt/format.h>

namespace nearfar {
namespace {

/// A line of the chunk is on its way from memory into the cache: the chunk waits so long before it looks again.
constexpr Cycle kRetry = 16;

constexpr std::uint64_t kNoLine = ~std::uint64_t{0};

void put(Transaction& t, ControlKind kind, const CopyChunk& chunk) {
  t.user = static_cast<std::uint32_t>(kind);
  t.line = chunk.from.value_or(PhysLine{kNoLine});
  t.mask = chunk.to.value_or(PhysLine{kNoLine}).value;
  t.target = chunk.id;
  t.data_bytes = static_cast<std::uint16_t>(chunk.lines);
}

CopyChunk get_chunk(const Transaction& t) {
  CopyChunk chunk;
  chunk.id = t.target;
  if (t.line.value != kNoLine) chunk.from = t.line;
  if (t.mask != kNoLine) chunk.to = PhysLine{t.mask};
  chunk.lines = t.data_bytes;
  return chunk;
}

std::uint64_t mask_of(PhysLine first, std::uint32_t lines) {
  const std::uint64_t run = lines == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lines) - 1;
  return run << first.index();
}

}  // namespace

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
      line_handler_(partition.add_handler<&CopyAgent::on_line>(this)) {}

void CopyAgent::start(const CopyChunk& chunk) {
  if (!chunk.from) {
    deliver(chunk);
  } else if (chunk.from->device() != device()) {
    send(chunk.from->device(), ControlKind::CopyRead, chunk, header_);
  } else {
    take_turn(ControlKind::CopyRead, chunk);
  }
}

/// A chunk that needs no link has its turn in the next cycle.
void CopyAgent::take_turn(ControlKind kind, const CopyChunk& chunk) {
  ++busy_;
  Transaction* t = partition_.pool().allocate();
  put(*t, kind, chunk);
  partition_.schedule(t, turn_handler_, partition_.now() + 1);
}

void CopyAgent::on_control(Transaction* t) {
  if (static_cast<ControlKind>(t->user) == ControlKind::CopyDone) {
    const std::uint32_t id = get_chunk(*t).id;
    partition_.pool().release(t);
    listener_->chunk_done(id);
    return;
  }
  ++busy_;
  on_turn(t);
}

/// A chunk is read or written as soon as none of its lines is on its way into the cache.
void CopyAgent::on_turn(Transaction* t) {
  const CopyChunk chunk = get_chunk(*t);
  const bool reads = static_cast<ControlKind>(t->user) == ControlKind::CopyRead;
  const std::optional<PhysLine> first = reads ? chunk.from : chunk.to;
  if (first && cache_.lines_pending(first->page(), mask_of(*first, chunk.lines))) {
    partition_.schedule(t, turn_handler_, partition_.now() + kRetry);
  } else if (reads) {
    read(t, chunk);
  } else {
    write(t, chunk);
  }
}

void CopyAgent::read(Transaction* t, const CopyChunk& chunk) {
  partition_.pool().release(t);
  const PhysLine first = *chunk.from;
  cache_.write_back_lines(first.page(), mask_of(first, chunk.lines));
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(readings_.size()));
    readings_.emplace_back();
  }
  const std::uint32_t reading = free_.back();
  free_.pop_back();
  readings_[reading] = {chunk, chunk.lines};
  for (std::uint32_t i = 0; i < chunk.lines; ++i) {
    const PhysLine line{first.page(), first.index() + i};
    if (watch_ != nullptr) watch_->copied_from(line);
    Transaction* of_line = partition_.pool().allocate();
    of_line->line = line;
    of_line->user = 0;
    of_line->target = reading;
    cache_.dram().read(of_line, line_handler_);
  }
}

/// A line has been read; with the last one the chunk leaves.
void CopyAgent::on_line(Transaction* t) {
  Reading& reading = readings_[t->target];
  const std::uint32_t place = t->target;
  partition_.pool().release(t);
  if (--reading.lines_left != 0) return;
  const CopyChunk chunk = reading.chunk;
  free_.push_back(place);
  --busy_;
  deliver(chunk);
}

void CopyAgent::deliver(const CopyChunk& chunk) {
  const DeviceId to = chunk.to ? chunk.to->device() : host_;
  if (to != device()) {
    send(to, ControlKind::CopyData, chunk, header_ + chunk.lines * line_);
  } else {
    take_turn(ControlKind::CopyData, chunk);
  }
}

void CopyAgent::write(Transaction* t, const CopyChunk& chunk) {
  partition_.pool().release(t);
  if (chunk.to) {
    cache_.overwrite_lines(chunk.to->page(), mask_of(*chunk.to, chunk.lines));
    if (watch_ != nullptr) watch_->copied_to(chunk.id, *chunk.to, chunk.lines);
  }
  --busy_;
  done(chunk);
}

void CopyAgent::done(const CopyChunk& chunk) {
  if (device() == host_) {
    listener_->chunk_done(chunk.id);
  } else {
    send(host_, ControlKind::CopyDone, chunk, header_);
  }
}

void CopyAgent::send(DeviceId to, ControlKind kind, const CopyChunk& chunk, std::uint64_t bytes) {
  Transaction* t = partition_.pool().allocate();
  put(*t, kind, chunk);
  t->requester = device().value;
  t->destination = to.value;
  t->wire_bytes = static_cast<std::uint16_t>(bytes);
  network_.send_control(t);
}

std::string CopyAgent::describe_waiting() const {
  return busy_ == 0 ? std::string() : fmt::format("  copies: {} chunks are read or written\n", busy_);
}

}  // namespace nearfar
