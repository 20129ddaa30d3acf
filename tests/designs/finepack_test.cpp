// The remote write queue of FinePack, worked by hand to the byte and against a plain model on random stores; other
// queues at the egress; and whole machines with them, under the oracles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <pcg_random.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/error.h"
#include "designs/config_packet/config_packet_queue.h"
#include "designs/design.h"
#include "designs/finepack/remote_write_queue.h"
#include "designs/write_combining/combining_queue.h"
#include "machine/script.h"

namespace nearfar::finepack_test {
namespace {

using testing::HasSubstr;

constexpr unsigned kLine = 128;

std::unique_ptr<PacketFormat> pcie(bool ecrc = true) {
  LinkSpec link;
  link.format = LinkFormat::Pcie4;
  link.pcie.ecrc = ecrc;
  return make_packet_format(link, kLine);
}

PhysLine line_at(std::uint64_t address) {
  return PhysLine{PhysPage{DeviceId{1}, address / kPageBytes}, static_cast<unsigned>(address % kPageBytes / kLine)};
}

/// A store of bytes that lie in one line.
LineStore store_at(std::uint64_t address, unsigned bytes) {
  return {line_at(address), ByteMask::range(static_cast<unsigned>(address % kLine), bytes), 0};
}

// ------------------------------------------------------------------------------------------------------- by hand

/// One packet: why it left, the program's stores, lines, pieces and bytes in it, its payload, and what it takes.
struct Packet {
  FlushCause cause;
  std::uint32_t stores;
  std::size_t lines;
  std::uint32_t pieces;
  std::uint32_t data;
  std::uint32_t wire;
  bool operator==(const Packet&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Packet& packet) {
  return out << "{cause " << static_cast<int>(packet.cause) << ", " << packet.stores << " stores, " << packet.lines
             << " lines, " << packet.pieces << " pieces, " << packet.data << " B, " << packet.wire << " on the wire}";
}

Packet packet_of(const StoreBatch& batch) {
  return {batch.cause, batch.stores, batch.lines.size(), batch.pieces, batch.data_bytes, batch.wire.bytes};
}

/// A queue, and what has left it.
template <class Queue, class Spec, class Stats>
class Bench {
 public:
  explicit Bench(const Spec& spec = {}, bool ecrc = true) : format_(pcie(ecrc)), queue(spec, *format_, kLine, stats) {}

  void store(std::uint64_t address, unsigned bytes) { store(store_at(address, bytes)); }
  void store(const LineStore& store) {
    raw += format_->store(store.mask).bytes;
    queue.store(store, batches);
    collect();
  }
  void load(std::uint64_t address) {
    queue.before_load(line_at(address), batches);
    collect();
  }
  void atomic(std::uint64_t address) {
    queue.before_atomic(line_at(address), batches);
    collect();
  }
  void flush(FlushCause cause = FlushCause::Release) {
    queue.flush(cause, batches);
    collect();
  }
  std::uint32_t wire() const {
    std::uint32_t sum = 0;
    for (const Packet& packet : packets) sum += packet.wire;
    return sum;
  }

 private:
  void collect() {
    for (StoreBatch* batch : batches.ready()) {
      packets.push_back(packet_of(*batch));
      batches.recycle(*batch);
    }
    batches.ready().clear();
  }
  std::unique_ptr<PacketFormat> format_;

