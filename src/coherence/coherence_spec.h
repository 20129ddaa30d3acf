// Coherence between GPUs: the part of a system's YAML that says how remote lines in L2 caches are kept right.
#pragma once

#include <cstdint>

#include "config/quantity.h"
#include "memory/cache/cache_spec.h"

namespace nearfar {

class Section;

/// Copies of remote lines in L2 caches are dropped at kernel boundaries and system-scope fences; or a directory at the
/// home of each line invalidates those that become old.
enum class Coherence : std::uint8_t { Boundary, Directory };

enum class DirectoryReplacement : std::uint8_t { Fifo, Lru };

/// The directory of each GPU.
struct DirectorySpec {
  std::uint32_t entries = 8192;
  std::uint32_t scale = 1;  // as many times the entries
  std::uint32_t ways = 8;
  IndexHash index = IndexHash::Modulo;
  DirectoryReplacement replacement = DirectoryReplacement::Fifo;

  std::uint64_t all_entries() const { return std::uint64_t{entries} * scale; }
  std::uint64_t sets() const { return all_entries() / ways; }
  void describe(Section& section);
};

}  // namespace nearfar
