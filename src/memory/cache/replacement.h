// The seams "L1 cache replacement" and "L2 cache replacement": which line of a full set leaves. The baseline's answers
// (`replacement: lru`, `fifo` or `random`) are in the array of tags itself (tag_array.h); a policy takes their place.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>

namespace nearfar {

/// Ways of a set, of which a cache has at most 128.
using WaySet = std::bitset<128>;

class CacheReplacement {
 public:
  virtual ~CacheReplacement() = default;

  /// The line in a way of a set has been used.
  virtual void used(std::uint64_t /*set*/, std::uint32_t /*way*/) {}
  /// Another line has been put into a way of a set.
  virtual void filled(std::uint64_t set, std::uint32_t way) = 0;
  /// The way of a full set whose line leaves, one of `ways`: the others are reserved for lines to come (`victim:
  /// at_miss`). It may be asked for several times before that way is filled: a line that memory has no room for stays
  /// until there is some.
  virtual std::uint32_t victim(std::uint64_t set, const WaySet& ways) = 0;
};

/// An array of tags that a policy is for: an L1's, or that of one bank of an L2.
struct CacheArray {
  std::uint32_t index = 0;  ///< of the compute unit, the shader array or the bank
  std::uint64_t sets = 0;
  std::uint32_t ways = 0;
};

/// Gives each array of a cache its policy.
using MakeCacheReplacement = std::function<std::unique_ptr<CacheReplacement>(const CacheArray&)>;

}  // namespace nearfar