 public:
  Stats stats;
  StoreBatches batches;
  Queue queue;
  std::vector<Packet> packets;
  std::uint32_t raw = 0;
};

using FinePack = Bench<RemoteWriteQueue, RemoteWriteQueueSpec, RemoteWriteQueueStats>;
using ConfigPacket = Bench<ConfigPacketQueue, RemoteWriteQueueSpec, RemoteWriteQueueStats>;
using Combining = Bench<CombiningQueue, CombiningSpec, CombiningStats>;

struct Piece {
  std::uint64_t address;
  unsigned bytes;
};

/// `count` stores, `apart` bytes apart.
std::vector<Piece> row(unsigned count, std::uint64_t apart, unsigned bytes) {
  std::vector<Piece> pieces;
  for (unsigned i = 0; i < count; ++i) pieces.push_back({i * apart, bytes});
  return pieces;
}

std::vector<Piece> operator+(std::vector<Piece> one, const std::vector<Piece>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

RemoteWriteQueueSpec with_subheader(std::uint32_t bytes) {
  RemoteWriteQueueSpec spec;
  spec.subheader = bytes;
  return spec;
}

RemoteWriteQueueSpec with_payload(Bytes bytes) {
  RemoteWriteQueueSpec spec;
  spec.max_payload = bytes;
  return spec;
}

struct Scenario {
  unsigned number;
  std::string what;
  std::vector<Piece> stores;
  RemoteWriteQueueSpec spec;
  std::uint32_t available;  ///< before the release
  std::vector<Packet> packets;
  std::uint32_t raw;  ///< bytes of the same stores without a queue
};

std::vector<Scenario> scenarios() {
  using enum FlushCause;
  const RemoteWriteQueueSpec usual;
  return {
      {1, "one", {{0, 4}}, usual, 4087, {{Release, 1, 1, 1, 4, 40}}, 32},
      {2, "the same twice", {{0, 4}, {0, 4}}, usual, 4087, {{Release, 2, 1, 1, 4, 40}}, 64},
      {3, "side by side", {{0, 4}, {4, 4}}, usual, 4083, {{Release, 2, 1, 1, 8, 44}}, 64},
      {4, "a gap", {{0, 4}, {8, 4}}, usual, 4078, {{Release, 2, 1, 2, 8, 48}}, 64},
      {5, "a gap filled", {{0, 4}, {8, 4}, {4, 4}}, usual, 4079, {{Release, 3, 1, 1, 12, 48}}, 96},
      {6, "overlapping", {{0, 8}, {4, 8}}, usual, 4079, {{Release, 2, 1, 1, 12, 48}}, 72},
      {7, "inside", {{0, 16}, {4, 4}}, usual, 4075, {{Release, 2, 1, 1, 16, 52}}, 76},
      {8, "42 lines", row(42, 128, 8), usual, 3550, {{Release, 42, 42, 42, 336, 576}}, 1512},
      {9, "64 lines", row(64, 128, 4), usual, 3520, {{Release, 64, 64, 64, 256, 604}}, 2048},
      {10,
       "65 lines",
       row(65, 128, 4),
       usual,
       4087,
       {{Entries, 64, 64, 64, 256, 604}, {Release, 1, 1, 1, 4, 40}},
       2080},
      {11,
       "31 whole lines",
       row(31, 128, 128),
       usual,
       3963,
       {{Payload, 30, 30, 30, 3840, 4020}, {Release, 1, 1, 1, 128, 164}},
       4836},
      {12,
       "fits exactly",
       row(30, 128, 128) + std::vector<Piece>{{3840, 101}},
       usual,
       0,
       {{Release, 31, 31, 31, 3941, 4124}},
       4812},
      {13,
       "would merge, but is tested first",
       row(30, 128, 128) + std::vector<Piece>{{3840, 101}, {0, 4}},
       usual,
       4087,
       {{Payload, 31, 31, 31, 3941, 4124}, {Release, 1, 1, 1, 4, 40}},
       4844},
      {14,
       "two windows",
       {{0x3FFFFFFC, 4}, {0x40000000, 4}},
       usual,
       4087,
       {{Window, 1, 1, 1, 4, 40}, {Release, 1, 1, 1, 4, 40}},
       64},
      {15,
       "windows of 4 MiB",
       {{0x3FFFFC, 4}, {0x400000, 4}},
       with_subheader(4),
       4088,
       {{Window, 1, 1, 1, 4, 36}, {Release, 1, 1, 1, 4, 36}},
       64},
      {15, "the same in one of 1 GiB", {{0x3FFFFC, 4}, {0x400000, 4}}, usual, 4078, {{Release, 2, 2, 2, 8, 48}}, 64},
      {16,
       "a line of two windows",
       {{0, 128}},
       with_subheader(2),
       4030,
       {{Window, 1, 1, 1, 64, 96}, {Release, 1, 1, 1, 64, 96}},
       156},
      {17,
       "windows of 64 B",
       {{0, 4}, {32, 4}, {64, 4}},
       with_subheader(2),
       4090,
       {{Window, 2, 1, 2, 8, 40}, {Release, 1, 1, 1, 4, 36}},
       96},
      {18,
       "windows that take turns",
       {{0, 4}, {16384, 4}, {0, 4}},
       with_subheader(3),
       4089,
       {{Window, 1, 1, 1, 4, 36}, {Window, 1, 1, 1, 4, 36}, {Release, 1, 1, 1, 4, 36}},
       96},
      {19,
       "a window of 256 GiB",
       {{0, 4}, {std::uint64_t{1} << 30, 4}},
       with_subheader(6),
       4076,
       {{Release, 2, 2, 2, 8, 48}},
       64},
      {20, "single bytes", row(64, 2, 1), usual, 3712, {{Release, 64, 1, 64, 64, 412}}, 2048},
      {21, "a line in 32 stores", row(32, 4, 4), usual, 3963, {{Release, 32, 1, 1, 128, 164}}, 1024},
      {22, "16 lines in 256 stores", row(256, 8, 8), usual, 1968, {{Release, 256, 16, 16, 2048, 2156}}, 9216},
      {23, "unaligned", {{3, 6}}, usual, 4085, {{Release, 1, 1, 1, 6, 40}}, 40},
      {24, "a vector over two lines", {{120, 8}, {128, 8}}, usual, 4070, {{Release, 2, 2, 2, 16, 56}}, 72},
      {25,
       "a payload of 256",
       row(3, 128, 128),
       with_payload(256),
       123,
       {{Payload, 1, 1, 1, 128, 164}, {Payload, 1, 1, 1, 128, 164}, {Release, 1, 1, 1, 128, 164}},
       468},
      {26,
       "a payload of 256, small ones",
       row(20, 128, 8),
       with_payload(256),
       243,
       {{Payload, 19, 19, 19, 152, 276}, {Release, 1, 1, 1, 8, 44}},
       720},
      {27, "too large for a packet", {{0, 128}}, with_payload(128), 128, {{Bypass, 1, 1, 0, 128, 156}}, 156},
      {50, "sub-headers of 3", row(64, 128, 4), with_subheader(3), 3648, {{Release, 64, 64, 64, 256, 476}}, 2048},
      {50, "sub-headers of 4", row(64, 128, 4), with_subheader(4), 3584, {{Release, 64, 64, 64, 256, 540}}, 2048},
      {50, "sub-headers of 6", row(64, 128, 4), with_subheader(6), 3456, {{Release, 64, 64, 64, 256, 668}}, 2048},
  };
}

class RemoteWriteQueueScenario : public testing::TestWithParam<Scenario> {};
INSTANTIATE_TEST_SUITE_P(Scenario, RemoteWriteQueueScenario, testing::ValuesIn(scenarios()), [](const auto& scenario) {
  std::string name = std::to_string(scenario.param.number) + "_" + scenario.param.what;
  std::erase(name, ',');
  std::ranges::replace(name, ' ', '_');
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(RemoteWriteQueueScenario, PacksToTheByte) {
  const Scenario& scenario = GetParam();
  FinePack bench(scenario.spec);
  for (const Piece& piece : scenario.stores) bench.store(piece.address, piece.bytes);
  EXPECT_EQ(bench.queue.available(), scenario.available);
  bench.flush();
  EXPECT_EQ(bench.packets, scenario.packets);
  EXPECT_EQ(bench.raw, scenario.raw);
  EXPECT_TRUE(bench.queue.empty());
  EXPECT_EQ(bench.queue.base(), RemoteWriteQueue::kNoBase);
  bench.flush();
  EXPECT_EQ(bench.packets, scenario.packets);  // nothing was left
}

TEST(RemoteWriteQueue, Scenario5CanGainRoomByAStore) {
  FinePack bench;
  std::vector<std::uint32_t> available;
  for (const std::uint64_t address : {0, 8, 4}) {
    bench.store(address, 4);
    available.push_back(bench.queue.available());
  }
  EXPECT_EQ(available, (std::vector<std::uint32_t>{4087, 4078, 4079}));
}

TEST(RemoteWriteQueue, Scenarios52And53KeepHolesOfOneStore) {
  const LineStore holes{line_at(0), ByteMask::range(0, 4) | ByteMask::range(64, 4), 0};
  for (const std::uint32_t times : {1U, 2U}) {
    FinePack bench;
    for (std::uint32_t i = 0; i < times; ++i) bench.store(holes);
    EXPECT_EQ(bench.queue.available(), 4078U);
    bench.flush();
    EXPECT_EQ(bench.packets, (std::vector<Packet>{{FlushCause::Release, times, 1, 2, 8, 48}}));
    EXPECT_EQ(bench.raw, times * 64);
  }
}

TEST(RemoteWriteQueue, Scenario28SendsTheLineOfAnAtomicAlone) {
  FinePack bench;
  bench.store(0, 4);
  bench.store(128, 4);
  bench.atomic(256);  // not held
  EXPECT_TRUE(bench.packets.empty());
  bench.atomic(64);  // in line 0
  EXPECT_EQ(bench.queue.available(), 4087U);
  bench.flush();
  EXPECT_EQ(bench.packets,
            (std::vector<Packet>{{FlushCause::Atomic, 1, 1, 1, 4, 40}, {FlushCause::Release, 1, 1, 1, 4, 40}}));
}

TEST(RemoteWriteQueue, Scenario29SendsAllForALoadOfALineThatItHolds) {
  FinePack bench;
  bench.store(0, 4);
  bench.store(128, 4);
  bench.load(256);
  EXPECT_TRUE(bench.packets.empty());
  bench.load(0);
  EXPECT_EQ(bench.packets, (std::vector<Packet>{{FlushCause::Load, 2, 2, 2, 8, 48}}));
  EXPECT_EQ(bench.queue.available(), 4096U);

  RemoteWriteQueueSpec spec;
  spec.load_flush = LoadFlush::Entry;
  FinePack single(spec);
  single.store(0, 4);
  single.store(128, 4);
  single.load(0);
  EXPECT_EQ(single.packets, (std::vector<Packet>{{FlushCause::Load, 1, 1, 1, 4, 40}}));
  EXPECT_EQ(single.queue.entries(), 1U);
}

TEST(RemoteWriteQueue, Scenario51CostsLessWithoutEcrc) {
  FinePack bench({}, false);
  for (const Piece& piece : row(42, 128, 8)) bench.store(piece.address, piece.bytes);
  bench.flush();
  EXPECT_EQ(bench.wire(), 572U);
  EXPECT_EQ(bench.raw, 1344U);
}

TEST(RemoteWriteQueue, CountsWhatIsOverwritten) {
  FinePack bench;
  bench.store(0, 8);
  bench.store(4, 8);
  bench.flush();
  EXPECT_EQ(bench.stats.merged_stores, 1U);
  EXPECT_EQ(bench.stats.merged_bytes, 4U);
  EXPECT_EQ(bench.stats.payload_bytes, 17U);
}

TEST(ConfigPacketQueue, Scenarios34And35TellAWindowOnce) {
  ConfigPacket one;
  for (const Piece& piece : row(42, 128, 8)) one.store(piece.address, piece.bytes);
  one.flush();
  EXPECT_EQ(one.wire(), 28U + 42 * (10 + 5 + 8));
  ConfigPacket twice;
  for (unsigned flushes = 0; flushes < 2; ++flushes) {
    for (const Piece& piece : row(10, 128, 4)) twice.store(piece.address, piece.bytes);
    twice.flush();
  }
  EXPECT_EQ(twice.wire(), 28U + 2 * 10 * 19);
  EXPECT_EQ(twice.stats.configurations, 1U);
}

TEST(CombiningQueue, Scenarios31To33SendPlainWrites) {
  Combining gap;
  gap.store(0, 4);
  gap.store(8, 4);
  gap.flush();
  EXPECT_EQ(gap.wire(), 64U);
  Combining line;
  for (const Piece& piece : row(32, 4, 4)) line.store(piece.address, piece.bytes);
  line.flush();
  EXPECT_EQ(line.wire(), 156U);
  Combining full;
  for (const Piece& piece : row(65, 128, 4)) full.store(piece.address, piece.bytes);
  EXPECT_EQ(full.packets.size(), 1U);
  full.store(0, 4);
  EXPECT_EQ(full.packets.size(), 2U);
  full.flush();
  EXPECT_EQ(full.wire(), 66U * 32);
  EXPECT_EQ(full.stats.evictions, 2U);
}

TEST(CombiningQueue, SendsWholeLinesWithTheirMasks) {
  CombiningSpec spec;
  spec.payload = CombinedPayload::MaskedLine;
  Combining one(spec);
  one.store(0, 4);
  one.flush();
  EXPECT_EQ(one.wire(), 172U);
  Combining line(spec);
  for (const Piece& piece : row(32, 4, 4)) line.store(piece.address, piece.bytes);
  line.flush();
  EXPECT_EQ(line.wire(), 172U);
}

// --------------------------------------------------------------------------------------------------- a plain model

/// What a partition holds, byte by byte, by the rules as they are published; and what memory comes to hold.
class PlainModel {
 public:
  explicit PlainModel(const RemoteWriteQueueSpec& spec) : spec_(spec) {}

  void store(const LineStore& store) {
    const std::uint64_t window = std::uint64_t{1} << spec_.offset_bits();
    for (std::uint64_t from = 0; from < kLine; from += window) {
      std::vector<unsigned> bytes;
      for (unsigned b = 0; b < kLine; ++b) {
        if (b >= from && b - from < window && store.mask.test(b)) bytes.push_back(b);
      }
      if (!bytes.empty()) insert(store.line, bytes);
      if (window >= kLine) break;
    }
  }
  void flush(FlushCause cause) {
    if (held_.empty()) return;
    Packet packet{cause, stores_, held_.size(), 0, 0, 0};
    for (const auto& [line, bytes] : held_) count(bytes, packet);
    packet.wire = (28 + packet.data + spec_.subheader * packet.pieces + 3) / 4 * 4;
    packets.push_back(packet);
    held_.clear();
    stores_ = 0;
  }
  std::uint32_t available() const {
    Packet all{};
    for (const auto& [line, bytes] : held_) count(bytes, all);
    return payload() - all.data - spec_.subheader * all.pieces;
  }
  bool holds(PhysLine line) const { return find(line) != held_.size(); }

  std::vector<Packet> packets;

 private:
  using LineBytes = std::array<bool, kLine>;

  std::uint32_t payload() const { return static_cast<std::uint32_t>(spec_.max_payload); }
  static void count(const LineBytes& bytes, Packet& packet) {
    for (unsigned b = 0; b < kLine; ++b) {
      packet.data += bytes[b] ? 1 : 0;
      packet.pieces += bytes[b] && (b == 0 || !bytes[b - 1]) ? 1 : 0;
    }
  }
  std::size_t find(PhysLine line) const {
    std::size_t i = 0;
    while (i < held_.size() && held_[i].first != line) ++i;
    return i;
  }
  void insert(PhysLine line, const std::vector<unsigned>& bytes) {
    LineBytes mask{};
    for (const unsigned b : bytes) mask[b] = true;
    Packet need{};
    count(mask, need);
    const std::uint32_t cost = need.data + spec_.subheader * need.pieces;
    if (cost > payload()) {
      flush(FlushCause::Bypass);
      std::uint32_t wire = 0;
      for (unsigned b = 0; b < kLine;) {
        unsigned end = b;
        while (end < kLine && mask[end]) ++end;
        if (end > b) wire += 28 + ((end + 3) / 4 - b / 4) * 4;
        b = end + 1;
      }
      packets.push_back({FlushCause::Bypass, 1, 1, 0, need.data, wire});
      return;
    }
    const std::uint64_t window =
        (line.page().frame() * kPageBytes + line.index() * kLine + bytes.front()) >> spec_.offset_bits();
    if (!held_.empty() && window != window_) {
      flush(FlushCause::Window);
    } else if (cost > available()) {
      flush(FlushCause::Payload);
    }
    if (find(line) == held_.size() && held_.size() == spec_.entries) flush(FlushCause::Entries);
    window_ = window;
    if (find(line) == held_.size()) held_.push_back({line, {}});
    for (const unsigned b : bytes) held_[find(line)].second[b] = true;
    ++stores_;
  }

  RemoteWriteQueueSpec spec_;
  std::vector<std::pair<PhysLine, LineBytes>> held_;
  std::uint64_t window_ = 0;
  std::uint32_t stores_ = 0;
};

/// Follows every store to the memory that it is written to: byte by byte, the number of the last store there.
class Memory final : public StoreWatch {
 public:
  /// A store begins; its record.
  std::uint32_t begin(const LineStore& store) {
    stores_.push_back({store.mask, {}, static_cast<std::uint32_t>(stores_.size() + 1)});
    expect(store);
    return static_cast<std::uint32_t>(stores_.size());
  }
  void merged(PhysLine, std::uint32_t into, std::uint32_t added) override { stores_[into - 1].joined.push_back(added); }
  std::uint32_t cut(PhysLine, std::uint32_t record, const ByteMask& piece) override {
    stores_[record - 1].mask = stores_[record - 1].mask.without(piece);
    stores_.push_back({piece, {}, stores_[record - 1].number});
    return static_cast<std::uint32_t>(stores_.size());
  }
  void write(const LineStore& line) {
    ByteMask covered;
    const auto apply = [&](const Store& store) {
      for (unsigned b = 0; b < kLine; ++b) {
        if (!store.mask.test(b)) continue;
        std::uint32_t& byte = written[{line.line.value, b}];
        EXPECT_LE(byte, store.number) << "a value comes behind a later one";
        byte = store.number;
      }
      covered = covered | store.mask;
    };
    apply(stores_[line.record - 1]);
    for (const std::uint32_t joined : stores_[line.record - 1].joined) apply(stores_[joined - 1]);
    EXPECT_EQ(covered, line.mask);
  }

  std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t> written;
  std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t> expected;

 private:
  struct Store {
    ByteMask mask;
    std::vector<std::uint32_t> joined;
    std::uint32_t number;
  };
  void expect(const LineStore& store) {
    for (unsigned b = 0; b < kLine; ++b) {
      if (store.mask.test(b)) expected[{store.line.value, b}] = static_cast<std::uint32_t>(stores_.size());
    }
  }
  std::vector<Store> stores_;
};

LineStore random_store(pcg32& random, unsigned lines, std::uint64_t apart) {
  LineStore store{line_at(random() % lines * apart), {}, 0};
  const unsigned runs = 1 + random() % 3;
  for (unsigned i = 0; i < runs; ++i) {
    const unsigned first = random() % kLine;
    const unsigned bytes = random() % 4 == 0 ? kLine - first : 1 + random() % std::min(16U, kLine - first);
    store.mask = store.mask | ByteMask::range(first, bytes);
  }
  return store;
}

TEST(RemoteWriteQueue, IsThePlainModelOnRandomStores) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    pcg32 random(seed);
    RemoteWriteQueueSpec spec;
    spec.entries = 1 + random() % 8;
    spec.subheader = 2 + random() % 5;
    spec.max_payload = std::array<Bytes, 4>{64, 160, 512, 4096}[random() % 4];
    const std::uint64_t apart = std::array<std::uint64_t, 3>{128, 8192, 1 << 21}[random() % 3];
    const unsigned lines = 2 + random() % 10;
    SCOPED_TRACE(seed);
    const auto format = pcie();
    RemoteWriteQueueStats stats;
    RemoteWriteQueue queue(spec, *format, kLine, stats);
    PlainModel model(spec);
    Memory memory;
    queue.set_watch(&memory);
    StoreBatches batches;
    std::vector<Packet> packets;
    const auto collect = [&] {
      for (StoreBatch* batch : batches.ready()) {
        packets.push_back(packet_of(*batch));
        for (const LineStore& line : batch->lines) memory.write(line);
        batches.recycle(*batch);
      }
      batches.ready().clear();
    };
    for (unsigned step = 0; step < 400; ++step) {
      LineStore store = random_store(random, lines, apart);
      if (random() % 50 == 0) {
        queue.flush(FlushCause::Release, batches);
        model.flush(FlushCause::Release);
        collect();
        EXPECT_EQ(memory.written, memory.expected);
      } else if (random() % 30 == 0) {
        if (model.holds(store.line)) model.flush(FlushCause::Load);
        queue.before_load(store.line, batches);
      } else {
        store.record = memory.begin(store);
        queue.store(store, batches);
        model.store(store);
      }
      collect();
      ASSERT_EQ(packets, model.packets) << step;
      ASSERT_EQ(queue.available(), model.available()) << step;
      ASSERT_EQ(queue.empty(), queue.available() == spec.max_payload) << step;
      ASSERT_EQ(queue.empty(), queue.base() == RemoteWriteQueue::kNoBase) << step;
    }
    queue.flush(FlushCause::Kernel, batches);
    collect();
    EXPECT_EQ(memory.written, memory.expected);
  }
}

TEST(CombiningQueue, LeavesTheSameMemoryOnRandomStores) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    pcg32 random(seed);
    CombiningSpec spec;
    spec.entries = 1 + random() % 8;
    const auto format = pcie();
    CombiningStats stats;
    CombiningQueue queue(spec, *format, kLine, stats);
    Memory memory;
    queue.set_watch(&memory);
    StoreBatches batches;
    std::uint64_t sent = 0;
    for (unsigned step = 0; step < 400; ++step) {
      LineStore store = random_store(random, 12, 128);
      if (random() % 40 == 0) {
        queue.before_atomic(store.line, batches);
      } else {
        store.record = memory.begin(store);
        queue.store(store, batches);
      }
      if (step == 399) queue.flush(FlushCause::Release, batches);
      for (StoreBatch* batch : batches.ready()) {
        for (const LineStore& line : batch->lines) memory.write(line);
        sent += batch->stores;
        batches.recycle(*batch);
      }
      batches.ready().clear();
      ASSERT_LE(queue.entries(), spec.entries);
    }
    EXPECT_EQ(memory.written, memory.expected);
    EXPECT_EQ(sent, stats.stores);
  }
}

// -------------------------------------------------------------------------------------------------- whole machines

using Names = std::vector<std::string>;

SystemSpec machine(const Names& designs, Names overrides = {}, const std::string& system = "finepack-4gpu") {
  overrides.insert(overrides.begin(), {"gpus=2", "gpu.shader_arrays=1"});
  return load_system_with(designs, system, overrides).spec;
}

/// What one wavefront on each GPU does, by launches; GPU g has half g of a buffer.
struct Program {
  using Kernel = std::function<Stream(VirtAddr own, VirtAddr other)>;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << 16;

