// The memory instruction in a load/store unit: the coalescer has made pages and lines of its lanes' addresses, and the
// unit works on one page after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/coalescer.h"
#include "gpu/gpu_context.h"
#include "gpu/page_access.h"
#include "gpu/wavefront.h"

namespace nearfar {

class MemoryInstruction {
 public:
  /// Takes the instruction of a wavefront. Where translation is ideal, its pages have their frames at once.
  void start(GpuContext& context, Wavefront& wave);

  /// Whether the unit has been through all its pages; the page that it works on.
  bool done() const { return next_ == pages_.size(); }
  PageAccess& page() { return pages_[next_]; }
  void next_page() { ++next_; }

  const std::vector<PageAccess>& pages() const { return pages_; }
  std::uint64_t lines() const;

 private:
  void add_stores(GpuContext& context, PageAccess& access);
  void add_loads(GpuContext& context, PageAccess& access, Wavefront& wave);
  void keep_byte_masks(const Stores& stores);
  void find_atomic_bytes(GpuContext& context, unsigned bytes);
  static void note_use(GpuContext& context, OpKind kind, unsigned bytes);

  std::size_t next_ = 0;
  std::vector<PageAccess> pages_;
  std::vector<ByteMask> byte_masks_;  ///< of the lines that a store writes in part; of an atomic, when the oracle is on
};

}  // namespace nearfar
