// A unified memory hierarchy: the part of a system's YAML that says how GPU memory is a coherent cache of the host's.
#pragma once

#include <cstdint>

#include "config/quantity.h"

namespace nearfar {

class Section;

enum class UmhOnRead : std::uint8_t { Shared, Keep, Invalidate };
enum class UmhSupplier : std::uint8_t { Owner, AnySharer };
enum class UmhWriteBack : std::uint8_t { WholeBlock, DirtyLines };
enum class UmhBoundary : std::uint8_t { Publish, FlushAll, None };
enum class UmhL1 : std::uint8_t { WriteThrough, WriteBack };
enum class UmhSync : std::uint8_t { Dynamic, FinalFlush };

/// The stacked memory directory of each slice of the L2.
struct SmdSpec {
  std::uint32_t ways = 1;
  Cycle latency = 0;  // 0: by its size
  std::uint32_t transactions = 64;
  std::uint32_t put_buffer = 4;  // blocks

  void describe(Section& section);
};

/// The host memory directory of each module of the host's memory.
struct HmdSpec {
  std::uint32_t count = 2;
  Cycle latency = 1;
  std::uint32_t transactions = 64;

  void describe(Section& section);
};

struct UmhSpec {
  Bytes block = 4_KiB;
  Bytes interleave = 0;  // 0: as large as a block
  Bytes granule = 4;
  Cycle row_cycles = 34;  // precharge, activation and column access of a stack
  bool bank_conflicts = true;
  UmhL1 l1 = UmhL1::WriteThrough;
  SmdSpec smd;
  HmdSpec hmd;
  bool peer_transfer = true;
  bool clean_eviction_notice = false;
  UmhSupplier peer_supplier = UmhSupplier::Owner;
  UmhOnRead o_on_read = UmhOnRead::Shared;
  UmhWriteBack writeback = UmhWriteBack::WholeBlock;
  Bytes completion_bytes = 0;
  UmhBoundary kernel_boundary = UmhBoundary::Publish;
  UmhSync sync = UmhSync::Dynamic;

  bool l1_writes_back() const { return l1 == UmhL1::WriteBack; }
  Bytes interleaved() const { return interleave == 0 ? block : interleave; }
  void describe(Section& section);
};

}  // namespace nearfar
