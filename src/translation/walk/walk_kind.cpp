#include "translation/walk/walk_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace nearfar {
namespace detail {

// Constant from the start: other sources add kinds before main() begins.
constinit WalkKindTable walk_kinds{{{{.name = "demand"},
                                     {.name = "replay"},
                                     {.name = "invalidate", .writes = true},
                                     {.name = "update", .writes = true}}},
                                   static_cast<std::size_t>(WalkKind::FirstOfDesigns)};

}  // namespace detail

WalkKind add_walk_kind(const WalkKindTraits& traits) {
  detail::WalkKindTable& table = detail::walk_kinds;
  if (table.used == kMostWalkKinds) {
    throw std::length_error(fmt::format("too many kinds of walks for `{}`", traits.name));
  }
  table.traits[table.used] = traits;
  return static_cast<WalkKind>(table.used++);
}

std::vector<WalkKind> all_walk_kinds() {
  std::vector<WalkKind> kinds;
  for (std::size_t k = 0; k < detail::walk_kinds.used; ++k) {
    const auto kind = static_cast<WalkKind>(k);
    if (std::string_view(traits_of(kind).name).find('.') == std::string_view::npos) kinds.push_back(kind);
  }
  const auto of_designs = kinds.begin() + static_cast<std::ptrdiff_t>(WalkKind::FirstOfDesigns);
  std::sort(of_designs, kinds.end(), [](WalkKind a, WalkKind b) {
    return std::string_view(traits_of(a).name) < std::string_view(traits_of(b).name);
  });
  return kinds;
}

}  // namespace nearfar
