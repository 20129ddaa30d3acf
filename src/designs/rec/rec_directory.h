// REC: a coherence directory whose entry tracks the lines of a range of addresses, in base-and-offset form. The entry
// keeps the high bits that all addresses of the range share (the base), and for each line of it (a position) a bit that
// says whether the line is tracked, and the sharers of that line alone. So one tag serves up to 16 lines, and a write
// still invalidates nothing but the line written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coherence/bounded_directory.h"
#include "config/quantity.h"

namespace nearfar {

class RecDirectory : public BoundedDirectory {
 public:
  RecDirectory(const DirectorySpec& spec, const DirectoryHome& home, std::uint32_t positions)
      : BoundedDirectory(spec, home, positions, positions) {}

  void remote_read(PhysLine line, DeviceId reader, Invalidations& out) final;
  void remote_write(PhysLine line, DeviceId writer, Invalidations& out) final;
  void local_write(PhysLine line, Invalidations& out) final;
  Sharers sharers(PhysLine line) const final;

  /// The entry that covers a line as the hardware has it, bit by bit; nothing where there is none. First for each
  /// position a bit that says whether it is tracked, followed by the bits of the other GPUs, in ascending order; then
  /// the base; then the valid bit.
  std::vector<bool> entry_image(PhysLine line) const;

  /// Bits of an entry: the base is what addresses of 48 bits have above the offset in a range.
  static std::uint64_t entry_bits(std::uint32_t gpus, std::uint32_t positions, Bytes line);

 protected:
  void invalidate_entry(Entry entry, Invalidations& out) final;

  std::size_t vector_of(Entry entry, PhysLine line) const {
    return std::size_t{entry} * vectors_ + blocks_.position_of(line);
  }
};

}  // namespace nearfar
