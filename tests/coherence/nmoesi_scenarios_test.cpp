// Scenarios of NMOESI, each to its end: with write-back L1s, whose states stand first in each expectation, and with
// cores that reach the L2 through write-through L1s, which hold no state of the protocol.
#include "coherence/nmoesi_bench.h"

namespace nearfar::nmoesi_scenarios_test {
namespace {

using namespace nmoesi;
using nmoesi::Event;
using ::testing::ElementsAre;
using Granules = std::array<LineVersion, 4>;

constexpr Line kX = 3;                    ///< in block 0
constexpr Line kY = 7;                    ///< in block 0 too
constexpr Line kElsewhere = 16 * 64 + 3;  ///< in the block that shares block 0's way

enum class L1s { WriteBack, WriteThrough };

class Scenario : public ::testing::TestWithParam<L1s> {
 protected:
  bool write_back() const { return GetParam() == L1s::WriteBack; }

  void make(bool peer = true, unsigned gpus = 2, unsigned granule = 4) {
    BenchOptions options;
    options.gpus = gpus;
    options.l1s = write_back() ? 2 : 0;
    options.peer = peer;
    options.granule = granule;
    bench = std::make_unique<Bench>(options);
  }
  void SetUp() override { make(); }

  Operation run(unsigned core, Event event, Line line, const ByteMask& bytes = {}, LineVersion version = 0) {
    Operation operation{core, event, line, bytes, version, false, {}};
    bench->begin(operation);
    bench->drain();
    EXPECT_TRUE(operation.done);
    return operation;
  }
  /// What bench->begin() begins.
  static Operation access_of(unsigned core, Event event, Line line) { return {core, event, line, {}, 0, false, {}}; }
  static Operation access_of(unsigned core, Event event, Line line, unsigned granule, LineVersion value) {
    return {core, event, line, bytes(granule), value, false, {}};
  }
  /// Channels that hold back what is in them, until let_go().
  static auto of(Agent from, Agent to, MessageClass of_class) {
    return [=](const Bench::Channel& channel) { return channel == Bench::Channel{from, to, of_class}; };
  }
  void let_go() {
    bench->held = [](const Bench::Channel&) { return false; };
    bench->drain();
  }
  static ByteMask bytes(unsigned granule) { return ByteMask::range(granule * 4, 4); }

  Granules load(unsigned gpu, unsigned cu, Line line) {
    return bench->granules(run(bench->core(gpu, cu), Event::Load, line).before);
  }
  void n_store(unsigned gpu, unsigned cu, Line line, unsigned granule, LineVersion value) {
    run(bench->core(gpu, cu), Event::NStore, line, bytes(granule), value);
  }
  void store(unsigned gpu, unsigned cu, Line line, unsigned granule, LineVersion value) {
    run(bench->core(gpu, cu), Event::Store, line, bytes(granule), value);
  }
  Granules host_load(Line line) { return bench->granules(run(Bench::kHostCore, Event::Load, line).before); }
  void host_store(Line line, unsigned granule, LineVersion value) {
    run(Bench::kHostCore, Event::Store, line, bytes(granule), value);
  }
  /// A store of no bytes, then a load.
  Granules host_sync(Line line) {
    run(Bench::kHostCore, Event::Store, line);
    return host_load(line);
  }
  void evict_l1(unsigned gpu, unsigned cu, Line line) {
    if (write_back()) bench->l1s[bench->core(gpu, cu)]->evict(line);
    bench->drain();
  }
  void evict_l2(unsigned gpu, Line line) {
    bench->l2s[gpu]->evict(line);
    bench->drain();
  }
  void evict_block(unsigned gpu, Block block = 0) {
    bench->smds[gpu]->evict(block);
    bench->drain();
  }
  void boundary() {
    for (const auto& l1 : bench->l1s) l1->evict_all();
    bench->drain();
    for (const auto& l2 : bench->l2s) l2->publish_all();
    bench->drain();
    for (const auto& smd : bench->smds) smd->publish_all();
    bench->drain();
    bench->home->settle_marks();
    bench->drain();
  }

  std::string states(unsigned gpu, Line line = kX) const { return bench->states(gpu, line); }
  /// What is expected with write-back and with write-through L1s.
  std::string either(const char* back, const char* through) const { return write_back() ? back : through; }
  char llc(Line line = kX) const { return name_of(bench->llc->state_of(line)); }
  std::uint64_t sharers() const { return bench->home->sharers_of(0); }
  Agent owner() const { return bench->home->owner_of(0); }
  unsigned sent(Kind kind) const {
    const auto found = bench->counts.find(kind);
    return found == bench->counts.end() ? 0 : found->second;
  }
  unsigned sent_in_all() const {
    unsigned sum = 0;
    for (const auto& [kind, count] : bench->counts) sum += count;
    return sum;
  }
  void forget_messages() {
    bench->counts.clear();
    bench->changed.clear();
  }
  Granules memory(Line line = kX) const { return bench->memory(line); }
  Granules l2_line(unsigned gpu, Line line) const { return bench->granules(*bench->l2s[gpu]->image_of_line(line)); }
  /// The copy in which a core's stores are performed.
  LineCache& leaf(unsigned gpu, unsigned cu) { return bench->cache_of(bench->core(gpu, cu)); }

