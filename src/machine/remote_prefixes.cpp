#include "machine/remote_prefixes.h"

#include <fmt/format.h>

#include "translation/walk/walk_cache.h"

namespace nearfar {

void RemotePrefixStats::add(const std::vector<const std::vector<GmmuEvent>*>& gpus, const WalkCacheSpec& spec,
                            unsigned leaf, unsigned root) {
  std::vector<WalkCache> caches(gpus.size(), WalkCache(spec.entries, spec.level_bits));
  std::vector<std::size_t> next(gpus.size(), 0);
  while (true) {
    // The earliest event, of the first GPU that has one then.
    std::size_t earliest = gpus.size();
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      if (next[g] == gpus[g]->size()) continue;
      if (earliest == gpus.size() || (*gpus[g])[next[g]].when < (*gpus[earliest])[next[earliest]].when) earliest = g;
    }
    if (earliest == gpus.size()) return;
    const GmmuEvent& event = (*gpus[earliest])[next[earliest]++];
    if (!event.fault) {
      const unsigned hit = caches[earliest].look_up(event.page, leaf, root);
      for (unsigned level = hit == 0 ? root : hit - 1; level > leaf; --level) {
        caches[earliest].fill(event.page, leaf, level);
      }
      continue;
    }
    unsigned lowest = 0;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const unsigned hit = g == earliest ? 0 : caches[g].find(event.page, leaf, root);
      if (hit != 0 && (lowest == 0 || hit < lowest)) lowest = hit;
    }
    ++(lowest == 0 ? none : hits[lowest - 2]);
  }
}

void RemotePrefixStats::describe(StatVisitor& visitor) {
  for (std::size_t level = 2; level <= 5; ++level) {
    visitor.counter(
        fmt::format("remote_pw_cache_hits.L{}", level), "faults",
        fmt::format(
            "Far faults for which level {} was the lowest entry of the page in the page-walk cache of any other GPU.",
            level),
        hits[level - 2]);
  }
  visitor.counter("remote_pw_cache_hits.none", "faults",
                  "Far faults for which the page-walk cache of no other GPU had an entry of the page.", none);
}

}  // namespace nearfar
