#include "sim/device_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace nearfar {
namespace {

constexpr unsigned kDevices = kMaxGpus + 1;

RC_GTEST_PROP(DeviceSet, IsASetOfNumbers, ()) {
  const auto changes = *rc::gen::container<std::vector<std::pair<unsigned, bool>>>(
      rc::gen::pair(rc::gen::inRange(0U, kDevices), rc::gen::arbitrary<bool>()));
  DeviceSet set;
  std::set<unsigned> reference;
  for (const auto& [device, in] : changes) {
    if (in) {
      set.insert(device);
      reference.insert(device);
    } else {
      set.erase(device);
      reference.erase(device);
    }
    RC_ASSERT(set.contains(device) == in);
    RC_ASSERT(set.empty() == reference.empty());
  }
  for (unsigned from = 0; from <= kDevices; ++from) {
    const auto next = reference.lower_bound(from);
    const unsigned first = next == reference.end() ? DeviceSet::kNone : *next;
    RC_ASSERT(set.first_from(from) == first);
    const bool wraps = first == DeviceSet::kNone && !reference.empty();
    RC_ASSERT(set.first_around(from) == (wraps ? *reference.begin() : first));
  }
}

}  // namespace
}  // namespace nearfar
