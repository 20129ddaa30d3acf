#include "designs/finepack/remote_write_queue.h"

#include <algorithm>

#include "config/schema.h"

namespace nearfar {

void RemoteWriteQueueSpec::describe(Section& section) {
  section.integer("entries", entries, {1, 65'536}, "lines",
                  "Lines that the remote write queue holds for each peer, with an enable for each byte.");
  section.integer("subheader", subheader, {2, 6}, "bytes",
                  "Sub-header of each piece in a packet: 10 bits of length, and an offset into a window of 64 bytes "
                  "with 2 bytes, 16 KiB with 3, 4 MiB with 4, 1 GiB with 5 and 256 GiB with 6.");
  section.bytes("max_payload", max_payload, {64, 4096},
                "Largest payload of a packet with packed stores; never more than the link's format has room for.");
  section.choice<LoadFlush>(
      "load_flush", load_flush,
      {{"partition", LoadFlush::Partition}, {"entry", LoadFlush::Entry}, {"queue", LoadFlush::Queue}},
      "What a load of a line that is held flushes before it leaves: partition is all stores to that peer, entry "
      "the line alone, queue the stores to all peers.");
  section.integer("banks", banks, {1, 16}, "banks",
                  "Buffers of a queue for each peer: one takes stores while the others wait for the link.");
  section.integer("stores_per_cycle", stores_per_cycle, {1, 64}, "stores",
                  "Stores that the queue of a peer takes in a cycle.");
  section.cycles("timeout", timeout, {0, 1'000'000'000},
                 "Time without a store after which the queue of a peer is flushed; 0 is never.");
  section.integer("unpack_entries", unpack_entries, {1, 65'536}, "pieces",
                  "Pieces of packets that the de-packetizer of a receiver holds.");
  section.integer("unpack_per_cycle", unpack_per_cycle, {1, 1024}, "pieces",
                  "Pieces that the de-packetizer of a receiver writes in a cycle.");
}

std::uint32_t RemoteWriteQueueSpec::payload_of(const PacketFormat& format) const {
  return std::min(static_cast<std::uint32_t>(max_payload), format.largest_payload());
}

void RemoteWriteQueueStats::count_flush(FlushCause cause) {
  switch (cause) {
    case FlushCause::None: break;
    case FlushCause::Window: ++flushes_window; break;
    case FlushCause::Payload: ++flushes_payload; break;
    case FlushCause::Entries: ++flushes_entries; break;
    case FlushCause::Bypass: ++flushes_bypass; break;
    case FlushCause::Load: ++flushes_load; break;
    case FlushCause::Atomic: ++flushes_atomic; break;
    case FlushCause::Release: ++flushes_release; break;
    case FlushCause::Kernel: ++flushes_kernel; break;
    case FlushCause::Timeout: ++flushes_timeout; break;
  }
}

void RemoteWriteQueueStats::describe(StatVisitor& visitor) {
  visitor.counter("packets", "packets", "Flushes of the remote write queue that sent something.", packets);
  visitor.counter("stores", "stores",
                  "Stores that flushes of the remote write queue sent, those that merged with others too.", stores);
  visitor.counter("subpackets", "pieces", "Runs of bytes that flushes of the remote write queue sent.", subpackets);
  visitor.counter("payload_bytes", "bytes", "Data and sub-headers that flushes of the remote write queue sent.",
                  payload_bytes);
  visitor.counter("merged_stores", "stores", "Stores that merged with a line that the remote write queue held.",
                  merged_stores);
  visitor.counter("merged_bytes", "bytes", "Bytes that were overwritten in the remote write queue before they left.",
                  merged_bytes);
  visitor.counter("flushes_window", "flushes", "Flushes for a store outside the window of the stores that are held.",
                  flushes_window);
  visitor.counter("flushes_payload", "flushes", "Flushes for a store that might not fit the packet any more.",
                  flushes_payload);
  visitor.counter("flushes_entries", "flushes", "Flushes for a store that found all entries of the queue in use.",
                  flushes_entries);
  visitor.counter("flushes_load", "flushes", "Flushes for a load of a line that the remote write queue held.",
                  flushes_load);
  visitor.counter("flushes_atomic", "flushes",
                  "Flushes of one line for an atomic on it, where the remote write queue held it.", flushes_atomic);
  visitor.counter("flushes_release", "flushes", "Flushes of the remote write queue by fences of system scope.",
                  flushes_release);
  visitor.counter("flushes_kernel", "flushes", "Flushes of the remote write queue by the ends of kernels.",
                  flushes_kernel);
  visitor.counter("flushes_timeout", "flushes", "Flushes of the remote write queue after a time without stores.",
                  flushes_timeout);
  visitor.counter("flushes_bypass", "flushes", "Flushes before a store that is too large for a packet.",
                  flushes_bypass);
  visitor.counter("bypasses", "stores", "Stores too large for a packet, which left as they were.", bypasses);
  visitor.counter("configurations", "packets",
                  "Configuration packets that told the receiver a new window, of the design config-packet.",
                  configurations);
}

RemoteWriteQueue::RemoteWriteQueue(const RemoteWriteQueueSpec& spec, const PacketFormat& format,
                                   std::uint64_t line_bytes, RemoteWriteQueueStats& stats)
    : spec_(spec),
      format_(format),
      line_bytes_(line_bytes),
      stats_(stats),
      max_payload_(spec.payload_of(format)),
      available_(max_payload_) {
  entries_.reserve(spec.entries);
}

std::uint64_t RemoteWriteQueue::window_of(const LineStore& store) const {
  unsigned first = 0;
  while (!store.mask.test(first)) ++first;
  return (address_of(store.line, line_bytes_) + first) >> spec_.offset_bits();
}

std::size_t RemoteWriteQueue::find(PhysLine line) const {
  return static_cast<std::size_t>(
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.held.line == line; }) - entries_.begin());
}

/// A window may be smaller than a line: then a store is cut at its boundaries.
void RemoteWriteQueue::store(const LineStore& store, StoreBatches& out) {
  const std::uint64_t window = std::uint64_t{1} << std::min(spec_.offset_bits(), 63U);
  LineStore rest = store;
  for (std::uint64_t first = 0; first + window < line_bytes_; first += window) {
    LineStore piece = rest;
    piece.mask = rest.mask & ByteMask::range(static_cast<unsigned>(first), static_cast<unsigned>(window));
    if (piece.mask.empty()) continue;
    rest.mask = rest.mask.without(piece.mask);
    if (!rest.mask.empty()) piece.record = cut(store.line, store.record, piece.mask);
    insert(piece, out);
    if (rest.mask.empty()) return;
  }
  insert(rest, out);
}

void RemoteWriteQueue::insert(const LineStore& store, StoreBatches& out) {
  if (cost(store.mask) > max_payload_) {
    bypass(store, out);
    return;
  }
  const std::uint64_t window = window_of(store);
  make_room(store, window, out);
  std::size_t index = find(store.line);
  if (index == entries_.size() && index == spec_.entries) {
    flush(FlushCause::Entries, out);
    index = 0;
  }
  base_ = window;
  if (index == entries_.size()) {
    entries_.push_back({{store.line, {}, store.record}, 0});
  } else {
    ++stats_.merged_stores;
    stats_.merged_bytes += (entries_[index].held.mask & store.mask).count();
    note_merge(store.line, entries_[index].held.record, store.record);
  }
  write(entries_[index], store);
}

/// What does not fit flushes. The payload is tested before the line is looked up, as published: a store that would
/// merge at no cost may flush all the same. It adds at most its bytes and its runs, so that a store that passes fits.
void RemoteWriteQueue::make_room(const LineStore& store, std::uint64_t window, StoreBatches& out) {
  if (entries_.empty()) return;
  if (window != base_) {
    flush(FlushCause::Window, out);
  } else if (cost(store.mask) > available_) {
    flush(FlushCause::Payload, out);
  }
}

void RemoteWriteQueue::write(Entry& entry, const LineStore& store) {
  const std::uint32_t before = cost(entry.held.mask);
  entry.held.mask = entry.held.mask | store.mask;
  ++entry.stores;
  available_ = available_ + before - cost(entry.held.mask);
}

void RemoteWriteQueue::bypass(const LineStore& store, StoreBatches& out) {
  flush(FlushCause::Bypass, out);
  ++stats_.bypasses;
  StoreBatch& batch = out.add(FlushCause::Bypass);
  batch.add(store);
  batch.stores = 1;
  batch.wire = format_.store(store.mask);
}

void RemoteWriteQueue::add_to(StoreBatch& batch, const Entry& entry) {
  batch.add(entry.held);
  batch.stores += entry.stores;
  batch.pieces += entry.held.mask.runs();
}

void RemoteWriteQueue::send(StoreBatch& batch, std::uint64_t base) {
  batch.wire = packetize(batch, base);
  ++stats_.packets;
  stats_.stores += batch.stores;
  stats_.subpackets += batch.pieces;
  stats_.payload_bytes += batch.data_bytes + std::uint64_t{spec_.subheader} * batch.pieces;
  stats_.count_flush(batch.cause);
}

WireSize RemoteWriteQueue::packetize(const StoreBatch& batch, std::uint64_t /*base*/) {
  return format_.packed(batch.data_bytes + spec_.subheader * batch.pieces);
}

void RemoteWriteQueue::flush(FlushCause cause, StoreBatches& out) {
  if (entries_.empty()) return;
  StoreBatch& batch = out.add(cause);
  for (const Entry& entry : entries_) add_to(batch, entry);
  send(batch, base_);
  entries_.clear();
  available_ = max_payload_;
  base_ = kNoBase;
}

void RemoteWriteQueue::flush_entry(std::size_t index, FlushCause cause, StoreBatches& out) {
  StoreBatch& batch = out.add(cause);
  add_to(batch, entries_[index]);
  send(batch, base_);
  available_ += cost(entries_[index].held.mask);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  if (entries_.empty()) base_ = kNoBase;
}

bool RemoteWriteQueue::before_load(PhysLine line, StoreBatches& out) {
  const std::size_t index = find(line);
  if (index == entries_.size()) return false;
  if (spec_.load_flush == LoadFlush::Entry) {
    flush_entry(index, FlushCause::Load, out);
  } else {
    flush(FlushCause::Load, out);
  }
  return spec_.load_flush == LoadFlush::Queue;
}

void RemoteWriteQueue::before_atomic(PhysLine line, StoreBatches& out) {
  const std::size_t index = find(line);
  if (index != entries_.size()) flush_entry(index, FlushCause::Atomic, out);
}

}  // namespace nearfar
