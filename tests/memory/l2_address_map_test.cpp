// Where an L2 finds a line: banks, keys, and the way back from them.
#include "memory/cache/l2_address_map.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace nearfar::l2_address_map_test {
namespace {

L2Spec spec_of(std::uint32_t banks, IndexHash hash, std::uint32_t interleave) {
  L2Spec spec;
  spec.banks = banks;
  spec.bank_index = hash;
  spec.interleave = interleave;
  return spec;
}

PhysLine line_at(unsigned device, std::uint64_t number) {
  return PhysLine{PhysPage{DeviceId{static_cast<std::uint16_t>(device)}, number >> kLineIndexBits},
                  static_cast<unsigned>(number & ((1U << kLineIndexBits) - 1))};
}

TEST(L2AddressMap, LeadsBackToTheLine) {
  std::mt19937_64 random(3);
  for (const std::uint32_t banks : {1U, 4U, 16U, 64U}) {
    for (const std::uint32_t interleave : {1U, 2U, 32U}) {
      for (const IndexHash hash : {IndexHash::Modulo, IndexHash::Xor}) {
        const L2AddressMap map(spec_of(banks, hash, interleave), 4_GiB, 64);
        for (unsigned i = 0; i < 200; ++i) {
          const PhysLine line = line_at(3, random() % (4_GiB / 64));
          const unsigned bank = map.bank_of(line);
          ASSERT_LT(bank, banks);
          ASSERT_LT(map.key(line), map.keys());
          ASSERT_LT(map.remote_key(line), map.keys_of_devices(DeviceId{4}));
          EXPECT_EQ(map.line_of(bank, map.key(line), DeviceId{3}, false), line);
          EXPECT_EQ(map.line_of(bank, map.remote_key(line), DeviceId{0}, true), line);
        }
      }
    }
  }
}

TEST(L2AddressMap, TellsAllLinesApart) {
  const L2AddressMap map(spec_of(8, IndexHash::Xor, 4), 4_GiB, 64);
  std::set<std::pair<unsigned, std::uint64_t>> places;
  for (unsigned device = 0; device < 4; ++device) {
    for (std::uint64_t number = 0; number < 4096; ++number) {
      const PhysLine line = line_at(device, number);
      places.insert({map.bank_of(line), device == 0 ? map.key(line) : map.remote_key(line)});
    }
  }
  EXPECT_EQ(places.size(), 4 * 4096U);
}

TEST(L2AddressMap, InterleavesRunsOfLines) {
  const L2AddressMap map(spec_of(4, IndexHash::Modulo, 2), 4_GiB, 64);
  std::vector<unsigned> banks;
  for (std::uint64_t number = 0; number < 10; ++number) banks.push_back(map.bank_of(line_at(0, number)));
  EXPECT_EQ(banks, (std::vector<unsigned>{0, 0, 1, 1, 2, 2, 3, 3, 0, 0}));
  EXPECT_EQ(map.key(line_at(0, 9)), 3U) << "the second line of the bank's second run";
}

}  // namespace
}  // namespace nearfar::l2_address_map_test
