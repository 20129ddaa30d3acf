// Messages about translation: their kinds, to which designs add, and what survives the way over a link.
#include "translation/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "translation/walk/walk_kind.h"

namespace nearfar::message_test {
namespace {

struct Expected {
  MessageKind kind;
  const char* name;
  bool response;
  bool needs_walk;
};

TEST(MessageKinds, OfTheBaselineAreRequestsOrResponses) {
  constexpr Expected kExpected[] = {{MessageKind::AtsRequest, "ats-request", false, false},
                                    {MessageKind::AtsResponse, "ats-response", true, false},
                                    {MessageKind::Fault, "fault", false, false},
                                    {MessageKind::Map, "map", true, true},
                                    {MessageKind::MoveRequest, "move-request", false, false},
                                    {MessageKind::MoveRefused, "move-refused", true, false},
                                    {MessageKind::Invalidate, "invalidate", false, true},
                                    {MessageKind::Downgrade, "downgrade", false, true},
                                    {MessageKind::Acknowledge, "acknowledge", true, false},
                                    {MessageKind::Transfer, "transfer", false, false},
                                    {MessageKind::Data, "data", true, true},
                                    {MessageKind::Part, "part", true, false},
                                    {MessageKind::Done, "done", true, false}};
  EXPECT_EQ(std::size(kExpected), static_cast<std::size_t>(MessageKind::FirstOfDesigns));
  for (const Expected& expected : kExpected) {
    const MessageTraits& traits = traits_of(expected.kind);
    EXPECT_STREQ(traits.name, expected.name);
    EXPECT_EQ(traits.response, expected.response) << expected.name;
    EXPECT_EQ(is_response(expected.kind), expected.response) << expected.name;
    EXPECT_EQ(traits.needs_walk, expected.needs_walk) << expected.name;
  }
}

TEST(MessageKinds, OfDesignsAreTheirOwn) {
  const MessageKind one = add_message_kind({.name = "test.one"});
  const MessageKind other = add_message_kind({.name = "test.other", .response = true, .needs_walk = true});
  EXPECT_NE(one, other);
  EXPECT_GE(one, MessageKind::FirstOfDesigns);
  EXPECT_STREQ(traits_of(one).name, "test.one");
  EXPECT_FALSE(is_response(one));
  EXPECT_TRUE(is_response(other));
  EXPECT_TRUE(traits_of(other).needs_walk);
}

TEST(WalkKinds, OfDesignsComeBehindTheBaselineByName) {
  const WalkKind second = add_walk_kind({.name = "test-b"});
  const WalkKind first = add_walk_kind({.name = "test-a", .writes = true});
  EXPECT_TRUE(is_of_design(first));
  EXPECT_FALSE(is_of_design(WalkKind::Update));
  EXPECT_TRUE(traits_of(WalkKind::Update).writes);
  EXPECT_TRUE(traits_of(WalkKind::Invalidate).writes);
  EXPECT_FALSE(traits_of(WalkKind::Demand).writes);
  EXPECT_FALSE(traits_of(WalkKind::Replay).writes);
  EXPECT_TRUE(traits_of(first).writes);
  const WalkKind counted_elsewhere = add_walk_kind({.name = "test.c"});
  const std::vector<WalkKind> all = all_walk_kinds();
  EXPECT_EQ(all.front(), WalkKind::Demand);
  const auto at = [&](WalkKind kind) { return std::find(all.begin(), all.end(), kind); };
  EXPECT_LT(at(WalkKind::Update), at(first));
  EXPECT_LT(at(first), at(second));
  EXPECT_EQ(at(counted_elsewhere), all.end());
}

/// Each flag and each field alone, at its greatest value.
TEST(Messages, CarryEveryFieldOverALink) {
  const auto carried = [](const Message& sent) {
    TranslationPacket t;
    sent.put(t);
    EXPECT_EQ(t.traffic_class == TrafficClass::Response, is_response(sent.kind));
    return Message::get(t);
  };
  for (bool Message::*flag : {&Message::write, &Message::tells_done, &Message::faulted, &Message::held,
                              &Message::unmeasured, &Message::prefetch, &Message::brings_page}) {
    Message sent;
    sent.*flag = true;
    const Message got = carried(sent);
    unsigned set = 0;
    for (bool Message::*each : {&Message::write, &Message::tells_done, &Message::faulted, &Message::held,
                                &Message::unmeasured, &Message::prefetch, &Message::brings_page}) {
      set += got.*each ? 1 : 0;
    }
    EXPECT_TRUE(got.*flag);
    EXPECT_EQ(set, 1U);
  }
  Message sent;
  sent.kind = add_message_kind({.name = "test.fields", .response = true});
  sent.page = PageKey{3, 0x1234567};
  sent.mapping = {PhysPage{DeviceId{5}, 0xabcdef}, false, 0xfffe};
  sent.from = DeviceId{7};
  sent.to = DeviceId{0xfe};
  sent.number = 0xffff;
  sent.extra = 0xffff;
  sent.stamp = 0xffff'fffe;
  sent.accounted = 0xffff'fffd;
  const Message got = carried(sent);
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.page, sent.page);
  EXPECT_EQ(got.mapping, sent.mapping);
  EXPECT_EQ(got.from, sent.from);
  EXPECT_EQ(got.to, sent.to);
  EXPECT_EQ(got.number, sent.number);
  EXPECT_EQ(got.extra, sent.extra);
  EXPECT_EQ(got.stamp, sent.stamp);
  EXPECT_EQ(got.accounted, sent.accounted);
}

}  // namespace
}  // namespace nearfar::message_test
