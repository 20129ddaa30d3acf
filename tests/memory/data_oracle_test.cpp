// The data oracle: images of lines, the rules of the memory model one by one, and what a watch refuses by itself.
#include "memory/data_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/engine.h"
#include "sim/error.h"

namespace nearfar::data_oracle_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr unsigned kLine = 64;
constexpr ByteMask kAll = ByteMask::all(kLine);

ByteMask bytes(unsigned first, unsigned count) {
  ByteMask mask;
  for (unsigned byte = first; byte < first + count; ++byte) mask.bits[byte / 64] |= std::uint64_t{1} << byte % 64;
  return mask;
}

TEST(LineImage, KeepsTheLastWriteOfEachByte) {
  LineImage image;
  image.write(kAll, 1, kLine);
  EXPECT_TRUE(image.is_uniform());
  image.write(bytes(4, 8), 2, kLine);
  EXPECT_EQ(image.at(3), 1U);
  EXPECT_EQ(image.at(4), 2U);
  EXPECT_EQ(image.at(11), 2U);
  EXPECT_EQ(image.at(12), 1U);
  const LineImage copy = image;
  image.write(bytes(4, 8), 1, kLine);
  EXPECT_EQ(copy.at(4), 2U);
  EXPECT_TRUE(image.same(LineImage(1), kLine));
  EXPECT_FALSE(copy.same(image, kLine));
  image.write(kAll, 3, kLine);
  EXPECT_TRUE(image.is_uniform());
}

TEST(LineImage, LinesOf128Bytes) {
  LineImage image;
  ByteMask mask = bytes(100, 28);
  image.write(mask, 1, 128);
  EXPECT_EQ(image.at(99), 0U);
  EXPECT_EQ(image.at(127), 1U);
  image.write(ByteMask::all(128), 2, 128);
  EXPECT_TRUE(image.is_uniform());
}

/// The memory model, told of events one by one.
class Model : public testing::Test {
 protected:
  void ordered(Cycle time, LoadUnit unit, LineVersion version, const ByteMask& mask = kAll) {
    MemoryEvent event;
    event.time = time;
    event.kind = MemoryEvent::Kind::Ordered;
    event.unit = unit;
    event.location = where_;
    event.version = version;
    event.mask = mask;
    model_.see(event);
  }
  void released(Cycle time, LoadUnit unit, Scope scope = Scope::System) { released(time, time, unit, scope); }
  void released(Cycle begun, Cycle time, LoadUnit unit, Scope scope) {
    MemoryEvent event;
    event.time = time;
    event.kind = MemoryEvent::Kind::Release;
    event.unit = unit;
    event.begun = begun;
    event.scope = scope;
    model_.see(event);
  }
  void boundary(Cycle time) {
    MemoryEvent event;
    event.time = time;
    event.kind = MemoryEvent::Kind::Boundary;
    model_.see(event);
  }
  void returned(Cycle time, LoadUnit unit, const LineImage& image, Cycle acquired = 0) {
    returned(time, unit, image, Acquires{acquired, acquired});
  }
  void returned(Cycle time, LoadUnit unit, const LineImage& image, const Acquires& acquired) {
    MemoryEvent event;
    event.time = time;
    event.kind = MemoryEvent::Kind::Returned;
    event.unit = unit;
    event.location = where_;
    event.image = image;
    event.acquired = acquired;
    model_.see(event);
  }

  const LoadUnit writer_ = LoadUnit::of(DeviceId{0}, 0, false);
  const LoadUnit reader_ = LoadUnit::of(DeviceId{1}, 3, false);
  const Location where_ = Location::of_virtual(0, VirtPage{5}, 2);
  MemoryModel model_{kLine};
};

TEST_F(Model, ALoadReturnsNothingThatWasNotWritten) {
  EXPECT_NO_THROW(returned(1, reader_, LineImage(0)));
  EXPECT_THAT([&] { returned(2, reader_, LineImage(1)); },
              ThrowsMessage<SimulationError>(HasSubstr("nothing has been written there")));
  ordered(3, writer_, 1);
  EXPECT_NO_THROW(returned(4, reader_, LineImage(1)));
  EXPECT_THAT([&] { returned(5, reader_, LineImage(2)); },
              ThrowsMessage<SimulationError>(HasSubstr("the last that its home has ordered")));
  EXPECT_THAT([&] { returned(6, reader_, LineImage(kUndefinedByte)); },
              ThrowsMessage<SimulationError>(HasSubstr("undefined data")));
}

