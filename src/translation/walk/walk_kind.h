// What a walk of a page table is for: the baseline's kinds, and those that designs add to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfar {

enum class WalkKind : std::uint8_t {
  Demand,
  Replay,
  Invalidate,
  Update,
  FirstOfDesigns  ///< from here on: what add_walk_kind() has handed out, for walks with a WalkOwner
};
inline constexpr std::size_t kMostWalkKinds = 16;

struct WalkKindTraits {
  const char* name = "";  ///< in statistics and timelines; with a dot in it: its design counts such walks itself
  bool writes = false;    ///< at its end the page's entry is written
};

namespace detail {
struct WalkKindTable {
  std::array<WalkKindTraits, kMostWalkKinds> traits;
  std::size_t used;
};
extern constinit WalkKindTable walk_kinds;
}  // namespace detail

inline const WalkKindTraits& traits_of(WalkKind kind) {
  return detail::walk_kinds.traits[static_cast<std::size_t>(kind)];
}
inline bool is_of_design(WalkKind kind) { return kind >= WalkKind::FirstOfDesigns; }

/// A new kind, for walks that a design's component has made. It is to be added before the first cycle of a run, in a
/// constant that the design's sources share.
WalkKind add_walk_kind(const WalkKindTraits& traits);

/// Kinds with statistics: the baseline's, then those of designs by name, which count no walks themselves.
std::vector<WalkKind> all_walk_kinds();

}  // namespace nearfar
