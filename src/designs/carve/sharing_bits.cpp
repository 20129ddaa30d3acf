#include "designs/carve/sharing_bits.h"

#include <bit>

#include "coherence/directory_check.h"
#include "coherence/invalidate.h"

namespace nearfar {

SharingBits::SharingBits(const DirectoryHome& home)
    : home_(home),
      others_((home.gpus == kMaxDirectoryGpus ? ~Sharers{0} : (Sharers{1} << home.gpus) - 1) & ~sharer(home.gpu)) {}

std::uint64_t& SharingBits::lines_of(PhysPage page) {
  if (page.frame() >= shared_.size()) shared_.resize(page.frame() + page.frame() / 2 + 64);
  return shared_[page.frame()];
}

void SharingBits::share(PhysLine line) {
  ++used_;
  ++stats_.allocations;
  lines_of(line.page()) |= std::uint64_t{1} << line.index();
}

void SharingBits::remote_read(PhysLine line, DeviceId, Invalidations&) {
  ++stats_.remote_reads;
  if (is_shared(line)) {
    ++stats_.remote_read_hits;
  } else {
    share(line);
  }
}

void SharingBits::remote_write(PhysLine line, DeviceId writer, Invalidations& out) {
  ++stats_.remote_writes;
  if (is_shared(line)) {
    ++stats_.remote_write_hits;
    invalidate_written_line(line, others_ & ~sharer(writer), out);
  } else {
    share(line);
  }
}

/// After the broadcast nobody holds a copy.
void SharingBits::local_write(PhysLine line, Invalidations& out) {
  ++stats_.local_writes;
  if (!is_shared(line)) return;
  ++stats_.local_write_hits;
  invalidate_written_line(line, others_, out);
  --used_;
  lines_of(line.page()) &= ~(std::uint64_t{1} << line.index());
}

void SharingBits::drop_page(PhysPage page) {
  std::uint64_t& lines = lines_of(page);
  used_ -= static_cast<std::uint64_t>(std::popcount(lines));
  lines = 0;
}

void SharingBits::check() const {
  std::uint64_t shared = 0;
  for (const std::uint64_t lines : shared_) shared += static_cast<std::uint64_t>(std::popcount(lines));
  require_none(shared == used_ ? "" : "the number of shared lines is wrong", home_);
}

}  // namespace nearfar