  std::shared_ptr<Script> script = std::make_shared<Script>();
  VirtAddr base = script->buffer(2 * kHalf, Placement::Distribute);

  void launch(Kernel on_first, Kernel on_second) {
    const VirtAddr first = base;
    const VirtAddr second = base + kHalf;
    script->launch(groups_of(2, 32, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      return wave.group_x == 0 ? on_first(first, second) : on_second(second, first);
    });
  }
};

Stream nothing(VirtAddr, VirtAddr) { co_return; }

/// `count` stores of one lane, one after another.
Program::Kernel stores(unsigned count, std::uint64_t apart, unsigned bytes) {
  return [=](VirtAddr, VirtAddr other) {
    return [](VirtAddr at, unsigned n, std::uint64_t step, unsigned width) -> Stream {
      for (unsigned i = 0; i < n; ++i) {
        co_yield store(width, [=](unsigned lane) { return lane == 0 ? at + i * step : kIdle; });
      }
    }(other, count, apart, bytes);
  };
}

Program::Kernel loads(unsigned times, unsigned bytes) {
  return [=](VirtAddr own, VirtAddr) {
    return [](VirtAddr at, unsigned n, unsigned width) -> Stream {
      for (unsigned i = 0; i < n; ++i) {
        co_yield load(width, [=](unsigned lane) { return lane == 0 ? at : kIdle; });
        co_yield wait(0);
      }
    }(own, times, bytes);
  };
}

Program::Kernel own_stores(unsigned bytes) {
  return [=](VirtAddr own, VirtAddr) {
    return [](VirtAddr at, unsigned width) -> Stream {
      co_yield store(width, [=](unsigned lane) { return lane == 0 ? at : kIdle; });
    }(own, bytes);
  };
}

std::uint64_t wire(const Outcome& run) { return run.count("gpus.egress.wire_bytes"); }

TEST(EgressMachine, SendsWhatTheQueueSays) {
  Program program;
  program.launch(stores(42, 128, 8), nothing);
  EXPECT_EQ(wire(simulate(machine({}), {program.script})), 1512U);
  EXPECT_EQ(wire(simulate(machine({"write-combining"}), {program.script})), 1512U);
  EXPECT_EQ(wire(simulate(machine({"config-packet"}), {program.script})), 994U);
  EXPECT_EQ(wire(simulate(machine({"gps"}), {program.script})), 42U * 172);
  const Outcome packed = simulate(machine({"finepack"}), {program.script});
  EXPECT_EQ(wire(packed), 576U);
  EXPECT_EQ(packed.count("gpu0.finepack.flushes_kernel"), 1U);
  EXPECT_EQ(packed.count("gpu0.finepack.stores"), 42U);
  EXPECT_EQ(packed.count("gpu1.ingress.unpacked_pieces"), 42U);
}

TEST(EgressMachine, Scenarios41And43And44KnowWhichBytesAreOfUse) {
  const auto expect = [](const Outcome& run, std::uint64_t useful, std::uint64_t wasted) {
    EXPECT_EQ(run.count("gpus.egress.useful_bytes"), useful);
    EXPECT_EQ(run.count("gpus.egress.wasted_bytes"), wasted);
    EXPECT_EQ(run.count("gpus.egress.protocol_bytes"), wire(run) - useful - wasted);
  };
  Program twice;  // stored twice, read once
  twice.launch(stores(2, 0, 4), nothing);
  twice.launch(nothing, loads(1, 4));
  const Outcome raw = simulate(machine({}), {twice.script});
  EXPECT_EQ(wire(raw), 64U);
  expect(raw, 4, 4);
  const Outcome packed = simulate(machine({"finepack"}), {twice.script});
  EXPECT_EQ(wire(packed), 40U);
  expect(packed, 4, 0);

  Program late;  // brought in one kernel and again in the next, then read three times
  late.launch(stores(1, 0, 4), nothing);
  late.launch(stores(1, 0, 4), nothing);
  late.launch(nothing, loads(3, 4));
  expect(simulate(machine({"finepack"}), {late.script}), 4, 4);

  Program lost;  // overwritten by its owner
  lost.launch(stores(1, 0, 4), nothing);
  lost.launch(nothing, own_stores(4));
  lost.launch(nothing, loads(1, 4));
  expect(simulate(machine({"finepack"}), {lost.script}), 0, 4);
}

/// Every lane of a wavefront of 32 has 16 bytes, `times` over.
template <class Access>
Program::Kernel rows_of_own(std::uint64_t offset, unsigned times, Access access) {
  return [=](VirtAddr own, VirtAddr) {
    return [](VirtAddr at, unsigned n, Access what) -> Stream {
      for (unsigned i = 0; i < n; ++i) {
        co_yield what(16, [=](unsigned lane) { return at + 512 * std::uint64_t{i} + 16 * std::uint64_t{lane}; });
        co_yield wait(0);
      }
    }(own + offset, times, access);
  };
}

TEST(EgressMachine, Scenario42KnowsWhichCopiedBytesAreOfUse) {
  const auto stores_lanes = [](unsigned bytes, auto lanes) { return store(bytes, lanes); };
  const auto loads_lanes = [](unsigned bytes, auto lanes) { return load(bytes, lanes); };
  Program program;
  const auto copy = [&] {
    program.script->add_copy({.from = program.base, .to = program.base + Program::kHalf, .bytes = 4096});
  };
  const auto expect = [&](std::uint64_t useful, std::uint64_t wasted, std::uint64_t chunks) {
    const Outcome run = simulate(machine({}), {program.script});
    EXPECT_EQ(run.count("gpu1.copy.useful_bytes"), useful);
    EXPECT_EQ(run.count("gpu1.copy.wasted_bytes"), wasted);
    EXPECT_EQ(run.count("gpu0.copy.data_bytes"), chunks * 4096);
    EXPECT_EQ(run.count("gpu0.copy.protocol_bytes"), chunks * 28);
    EXPECT_EQ(run.count("gpu0.link.copy_bytes"), chunks * 4124);
    EXPECT_EQ(run.count("gpu1.copy.protocol_bytes"), run.count("gpu1.link.copy_bytes"));  // it says when it has them
    EXPECT_EQ(run.count("host.copy.protocol_bytes"), run.count("host.link.copy_bytes"));  // it asks for them
  };
  program.launch(rows_of_own(0, 2, stores_lanes), nothing);  // a quarter of what is copied has changed
  copy();
  expect(0, 4096, 1);
  program.launch(nothing, rows_of_own(512, 2, loads_lanes));  // read: half of that, and as much of what has not
  expect(512, 3584, 1);
  copy();  // nothing has changed: all is wasted, and so is what was fresh
  program.launch(nothing, rows_of_own(0, 2, loads_lanes));
  expect(512, 3584 + 4096, 2);
  program.launch(rows_of_own(0, 1, stores_lanes), nothing);
  copy();
  program.launch(nothing, rows_of_own(0, 1, stores_lanes));  // overwritten by its owner
  program.launch(nothing, rows_of_own(0, 1, loads_lanes));
  expect(512, 3584 + 2 * 4096, 3);
}

/// GPU 0 stores to the parts of some of the other three GPUs, `stores` times `bytes` side by side to each.
std::shared_ptr<Script> stores_to(const std::vector<unsigned>& peers, unsigned stores, unsigned bytes) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Distribute);
  script->launch(groups_of(1, 32), [=](const Script&, const Wave&) {
    return [](VirtAddr at, std::vector<unsigned> to, unsigned count, unsigned width) -> Stream {
      for (unsigned i = 0; i < count; ++i) {
        for (const unsigned gpu : to) {
          co_yield store(width, [=](unsigned lane) {
            return lane == 0 ? at + (gpu * kPageBytes + i * std::uint64_t{width}) : kIdle;
          });
        }
      }
    }(base, peers, stores, bytes);
  });
  return script;
}