  // The beginnings that several scenarios share.
  void first() { n_store(0, 0, kX, 0, 1); }
  void second() {
    first();
    n_store(1, 1, kX, 1, 2);
  }

  std::unique_ptr<Bench> bench;
};

TEST_P(Scenario, 1_AnNStoreMissAsksLikeALoad) {
  first();
  EXPECT_EQ(states(0), either("N I/E/E", "N/E"));
  EXPECT_EQ(sharers(), 1U);
  EXPECT_EQ(owner(), 0);
  EXPECT_EQ(sent(Kind::ReadN), 1U);
  EXPECT_EQ(sent(Kind::DataE), 1U);
  EXPECT_EQ(sent(Kind::Done), 1U);
  EXPECT_EQ(sent_in_all(), 3U);
  EXPECT_EQ(memory(), (Granules{0, 0, 0, 0}));
}

TEST_P(Scenario, 2_TwoGpusNStoreToOneLine) {
  make(false);
  second();
  EXPECT_EQ(states(0), either("N I/S/S", "N/S"));
  EXPECT_EQ(states(1), either("I N/S/S", "N/S"));
  EXPECT_EQ(sharers(), 3U);
  EXPECT_EQ(owner(), kNobody);
  EXPECT_EQ(sent(Kind::ProbeRead), 1U);
  EXPECT_EQ(sent(Kind::ProbeAck), 1U);
  EXPECT_EQ(sent(Kind::DataS), 1U);
  EXPECT_EQ(sent(Kind::FwdRead), 0U);
}

TEST_P(Scenario, 2p_TwoGpusNStoreToOneLineWithPeerTransfer) {
  second();
  EXPECT_EQ(states(0), either("N I/S/S", "N/S"));
  EXPECT_EQ(states(1), either("I N/S/S", "N/S"));
  EXPECT_EQ(sharers(), 3U);
  EXPECT_EQ(owner(), kNobody);
  EXPECT_EQ(sent(Kind::FwdRead), 1U);
  EXPECT_EQ(sent(Kind::Listen), 1U);
  EXPECT_EQ(sent(Kind::PeerData), 1U);
  EXPECT_EQ(sent(Kind::DirUpdate), 1U);
  EXPECT_EQ(sent(Kind::DataS), 0U);
  EXPECT_EQ(sent(Kind::Done), 2U);
  EXPECT_TRUE(bench->changed.empty());
  EXPECT_EQ(bench->home_reads, 1U) << "a block that a peer supplies is not read from the host's memory";
}

TEST_P(Scenario, 3_AStoreOfTheHostFoldsWhatGpusStored) {
  second();
  forget_messages();
  host_store(kX, 2, 3);
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(states(1), either("I I/I/I", "I/I"));
  EXPECT_EQ(llc(), 'M');
  EXPECT_EQ(sharers(), 0U);
  EXPECT_EQ(sent(Kind::ProbeInv), 2U);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::ProbeAck, 1U), std::pair(Kind::ProbeAck, 1U)));
  EXPECT_EQ(memory(), (Granules{1, 2, 0, 0}));
  EXPECT_EQ(host_load(kX), (Granules{1, 2, 3, 0}));
}

TEST_P(Scenario, 4_AReaderAloneIsExclusive) {
  load(0, 0, kX);
  EXPECT_EQ(states(0), either("E I/E/E", "E/E"));
  EXPECT_EQ(owner(), 0);
}

TEST_P(Scenario, 5_TwoReadersShare) {
  load(0, 0, kX);
  forget_messages();
  load(1, 0, kX);
  EXPECT_EQ(states(0), either("S I/S/S", "S/S"));
  EXPECT_EQ(states(1), either("S I/S/S", "S/S"));
  EXPECT_EQ(owner(), kNobody);
  EXPECT_EQ(sent(Kind::FwdRead), 1U);
}

TEST_P(Scenario, 6_TheHostSeesNonCoherentStoresBehindAStoreOfNoBytes) {
  first();
  forget_messages();
  EXPECT_EQ(host_load(kX)[0], 0U);
  EXPECT_EQ(llc(), 'S');
  EXPECT_EQ(states(0), either("N I/S/S", "N/S"));
  EXPECT_EQ(sent(Kind::ProbeRead), 1U);
  EXPECT_TRUE(bench->changed.empty());
  EXPECT_EQ(host_sync(kX)[0], 1U);
  EXPECT_EQ(llc(), 'M');
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::ProbeAck, 1U)));
}

