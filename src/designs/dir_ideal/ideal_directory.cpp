#include "designs/dir_ideal/ideal_directory.h"

#include <fmt/format.h>

#include "coherence/directory_check.h"
#include "coherence/invalidate.h"

namespace nearfar {

void IdealDirectory::remote_read(PhysLine line, DeviceId reader, Invalidations&) {
  ++stats_.remote_reads;
  const auto [found, is_new] = lines_.try_emplace(line.value, 0);
  (is_new ? stats_.allocations : stats_.remote_read_hits) += 1;
  found->second |= sharer(reader);
}

void IdealDirectory::remote_write(PhysLine line, DeviceId writer, Invalidations& out) {
  ++stats_.remote_writes;
  const auto [found, is_new] = lines_.try_emplace(line.value, 0);
  (is_new ? stats_.allocations : stats_.remote_write_hits) += 1;
  invalidate_written_line(line, found->second & ~sharer(writer), out);
  found->second = sharer(writer);
}

void IdealDirectory::local_write(PhysLine line, Invalidations& out) {
  ++stats_.local_writes;
  const auto found = lines_.find(line.value);
  if (found == lines_.end()) return;
  ++stats_.local_write_hits;
  invalidate_written_line(line, found->second, out);
  lines_.erase(found);
}

void IdealDirectory::drop_page(PhysPage page) {
  for (unsigned i = 0; i < home_.lines_per_page; ++i) lines_.erase(PhysLine(page, i).value);
}

Sharers IdealDirectory::sharers(PhysLine line) const {
  const auto found = lines_.find(line.value);
  return found == lines_.end() ? 0 : found->second;
}

void IdealDirectory::check() const {
  for (const auto& [line, sharers] : lines_) {
    if (sharers == 0) require_none(fmt::format("the entry of line {:#x} has no sharers", line), home_);
    require_none(problem_with_sharers(sharers, home_), home_);
  }
}

}  // namespace nearfar
