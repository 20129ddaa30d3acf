// A coherence directory with one vector of sharers for each block of lines. With a line for a block it is the baseline
// (coherence/line_directory.h); with four it is HMG, where lines of a block are told apart by nobody: whoever has read
// one of them is a sharer of all, and an invalidation drops all.
#pragma once

#include <cstdint>

#include "coherence/bounded_directory.h"

namespace nearfar {

class BlockDirectory : public BoundedDirectory {
 public:
  BlockDirectory(const DirectorySpec& spec, const DirectoryHome& home, std::uint32_t lines_per_block)
      : BoundedDirectory(spec, home, lines_per_block, 1) {}

  void remote_read(PhysLine line, DeviceId reader, Invalidations& out) final;
  void remote_write(PhysLine line, DeviceId writer, Invalidations& out) final;
  void local_write(PhysLine line, Invalidations& out) final;
  Sharers sharers(PhysLine line) const final;

  /// A tag of 48 bits, as the studies count it, a sharer bit for each other GPU, a valid bit.
  static std::uint64_t entry_bits(std::uint32_t gpus) { return kTagBits + (gpus - 1) + 1; }
  static constexpr std::uint64_t kTagBits = 48;

 protected:
  void invalidate_entry(Entry entry, Invalidations& out) final;

 private:
  void invalidate_written(PhysLine line, Sharers sharers, Invalidations& out) const;
};

}  // namespace nearfar
