#include "designs/write_combining/combining_queue.h"

#include <algorithm>

#include "config/schema.h"

namespace nearfar {

void CombiningSpec::describe(Section& section, bool with_payload) {
  section.integer("entries", entries, {1, 65'536}, "lines",
                  "Lines that the write-combining buffer holds for each peer, with an enable for each byte.");
  if (with_payload) {
    section.choice<CombinedPayload>(
        "payload", payload, {{"runs", CombinedPayload::Runs}, {"masked_line", CombinedPayload::MaskedLine}},
        "What a line leaves the write-combining buffer as: runs is a plain write for each run of bytes, masked_line "
        "the whole line and a mask.");
  }
  section.integer("banks", banks, {1, 4096}, "lines",
                  "Lines of each peer that have left the write-combining buffer and may wait for the link.");
  section.integer("stores_per_cycle", stores_per_cycle, {1, 64}, "stores",
                  "Stores that the write-combining buffer of a peer takes in a cycle.");
  section.cycles("timeout", timeout, {0, 1'000'000'000},
                 "Time without a store after which the write-combining buffer of a peer is flushed; 0 is never.");
}

void CombiningStats::describe(StatVisitor& visitor) {
  visitor.counter("lines", "lines", "Lines that left the write-combining buffer.", lines);
  visitor.counter("stores", "stores", "Stores that left the write-combining buffer, those that merged too.", stores);
  visitor.counter("merged_stores", "stores", "Stores that merged with a line that the write-combining buffer held.",
                  merged_stores);
  visitor.counter("merged_bytes", "bytes",
                  "Bytes that were overwritten in the write-combining buffer before they left.", merged_bytes);
  visitor.counter("evictions", "lines", "Lines that left the write-combining buffer since all entries were in use.",
                  evictions);
  visitor.counter("load_evictions", "lines",
                  "Lines that left the write-combining buffer since a load asked for the line.", load_evictions);
  visitor.counter("atomic_evictions", "lines", "Lines that left the write-combining buffer for an atomic on them.",
                  atomic_evictions);
  visitor.counter("flushes", "flushes", "Times that the write-combining buffer of a peer was emptied.", flushes);
}

CombiningQueue::CombiningQueue(const CombiningSpec& spec, const PacketFormat& format, std::uint64_t line_bytes,
                               CombiningStats& stats)
    : spec_(spec),
      format_(format),
      masked_line_(static_cast<std::uint32_t>(line_bytes + line_bytes / 8)),
      stats_(stats) {
  entries_.reserve(spec.entries);
}

std::size_t CombiningQueue::find(PhysLine line) const {
  return static_cast<std::size_t>(
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.held.line == line; }) - entries_.begin());
}

void CombiningQueue::store(const LineStore& store, StoreBatches& out) {
  const std::size_t index = find(store.line);
  if (index != entries_.size()) {
    Entry& entry = entries_[index];
    ++stats_.merged_stores;
    stats_.merged_bytes += (entry.held.mask & store.mask).count();
    note_merge(store.line, entry.held.record, store.record);
    entry.held.mask = entry.held.mask | store.mask;
    ++entry.stores;
    return;
  }
  if (entries_.size() == spec_.entries) {
    ++stats_.evictions;
    send(entries_.front(), FlushCause::Entries, out);
    entries_.erase(entries_.begin());
  }
  entries_.push_back({store, 1});
}

void CombiningQueue::send(const Entry& entry, FlushCause cause, StoreBatches& out) {
  StoreBatch& batch = out.add(cause);
  batch.add(entry.held);
  batch.stores = entry.stores;
  batch.wire = spec_.payload == CombinedPayload::Runs ? format_.store(entry.held.mask) : format_.packed(masked_line_);
  ++stats_.lines;
  stats_.stores += entry.stores;
}

bool CombiningQueue::evict(PhysLine line, FlushCause cause, StoreBatches& out) {
  const std::size_t index = find(line);
  if (index == entries_.size()) return false;
  send(entries_[index], cause, out);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

bool CombiningQueue::before_load(PhysLine line, StoreBatches& out) {
  if (evict(line, FlushCause::Load, out)) ++stats_.load_evictions;
  return false;
}

void CombiningQueue::before_atomic(PhysLine line, StoreBatches& out) {
  if (evict(line, FlushCause::Atomic, out)) ++stats_.atomic_evictions;
}

void CombiningQueue::flush(FlushCause cause, StoreBatches& out) {
  if (!entries_.empty()) ++stats_.flushes;
  for (const Entry& entry : entries_) send(entry, cause, out);
  entries_.clear();
}

}  // namespace nearfar
