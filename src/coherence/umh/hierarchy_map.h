// Who is who in a unified memory hierarchy, and which slice, stack and module a line belongs to.
#pragma once

#include <cstdint>

#include "coherence/nmoesi/message.h"
#include "config/system_spec.h"

namespace nearfar {

/// Lookup in the directory of a stack, by its size.
Cycle smd_latency(const SystemSpec& spec);
/// Bits of an entry, and entries, of the directory of a stack and of a module.
struct DirectorySize {
  std::uint64_t entries = 0;
  std::uint64_t bits = 0;  ///< of one
  std::uint64_t total_bits() const { return entries * bits; }
};
DirectorySize smd_size(const SystemSpec& spec);
DirectorySize hmd_size(const SystemSpec& spec);

class HierarchyMap {
 public:
  HierarchyMap(const SystemSpec& spec, bool follows_data);

  unsigned slices() const { return slices_; }
  unsigned homes() const { return homes_; }
  const nmoesi::Geometry& geometry() const { return geometry_; }
  unsigned slice_of(nmoesi::Line line) const { return static_cast<unsigned>(line / interleave_lines_ % slices_); }

  /// Blocks of a stack, counted without those of the others; where a block is in several, every stack counts all.
  std::uint64_t place_of(nmoesi::Block block) const {
    return interleave_lines_ == geometry_.block_lines ? block / slices_ : block;
  }

  nmoesi::Agent smd(unsigned gpu, unsigned slice) const { return static_cast<nmoesi::Agent>(gpu * slices_ + slice); }
  unsigned gpu_of(nmoesi::Agent smd) const { return smd / slices_; }
  unsigned stacks() const { return gpus_ * slices_; }
  bool is_smd(nmoesi::Agent agent) const { return agent < stacks(); }
  nmoesi::Agent home(unsigned module) const { return static_cast<nmoesi::Agent>(stacks() + module); }
  nmoesi::Agent home_of(nmoesi::Block block) const { return home(static_cast<unsigned>(block % homes_)); }
  bool is_home(nmoesi::Agent agent) const { return agent >= stacks() && agent < stacks() + homes_; }
  nmoesi::Agent llc() const { return static_cast<nmoesi::Agent>(stacks() + homes_); }
  /// The LLC asks whichever home a line has.
  nmoesi::Agent any_home() const { return static_cast<nmoesi::Agent>(llc() + 1); }
  // Of the caches of a GPU only its own devices speak.
  nmoesi::Agent l2(unsigned slice) const { return static_cast<nmoesi::Agent>(kFirstL2 + slice); }
  bool is_l2(nmoesi::Agent agent) const { return agent >= kFirstL2 && agent < kFirstL1; }
  /// An L1 asks whichever slice a line has.
  nmoesi::Agent any_l2() const { return kFirstL1 - 1; }
  nmoesi::Agent l1(unsigned index) const { return static_cast<nmoesi::Agent>(kFirstL1 + index); }
  bool is_l1(nmoesi::Agent agent) const { return agent >= kFirstL1; }

  /// A line of the host's memory, by its frame.
  static nmoesi::Line number(PhysLine line) { return line.number_in_device(); }

 private:
  static constexpr nmoesi::Agent kFirstL2 = 0x4000;
  static constexpr nmoesi::Agent kFirstL1 = 0x8000;

  unsigned gpus_;
  unsigned slices_;
  unsigned homes_;
  std::uint64_t interleave_lines_;
  nmoesi::Geometry geometry_;
};

/// What the table says of a changed copy that has answered a reader.
const nmoesi::Table& table_of(const UmhSpec& spec);

}  // namespace nearfar