TEST_F(Model, WithinAKernelOldDataMayBeReturned) {
  ordered(1, writer_, 1);
  EXPECT_NO_THROW(returned(2, reader_, LineImage(0)));
}

TEST_F(Model, NothingOlderThanTheKernelBoundary) {
  ordered(1, writer_, 1);
  boundary(2);
  EXPECT_THAT([&] { returned(3, reader_, LineImage(0)); },
              ThrowsMessage<SimulationError>(HasSubstr("before the kernel began")));
  ordered(4, writer_, 2);
  EXPECT_THAT([&] { returned(5, reader_, LineImage(0)); },
              ThrowsMessage<SimulationError>(HasSubstr("version 1 had been written before the kernel began")));
  EXPECT_NO_THROW(returned(6, reader_, LineImage(1)));
}

TEST_F(Model, TheBoundaryBindsByteByByte) {
  ordered(1, writer_, 1, bytes(0, 4));
  boundary(2);
  LineImage lost;
  lost.write(bytes(0, 3), 1, kLine);
  EXPECT_THAT([&] { returned(3, reader_, lost); }, ThrowsMessage<SimulationError>(HasSubstr("of byte 3")));
  lost.write(bytes(3, 1), 1, kLine);
  EXPECT_NO_THROW(returned(4, reader_, lost));
}

TEST_F(Model, LoadsOfAUnitDoNotGoBack) {
  ordered(1, writer_, 1);
  EXPECT_NO_THROW(returned(2, reader_, LineImage(1)));
  EXPECT_THAT([&] { returned(3, reader_, LineImage(0)); },
              ThrowsMessage<SimulationError>(HasSubstr("an earlier load of the unit had returned version 1")));
  const LoadUnit other = LoadUnit::of(DeviceId{1}, 4, false);
  EXPECT_NO_THROW(returned(4, other, LineImage(0)));
}

TEST_F(Model, AnOwnStoreIsLaterThanWhatIsOrdered) {
  ordered(1, writer_, 1);
  EXPECT_NO_THROW(returned(2, reader_, LineImage(1)));
  LineImage own(1);
  own.write(bytes(0, 8), kOwnStore, kLine);
  EXPECT_NO_THROW(returned(3, reader_, own));
  ordered(4, reader_, 2, bytes(0, 8));
  EXPECT_THAT([&] { returned(5, reader_, LineImage(0)); }, ThrowsMessage<SimulationError>(HasSubstr("earlier load")));
  LineImage later(1);
  later.write(bytes(0, 8), 2, kLine);
  EXPECT_NO_THROW(returned(6, reader_, later));
}

TEST_F(Model, AnAcquireSeesWhatWasReleasedBefore) {
  ordered(10, writer_, 1);
  released(20, writer_);
  EXPECT_NO_THROW(returned(30, reader_, LineImage(0), 20)) << "the release was not complete when the acquire began";
  EXPECT_THAT([&] { returned(31, reader_, LineImage(0), 21); },
              ThrowsMessage<SimulationError>(HasSubstr("had been released")));
  EXPECT_NO_THROW(returned(32, reader_, LineImage(1), 21));
  ordered(40, writer_, 2);
  EXPECT_NO_THROW(returned(50, reader_, LineImage(1), 45)) << "version 2 has not been released";
}

TEST_F(Model, AReleaseCoversWhatWasOrderedWhenItBegan) {
  ordered(10, writer_, 1);
  ordered(25, writer_, 2);
  released(20, 30, writer_, Scope::System);
  EXPECT_NO_THROW(returned(40, reader_, LineImage(1), 35)) << "version 2 came while the release waited";
  EXPECT_THAT([&] { returned(41, reader_, LineImage(0), 35); },
              ThrowsMessage<SimulationError>(HasSubstr("had been released")));
}

