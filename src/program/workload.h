// A workload: buffers, a sequence of kernel launches over them, and the stream of every wavefront.
// It is immutable once made, so any number of partitions may read it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/stream.h"
#include "sim/types.h"

namespace nearfar {

/// Where the pages of a buffer live at the start (the system may overrule it: `placement.initial`).
enum class Placement : std::uint8_t {
  Distribute,  ///< contiguous run of pages/G pages on each GPU, the rest on the last; too few pages: all on GPU 0
  Interleave,  ///< page by page round robin over the GPUs, one running counter through all allocations
  Private,     ///< one copy on every GPU (small read-only tables)
  Host,        ///< all on the host
};

struct Buffer {
  std::string name;
  VirtAddr base;  ///< page aligned
  std::uint64_t bytes = 0;
  Placement placement = Placement::Distribute;
};

/// Which workgroups go to which GPU (the system may overrule it: `dispatch.policy`).
enum class Split : std::uint8_t {
  Offset,      ///< GPU g gets the g-th of G equal runs of the split dimension
  Blocks,      ///< GPU g gets flattened workgroups [g·q, (g+1)·q), q = CUs per GPU · ceil(groups / all CUs)
  RoundRobin,  ///< workgroup w runs on GPU w mod G
  Greedy,      ///< in flattened order to GPU 0 until it is full, then GPU 1, …; afterwards to whichever has room
};

enum class Dim : std::uint8_t { X, Y, Z };

struct Launch {
  std::string kernel;                                      ///< name of the kernel, for statistics
  std::uint32_t groups_x = 1, groups_y = 1, groups_z = 1;  ///< grid, in workgroups
  std::uint32_t size_x = 64, size_y = 1;                   ///< workgroup, in items
  std::uint64_t local_bytes = 0;                           ///< local memory a workgroup takes
  Split split = Split::Offset;
  Dim split_dim = Dim::X;

  std::uint64_t groups() const { return std::uint64_t{groups_x} * groups_y * groups_z; }
  std::uint32_t items() const { return size_x * size_y; }
  std::uint32_t waves(std::uint32_t lanes) const { return (items() + lanes - 1) / lanes; }
  /// Wavefront `index` of workgroup `group`, counted as groups_y and groups_x say, x fastest.
  Wave wave(std::uint64_t group, std::uint32_t index, std::uint32_t lanes) const;
};

/// Buffers follow each other from here on; what lies below belongs to nobody.
inline constexpr VirtAddr kFirstBuffer{std::uint64_t{4} << 30};

class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  const std::vector<Buffer>& buffers() const { return buffers_; }
  const std::vector<Launch>& launches() const { return launches_; }

  /// The stream of one wavefront of one launch.
  virtual Stream wavefront(std::size_t launch, const Wave& wave) const = 0;

 protected:
  /// Gives a buffer the next page-aligned virtual addresses.
  VirtAddr allocate(std::string name, std::uint64_t bytes, Placement placement);
  void add_launch(Launch launch) { launches_.push_back(std::move(launch)); }

 private:
  std::vector<Buffer> buffers_;
  std::vector<Launch> launches_;
};

}  // namespace nearfar
