#include "gpu/write_back_l1s.h"

#include <algorithm>

namespace nearfar {

WriteBackL1s::WriteBackL1s(const SystemSpec& spec, const HierarchyMap& map, nmoesi::Fabric& fabric,
                           nmoesi::CacheClient& client)
    : units_(spec.gpu.cus()),
      vector_latency_(spec.gpu.l1v.latency),
      scalar_latency_(spec.gpu.l1s.latency),
      sweep_(std::max(spec.gpu.l1v.size, spec.gpu.l1s.size) / spec.gpu.line) {
  for (unsigned i = 0; i < count(spec); ++i) {
    const L1Spec& l1 = i < units_ ? spec.gpu.l1v : spec.gpu.l1s;
    nmoesi::LineCacheOptions options;
    options.self = map.l1(i);
    options.parent = map.any_l2();
    options.sets = l1.size / spec.gpu.line / l1.ways;
    options.ways = l1.ways;
    options.index = l1.index;
    options.notifies_clean = spec.umh.clean_eviction_notice;
    options.table = &table_of(spec.umh);
    options.geometry = map.geometry();
    caches_.push_back(std::make_unique<nmoesi::LineCache>(options, fabric, &client));
  }
}

std::uint64_t WriteBackL1s::changed_lines() const {
  std::uint64_t lines = 0;
  for (const auto& cache : caches_) lines += cache->changed_lines();
  return lines;
}

void WriteBackL1s::evict_all() {
  for (const auto& cache : caches_) cache->evict_all();
}

bool WriteBackL1s::idle() const {
  return std::ranges::all_of(caches_, [](const auto& cache) { return cache->idle(); });
}

std::string WriteBackL1s::describe_waiting() const {
  std::string text;
  for (const auto& cache : caches_) text += cache->describe_waiting();
  return text;
}

}  // namespace nearfar
