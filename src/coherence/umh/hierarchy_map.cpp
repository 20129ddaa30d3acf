#include "coherence/umh/hierarchy_map.h"

#include <bit>
#include <cmath>

namespace nearfar {
namespace {

std::uint64_t stack_bytes(const SystemSpec& spec) { return spec.gpu.dram.capacity / spec.gpu.l2.banks; }

unsigned log2_up(std::uint64_t value) { return static_cast<unsigned>(std::bit_width(value - 1)); }

}  // namespace

/// A tag of addresses of 64 bits, without the bits that pick the set, the block and one of four stacks; the state; and
/// a presence bit for each line.
DirectorySize smd_size(const SystemSpec& spec) {
  const std::uint64_t per_way = stack_bytes(spec) / spec.umh.smd.ways;
  const std::uint64_t tag = 64 - log2_up(per_way) - log2_up(spec.gpu.l2.banks);
  return {stack_bytes(spec) / spec.umh.block, tag + 3 + spec.umh.block / spec.gpu.line};
}

/// A bit for each stack that may hold blocks of the module, and one of them by name; entries for what one GPU can hold.
DirectorySize hmd_size(const SystemSpec& spec) {
  const bool whole = spec.umh.interleaved() == spec.umh.block && spec.gpu.l2.banks >= spec.umh.hmd.count;
  const std::uint64_t stacks = std::uint64_t{spec.gpus} * spec.gpu.l2.banks / (whole ? spec.umh.hmd.count : 1);
  return {spec.gpu.dram.capacity / spec.umh.hmd.count / spec.umh.block, stacks + log2_up(stacks + 1)};
}

/// Wires bound a lookup: 0.55 ns for the square root of its size in MiB.
Cycle smd_latency(const SystemSpec& spec) {
  if (spec.umh.smd.latency != 0) return spec.umh.smd.latency;
  const double mebibytes = static_cast<double>(smd_size(spec).total_bits()) / 8 / 1048576;
  const double seconds = 0.55e-9 * std::sqrt(mebibytes);
  return static_cast<Cycle>(std::ceil(seconds * static_cast<double>(spec.gpu.clock.hertz)));
}

const nmoesi::Table& table_of(const UmhSpec& spec) {
  switch (spec.o_on_read) {
    case UmhOnRead::Keep: return nmoesi::kOwnedTable;
    case UmhOnRead::Invalidate: return nmoesi::kInvalidateTable;
    case UmhOnRead::Shared: break;
  }
  return spec.peer_transfer ? nmoesi::kOwnedTable : nmoesi::kSharedTable;
}

HierarchyMap::HierarchyMap(const SystemSpec& spec, bool follows_data)
    : gpus_(spec.gpus),
      slices_(spec.gpu.l2.banks),
      homes_(spec.umh.hmd.count),
      interleave_lines_(spec.umh.interleaved() / spec.gpu.line) {
  geometry_.line_bytes = static_cast<unsigned>(spec.gpu.line);
  geometry_.block_lines = static_cast<unsigned>(spec.umh.block / spec.gpu.line);
  geometry_.granule = static_cast<unsigned>(spec.umh.granule);
  geometry_.follows_data = follows_data;
}

}  // namespace nearfar
