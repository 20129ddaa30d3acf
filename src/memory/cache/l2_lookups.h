// Why an L2 misses: counts the lookups of the GPU's own requests, and tells cold misses from those of lines that were
// here before and left. Kept where the L2 caches lines of other GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/line_request.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

/// Why a line is not in an L2 that has asked for it before. NotKept: it has not been installed.
enum class Departure : std::uint8_t { NotKept, Replaced, EvictionInvalidation, WriteInvalidation, Dropped };

struct L2LookupStats {
  std::uint64_t local_reads = 0;
  std::uint64_t local_read_misses = 0;
  std::uint64_t local_writes = 0;
  std::uint64_t local_write_misses = 0;
  std::uint64_t remote_reads = 0;
  std::uint64_t remote_read_misses = 0;
  std::uint64_t remote_writes = 0;
  std::uint64_t remote_write_misses = 0;
  std::uint64_t lookups = 0;
  std::uint64_t misses = 0;
  std::uint64_t cold_misses = 0;
  std::uint64_t misses_after_replacement = 0;
  std::uint64_t misses_after_eviction_invalidation = 0;
  std::uint64_t misses_after_write_invalidation = 0;
  std::uint64_t misses_after_drop = 0;
  std::uint64_t misses_not_kept = 0;
  std::uint64_t timed = 0;
  std::uint64_t cycles = 0;

  void describe(StatVisitor& visitor);
};

class L2Lookups {
 public:
  /// From now on; lines are of devices 0 to `last`.
  void start(unsigned last) { pages_.resize(last + 1); }
  bool on() const { return !pages_.empty(); }

  // A request of the GPU's own finds its line, merges with another that has missed, or misses. Requests of other
  // devices (`remote`) and of walkers are not counted.
  void hit(const LineRequest& request, bool remote) {
    if (counted(request, remote)) ++lookups_of(request);
  }
  void merge(const LineRequest& request, bool remote) { hit(request, remote); }
  void miss(const LineRequest& request, bool remote);
  /// A line is kept from now on. If it leaves without a word, it has been replaced.
  void kept(PhysLine line) { departed(line, Departure::Replaced); }
  /// A line has left, not because another took its place.
  void departed(PhysLine line, Departure why) {
    Page& page = page_of(line.page());
    const std::uint64_t others = ~(std::uint64_t{1} << line.index());
    for (unsigned i = 0; i < page.why.size(); ++i) {
      page.why[i] = (page.why[i] & others) | (static_cast<std::uint64_t>(why) >> i & 1) << line.index();
    }
  }
  /// The lookup of a request for a line, of this GPU or another, took so long from its arrival on.
  void time(const LineRequest& request, Cycle cycles) {
    if (request.kind == RequestKind::TableRead) return;
    ++stats_.timed;
    stats_.cycles += cycles;
  }

  L2LookupStats& stats();

 private:
  /// By line: whether it has been asked for before, and why it left last, a bit of that in each word.
  struct Page {
    std::uint64_t seen = 0;
    std::array<std::uint64_t, 3> why{};
  };

  static bool counted(const LineRequest& request, bool remote) {
    return !remote && request.kind != RequestKind::TableRead;
  }
  std::uint64_t& lookups_of(const LineRequest& request) {
    if (is_local(request)) return request.writes() ? stats_.local_writes : stats_.local_reads;
    return request.writes() ? stats_.remote_writes : stats_.remote_reads;
  }
  static bool is_local(const LineRequest& request) { return request.line.device() == request.requester(); }
  Page& page_of(PhysPage page) {
    std::vector<Page>& pages = pages_[page.device().value];
    if (page.frame() >= pages.size()) pages.resize(page.frame() + page.frame() / 2 + 64);
    return pages[page.frame()];
  }

  std::vector<std::vector<Page>> pages_;  ///< by device and frame
  L2LookupStats stats_;
};

}  // namespace nearfar
