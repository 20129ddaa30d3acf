// The L1 caches of a GPU, vector and scalar, where they are write-back caches of a unified memory hierarchy: children
// of the L2 slices, by which they are probed. MSHRs and port stay those of the baseline's L1 in front of each, which
// keeps no lines then.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/nmoesi/line_cache.h"
#include "coherence/umh/hierarchy_map.h"
#include "config/system_spec.h"
#include "memory/line_request.h"

namespace nearfar {

class WriteBackL1s {
 public:
  WriteBackL1s(const SystemSpec& spec, const HierarchyMap& map, nmoesi::Fabric& fabric, nmoesi::CacheClient& client);

  /// Caches of a GPU: one for each compute unit, then one for each shader array.
  static unsigned count(const SystemSpec& spec) { return spec.gpu.cus() + spec.gpu.shader_arrays; }

  /// The cache from which a request comes.
  nmoesi::LineCache& of(const LineRequest& request) {
    return *caches_[request.kind == RequestKind::ScalarRead ? units_ + request.unit : request.unit];
  }
  /// One after another, as they are numbered in the map.
  nmoesi::LineCache& operator[](unsigned index) { return *caches_[index]; }
  const nmoesi::LineCache& operator[](unsigned index) const { return *caches_[index]; }
  unsigned size() const { return static_cast<unsigned>(caches_.size()); }

  /// Lookup of a probe in one of them.
  Cycle latency(unsigned index) const { return index < units_ ? vector_latency_ : scalar_latency_; }
  /// Time in which the largest of them looks at all of its tags, one a cycle.
  Cycle sweep() const { return sweep_; }
  std::uint64_t changed_lines() const;
  void evict_all();
  bool idle() const;
  std::string describe_waiting() const;

 private:
  unsigned units_;
  Cycle vector_latency_;
  Cycle scalar_latency_;
  Cycle sweep_;
  std::vector<std::unique_ptr<nmoesi::LineCache>> caches_;
};

}  // namespace nearfar
