#include "designs/idyll/irmb.h"

#include <algorithm>

#include "designs/idyll/walk_kind.h"

namespace nearfar {

void IrmbStats::describe(StatVisitor& visitor) {
  visitor.counter("inserts", "invalidations", "Invalidations that were inserted into the IRMB.", inserts);
  visitor.counter("duplicates", "invalidations", "Invalidations of pages that the IRMB held already.", duplicates);
  visitor.counter("merged", "invalidations", "Invalidations merged into an IRMB entry that other pages had allocated.",
                  merged);
  visitor.counter("evictions_base", "entries", "IRMB entries written back to free one for another base.",
                  evictions_base);
  visitor.counter("evictions_offset", "entries", "IRMB entries written back since their offsets were full.",
                  evictions_offset);
  visitor.counter("idle_writebacks", "entries", "IRMB entries written back since walkers were idle.", idle_writebacks);
  visitor.counter("ptes_written", "entries", "Page-table entries that the IRMB wrote back.", ptes_written);
  visitor.counter("bypasses", "misses",
                  "L2 TLB misses that faulted without a page walk since the IRMB held their page.", bypasses);
  visitor.counter("cancelled", "invalidations",
                  "Invalidations in the IRMB that a new mapping of the page cancelled before they were written.",
                  cancelled);
  visitor.counter("stall_cycles", "cycles",
                  "Time that invalidations waited for a write-back buffer of the IRMB, summed over invalidations.",
                  stall_cycles);
}

Irmb::Irmb(Gmmu& gmmu, const IrmbSpec& spec)
    : gmmu_(gmmu), spec_(spec), array_(spec.bases, spec.offsets), buffers_(spec.writeback_buffers) {
  for (WriteBack& buffer : buffers_) buffer.pages.offsets.reserve(spec.offsets);
}

bool Irmb::WriteBack::holds(PageKey page) const {
  if (!busy() || pages.base != base_of(page)) return false;
  return std::find(pages.offsets.begin() + static_cast<std::ptrdiff_t>(next), pages.offsets.end(), offset_of(page)) !=
         pages.offsets.end();
}

Irmb::WriteBack* Irmb::free_buffer() {
  const auto found = std::ranges::find(buffers_, false, &WriteBack::busy);
  return found == buffers_.end() ? nullptr : &*found;
}

bool Irmb::hides(PageKey page) const {
  return holds(page) || std::ranges::find(waiting_, page, &Waiting::page) != waiting_.end();
}

bool Irmb::holds(PageKey page) const {
  return array_.holds(page) || std::ranges::any_of(buffers_, [&](const WriteBack& b) { return b.holds(page); });
}

std::uint64_t Irmb::pending() const {
  std::uint64_t sum = array_.pages();
  for (const WriteBack& buffer : buffers_) {
    if (buffer.busy()) sum += buffer.pages.offsets.size() - buffer.next;
  }
  return sum;
}

bool Irmb::admits(PageKey page) {
  if (!hides(page)) return true;
  ++stats_.bypasses;
  return false;
}

// ------------------------------------------------------------------------------------------------------ invalidations

bool Irmb::offer(PageKey page) {
  if (waiting_.empty() && has_room(page)) {
    take(page, 0);
    return true;
  }
  waiting_.push_back({page, gmmu_.partition().now()});
  return false;
}

/// There may be room for those that wait, in order.
void Irmb::take_waiting() {
  while (!waiting_.empty() && has_room(waiting_.front().page)) {
    const Waiting first = waiting_.front();
    waiting_.pop_front();
    take(first.page, gmmu_.partition().now() - first.since);
    gmmu_.invalidation_taken(first.page);
  }
}

bool Irmb::has_room(PageKey page) {
  if (free_buffer() != nullptr || holds(page)) return true;
  const MergeBuffer::Way way = array_.way_of(page);
  return way != MergeBuffer::Way::EvictsBase && way != MergeBuffer::Way::EvictsOffsets;
}

void Irmb::take(PageKey page, Cycle waited) {
  ++stats_.inserts;
  stats_.stall_cycles += waited;
  gmmu_.stats().invalidation_cycles += waited + spec_.latency;
  if (holds(page)) {
    ++stats_.duplicates;
    ++gmmu_.stats().unnecessary;
    return;
  }
  const MergeBuffer::Way way = array_.way_of(page);
  if (way == MergeBuffer::Way::EvictsBase || way == MergeBuffer::Way::EvictsOffsets) {
    ++(way == MergeBuffer::Way::EvictsBase ? stats_.evictions_base : stats_.evictions_offset);
    WriteBack& buffer = *free_buffer();
    array_.add(page, buffer.pages);
    begin(buffer);
  } else {
    if (way == MergeBuffer::Way::Merges) ++stats_.merged;
    MergedPages none;
    array_.add(page, none);
  }
  walkers_have_room();
}

bool Irmb::cancel(PageKey page) {
  if (array_.remove(page)) {
    ++stats_.cancelled;
    take_waiting();
    return true;
  }
  const auto found = std::ranges::find_if(buffers_, [&](const WriteBack& b) { return b.holds(page); });
  if (found == buffers_.end()) return false;
  WriteBack& buffer = *found;
  auto& offsets = buffer.pages.offsets;
  const auto at = std::ranges::find(offsets, offset_of(page));
  if (at == offsets.begin() + static_cast<std::ptrdiff_t>(buffer.next)) {
    if (!gmmu_.withdraw(*buffer.walk)) return false;
    offsets.erase(at);
    walk_next(buffer);
  } else {
    offsets.erase(at);
  }
  ++stats_.cancelled;
  return true;
}

// --------------------------------------------------------------------------------------------------------- write-back

void Irmb::walkers_have_room() {
  if (!spec_.idle_writeback) return;
  while (!array_.empty() && gmmu_.walkers().has_idle_walker()) {
    WriteBack* buffer = free_buffer();
    if (buffer == nullptr) return;
    ++stats_.idle_writebacks;
    array_.take_oldest(buffer->pages);
    begin(*buffer);
  }
}

void Irmb::begin(WriteBack& buffer) {
  std::ranges::sort(buffer.pages.offsets);
  buffer.next = 0;
  walk_next(buffer);
}

/// Asks for the walk of the next offset, behind all that wait for a walker; after the last one the buffer is free.
void Irmb::walk_next(WriteBack& buffer) {
  if (buffer.next == buffer.pages.offsets.size()) {
    buffer.walk = nullptr;
    take_waiting();
    return;
  }
  buffer.walk = &gmmu_.walk_for(*this, idyll::kWritebackWalk, buffer.pages.page(buffer.pages.offsets[buffer.next]));
  gmmu_.walkers().submit(*buffer.walk, WalkSource::Writeback);
}

void Irmb::walked(Walk& walk) {
  WriteBack& buffer = *std::ranges::find(buffers_, &walk, &WriteBack::walk);
  gmmu_.invalidate_entry(walk.page);
  gmmu_.stats().invalidation_cycles += gmmu_.partition().now() - walk.submitted;
  ++stats_.ptes_written;
  ++buffer.next;
  walk_next(buffer);
}

}  // namespace nearfar