/// What GPU 0 sent to each of the others.
std::vector<std::uint64_t> sent_to_peers(const Names& designs, std::shared_ptr<const Workload> program) {
  RunRequest request;
  request.system = machine(designs, {"gpus=4"});
  request.applications = {std::move(program)};
  request.check = request.per_unit = true;
  const Outcome run(nearfar::run(request));
  std::vector<std::uint64_t> sent;
  for (const char* peer : {"gpu1", "gpu2", "gpu3"}) {
    sent.push_back(run.count(std::string("gpu0.link.to_") + peer + ".bytes"));
  }
  return sent;
}

TEST(EgressMachine, Scenario30HasAQueueForEachPeer) {
  using Sent = std::vector<std::uint64_t>;
  EXPECT_EQ(sent_to_peers({"finepack"}, stores_to({1, 2}, 1, 4)), (Sent{40, 40, 0}));
  EXPECT_EQ(sent_to_peers({}, stores_to({1, 2}, 1, 4)), (Sent{32, 32, 0}));
}

TEST(EgressMachine, Scenarios36And37PublishALineToEachSubscriber) {
  using Sent = std::vector<std::uint64_t>;
  EXPECT_EQ(sent_to_peers({"gps"}, stores_to({2}, 1, 4)), (Sent{0, 172, 0}));
  EXPECT_EQ(sent_to_peers({"gps"}, stores_to({1, 2, 3}, 32, 4)), (Sent{172, 172, 172}));
}