TEST_P(Scenario, 7_NDoesNotAnswerReaders) {
  load(0, 0, kX);
  forget_messages();
  n_store(0, 0, kX, 0, 1);
  EXPECT_EQ(sent_in_all(), 0U);
  EXPECT_EQ(load(1, 0, kX)[0], 0U);
  EXPECT_EQ(states(0), either("N I/S/S", "N/S"));
  EXPECT_EQ(states(1), either("S I/S/S", "S/S"));
}

TEST_P(Scenario, 8_AStoreToAnExclusiveCopyIsSilent) {
  load(0, 0, kX);
  forget_messages();
  store(0, 0, kX, 0, 1);
  EXPECT_EQ(states(0), either("M I/E/E", "M/E"));
  EXPECT_EQ(sent_in_all(), 0U);
}

TEST_P(Scenario, 9_AReaderOfAChangedCopyBringsItsBytesHome) {
  load(0, 0, kX);
  store(0, 0, kX, 0, 1);
  forget_messages();
  EXPECT_EQ(load(1, 0, kX)[0], 1U);
  EXPECT_EQ(states(0), either("O I/O/O", "O/O"));
  EXPECT_EQ(states(1), either("S I/S/S", "S/S"));
  EXPECT_EQ(owner(), 0);
  EXPECT_EQ(memory()[0], 1U);
  EXPECT_EQ(leaf(0, 0).mask_of(kX), 0U);
  EXPECT_EQ(bench->l2s[0]->mask_of(kX), 0U);
  EXPECT_EQ(bench->smds[0]->entry_of(0)->masks[kX], 0U);
  EXPECT_EQ(sent(Kind::PeerData), 1U);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::DirUpdate, 1U)));
}

TEST_P(Scenario, 10_SharersOfOneGpuNeedNoNetwork) {
  load(0, 0, kX);
  load(0, 1, kX);
  EXPECT_EQ(states(0), either("S S/E/E", "E/E"));
  forget_messages();
  store(0, 1, kX, 0, 1);
  EXPECT_EQ(states(0), either("I M/E/E", "M/E"));
  EXPECT_EQ(sent_in_all(), 0U);
}

TEST_P(Scenario, 11_AReaderBesideAChangedL1) {
  load(0, 0, kX);
  load(0, 1, kX);
  store(0, 1, kX, 0, 1);
  forget_messages();
  EXPECT_EQ(load(0, 0, kX)[0], 1U);
  EXPECT_EQ(states(0), either("S O/M/E", "M/E"));
  EXPECT_EQ(bench->l2s[0]->mask_of(kX), 1U);
  if (write_back()) {
    EXPECT_EQ(bench->l1s[1]->mask_of(kX), 0U);
  }
  EXPECT_EQ(sent_in_all(), 0U);
}

TEST_P(Scenario, 12_TwoUnitsOfAGpuNStoreSideBySide) {
  n_store(0, 0, kX, 0, 1);
  n_store(0, 1, kX, 1, 2);
  EXPECT_EQ(states(0), either("N N/E/E", "N/E"));
  EXPECT_EQ(sent(Kind::ReadN), 1U);
}

TEST_P(Scenario, 13_AStoreFoldsTheNStoresOfItsGpu) {
  n_store(0, 0, kX, 0, 1);
  n_store(0, 1, kX, 1, 2);
  forget_messages();
  store(0, 0, kX, 2, 3);
  EXPECT_EQ(states(0), either("M I/M/E", "M/E"));
  EXPECT_EQ(bench->granules(*leaf(0, 0).image_of_line(kX)), (Granules{1, 2, 3, 0}));
  EXPECT_EQ(leaf(0, 0).mask_of(kX), write_back() ? 0b101U : 0b111U);
  if (write_back()) {
    EXPECT_EQ(bench->l2s[0]->mask_of(kX), 0b010U);
  }
  EXPECT_EQ(sent_in_all(), 0U);
}

TEST_P(Scenario, 14_AWriteBackIntoAnExclusiveBlockModifiesIt) {
  n_store(0, 0, kX, 0, 1);
  n_store(0, 1, kX, 1, 2);
  forget_messages();
  evict_l2(0, kX);
  EXPECT_EQ(states(0), either("I I/I/M", "I/M"));
  const auto* block = bench->smds[0]->entry_of(0);
  EXPECT_EQ(bench->granules(block->images[kX]), (Granules{1, 2, 0, 0}));
  EXPECT_EQ(block->masks[kX], 0b11U);
  EXPECT_FALSE(block->present.contains(kX));
  EXPECT_EQ(sent_in_all(), 0U);
}

