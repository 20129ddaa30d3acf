// MSHRs against a map on random input.
#include "memory/cache/mshr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace nearfar::mshr_test {
namespace {

RC_GTEST_PROP(MshrFile, IsAMapOfBoundedSize, ()) {
  const auto capacity = *rc::gen::inRange<std::uint32_t>(1, 40);
  MshrFile<int> file(capacity);
  std::map<std::uint64_t, int> reference;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, 60), rc::gen::arbitrary<int>()));
  for (const auto& [number, value] : steps) {
    const PhysLine line{number * 64};
    auto* entry = file.find(line);
    const auto expected = reference.find(line.value);
    RC_ASSERT((entry != nullptr) == (expected != reference.end()));
    if (entry != nullptr) {
      RC_ASSERT(entry->payload == expected->second);
      file.release(*entry);
      reference.erase(expected);
    } else if (!file.full()) {
      auto& made = file.allocate(line);
      RC_ASSERT(made.payload == 0);
      made.payload = value;
      reference[line.value] = value;
    }
    RC_ASSERT(file.used() == reference.size());
    RC_ASSERT(file.full() == (reference.size() == capacity));
    std::size_t visited = 0;
    file.for_each([&](const auto& each) {
      ++visited;
      RC_ASSERT(reference.at(each.line.value) == each.payload);
    });
    RC_ASSERT(visited == reference.size());
  }
}

}  // namespace
}  // namespace nearfar::mshr_test