/// A store, one outside its window, and the first again: packets that leave in this order are written in it. That GPU 1
/// ends with the last value, and never shows the first behind it, is what the data oracle holds the run to.
TEST(EgressMachine, Scenario45WritesInTheOrderOfStores) {
  Program program;
  program.launch(
      [](VirtAddr, VirtAddr other) {
        return [](VirtAddr at) -> Stream {
          for (const std::uint64_t offset : {0U, 16384U, 0U}) {
            co_yield store(4, [=](unsigned lane) { return lane == 0 ? at + offset : kIdle; });
          }
          co_yield fence();
        }(other);
      },
      loads(40, 4));
  program.launch(nothing, loads(1, 4));
  const Outcome run = simulate(machine({"finepack"}, {"finepack.subheader=3"}), {program.script});
  EXPECT_EQ(run.count("gpu0.finepack.packets"), 3U);
  EXPECT_EQ(run.count("gpu0.finepack.flushes_window"), 2U);
  EXPECT_EQ(wire(run), 3U * 36);
}

/// 64 pieces leave the de-packetizer in 4 cycles at 16 a cycle, and in 64 one by one.
TEST(EgressMachine, Scenario49UnpacksSoManyPiecesACycle) {
  Program program;
  program.launch(stores(64, 128, 4), nothing);
  const auto cycles = [&](const char* rate) {
    return simulate(machine({"finepack"}, {rate}), {program.script}).result.cycles;
  };
  EXPECT_EQ(cycles("finepack.unpack_per_cycle=1") - cycles("finepack.unpack_per_cycle=16"), 64U - 4);
}

