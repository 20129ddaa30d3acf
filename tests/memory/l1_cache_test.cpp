// The L1 cache by itself: what it drops.
#include "memory/cache/l1_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace nearfar::l1_cache_test {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr unsigned kLinesOfPage = kPageBytes / kLine;

/// An L1 that loads fill, one line after another.
class Filled {
 public:
  Filled(std::uint64_t sets, std::uint32_t ways) : l1_(spec(sets, ways), kLine, 1 << 20) {}

  void load(PhysLine line) {
    if (l1_.look_up(line) != TagArray::kNone) return;
    l1_.keep_page(line.page());
    l1_.install(line);
  }
  void drop(PhysPage page, std::uint64_t lines) { l1_.drop(page, lines); }
  bool holds(PhysLine line) { return l1_.look_up(line) != TagArray::kNone; }

 private:
  static L1Spec spec(std::uint64_t sets, std::uint32_t ways) {
    L1Spec spec;
    spec.size = sets * ways * kLine;
    spec.ways = ways;
    spec.mshrs = 4;
    return spec;
  }

  L1Cache l1_;
};

PhysPage page_of(unsigned number) { return {DeviceId{static_cast<std::uint16_t>(number % 2)}, 1000 + number / 2}; }

// Many lines of a page at once are searched for in another way than each of them.
RC_GTEST_PROP(L1Cache, DropsManyLinesOfAPageAsItDropsEach, ()) {
  const auto sets = *rc::gen::element<std::uint64_t>(1, 3, 16, 48, 64, 128);
  const auto ways = *rc::gen::element<std::uint32_t>(1, 4, 16);
  Filled at_once(sets, ways);
  Filled one_by_one(sets, ways);
  const auto steps = *rc::gen::container<std::vector<std::pair<unsigned, unsigned>>>(
      rc::gen::pair(rc::gen::inRange(0U, 6U), rc::gen::inRange(0U, kLinesOfPage + 8)));
  for (const auto& [page, action] : steps) {
    if (action < kLinesOfPage) {
      const PhysLine line{page_of(page), action};
      at_once.load(line);
      one_by_one.load(line);
    } else {
      const std::uint64_t lines = action % 2 == 0 ? ~std::uint64_t{0} : *rc::gen::arbitrary<std::uint64_t>();
      at_once.drop(page_of(page), lines);
      for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) one_by_one.drop(page_of(page), rest & -rest);
    }
    for (unsigned each = 0; each < 6 * kLinesOfPage; ++each) {
      const PhysLine line{page_of(each / kLinesOfPage), each % kLinesOfPage};
      RC_ASSERT(at_once.holds(line) == one_by_one.holds(line));
    }
  }
}

}  // namespace
}  // namespace nearfar::l1_cache_test