TEST_P(Scenario, 15_AnOwnedCopyThatLeavesLateBringsBackNothingOld) {
  load(0, 0, kX);
  store(0, 0, kX, 0, 1);
  load(1, 0, kX);
  n_store(1, 0, kX, 0, 2);
  forget_messages();
  evict_block(1);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::Put, 1U)));
  evict_block(0);
  EXPECT_EQ(sent(Kind::Put), 2U);
  EXPECT_EQ(bench->changed.size(), 1U) << "the owner's notice carries no bytes";
  EXPECT_EQ(memory()[0], 2U);
}

TEST_P(Scenario, 16_ABlockWithNStoresIsNotSeenElsewhere) {
  load(0, 0, kX);
  load(1, 0, kX);
  n_store(0, 0, kX, 0, 1);
  evict_l1(0, 0, kX);
  forget_messages();
  evict_l2(0, kX);
  EXPECT_EQ(states(0), either("I I/I/N", "I/N"));
  EXPECT_EQ(states(1), either("S I/S/S", "S/S"));
  EXPECT_EQ(sent_in_all(), 0U);
  EXPECT_EQ(load(1, 0, kX)[0], 0U);
}

TEST_P(Scenario, 17_ACopyThatLacksBytesAtHomeLeavesAtTheBoundary) {
  load(0, 0, kX);
  load(1, 0, kX);
  n_store(0, 0, kX, 0, 1);
  evict_l2(0, kX);
  forget_messages();
  evict_block(0);
  EXPECT_EQ(sharers(), 2U);
  EXPECT_EQ(memory()[0], 1U);
  EXPECT_EQ(load(1, 0, kX)[0], 0U);
  EXPECT_TRUE(bench->home->is_marked(0));
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::Put, 1U)));
  EXPECT_EQ(sent(Kind::PutAck), 1U);
  forget_messages();
  boundary();
  EXPECT_EQ(states(1), either("I I/I/I", "I/I"));
  EXPECT_FALSE(bench->home->is_marked(0));
  EXPECT_EQ(sent(Kind::ProbeInv), 1U);
  EXPECT_EQ(sent(Kind::ProbeAck), 1U);
  EXPECT_EQ(load(1, 0, kX)[0], 1U);
}

TEST_P(Scenario, 18_AMergedBlockAnswersReaders) {
  n_store(0, 0, kX, 0, 1);
  evict_l2(0, kX);
  EXPECT_EQ(load(1, 0, kX)[0], 1U);
  EXPECT_EQ(states(0), either("I I/I/O", "I/O"));
  EXPECT_EQ(states(1), either("S I/S/S", "S/S"));
  EXPECT_EQ(owner(), 0);
}

TEST_P(Scenario, 19_AnEvictedBlockBringsItsLinesTogether) {
  n_store(0, 0, kX, 0, 1);
  n_store(0, 1, kY, 2, 7);
  evict_block(0);
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(states(0, kY), either("I I/I/I", "I/I"));
  EXPECT_EQ(memory(kX)[0], 1U);
  EXPECT_EQ(memory(kY)[2], 7U);
  EXPECT_EQ(bench->smds[0]->stats().recalls, 1U);
  EXPECT_EQ(bench->smds[0]->stats().lines_recalled, 2U);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::Put, 2U)));
}

TEST_P(Scenario, 20_AGpuReadsWhatTheHostStored) {
  host_store(kX, 0, 5);
  EXPECT_EQ(load(0, 0, kX)[0], 5U);
  EXPECT_EQ(llc(), 'O');
  EXPECT_EQ(bench->llc->mask_of(kX), 0U);
  EXPECT_EQ(states(0), either("S I/S/S", "S/S"));
  EXPECT_EQ(owner(), kNobody);
  EXPECT_EQ(memory()[0], 5U);
  EXPECT_EQ(sent(Kind::Read), 1U);
  EXPECT_EQ(sent(Kind::DataS), 1U);
}

TEST_P(Scenario, 21_AGpuStoresToWhatTheHostHolds) {
  host_store(kX, 0, 5);
  load(0, 0, kX);
  forget_messages();
  store(0, 0, kX, 1, 6);
  EXPECT_EQ(llc(), 'I');
  EXPECT_EQ(states(0), either("M I/E/E", "M/E"));
  EXPECT_EQ(owner(), 0);
  EXPECT_EQ(bench->granules(*leaf(0, 0).image_of_line(kX)), (Granules{5, 6, 0, 0}));
  EXPECT_EQ(sent(Kind::Write), 1U);
  EXPECT_EQ(sent(Kind::DataX), 1U);
  EXPECT_EQ(sent(Kind::Done), 1U);
}