/// Stores to two lines of the other GPU, then what is done to the first of them.
template <class Then>
Program::Kernel stores_then(Then then) {
  return [=](VirtAddr, VirtAddr other) {
    return [](VirtAddr at, Then what) -> Stream {
      for (unsigned i = 0; i < 2; ++i) {
        co_yield store(4, [=](unsigned lane) { return lane == 0 ? at + i * 128 : kIdle; });
      }
      co_yield salu(200);  // they have reached the egress
      co_yield what([=](unsigned lane) { return lane == 0 ? at : kIdle; });
      co_yield wait(0);
    }(other, then);
  };
}

TEST(EgressMachine, Scenarios28And29FlushBeforeALoadAndAnAtomicOfALineThatIsHeld) {
  Program reads;
  reads.launch(stores_then([](auto lanes) { return load(4, lanes); }), nothing);
  const Outcome read = simulate(machine({"finepack"}), {reads.script});
  EXPECT_EQ(wire(read), 48U);
  EXPECT_EQ(read.count("gpu0.finepack.flushes_load"), 1U);
  EXPECT_EQ(read.count("gpu0.link.request_bytes"), 76U);
  EXPECT_EQ(simulate(machine({}), {reads.script}).count("gpu0.link.request_bytes"), 92U);
  Program adds;
  adds.launch(stores_then([](auto lanes) { return atomic(4, lanes); }), nothing);
  const Outcome added = simulate(machine({"finepack"}), {adds.script});
  EXPECT_EQ(added.count("gpu0.finepack.flushes_atomic"), 1U);
  EXPECT_EQ(added.count("gpu0.link.request_bytes"), 112U);
  EXPECT_EQ(added.count("gpu1.link.reply_bytes"), 28U);
  EXPECT_EQ(simulate(machine({}), {adds.script}).count("gpu0.link.request_bytes"), 96U);
}

