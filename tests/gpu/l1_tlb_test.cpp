// Accesses that wait for translations: who merges, who is served, and which of a wavefront must not pass which.
#include "gpu/l1_tlb.h"

#include <gtest/gtest.h>

#include <vector>

namespace nearfar::l1_tlb_test {
namespace {

constexpr PageKey kPage{0, 7};
constexpr PageKey kOther{0, 8};
const Mapping kMapping{PhysPage{DeviceId{0}, 3}, true, 0};

PageAccess access(OpKind kind, std::uint64_t lines, std::uint8_t slot = 1, PageKey page = kPage) {
  PageAccess result;
  result.virtual_page = VirtPage{page.number()};
  result.lines = lines;
  result.kind = kind;
  result.slot = slot;
  return result;
}

class L1TlbTest : public ::testing::Test {
 protected:
  bool wait(const PageAccess& access, PageKey page = kPage) { return tlb_.wait_for_page(page, tlb_.park(access)); }

  L1Tlb tlb_{TlbSpec{{{16, 16, 1}, 0}, 2}};
};

TEST_F(L1TlbTest, OnlyTheFirstMissOfAPageIsRequested) {
  EXPECT_TRUE(wait(access(OpKind::Load, 1)));
  EXPECT_FALSE(wait(access(OpKind::Load, 2)));
  EXPECT_TRUE(wait(access(OpKind::Load, 1, 1, kOther), kOther));
  EXPECT_EQ(tlb_.stats().merges, 1U);
  EXPECT_EQ(tlb_.parked(), 3U);
}

TEST_F(L1TlbTest, WithoutAFreeMshrAPageCanStillMerge) {
  wait(access(OpKind::Load, 1));
  EXPECT_FALSE(tlb_.no_mshr(kOther));
  wait(access(OpKind::Load, 1, 1, kOther), kOther);
  EXPECT_TRUE(tlb_.mshrs_full());
  EXPECT_FALSE(tlb_.no_mshr(kPage));
  EXPECT_TRUE(tlb_.no_mshr(PageKey{0, 9}));
}

TEST_F(L1TlbTest, AFillAnswersWaitersInOrderAndFreesTheMshr) {
  wait(access(OpKind::Load, 1, 4));
  wait(access(OpKind::Store, 2, 5));
  ParkedQueue waiters = tlb_.fill(kPage, kMapping);
  std::vector<unsigned> slots;
  while (!waiters.empty()) {
    ParkedAccess* parked = waiters.pop();
    slots.push_back(parked->slot);
    tlb_.release(parked);
  }
  EXPECT_EQ(slots, (std::vector<unsigned>{4, 5}));
  EXPECT_EQ(tlb_.parked(), 0U);
  EXPECT_TRUE(tlb_.holds(kPage, true));
  EXPECT_TRUE(wait(access(OpKind::Load, 1))) << "its MSHR is free";
}

TEST_F(L1TlbTest, AReadOnlyMappingIsNotSufficientForAStore) {
  wait(access(OpKind::Load, 1));
  tlb_.fill(kPage, {kMapping.page, false, 0});
  EXPECT_TRUE(tlb_.holds(kPage, false));
  EXPECT_FALSE(tlb_.holds(kPage, true));
  EXPECT_NE(tlb_.look_up(kPage, false), nullptr);
  EXPECT_EQ(tlb_.look_up(kPage, true), nullptr);
  EXPECT_EQ(tlb_.stats().permission_misses, 1U);
}

TEST_F(L1TlbTest, AStoreWaitsBehindALoadOfItsWavefrontToTheSameLine) {
  wait(access(OpKind::Load, 0b0110));
  EXPECT_EQ(tlb_.find_older(access(OpKind::Store, 0b0100), kPage), L1Tlb::Older::Missing);
  EXPECT_EQ(tlb_.find_older(access(OpKind::Atomic, 0b0100), kPage), L1Tlb::Older::Missing);
  EXPECT_EQ(tlb_.find_older(access(OpKind::Load, 0b0100), kPage), L1Tlb::Older::None) << "none of the two writes";
  EXPECT_EQ(tlb_.find_older(access(OpKind::Store, 0b1001), kPage), L1Tlb::Older::None) << "other lines";
  EXPECT_EQ(tlb_.find_older(access(OpKind::Store, 0b0100, 2), kPage), L1Tlb::Older::None) << "another wavefront";
}

TEST_F(L1TlbTest, AnOlderAccessThatHasItsTranslationIsNotPassedEither) {
  wait(access(OpKind::Store, 0b1));
  ParkedQueue waiters = tlb_.fill(kPage, kMapping);
  tlb_.translated().push(waiters.pop());
  EXPECT_EQ(tlb_.find_older(access(OpKind::Load, 0b1), kPage), L1Tlb::Older::Translated);
  EXPECT_EQ(tlb_.find_older(access(OpKind::Load, 0b1, 1, kOther), kOther), L1Tlb::Older::None) << "another page";
}

TEST_F(L1TlbTest, AccessesThatGiveTheirTranslationUpAreNotPassed) {
  wait(access(OpKind::Store, 0b01));
  wait(access(OpKind::Store, 0b10));
  ParkedQueue waiters = tlb_.fill(kPage, kMapping);
  while (!waiters.empty()) tlb_.translated().push(waiters.pop());
  tlb_.translate_again([](const PageAccess& parked) { return parked.lines == 0b01; });
  EXPECT_EQ(tlb_.translated().size(), 1U);
  EXPECT_EQ(tlb_.translated().front()->lines, 0b10U);
  EXPECT_EQ(tlb_.again().size(), 1U);
  // Who waits for the page in an MSHR is asked about last: a younger access behind it would come before the one that
  // has no MSHR yet.
  wait(access(OpKind::Store, 0b01));
  EXPECT_EQ(tlb_.find_older(access(OpKind::Load, 0b01), kPage), L1Tlb::Older::Again);
  EXPECT_EQ(tlb_.find_older(access(OpKind::Load, 0b10), kPage), L1Tlb::Older::Translated);
}

}  // namespace
}  // namespace nearfar::l1_tlb_test
