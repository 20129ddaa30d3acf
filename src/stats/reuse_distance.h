// How many different things were touched since the last touch of the same one: what decides whether a cache of a given
// capacity with least-recently-used replacement would still hold it.
#pragma once

#include <cstdint>
#include <vector>

namespace nearfar {

/// Things are numbered from 0; more than `things` of them may come. Each touch takes time in the logarithm of how many
/// of them are in use.
class ReuseDistance {
 public:
  static constexpr std::uint64_t kFirst = ~std::uint64_t{0};  ///< touched for the first time

  explicit ReuseDistance(std::uint64_t things);

  /// The number of others touched since the last touch of this one.
  std::uint64_t touch(std::uint64_t thing);

 private:
  void mark(std::uint32_t moment, std::int32_t by);
  std::uint32_t marked_until(std::uint32_t moment) const;
  void start_over();

  std::vector<std::uint32_t> last_;   // by thing: moment of its last touch, 0 before the first
  std::vector<std::uint32_t> thing_;  // by moment: whose last touch it is, if it still is
  std::vector<std::uint32_t> marks_;  // binary indexed tree over moments: 1 where a last touch is
  std::uint32_t now_ = 0;
  std::uint32_t in_use_ = 0;
};

/// For every capacity that is a power of two, how many touches a cache of it would have served.
struct ReuseCurve {
  static constexpr unsigned kCapacities = 25;  ///< 2^0 .. 2^24

  std::uint64_t touches = 0, first = 0;
  std::uint64_t hits[kCapacities] = {};

  void add(std::uint64_t distance);
  double hit_rate(unsigned log2_capacity) const;
};

}  // namespace nearfar