Stream fenced(VirtAddr, VirtAddr other) {
  for (unsigned i = 0; i < 3; ++i) {
    co_yield store(4, [=](unsigned lane) { return lane == 0 ? other + i * 4 : kIdle; });
    co_yield fence();
  }
}

TEST(EgressMachine, FenceWaitsUntilStoresAreWritten) {
  Program program;
  program.launch(fenced, nothing);
  for (const char* design : {"finepack", "write-combining", ""}) {
    const SystemSpec system = machine(*design == '\0' ? Names{} : Names{design});
    const Outcome run = simulate(system, {program.script});
    EXPECT_EQ(run.count("gpu0.egress.messages"), 3U) << design;
    // There and back: two hops and a switch each way, and the way through the L2's tags.
    const Cycle way = 2 * system.link.latency + system.link.switch_latency;
    EXPECT_GE(run.count("gpu0.egress.release_cycles"), 3 * 2 * way) << design;
    EXPECT_LE(run.count("gpu0.egress.release_cycles"), 3 * (2 * way + 60)) << design;
  }
}

/// The notice that stores are written leaves when they are through the tags of the home's L2.
TEST(EgressMachine, FenceWaitsForTheTagsOfTheHome) {
  Program program;
  program.launch(fenced, nothing);
  SystemSpec system = machine({});
  const std::uint64_t quick = simulate(system, {program.script}).count("gpu0.egress.release_cycles");
  system.gpu.l2.tag_latency += 100;
  EXPECT_EQ(simulate(system, {program.script}).count("gpu0.egress.release_cycles"), quick + 3 * 100);
}

TEST(EgressMachine, StoreIsDoneForItsUnitWhenTheEgressHasIt) {
  // A store buffer of one line: were each store to wait for its home, forty would take forty ways there and back.
  Program program;
  program.launch(stores(40, 128, 8), nothing);
  const SystemSpec system = machine({"finepack"}, {"gpu.cu.store_buffer=1"});
  const Cycle way = 2 * system.link.latency + system.link.switch_latency;
  const Outcome run = simulate(system, {program.script});
  EXPECT_LT(run.result.cycles, 12 * way);
  EXPECT_EQ(run.count("gpu0.finepack.packets"), 1U);
}

