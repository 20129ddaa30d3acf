// The right name that a mistyped one was probably meant to be. Every "did you mean" of the program comes from here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nearfar {

/// The candidate nearest to `name`, or "" when none is near. In this order: the smallest edit distance (case and `-`
/// against `_` cost nothing, a swap of neighbours costs one, at most a third of the letters may differ), the first
/// candidate that starts with `name`, the first that contains it. Of equals the first one wins.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// " Did you mean `x`?", to stand at the end of a message, or "" when nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace nearfar