TEST_P(Scenario, 22_GpusShareByTheBlock) {
  host_store(kX, 0, 5);
  load(0, 0, kY);
  EXPECT_EQ(llc(), 'O');
  EXPECT_EQ(name_of(bench->smds[0]->state_of(0)), 'S');
  forget_messages();
  host_store(kX, 1, 6);
  EXPECT_EQ(name_of(bench->smds[0]->state_of(0)), 'I');
  EXPECT_EQ(llc(), 'M');
  EXPECT_EQ(sent(Kind::ProbeInv), 1U);
  EXPECT_EQ(sent(Kind::ProbeAck), 1U);
}

TEST_P(Scenario, 23_AWriteGrantPurgesOtherLinesOfItsBlock) {
  n_store(0, 0, kX, 0, 1);
  n_store(1, 0, kX, 1, 2);
  n_store(1, 0, kY, 1, 9);
  load(0, 1, kY);
  forget_messages();
  store(0, 0, kX, 2, 3);
  EXPECT_EQ(states(0), either("M I/E/E", "M/E"));
  EXPECT_EQ(states(0, kY), either("I I/I/E", "I/E"));
  EXPECT_EQ(bench->smds[0]->entry_of(0)->images[kY].at(4), 9U);
  EXPECT_EQ(states(1), either("I I/I/I", "I/I"));
  EXPECT_EQ(bench->granules(*leaf(0, 0).image_of_line(kX)), (Granules{1, 2, 3, 0}));
  EXPECT_EQ(leaf(0, 0).mask_of(kX), 0b101U);
  EXPECT_EQ(sent(Kind::Write), 1U);
  EXPECT_EQ(sent(Kind::ProbeInv), 1U);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::ProbeAck, 2U)));
  EXPECT_EQ(load(0, 1, kY)[1], 9U);
}

TEST_P(Scenario, 24_AnAtomicSeesTheStoreOfAnotherGpu) {
  store(0, 0, kX, 0, 1);
  forget_messages();
  const Operation atomic = run(bench->core(1, 0), Event::Store, kX, bytes(0), 2);
  EXPECT_EQ(atomic.before.at(0), 1U);
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(states(1), either("M I/E/E", "M/E"));
  EXPECT_EQ(owner(), 1);
  EXPECT_EQ(memory()[0], 1U);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::ProbeAck, 1U)));
}

TEST_P(Scenario, 25_ASupplierWhoseCopyIsGoneSendsNothing) {
  load(0, 0, kX);
  evict_block(0);
  EXPECT_EQ(sent(Kind::Put), 0U);
  forget_messages();
  load(1, 0, kX);
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(states(1), either("S I/S/S", "S/S"));
  EXPECT_EQ(owner(), kNobody);
  EXPECT_EQ(sent(Kind::FwdRead), 1U);
  EXPECT_EQ(sent(Kind::DirUpdate), 1U);
  EXPECT_EQ(sent(Kind::PeerData), 0U);
  EXPECT_EQ(sent(Kind::DataS), 1U);
}

TEST_P(Scenario, 26_FourGpusNStoreAndTheHostSynchronizes) {
  make(true, 4);
  for (unsigned g = 0; g < 4; ++g) n_store(g, 0, kX, g, g + 1);
  forget_messages();
  EXPECT_EQ(host_sync(kX), (Granules{1, 2, 3, 4}));
  EXPECT_EQ(memory(), (Granules{1, 2, 3, 4}));
  EXPECT_EQ(llc(), 'M');
  for (unsigned g = 0; g < 4; ++g) EXPECT_EQ(states(g), either("I I/I/I", "I/I"));
  EXPECT_EQ(sent(Kind::ProbeInv), 4U);
  EXPECT_EQ(bench->changed, std::vector(4, std::pair(Kind::ProbeAck, 1U)));
}

TEST_P(Scenario, 27_AnOwnedCopyKeepsLaterNStores) {
  load(0, 0, kX);
  store(0, 0, kX, 0, 1);
  load(1, 0, kX);
  n_store(0, 0, kX, 1, 4);
  EXPECT_EQ(name_of(leaf(0, 0).state_of(kX)), 'O');
  EXPECT_EQ(leaf(0, 0).mask_of(kX), 0b10U);
  forget_messages();
  EXPECT_EQ(host_sync(kX), (Granules{1, 4, 0, 0}));
  EXPECT_EQ(memory(), (Granules{1, 4, 0, 0}));
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::ProbeAck, 1U)));
  EXPECT_EQ(sent(Kind::ProbeAck), 2U);
}

TEST_P(Scenario, 28_AStoreToPartOfAGranuleIsCoherent) {
  const ByteMask byte = ByteMask::range(1, 1);
  ASSERT_FALSE(bench->geometry().covers_granules(byte));
  run(bench->core(0, 0), Event::Store, kX, byte, 1);
  EXPECT_EQ(states(0), either("M I/E/E", "M/E"));
  EXPECT_EQ(sent(Kind::Write), 1U);
  EXPECT_EQ(sent(Kind::DataX), 1U);
  make(true, 2, 1);
  ASSERT_TRUE(bench->geometry().covers_granules(byte));
  run(bench->core(0, 0), Event::NStore, kX, byte, 1);
  EXPECT_EQ(states(0), either("N I/E/E", "N/E"));
}

