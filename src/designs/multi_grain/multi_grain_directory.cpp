#include "designs/multi_grain/multi_grain_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "coherence/directory_check.h"
#include "coherence/invalidate.h"

namespace nearfar {

constexpr std::uint64_t kMultiGrainAddressBits = 48;

MultiGrainDirectory::MultiGrainDirectory(const DirectorySpec& spec, const DirectoryHome& home, std::uint32_t lines)
    : home_(home),
      lines_of_(home, 1),
      regions_of_(home, lines),
      array_(spec.all_entries(), spec.ways, spec.index, spec.replacement),
      contents_(array_.size()) {}

void MultiGrainDirectory::remote_read(PhysLine line, DeviceId reader, Invalidations& out) {
  ++stats_.remote_reads;
  if (const Entry entry = array_.find(line_key(line)); entry != DirectoryArray::kNone) {
    ++stats_.remote_read_hits;
    array_.use(entry);
    contents_[entry].bits |= sharer(reader);
    return;
  }
  const Entry region = array_.find(region_key(line));
  const Sharers before = sharers(line);
  stats_.remote_read_hits += before != 0;
  track(line, reader, before, region, out);
}

void MultiGrainDirectory::remote_write(PhysLine line, DeviceId writer, Invalidations& out) {
  ++stats_.remote_writes;
  const Sharers before = sharers(line);
  stats_.remote_write_hits += before != 0;
  invalidate_written_line(line, before & ~sharer(writer), out);
  if (const Entry entry = array_.find(line_key(line)); entry != DirectoryArray::kNone) {
    array_.use(entry);
    contents_[entry].bits = sharer(writer);
    return;
  }
  track(line, writer, 0, array_.find(region_key(line)), out);
}

/// A GPU gets a line that has no entry of its own: it joins its own region; or the line leaves another's region, for an
/// entry of its own with the sharers that are `kept`; or a region begins.
void MultiGrainDirectory::track(PhysLine line, DeviceId gpu, Sharers kept, Entry region, Invalidations& out) {
  if (region != DirectoryArray::kNone && contents_[region].owner == gpu) {
    array_.use(region);
    contents_[region].bits |= in_region(line);
    return;
  }
  if (region != DirectoryArray::kNone) {
    array_.use(region);
    leave_region(region, line);
    contents_[allocate(line_key(line), out)] = {kept | sharer(gpu), {}};
    return;
  }
  contents_[allocate(region_key(line), out)] = {in_region(line), gpu};
  ++regions_;
}

void MultiGrainDirectory::local_write(PhysLine line, Invalidations& out) {
  ++stats_.local_writes;
  const Sharers before = sharers(line);
  if (before == 0) return;
  ++stats_.local_write_hits;
  invalidate_written_line(line, before, out);
  const Entry entry = array_.find(line_key(line));
  if (entry != DirectoryArray::kNone) {
    free(entry);
  } else {
    leave_region(array_.find(region_key(line)), line);
  }
}

void MultiGrainDirectory::leave_region(Entry region, PhysLine line) {
  contents_[region].bits &= ~in_region(line);
  if (contents_[region].bits == 0) free(region);
}

MultiGrainDirectory::Entry MultiGrainDirectory::allocate(std::uint64_t key, Invalidations& out) {
  const Entry entry = array_.place_for(key);
  if (!array_.is_free(entry)) {
    evict(entry, out);
    ++stats_.evictions;
    free(entry);
  }
  array_.allocate(entry, key);
  ++stats_.allocations;
  return entry;
}

void MultiGrainDirectory::free(Entry entry) {
  regions_ -= !is_line(array_.block(entry));
  contents_[entry] = {};
  array_.free(entry);
}

/// A line's sharers are told of the line, a region's owner of each line that it has.
void MultiGrainDirectory::evict(Entry entry, Invalidations& out) {
  const std::uint64_t key = array_.block(entry);
  const Contents& held = contents_[entry];
  Invalidation message{.page = {}, .lines = 0, .written = 0, .to = held.owner, .cause = InvalidationCause::Eviction};
  if (is_line(key)) {
    message.page = lines_of_.page_of(key & ~kLine);
    message.lines = lines_of_.block_mask(key & ~kLine);
    invalidate(held.bits, message, out);
    stats_.lines_at_eviction.add(1);
    return;
  }
  message.page = regions_of_.page_of(key);
  for (std::uint64_t rest = held.bits; rest != 0; rest &= rest - 1) {
    message.lines = regions_of_.line_mask(key, static_cast<std::uint32_t>(std::countr_zero(rest)));
    out.push_back(message);
  }
  stats_.lines_at_eviction.add(static_cast<std::uint64_t>(std::popcount(held.bits)));
}

void MultiGrainDirectory::drop_page(PhysPage page) {
  const auto drop = [this](std::uint64_t key) {
    const Entry entry = array_.find(key);
    if (entry != DirectoryArray::kNone) free(entry);
  };
  for (std::uint64_t i = 0; i < lines_of_.blocks_per_page(); ++i) drop((lines_of_.first_of(page) + i) | kLine);
  for (std::uint64_t i = 0; i < regions_of_.blocks_per_page(); ++i) drop(regions_of_.first_of(page) + i);
}

Sharers MultiGrainDirectory::sharers(PhysLine line) const {
  if (const Entry entry = array_.find(line_key(line)); entry != DirectoryArray::kNone) return contents_[entry].bits;
  const Entry region = array_.find(region_key(line));
  if (region == DirectoryArray::kNone || (contents_[region].bits & in_region(line)) == 0) return 0;
  return sharer(contents_[region].owner);
}

void MultiGrainDirectory::check() const {
  require_none(array_.problem(), home_);
  std::uint64_t regions = 0;
  for (Entry entry = 0; entry < array_.size(); ++entry) {
    if (array_.is_free(entry)) continue;
    const std::uint64_t key = array_.block(entry);
    const Contents& held = contents_[entry];
    if (held.bits == 0) require_none(fmt::format("the entry of {:#x} tracks nothing", key), home_);
    require_none(problem_with_sharers(is_line(key) ? held.bits : sharer(held.owner), home_), home_);
    if (!is_line(key)) {
      ++regions;
      continue;
    }
    const PhysLine line{lines_of_.page_of(key & ~kLine),
                        static_cast<unsigned>(std::countr_zero(lines_of_.block_mask(key & ~kLine)))};
    const Entry region = array_.find(region_key(line));
    if (region != DirectoryArray::kNone && (contents_[region].bits & in_region(line)) != 0) {
      require_none(fmt::format("line {:#x} is tracked twice", key & ~kLine), home_);
    }
  }
  require_none(regions == regions_ ? "" : "the number of regions is wrong", home_);
}

std::uint64_t MultiGrainDirectory::entry_bits(std::uint32_t gpus, std::uint32_t lines, std::uint64_t line_bytes) {
  const auto offset = static_cast<std::uint64_t>(std::countr_zero(lines * line_bytes));
  const std::uint64_t of_line = kMultiGrainAddressBits + gpus - 1;
  const std::uint64_t of_region =
      kMultiGrainAddressBits - offset + lines + static_cast<std::uint64_t>(std::bit_width(gpus - 1));
  return std::max(of_line, of_region) + 2;  // of which kind it is, and whether it is valid
}

}  // namespace nearfar
