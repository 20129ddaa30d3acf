// What loads may return in a unified memory hierarchy, where devices order writes each for itself.
#include "memory/memory_model.h"

#include <gtest/gtest.h>

#include "sim/error.h"

namespace nearfar {
namespace {

constexpr unsigned kLine = 64;
constexpr unsigned kDevices = 3;  // two GPUs and the host
constexpr ByteMask kFirstByte = ByteMask::range(0, 1);

class UnifiedModel : public testing::Test {
 protected:
  UnifiedModel() { model_.unify(kDevices); }

  /// A device writes byte 0 and knows the write by this number.
  LineVersion write(unsigned device) {
    const LineVersion version = ++time_ * kDevices + device;
    see(MemoryEvent::Kind::Ordered, device, [&](MemoryEvent& event) {
      event.version = version;
      event.mask = kFirstByte;
    });
    return version;
  }
  void boundary() {
    ++time_;
    see(MemoryEvent::Kind::Boundary, 0, [](MemoryEvent&) {});
  }
  bool may_return(unsigned device, LineVersion version) {
    ++time_;
    LineImage image(0);
    image.write(kFirstByte, version, kLine);
    try {
      see(MemoryEvent::Kind::Returned, device, [&](MemoryEvent& event) { event.image = image; });
    } catch (const SimulationError&) {
      return false;
    }
    return true;
  }

 private:
  template <class Complete>
  void see(MemoryEvent::Kind kind, unsigned device, Complete complete) {
    MemoryEvent event;
    event.time = time_;
    event.kind = kind;
    event.unit = LoadUnit::of(DeviceId{static_cast<std::uint16_t>(device)}, 0, false);
    event.location = Location::of_virtual(0, VirtPage{1}, 0);
    complete(event);
    model_.see(event);
  }

  MemoryModel model_{kLine};
  Cycle time_ = 0;
};

TEST_F(UnifiedModel, ADevicesLastWriteAloneRemains) {
  const LineVersion first = write(0), last = write(0);
  boundary();
  EXPECT_FALSE(may_return(1, first));
  EXPECT_TRUE(may_return(1, last));
}

TEST_F(UnifiedModel, AnyOfTwoDevicesWritesMayRemain) {
  const LineVersion one = write(0), other = write(1);
  boundary();
  EXPECT_TRUE(may_return(0, one));
  EXPECT_TRUE(may_return(0, other));
}

TEST_F(UnifiedModel, ASecondWriteOfADeviceTakesTheOthersNoChance) {
  const LineVersion one = write(0);
  write(1);
  const LineVersion last = write(1);
  boundary();
  EXPECT_TRUE(may_return(0, one)) << "GPU 1 has overwritten its own write, and not that of GPU 0";
  EXPECT_TRUE(may_return(0, last));
}

TEST_F(UnifiedModel, WritesInTurnsLeaveBothTheirChance) {
  write(0);
  const LineVersion other = write(1), one = write(0), again = write(0);
  boundary();
  EXPECT_TRUE(may_return(1, other));
  EXPECT_TRUE(may_return(1, one) && may_return(1, again));
}

TEST_F(UnifiedModel, ABoundaryEndsAllThatWasSideBySide) {
  write(0);
  const LineVersion other = write(1);
  boundary();
  const LineVersion next = write(0);
  EXPECT_TRUE(may_return(1, other)) << "not ordered behind the write of the other GPU";
  boundary();
  EXPECT_FALSE(may_return(1, other));
  EXPECT_TRUE(may_return(1, next));
}

}  // namespace
}  // namespace nearfar