TEST_P(Scenario, 29_AProbeMeetsAWriteRequest) {
  load(0, 0, kX);
  load(1, 0, kX);
  forget_messages();
  bench->held = [](const Bench::Channel& channel) {
    return std::get<0>(channel) == 0 && std::get<2>(channel) == MessageClass::Request;
  };
  Operation of_first{bench->core(0, 0), Event::Store, kX, bytes(0), 1, false, {}};
  Operation of_second{bench->core(1, 0), Event::Store, kX, bytes(1), 2, false, {}};
  bench->begin(of_first);
  bench->begin(of_second);
  bench->drain();
  EXPECT_FALSE(of_first.done);
  EXPECT_TRUE(of_second.done);
  EXPECT_EQ(name_of(bench->smds[0]->state_of(0)), 'I');
  EXPECT_EQ(states(1), either("M I/E/E", "M/E"));
  bench->held = [](const Bench::Channel&) { return false; };
  bench->drain();
  EXPECT_TRUE(of_first.done);
  EXPECT_EQ(states(0), either("M I/E/E", "M/E"));
  EXPECT_EQ(states(1), either("I I/I/I", "I/I"));
  EXPECT_EQ(bench->granules(*leaf(0, 0).image_of_line(kX)), (Granules{1, 2, 0, 0}));
  EXPECT_EQ(sent(Kind::Write), 2U);
  EXPECT_EQ(sent(Kind::ProbeInv), 2U);
  EXPECT_EQ(sent(Kind::ProbeAck), 2U);
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::ProbeAck, 1U)));
  EXPECT_EQ(sent(Kind::DataX), 2U);
  EXPECT_EQ(sent(Kind::Done), 2U);
}

TEST_P(Scenario, 30_AProbeMeetsAPut) {
  load(1, 0, kX);
  n_store(0, 0, kX, 0, 1);
  bench->held = [](const Bench::Channel& channel) {
    return std::get<0>(channel) == 0 && std::get<1>(channel) == Bench::kHome &&
           std::get<2>(channel) == MessageClass::Request;
  };
  evict_block(0);
  EXPECT_EQ(bench->smds[0]->phase_of(0), Phase::P);
  EXPECT_EQ(host_sync(kX)[0], 1U);
  host_store(kX, 0, 7);
  bench->held = [](const Bench::Channel&) { return false; };
  bench->drain();
  EXPECT_EQ(bench->home->stats().stale_puts, 1U);
  EXPECT_EQ(bench->home->stats().bits_merged, 1U);
  EXPECT_EQ(bench->home->stats().bits_dropped, 1U);
  EXPECT_EQ(host_load(kX)[0], 7U);
  EXPECT_TRUE(bench->idle());
}

TEST_P(Scenario, 31_ABlockMakesRoomForAnotherOfItsSet) {
  n_store(0, 0, kX, 0, 1);
  forget_messages();
  load(0, 0, kElsewhere);
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(memory()[0], 1U);
  EXPECT_EQ(states(0, kElsewhere), either("E I/E/E", "E/E"));
  EXPECT_THAT(bench->changed, ElementsAre(std::pair(Kind::Put, 1U)));
  EXPECT_EQ(sent(Kind::Read), 1U);
  EXPECT_EQ(sent(Kind::DataE), 1U);
}

TEST_P(Scenario, 32_ABoundaryPublishesWhatTwoGpusNStored) {
  second();
  forget_messages();
  boundary();
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(states(1), either("I I/I/I", "I/I"));
  EXPECT_EQ(memory(), (Granules{1, 2, 0, 0}));
  EXPECT_EQ(sent(Kind::Publish), 2U);
  EXPECT_EQ(sent(Kind::ProbeInv), 1U);
  EXPECT_EQ(sent(Kind::ProbeAck), 1U);
  EXPECT_EQ(sent(Kind::PutAck), 2U);
  EXPECT_EQ(bench->home->stats().stale_puts, 1U);
  EXPECT_TRUE(bench->idle());
}

TEST_P(Scenario, 33_ABoundaryLeavesAnExclusiveBlockWhereItIs) {
  first();
  forget_messages();
  boundary();
  EXPECT_EQ(states(0), either("I I/E/M", "E/M"));
  EXPECT_EQ(sent_in_all(), 0U);
  EXPECT_EQ(load(1, 0, kX)[0], 1U);
}

TEST_P(Scenario, AReaderOfAMarkedBlockDoesNotMissItsOwnStores) {
  store(0, 0, kX, 1, 9);
  n_store(1, 0, kX, 0, 2);
  evict_block(1);
  ASSERT_TRUE(bench->home->is_marked(0));
  ASSERT_EQ(owner(), 0);
  EXPECT_EQ(load(1, 0, kX)[0], 2U);
}

