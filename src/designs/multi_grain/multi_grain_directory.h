// The multi-grain coherence directory: most regions of memory that other GPUs cache are cached by one of them alone, so
// one entry tracks such a region, with its only sharer and which of its lines that has. Lines that several GPUs share
// have entries of their own, in the same array.
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/coherence_spec.h"
#include "coherence/directory.h"
#include "coherence/directory_array.h"
#include "coherence/directory_home.h"
#include "coherence/line_blocks.h"

namespace nearfar {

class MultiGrainDirectory final : public Directory {
 public:
  /// A region is `lines` lines, a power of two.
  MultiGrainDirectory(const DirectorySpec& spec, const DirectoryHome& home, std::uint32_t lines);

  void remote_read(PhysLine line, DeviceId reader, Invalidations& out) override;
  void remote_write(PhysLine line, DeviceId writer, Invalidations& out) override;
  void local_write(PhysLine line, Invalidations& out) override;
  void drop_page(PhysPage page) override;
  Sharers sharers(PhysLine line) const override;
  std::uint64_t used() const override { return array_.used(); }
  void check() const override;

  std::uint64_t regions() const { return regions_; }
  /// Bits of an entry, which holds a line's sharers or a region's owner and lines.
  static std::uint64_t entry_bits(std::uint32_t gpus, std::uint32_t lines, std::uint64_t line_bytes);

 private:
  using Entry = DirectoryArray::Entry;
  /// Of a line: its sharers. Of a region: the lines that its owner has, as a mask of the region, and the owner.
  struct Contents {
    std::uint64_t bits = 0;
    DeviceId owner;
  };

  // The array's names of both kinds of entries: that of a line has a bit that no number has.
  static constexpr std::uint64_t kLine = std::uint64_t{1} << 62;
  std::uint64_t region_key(PhysLine line) const { return regions_of_.block_of(line); }
  std::uint64_t line_key(PhysLine line) const { return lines_of_.block_of(line) | kLine; }
  static bool is_line(std::uint64_t key) { return (key & kLine) != 0; }
  std::uint64_t in_region(PhysLine line) const { return std::uint64_t{1} << regions_of_.position_of(line); }

  void track(PhysLine line, DeviceId gpu, Sharers kept, Entry region, Invalidations& out);
  Entry allocate(std::uint64_t key, Invalidations& out);
  void free(Entry entry);
  void evict(Entry entry, Invalidations& out);
  /// Takes a line out of a region's entry; it is freed with its last line.
  void leave_region(Entry region, PhysLine line);

  DirectoryHome home_;
  LineBlocks lines_of_;
  LineBlocks regions_of_;
  DirectoryArray array_;
  std::vector<Contents> contents_;  ///< by entry
  std::uint64_t regions_ = 0;       ///< entries of regions
};

}  // namespace nearfar
