// A coherence directory without limit: every line that other GPUs have copies of is tracked, and no entry is ever
// replaced. So nothing is invalidated but what is written.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "coherence/directory.h"
#include "coherence/directory_home.h"

namespace nearfar {

class IdealDirectory : public Directory {
 public:
  explicit IdealDirectory(const DirectoryHome& home) : home_(home) {}

  void remote_read(PhysLine line, DeviceId reader, Invalidations& out) final;
  void remote_write(PhysLine line, DeviceId writer, Invalidations& out) final;
  void local_write(PhysLine line, Invalidations& out) final;
  void drop_page(PhysPage page) final;
  Sharers sharers(PhysLine line) const final;
  std::uint64_t used() const final { return lines_.size(); }
  void check() const final;

 protected:
  DirectoryHome home_;
  boost::unordered_flat_map<std::uint64_t, Sharers> lines_;  ///< by PhysLine
};

}  // namespace nearfar