TEST_P(Scenario, AMarkedBlockIsNotKeptByItsPublisher) {
  n_store(0, 0, kX, 0, 1);
  n_store(1, 0, kY, 0, 2);
  evict_block(0);
  ASSERT_TRUE(bench->home->is_marked(0));
  boundary();
  EXPECT_EQ(load(1, 0, kX)[0], 1U);
  EXPECT_EQ(load(0, 0, kY)[0], 2U);
}

TEST_P(Scenario, AStoreOfNoBytesDropsOldLinesOfItsBlockFromTheLlc) {
  host_load(kY);
  n_store(0, 0, kY, 0, 4);
  host_sync(kX);
  EXPECT_EQ(host_load(kY)[0], 4U);
}

/// A line that is granted alone may be stored to without a word to the home, which could not drop old lines then.
TEST_P(Scenario, TheHostIsNotGrantedALineOfAMarkedBlockAlone) {
  host_load(kY);
  n_store(0, 0, kY, 0, 4);
  evict_block(0);
  ASSERT_TRUE(bench->home->is_marked(0));
  host_load(kX);
  host_store(kX, 0, 1);
  EXPECT_EQ(host_load(kY)[0], 4U);
}

// The last-level cache beside its home: lines are granted side by side, and GPUs wait for them.

TEST_P(Scenario, TheHostGetsLinesOfABlockSideBySide) {
  bench->held = of(Bench::kHome, Bench::kLlc, MessageClass::Response);
  Operation x = access_of(Bench::kHostCore, Event::Load, kX);
  Operation y = access_of(Bench::kHostCore, Event::Load, kY);
  bench->begin(x);
  bench->begin(y);
  bench->drain();
  EXPECT_FALSE(x.done || y.done);
  EXPECT_EQ(bench->home_reads, 2U) << "the second line waits for the first one";
  let_go();
  EXPECT_TRUE(x.done && y.done);
  EXPECT_EQ(llc(kX), 'E');
  EXPECT_EQ(llc(kY), 'E');
}

TEST_P(Scenario, AReaderWaitsForALineThatIsOnItsWayToTheHost) {
  bench->held = of(Bench::kHome, Bench::kLlc, MessageClass::Response);
  Operation of_host = access_of(Bench::kHostCore, Event::Store, kX, 0, 5);
  Operation of_gpu = access_of(bench->core(0, 0), Event::Load, kX);
  bench->begin(of_host);
  bench->drain();
  bench->begin(of_gpu);
  bench->drain();
  EXPECT_FALSE(of_host.done || of_gpu.done);
  let_go();
  EXPECT_EQ(bench->granules(of_gpu.before)[0], 5U);
  EXPECT_EQ(states(0), either("S I/S/S", "S/S"));
  EXPECT_EQ(llc(), 'O');
}

TEST_P(Scenario, AWriterWaitsForALineThatIsOnItsWayToTheHost) {
  bench->held = of(Bench::kHome, Bench::kLlc, MessageClass::Response);
  Operation of_host = access_of(Bench::kHostCore, Event::Load, kY);
  Operation of_gpu = access_of(bench->core(0, 0), Event::Store, kX, 0, 1);
  bench->begin(of_host);
  bench->drain();
  bench->begin(of_gpu);
  bench->drain();
  EXPECT_FALSE(of_host.done || of_gpu.done);
  let_go();
  EXPECT_EQ(states(0), either("M I/E/E", "M/E"));
  EXPECT_EQ(llc(kY), 'I');
  EXPECT_EQ(llc(kX), 'I');
}

/// What waits first is not overtaken by lines that could be granted.
TEST_P(Scenario, LinesOfTheHostDoNotOvertakeAGpu) {
  bench->held = of(Bench::kHome, Bench::kLlc, MessageClass::Response);
  Operation first = access_of(Bench::kHostCore, Event::Load, kX);
  Operation of_gpu = access_of(bench->core(0, 0), Event::Store, kX, 0, 1);
  Operation second = access_of(Bench::kHostCore, Event::Load, kY);
  for (Operation* operation : {&first, &of_gpu, &second}) {
    bench->begin(*operation);
    bench->drain();
  }
  EXPECT_EQ(bench->home_reads, 1U);
  let_go();
  EXPECT_TRUE(first.done && of_gpu.done && second.done);
  EXPECT_EQ(llc(kY), 'S');
  EXPECT_EQ(name_of(bench->smds[0]->state_of(0)), 'O');
}