TEST_F(Model, ScopesOfReleaseAndAcquireMustCoverEachOther) {
  const LoadUnit neighbour = LoadUnit::of(DeviceId{0}, 1, false);
  ordered(10, writer_, 1);
  released(20, writer_, Scope::Gpu);
  EXPECT_NO_THROW(returned(30, reader_, LineImage(0), 25)) << "a release of the GPU says nothing to another GPU";
  EXPECT_THAT(
      [&] {
        returned(31, neighbour, LineImage(0), Acquires{25, 0});
      },
      ThrowsMessage<SimulationError>(HasSubstr("had been released")));
  released(40, writer_, Scope::System);
  const LoadUnit other = LoadUnit::of(DeviceId{1}, 4, false);
  EXPECT_NO_THROW(returned(50, other, LineImage(0), Acquires{45, 0})) << "nor does an acquire of the GPU";
  EXPECT_THAT(
      [&] {
        returned(51, other, LineImage(0), Acquires{45, 45});
      },
      ThrowsMessage<SimulationError>(HasSubstr("had been released")));
}

/// Two devices with their watches: GPU 0 asks, GPU 1 is the home.
class Watches : public testing::Test {
 protected:
  RecordId store(const ByteMask& mask = kAll) { return unit_watch_.store_issued(0, unit_, 0, where_, line_, mask); }
  RecordId load() {
    return unit_watch_.loads_issued(unit_, 0, where_, line_.page(), std::uint64_t{1} << line_.index());
  }
  void order_and_apply(RecordId record) {
    home_.write_ordered(DeviceId{0}, record, line_);
    home_.write_applied(DeviceId{0}, record, line_, l2_);
  }
  void serve(RecordId record) {
    home_.read_ordered(DeviceId{0}, record, line_);
    home_.read_served(DeviceId{0}, record, line_, l2_);
  }
  void acknowledge(RecordId record) { unit_watch_.stores_acknowledged(record, std::uint64_t{1} << line_.index()); }

  Engine engine_{2};
  DataOracle oracle_{kLine, false};
  const LoadUnit unit_ = LoadUnit::of(DeviceId{0}, 0, false);
  const PhysLine line_{PhysPage{DeviceId{1}, 7}, 3};
  const Location where_ = Location::of_virtual(0, VirtPage{9}, 0);
  LineImage l2_;
  L1Image l1_;
  DataWatch& unit_watch_ = oracle_.add_device(engine_.partition(0));
  DataWatch& home_ = oracle_.add_device(engine_.partition(1));
};

TEST_F(Watches, AStoreAndALoadThatSeesIt) {
  const RecordId stored = store();
  const RecordId loaded = load();
  order_and_apply(stored);
  serve(loaded);
  acknowledge(stored);
  unit_watch_.filled(unit_, line_, &l1_);
  EXPECT_EQ(l1_.image.at(0), 1U);
  EXPECT_NO_THROW(oracle_.merge());
}

TEST_F(Watches, ALoadThatPassesAStoreOfItsOwn) {
  store();
  const RecordId loaded = load();
  EXPECT_THAT([&] { home_.read_ordered(DeviceId{0}, loaded, line_); },
              ThrowsMessage<SimulationError>(HasSubstr("passed a store of its own")));
}

TEST_F(Watches, StoresOrderedTheWrongWayRound) {
  const RecordId first = store();
  const RecordId second = store();
  order_and_apply(second);
  EXPECT_THAT([&] { home_.write_ordered(DeviceId{0}, first, line_); },
              ThrowsMessage<SimulationError>(HasSubstr("the wrong way round")));
}

/// The first store has another line too, for which its acknowledgement waits.
TEST_F(Watches, ALaterStoreAcknowledgedFirstStaysInTheCopyOfTheL2) {
  const RecordId first = store();
  const RecordId second = store(ByteMask::range(0, 8));
  RemoteCopy copy;
  unit_watch_.l2_stores(first, line_, &copy);
  unit_watch_.l2_stores(second, line_, &copy);
  order_and_apply(first);
  order_and_apply(second);
  unit_watch_.l2_store_ordered(second, line_, copy);
  unit_watch_.l2_store_ordered(first, line_, copy);
  EXPECT_EQ(copy.image.at(0), 2U);
  EXPECT_EQ(copy.image.at(8), 1U);
  EXPECT_TRUE(copy.pending.empty());
}

TEST_F(Watches, AFillThatAStoreShouldHavePoisoned) {
  const RecordId loaded = load();
  serve(loaded);
  store();
  EXPECT_THAT([&] { unit_watch_.filled(unit_, line_, &l1_); },
              ThrowsMessage<SimulationError>(HasSubstr("keeps line 3 of frame 7 of device 1, which is older")));
}

