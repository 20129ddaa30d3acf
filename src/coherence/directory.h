// The coherence directory of a GPU: which other GPUs may hold copies of the lines at home here in their L2 caches.
//
// An organization (one line an entry, a block of lines, a range) is a structure without time. The home's L2 consults it
// exactly once for each request, at the moment the request is ordered: reads and writes of other GPUs, and writes of
// the home itself; never its own reads. An atomic is a write. Sharers evict silently, so the recorded sharers of a line
// are a superset of the GPUs that hold it; whoever is removed from an entry is sent an invalidation in the same action.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

/// GPUs of a machine, a bit each.
using Sharers = std::uint64_t;
inline constexpr unsigned kMaxDirectoryGpus = 64;

inline constexpr Sharers sharer(DeviceId gpu) { return Sharers{1} << gpu.value; }

/// Calls `visit(DeviceId)` for every member, in ascending order.
template <class Visit>
void for_each_sharer(Sharers sharers, Visit visit) {
  for (; sharers != 0; sharers &= sharers - 1) {
    visit(DeviceId{static_cast<std::uint16_t>(std::countr_zero(sharers))});
  }
}

enum class InvalidationCause : std::uint8_t {
  Write,     ///< a line of it has been written
  Eviction,  ///< its directory entry has been replaced: the copies were still right
};

/// A message to one sharer: lines of a page whose copies it has to drop.
struct Invalidation {
  PhysPage page;
  std::uint64_t lines = 0;    ///< of the page
  std::uint64_t written = 0;  ///< of these, the line whose write caused it; the others are collateral. Evictions: none
  DeviceId to;
  InvalidationCause cause = InvalidationCause::Write;
};
/// In the order in which they are sent.
using Invalidations = std::vector<Invalidation>;

struct DirectoryStats {
  std::uint64_t remote_reads = 0;
  std::uint64_t remote_writes = 0;
  std::uint64_t local_writes = 0;
  std::uint64_t remote_read_hits = 0;
  std::uint64_t remote_write_hits = 0;
  std::uint64_t local_write_hits = 0;
  std::uint64_t allocations = 0;
  std::uint64_t evictions = 0;
  Histogram lines_at_eviction;  ///< that an entry tracked when it was replaced

  void describe(StatVisitor& visitor);
};

class Directory {
 public:
  virtual ~Directory() = default;

  /// Another GPU reads a line, or writes it. The home writes it itself. What has to be sent is appended.
  virtual void remote_read(PhysLine line, DeviceId reader, Invalidations& out) = 0;
  virtual void remote_write(PhysLine line, DeviceId writer, Invalidations& out) = 0;
  virtual void local_write(PhysLine line, Invalidations& out) = 0;
  /// A page has left the home, or its frame is used anew, and no GPU can hold copies of it: its entries are freed.
  virtual void drop_page(PhysPage page) = 0;

  /// A line will be asked for soon: brings what is known of it closer to the host's processor.
  virtual void prefetch(PhysLine) const {}

  /// The recorded sharers of a line, for checks and tests.
  virtual Sharers sharers(PhysLine line) const = 0;
  /// Entries in use.
  virtual std::uint64_t used() const = 0;
  /// Throws a SimulationError where an entry is not well formed.
  virtual void check() const = 0;

  DirectoryStats& stats() { return stats_; }

 protected:
  DirectoryStats stats_;
};

}  // namespace nearfar