TEST_P(Scenario, AStoreOfTheHostThatGpusAreAskedForWaitsForLinesOnTheirWay) {
  load(0, 0, kX);
  load(1, 0, kX);
  bench->held = of(Bench::kHome, Bench::kLlc, MessageClass::Response);
  Operation x = access_of(Bench::kHostCore, Event::Load, kX);
  Operation y = access_of(Bench::kHostCore, Event::Store, kY, 0, 3);
  bench->begin(x);
  bench->begin(y);
  forget_messages();
  bench->drain();
  EXPECT_EQ(sent_in_all(), 0U);
  let_go();
  EXPECT_TRUE(x.done && y.done);
  EXPECT_EQ(sent(Kind::ProbeInv), 2U);
  EXPECT_EQ(llc(kX), 'I') << "another line of the block may have changed";
  EXPECT_EQ(llc(kY), 'M');
}

TEST_P(Scenario, AProbeMeetsAPutOfTheHost) {
  host_store(kX, 0, 5);
  bench->held = of(Bench::kLlc, Bench::kHome, MessageClass::Request);
  bench->llc->evict(kX);
  EXPECT_EQ(bench->llc->phase_of(kX), Phase::P);
  EXPECT_EQ(load(0, 0, kX)[0], 5U);
  store(0, 0, kX, 0, 6);
  let_go();
  EXPECT_EQ(bench->home->stats().stale_puts, 1U);
  EXPECT_EQ(load(0, 0, kX)[0], 6U);
  // The next Put of the line counts.
  host_store(kX, 1, 7);
  bench->llc->evict(kX);
  bench->drain();
  EXPECT_EQ(memory(), (Granules{6, 7, 0, 0}));
  EXPECT_EQ(bench->home->stats().stale_puts, 1U);
}

TEST_P(Scenario, ACopyInNSendsNothingAlsoWhereAnySharerSupplies) {
  BenchOptions options;
  options.gpus = 3;
  options.l1s = write_back() ? 2 : 0;
  options.supplier = Supplier::AnySharer;
  bench = std::make_unique<Bench>(options);
  load(0, 0, kX);
  load(1, 0, kX);
  n_store(0, 0, kX, 0, 1);
  evict_l1(0, 0, kX);
  evict_l2(0, kX);
  ASSERT_EQ(states(0), either("I I/I/N", "I/N"));
  forget_messages();
  EXPECT_EQ(load(2, 0, kX)[0], 0U);
  EXPECT_EQ(sent(Kind::FwdRead), 1U);
  EXPECT_EQ(sent(Kind::PeerData), 0U);
  EXPECT_EQ(sent(Kind::DataS), 1U);
}

/// The home has acknowledged with Keep, and asks for the copy: the stack has to get its lines back from the L2 first.
TEST_P(Scenario, AnAcknowledgementMeetsAProbeOfWhatWasPublished) {
  store(1, 0, kY, 0, 1);
  load(0, 0, kX);
  n_store(0, 0, kX, 0, 2);
  evict_block(1);
  for (const auto& l1 : bench->l1s) l1->evict_all();
  bench->drain();
  bench->l2s[0]->publish_all();
  bench->drain();
  ASSERT_EQ(states(0), either("I I/S/N", "S/N"));
  const auto acknowledgement = of(Bench::kHome, 0, MessageClass::Response);
  const auto of_l2 = of(Bench::kL2, 0, MessageClass::Response);
  bench->held = [=](const Bench::Channel& channel) { return acknowledgement(channel) || of_l2(channel); };
  bench->smds[0]->publish_all();
  bench->drain();
  Operation of_host = access_of(Bench::kHostCore, Event::Load, kX);
  bench->begin(of_host);
  bench->drain();
  bench->held = of_l2;
  bench->drain();
  let_go();
  EXPECT_EQ(bench->granules(of_host.before)[0], 2U);
  EXPECT_EQ(states(0), either("I I/I/I", "I/I"));
  EXPECT_EQ(load(0, 0, kX)[0], 2U);
  EXPECT_TRUE(bench->idle());
}

TEST_P(Scenario, APeerThatSuppliesSparesTheHostsMemory) {
  for (const Supplier supplier : {Supplier::Owner, Supplier::AnySharer}) {
    BenchOptions options;
    options.gpus = 3;
    options.l1s = write_back() ? 2 : 0;
    options.supplier = supplier;
    bench = std::make_unique<Bench>(options);
    store(0, 0, kX, 0, 1);
    const unsigned before = bench->home_reads;
    load(1, 0, kX);
    load(2, 0, kX);
    EXPECT_EQ(bench->home_reads, before);
    EXPECT_EQ(bench->home->stats().peer_transfers, 2U);
  }
}

INSTANTIATE_TEST_SUITE_P(Nmoesi, Scenario, ::testing::Values(L1s::WriteBack, L1s::WriteThrough),
                         [](const auto& of) { return of.param == L1s::WriteBack ? "WriteBack" : "WriteThrough"; });

}  // namespace
}  // namespace nearfar::nmoesi_scenarios_test