TEST_F(Watches, ALoadThatJoinsAPoisonedFill) {
  load();
  store();
  EXPECT_THAT([&] { unit_watch_.load_merged(unit_, line_); }, ThrowsMessage<SimulationError>(HasSubstr("merges")));
}

TEST_F(Watches, AStoreThatDoesNotReachTheL1) {
  const RecordId loaded = load();
  serve(loaded);
  unit_watch_.filled(unit_, line_, &l1_);
  store();
  EXPECT_THAT([&] { unit_watch_.l1_hit(unit_, 0, where_, line_, l1_); },
              ThrowsMessage<SimulationError>(HasSubstr("hits")));
  unit_watch_.l1_written(unit_, l1_, kAll);
  EXPECT_NO_THROW(unit_watch_.l1_hit(unit_, 0, where_, line_, l1_));
}

TEST_F(Watches, AHomeThatServesOldData) {
  const RecordId stored = store();
  const RecordId loaded = load();
  home_.write_ordered(DeviceId{0}, stored, line_);
  home_.read_ordered(DeviceId{0}, loaded, line_);
  EXPECT_THAT([&] { home_.read_served(DeviceId{0}, loaded, line_, l2_); },
              ThrowsMessage<SimulationError>(HasSubstr("served versions 0, but 1 were ordered before")));
}

TEST_F(Watches, APartOfALineThatWasAllocatedWithoutTheRest) {
  const RecordId stored = store(bytes(0, 4));
  l2_ = DataWatch::undefined();
  order_and_apply(stored);
  EXPECT_THAT([&] { home_.written_back(line_, l2_); },
              ThrowsMessage<SimulationError>(HasSubstr("0-3:1 4-63:undefined")));
}

TEST_F(Watches, AWriteBackThatLacksAStore) {
  const RecordId first = store(bytes(0, 4));
  const RecordId second = store(bytes(8, 4));
  order_and_apply(first);
  home_.write_ordered(DeviceId{0}, second, line_);
  EXPECT_THAT([&] { home_.written_back(line_, l2_); }, ThrowsMessage<SimulationError>(HasSubstr("were ordered")));
}

TEST_F(Watches, ACleanLineThatMemoryDoesNotHave) {
  order_and_apply(store());
  EXPECT_THAT([&] { home_.dropped(line_, l2_); }, ThrowsMessage<SimulationError>(HasSubstr("memory holds 0")));
  home_.written_back(line_, l2_);
  EXPECT_NO_THROW(home_.dropped(line_, l2_));
  EXPECT_NO_THROW(home_.check_written_back());
}

TEST_F(Watches, APageThatLeavesWithoutAStore) {
  order_and_apply(store());
  EXPECT_THAT([&] { home_.page_leaves(line_.page()); }, ThrowsMessage<SimulationError>(HasSubstr("leaves")));
  home_.written_back(line_, l2_);
  home_.page_leaves(line_.page());
  unit_watch_.page_came(line_.page(), PhysPage{DeviceId{0}, 2});
  EXPECT_EQ(unit_watch_.fetched(PhysLine{PhysPage{DeviceId{0}, 2}, 3}).at(0), 1U);
}

TEST_F(Watches, AFenceThatDoesNotWait) {
  const RecordId stored = store();
  EXPECT_THAT([&] { unit_watch_.stores_settled(unit_); }, ThrowsMessage<SimulationError>(HasSubstr("1 of its stores")));
  order_and_apply(stored);
  acknowledge(stored);
  EXPECT_NO_THROW(unit_watch_.stores_settled(unit_));
}

TEST_F(Watches, PostedStoresThatJoinAreOrderedOneBehindTheOther) {
  const RecordId first = store(bytes(0, 8));
  const RecordId second = store(bytes(4, 8));
  const RecordId third = store(bytes(6, 1));
  unit_watch_.stores_merged(first, second, line_);
  unit_watch_.stores_merged(first, third, line_);
  order_and_apply(first);
  EXPECT_EQ(l2_.at(0), 1U);
  EXPECT_EQ(l2_.at(4), 2U);
  EXPECT_EQ(l2_.at(6), 3U);
  EXPECT_EQ(l2_.at(11), 2U);
  unit_watch_.stores_delivered(first, line_);
  EXPECT_NO_THROW(unit_watch_.stores_settled(unit_));
  EXPECT_NO_THROW(home_.written_back(line_, l2_));
}

