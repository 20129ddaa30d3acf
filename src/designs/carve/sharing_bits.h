// CARVE's sharing tracker: a bit beside each line of memory says whether other GPUs may hold copies of it, not which.
// A write to a line that is shared is broadcast to all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/directory.h"
#include "coherence/directory_home.h"

namespace nearfar {

class SharingBits final : public Directory {
 public:
  explicit SharingBits(const DirectoryHome& home);

  void remote_read(PhysLine line, DeviceId reader, Invalidations& out) override;
  void remote_write(PhysLine line, DeviceId writer, Invalidations& out) override;
  void local_write(PhysLine line, Invalidations& out) override;
  void drop_page(PhysPage page) override;
  Sharers sharers(PhysLine line) const override { return is_shared(line) ? others_ : 0; }
  /// Lines that are shared.
  std::uint64_t used() const override { return used_; }
  void check() const override;

 private:
  bool is_shared(PhysLine line) const {
    const std::uint64_t frame = line.page().frame();
    return frame < shared_.size() && (shared_[frame] >> line.index() & 1) != 0;
  }
  std::uint64_t& lines_of(PhysPage page);
  void share(PhysLine line);

  DirectoryHome home_;
  Sharers others_;  ///< all GPUs but the home
  std::uint64_t used_ = 0;
  std::vector<std::uint64_t> shared_;  ///< by frame, a bit a line
};

}  // namespace nearfar
