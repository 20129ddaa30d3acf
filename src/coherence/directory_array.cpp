#include "coherence/directory_array.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {

std::string DirectoryArray::problem() const {
  Entry used = 0;
  for (Entry entry = 0; entry < size(); ++entry) {
    if (is_free(entry)) continue;
    ++used;
    const Entry set = static_cast<Entry>(ways_.quotient(entry));
    if (set_of(blocks_[entry]) != set) {
      return fmt::format("block {:#x} is in set {}, which is not its own", blocks_[entry], set);
    }
    if (find(blocks_[entry]) != entry) return fmt::format("block {:#x} has two entries", blocks_[entry]);
  }
  if (used != used_) return fmt::format("{} entries are in use, and {} are counted", used, used_);
  std::vector<bool> seen(ways_.divisor());
  for (std::size_t first = 0; first < ages_.size(); first += seen.size()) {
    seen.assign(seen.size(), false);
    for (std::size_t i = 0; i < seen.size(); ++i) seen[ages_[first + i]] = true;
    if (std::ranges::count(seen, true) != static_cast<std::ptrdiff_t>(seen.size())) {
      return fmt::format("two ways of set {} have one age", first / seen.size());
    }
  }
  return "";
}

}  // namespace nearfar