TEST_F(Watches, PostedStoresThatJoinAreKeptTogetherWhileTheirLineComes) {
  const RecordId first = store(bytes(0, 8));
  unit_watch_.stores_merged(first, store(bytes(4, 8)), line_);
  home_.write_ordered(DeviceId{0}, first, line_);
  const RecordId kept = home_.keep_write(DeviceId{0}, first, line_);
  unit_watch_.stores_delivered(first, line_);
  home_.kept_write_applied(kept, line_, l2_);
  EXPECT_EQ(l2_.at(0), 1U);
  EXPECT_EQ(l2_.at(4), 2U);
}

TEST_F(Watches, APostedStoreThatIsCutIsOrderedInPieces) {
  const RecordId stored = store(bytes(0, 16));
  const RecordId piece = unit_watch_.store_cut(stored, line_, bytes(0, 4));
  order_and_apply(piece);
  unit_watch_.stores_delivered(piece, line_);
  EXPECT_EQ(l2_.at(3), 1U);
  EXPECT_EQ(l2_.at(4), 0U);
  EXPECT_THAT([&] { unit_watch_.release_ends(unit_, unit_watch_.release_begins(unit_)); },
              ThrowsMessage<SimulationError>(HasSubstr("store number 1 has not been written")));
  order_and_apply(stored);
  unit_watch_.stores_delivered(stored, line_);
  EXPECT_EQ(l2_.at(4), 2U);
  EXPECT_NO_THROW(unit_watch_.release_ends(unit_, unit_watch_.release_begins(unit_)));
}

TEST_F(Watches, AFenceIsNotHeldUpByLaterPostedStores) {
  const RecordId stored = store();
  const std::uint64_t begun = unit_watch_.release_begins(unit_);
  store(bytes(0, 4));
  EXPECT_THAT([&] { unit_watch_.release_ends(unit_, begun); },
              ThrowsMessage<SimulationError>(HasSubstr("has not been written")));
  order_and_apply(stored);
  unit_watch_.stores_delivered(stored, line_);
  EXPECT_NO_THROW(unit_watch_.release_ends(unit_, begun));
}

TEST_F(Watches, AStoreAcknowledgedBeforeItIsOrdered) {
  const RecordId stored = store();
  EXPECT_THAT([&] { acknowledge(stored); }, ThrowsMessage<SimulationError>(HasSubstr("before its home had ordered")));
}

TEST_F(Watches, AnAccessThatPassesOneOfItsWavefrontThatWaits) {
  unit_watch_.parked(unit_, {4, VirtPage{9}, 0b1100, true});
  EXPECT_NO_THROW(unit_watch_.passes_none_parked(unit_, {4, VirtPage{9}, 0b0011, false}));
  EXPECT_NO_THROW(unit_watch_.passes_none_parked(unit_, {5, VirtPage{9}, 0b1100, false}));
  EXPECT_THAT(
      [&] {
        unit_watch_.passes_none_parked(unit_, {4, VirtPage{9}, 0b0110, false});
      },
      ThrowsMessage<SimulationError>(HasSubstr("a load of wavefront 4")));
  unit_watch_.parked_runs(unit_, {4, VirtPage{9}, 0b0100, true});
  EXPECT_NO_THROW(unit_watch_.passes_none_parked(unit_, {4, VirtPage{9}, 0b0110, false}));
  unit_watch_.parked_runs(unit_, {4, VirtPage{9}, 0b1000, true});
  EXPECT_NO_THROW(unit_watch_.passes_none_parked(unit_, {4, VirtPage{9}, 0b1100, false}));
}

TEST_F(Watches, AStoreMustNotPassALoadThatWaits) {
  unit_watch_.parked(unit_, {4, VirtPage{9}, 0b1, false});
  EXPECT_NO_THROW(unit_watch_.passes_none_parked(unit_, {4, VirtPage{9}, 0b1, false}));
  EXPECT_THAT(
      [&] {
        unit_watch_.passes_none_parked(unit_, {4, VirtPage{9}, 0b1, true});
      },
      ThrowsMessage<SimulationError>(HasSubstr("a store of wavefront 4")));
}

}  // namespace
}  // namespace nearfar::data_oracle_test