TEST(EgressMachine, WaitsForTheLinkWithOneBankAndTinyQueues) {
  Program program;
  const auto both = stores(200, 128, 16);
  program.launch(both, both);
  const Names tiny = {
      "finepack.entries=2",  "finepack.banks=1",        "finepack.unpack_entries=1", "link.credits=1",
      "link.queue=2",        "finepack.max_payload=64", "link.data_credits=4",       "finepack.unpack_per_cycle=1",
      "link.bandwidth=1GB/s"};
  const Outcome run = simulate(machine({"finepack"}, tiny), {program.script});
  EXPECT_EQ(run.count("gpus.egress.stores"), 400U);
  EXPECT_GT(run.count("gpus.egress.waited_stores"), 0U);
  EXPECT_EQ(run.count("gpus.ingress.messages"), run.count("gpus.egress.messages"));
}

TEST(EgressMachine, FlushesAfterATimeout) {
  Program program;
  program.launch(stores_then([](auto) { return salu(500); }), nothing);
  const Outcome run = simulate(machine({"finepack"}, {"finepack.timeout=50"}), {program.script});
  EXPECT_EQ(run.count("gpu0.finepack.flushes_timeout"), 1U);
  EXPECT_EQ(run.count("gpu0.finepack.flushes_kernel"), 0U);
}

Stream scatter(VirtAddr base, std::uint64_t seed) {
  pcg32 random(seed);
  for (unsigned i = 0; i < 40; ++i) {
    const std::uint64_t draw = random();
    const auto lanes = [=](unsigned lane) {
      return base + (draw * (lane / 4 + 3) * 2654435761ULL >> 9) % 8192 * 16 + lane % 4 * 4;
    };
    switch (random() % 8) {
      case 0: co_yield load(4, lanes); break;
      case 1: co_yield atomic(4, lanes); break;
      case 2: co_yield fence(); break;
      default: co_yield store(4, lanes);
    }
  }
}

std::shared_ptr<Script> scatterers(std::uint64_t seed) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(std::uint64_t{1} << 17, Placement::Interleave);
  for (unsigned launch = 0; launch < 2; ++launch) {
    script->launch(groups_of(16, 64, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      return scatter(base, seed * 1000 + launch * 100 + wave.group_x * 7 + wave.index);
    });
  }
  return script;
}

TEST(EgressMachine, LosesNothingInAStorm) {
  const std::vector<Names> all = {{}, {"finepack"}, {"write-combining"}, {"config-packet"}, {"gps"}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Names& designs = all[seed % all.size()];
    const Names settings = {"gpus=4", seed % 2 == 0 ? "remote_cache=none" : "remote_cache=l1",
                            seed % 3 == 0 ? "link.topology=ring" : "link.topology=pcie-tree", "link.gpus_per_switch=2"};
    SCOPED_TRACE(seed);
    const Outcome run = simulate(machine(designs, settings), {scatterers(seed)});
    EXPECT_GT(run.count("gpus.egress.stores"), 100U);
    EXPECT_EQ(run.count("gpus.egress.useful_bytes") + run.count("gpus.egress.wasted_bytes") +
                  run.count("gpus.egress.protocol_bytes"),
              wire(run));
  }
}

TEST(EgressMachine, IsTheSameOnSeveralThreads) {
  const SystemSpec system = machine({"finepack"}, {"gpus=4"});
  const Outcome one = simulate(system, {scatterers(3)}, true, 1);
  const Outcome two = simulate(system, {scatterers(3)}, true, 2);
  ASSERT_EQ(one.result.statistics.size(), two.result.statistics.size());
  for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
    EXPECT_EQ(one.result.statistics[i].count, two.result.statistics[i].count) << one.result.statistics[i].name;
  }
}
// ------------------------------------------------------------------------------------------ refusals, and the cost

std::string refusal(const Names& designs, const Names& overrides, const std::string& system = "finepack-4gpu") {
  try {
    load_system_with(designs, system, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(EgressDesigns, AreRefusedWhereStoresAreNotPosted) {
  for (const std::string design : {"finepack", "write-combining", "config-packet", "gps"}) {
    EXPECT_THAT(refusal({design}, {"link.format=plain"}), HasSubstr("`" + design + "` needs posted stores"));
    EXPECT_THAT(refusal({design}, {"remote_cache=l1l2"}), HasSubstr("`" + design + "` needs none or l1"));
    EXPECT_THAT(refusal({design}, {"link.format=pcie4", "placement.policy=first-touch"}, "ats-4gpu"),
                HasSubstr("`" + design + "` needs translation.kind ideal or ats"));
  }
  EXPECT_THAT(refusal({"finepack", "gps"}, {}), HasSubstr("both decide the seam `egress`"));
  EXPECT_EQ(refusal({"finepack"}, {"remote_cache=l1"}), "");
}

TEST(EgressDesigns, Scenarios39And48AreRefusedWherePacketsCouldNeverBeSent) {
  EXPECT_THAT(refusal({"finepack"}, {"link.data_credits=64"}), HasSubstr("it could never be sent"));
  EXPECT_EQ(refusal({"finepack"}, {"link.data_credits=256"}), "");
  EXPECT_THAT(refusal({"gps"}, {"link.pcie.max_payload=128"}), HasSubstr("a line and its mask, 144 B"));
  EXPECT_THAT(refusal({}, {"link.pcie.max_payload=64"}), HasSubstr("link.pcie.max_payload"));
}

TEST(EgressDesigns, CostWhatWasPublished) {
  const auto bytes = [](const Names& overrides) {
    const Names designs = {"finepack"};
    const std::vector<DesignCost> cost = cost_of(designs, "finepack-4gpu", overrides);
    std::map<std::string, std::uint64_t> items;
    for (const StorageItem& item : cost.front().items) items[item.structure] = item.bits / 8;
    return items;
  };
  EXPECT_EQ(bytes({}).at("remote write queue data"), 48U * 1024);  // four GPUs, two banks
  EXPECT_EQ(bytes({"finepack.banks=1"}).at("remote write queue data"), 24U * 1024);
  EXPECT_EQ(bytes({"finepack.banks=1"}).at("remote write queue byte enables"), 192U * 16);
  EXPECT_EQ(bytes({"gpus=16", "finepack.banks=1"}).at("remote write queue data"), 120U * 1024);
  EXPECT_EQ(bytes({}).at("de-packetizer"), 8U * 1024);
}

}  // namespace
}  // namespace nearfar::finepack_test
