// Edit distance over names of a few dozen letters.
#include "config/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nearfar {
namespace {

constexpr std::size_t kLongestName = 64;

std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > kLongestName) return "";
  const std::string wanted = folded(name);
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t d = distance(wanted, folded(candidate));
    // A name of one or two letters may differ in one, but not in all.
    const std::size_t longest = std::max(wanted.size(), candidate.size());
    const std::size_t allowed = longest == 1 ? 0 : std::max<std::size_t>(1, longest / 3);
    if (d <= allowed && (best == nullptr || d < best_distance)) {
      best = &candidate;
      best_distance = d;
    }
  }
  if (best != nullptr) return *best;
  const auto is_short = [](const std::string& c) { return c.size() <= kLongestName; };
  const auto starts = [&](const std::string& c) { return is_short(c) && folded(c).starts_with(wanted); };
  const auto contains = [&](const std::string& c) {
    return is_short(c) && folded(c).find(wanted) != std::string::npos;
  };
  if (wanted.size() < 2) return "";
  auto found = std::ranges::find_if(candidates, starts);
  if (found == candidates.end()) found = std::ranges::find_if(candidates, contains);
  return found == candidates.end() ? "" : *found;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string near = nearest(name, candidates);
  return near.empty() ? "" : " Did you mean `" + near + "`?";
}

}  // namespace nearfar
