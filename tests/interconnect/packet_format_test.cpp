// Sizes of packets on links, format by format: worked by hand from what each packet consists of.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "interconnect/packet_format.h"
#include "interconnect/packet_pcie.h"

namespace nearfar::packet_format_test {
namespace {

constexpr std::uint64_t kLine = 128;

std::unique_ptr<PacketFormat> pcie(bool ecrc, unsigned header_words = 4, Bytes max_payload = 4096, bool flits = false) {
  LinkSpec link;
  link.format = flits ? LinkFormat::Pcie6 : LinkFormat::Pcie4;
  link.pcie.ecrc = ecrc;
  link.pcie.header_words = header_words;
  link.pcie.max_payload = max_payload;
  link.pcie.flit_mode = flits;
  return make_packet_format(link, kLine);
}

std::unique_ptr<PacketFormat> nvlink(bool extension = false) {
  LinkSpec link;
  link.format = LinkFormat::Nvlink;
  link.nvlink.address_extension = extension;
  return make_packet_format(link, kLine);
}

std::unique_ptr<PacketFormat> plain() { return make_packet_format(LinkSpec(), kLine); }

// ------------------------------------------------------------------------------------------------------- byte masks

TEST(ByteMaskRuns, AreMaximalGroupsOfBytes) {
  using Runs = std::vector<std::pair<unsigned, unsigned>>;
  const auto runs_of = [](const ByteMask& mask) {
    Runs runs;
    mask.for_each_run([&](unsigned first, unsigned bytes) { runs.emplace_back(first, bytes); });
    EXPECT_EQ(runs.size(), mask.runs());
    return runs;
  };
  EXPECT_EQ(runs_of({}), Runs{});
  EXPECT_EQ(runs_of(ByteMask::all(128)), (Runs{{0, 128}}));
  EXPECT_EQ(runs_of(ByteMask::all(64)), (Runs{{0, 64}}));
  EXPECT_EQ(runs_of(ByteMask::range(60, 8)), (Runs{{60, 8}}));
  EXPECT_EQ(runs_of(ByteMask::range(0, 4) | ByteMask::range(64, 4)), (Runs{{0, 4}, {64, 4}}));
  EXPECT_EQ(runs_of(ByteMask::range(63, 1) | ByteMask::range(65, 1) | ByteMask::range(127, 1)),
            (Runs{{63, 1}, {65, 1}, {127, 1}}));
  EXPECT_EQ(ByteMask::range(0, 128), ByteMask::all(128));
  EXPECT_EQ(ByteMask::range(64, 64).without(ByteMask::range(96, 32)), ByteMask::range(64, 32));
}

// ---------------------------------------------------------------------------------------------------------- goodput

/// A row: bytes of an aligned store, and what it takes on the wire.
struct Row {
  std::uint32_t bytes;
  std::uint32_t pcie_ecrc;
  std::uint32_t pcie;
  std::uint32_t pcie_3_words;
  std::uint32_t nvlink;
};

TEST(Goodput, OfAlignedWrites) {
  const std::vector<Row> rows = {{1, 32, 28, 24, 48},
                                 {2, 32, 28, 24, 48},
                                 {4, 32, 28, 24, 48},
                                 {8, 36, 32, 28, 48},
                                 {16, 44, 40, 36, 48},
                                 {24, 52, 48, 44, 64},
                                 {32, 60, 56, 52, 48},
                                 {48, 76, 72, 68, 80},
                                 {64, 92, 88, 84, 80},
                                 {96, 124, 120, 116, 112},
                                 {128, 156, 152, 148, 144},
                                 {256, 284, 280, 276, 272},
                                 {512, 540, 536, 532, 544},
                                 {1024, 1052, 1048, 1044, 1088},
                                 {2048, 2076, 2072, 2068, 2176},
                                 {4096, 4124, 4120, 4116, 4352}};
  for (const Row& row : rows) {
    EXPECT_EQ(pcie(true)->write(0, row.bytes).bytes, row.pcie_ecrc) << row.bytes;
    EXPECT_EQ(pcie(false)->write(0, row.bytes).bytes, row.pcie) << row.bytes;
    EXPECT_EQ(pcie(false, 3)->write(0, row.bytes).bytes, row.pcie_3_words) << row.bytes;
    EXPECT_EQ(nvlink()->write(0, row.bytes).bytes, row.nvlink) << row.bytes;
    if (row.bytes <= kLine) {
      const ByteMask mask = ByteMask::range(0, row.bytes);
      EXPECT_EQ(pcie(true)->store(mask).bytes, row.pcie_ecrc) << row.bytes;
      EXPECT_EQ(nvlink()->store(mask).bytes, row.nvlink) << row.bytes;
    }
  }
  EXPECT_EQ(nvlink(true)->write(0, 4).bytes, 64U);
  EXPECT_EQ(nvlink(true)->write(0, 32).bytes, 64U);
  EXPECT_EQ(nvlink(true)->write(0, 128).bytes, 160U);
  EXPECT_EQ(nvlink(true)->write(0, 256).bytes, 288U);
}

TEST(FlitMode, HasNoFramesAndASlowerLink) {
  EXPECT_EQ(pcie(false, 4, 4096, true)->write(0, 4).bytes, 20U);
  EXPECT_EQ(pcie(true, 4, 4096, true)->write(0, 4).bytes, 24U);
  LinkSpec link;
  link.format = LinkFormat::Pcie6;
  link.bandwidth = 128_GBps;
  EXPECT_EQ(link.packet_rate().bytes_per_second, (128_GBps).bytes_per_second);
  link.pcie.flit_mode = true;
  EXPECT_EQ(link.packet_rate().bytes_per_second,
            (118_GBps).bytes_per_second);  // 236 of 256 bytes: 4 bytes have 4 / (20 × 64 / 59) = 18.4 % of it
  link.format = LinkFormat::Pcie5;
  link.bandwidth = 65_GBps;
  EXPECT_EQ(link.packet_rate().bytes_per_second, (65_GBps).bytes_per_second);
  link.pcie.exact_coding = true;
  EXPECT_EQ(link.packet_rate().bytes_per_second, (64_GBps).bytes_per_second);
}

// -------------------------------------------------------------------------------------------------- kinds of packets

TEST(PciePackets, HaveTheSizesOfTheirKinds) {
  const auto with = pcie(true);
  const auto without = pcie(false);
  const auto expect = [&](PacketRole role, std::uint32_t payload, std::uint32_t checked, std::uint32_t unchecked) {
    EXPECT_EQ(with->wire_bytes(role, payload, false), checked) << payload;
    EXPECT_EQ(without->wire_bytes(role, payload, false), unchecked) << payload;
  };
  expect(PacketRole::ReadRequest, 0, 28, 24);
  expect(PacketRole::ReadReply, 64, 88, 84);
  expect(PacketRole::ReadReply, 128, 152, 148);
  expect(PacketRole::WriteRequest, 64, 92, 88);
  expect(PacketRole::WriteReply, 0, 24, 20);
  expect(PacketRole::AtomicRequest, 4, 32, 28);
  expect(PacketRole::AtomicReply, 4, 28, 24);
  expect(PacketRole::AtomicRequest, 16, 44, 40);
  expect(PacketRole::AtomicReply, 8, 32, 28);
  expect(PacketRole::Control, 0, 28, 24);
  expect(PacketRole::Control, 8, 36, 32);
  EXPECT_EQ(with->framing(), 10U);
  EXPECT_EQ(without->framing(), 6U);
}

TEST(PciePackets, CarryWholeWords) {
  EXPECT_EQ(pcie(true)->write(3, 6).bytes, 28U + 12);  // bytes 3 to 8 lie in three words
  EXPECT_EQ(pcie(true)->write(3, 1).bytes, 28U + 4);
  EXPECT_EQ(pcie(true)->write(3, 2).bytes, 28U + 8);
  EXPECT_EQ(pcie(true)->packed(9).bytes, 40U);
}

TEST(PciePackets, Scenario38AreCutAtTheirPayloadAndAtFourKilobytes) {
  EXPECT_EQ(pcie(true, 4, 256)->write(0, 4096), (WireSize{4544, 16, 256}));
  EXPECT_EQ(pcie(false, 4, 256)->write(0, 4096).bytes, 4480U);
  EXPECT_EQ(pcie(true, 4, 256)->write(0, 65536).bytes, 72'704U);
  EXPECT_EQ(pcie(true)->write(0, 65536).bytes, 65'984U);
  EXPECT_EQ(pcie(true)->write(4092, 8), (WireSize{64, 2, 2}));
}

TEST(PciePackets, ExpressNoHoles) {
  const ByteMask holes = ByteMask::range(0, 4) | ByteMask::range(64, 4);
  EXPECT_EQ(pcie(true)->store(holes), (WireSize{64, 2, 2}));
  EXPECT_EQ(nvlink()->store(holes), (WireSize{16 + 16 + 80, 1, 5}));
  EXPECT_EQ(plain()->store(holes), (WireSize{16 + 8 + 16, 1, 1}));
}

TEST(NvlinkPackets, Scenario40HasTheSizesOfItsKinds) {
  const auto format = nvlink();
  EXPECT_EQ(format->wire_bytes(PacketRole::ReadRequest, 0, false), 16U);
  EXPECT_EQ(format->wire_bytes(PacketRole::ReadReply, 64, false), 80U);
  EXPECT_EQ(format->wire_bytes(PacketRole::ReadReply, 128, false), 144U);
  EXPECT_EQ(format->wire_bytes(PacketRole::WriteRequest, 128, false), 144U);
  EXPECT_EQ(format->wire_bytes(PacketRole::WriteRequest, 4, false), 48U);
  EXPECT_EQ(format->wire_bytes(PacketRole::WriteReply, 0, false), 16U);
  EXPECT_EQ(format->wire_bytes(PacketRole::AtomicRequest, 4, false), 32U);
  EXPECT_EQ(format->wire_bytes(PacketRole::AtomicReply, 8, false), 32U);
  EXPECT_EQ(format->wire_bytes(PacketRole::Control, 8, false), 32U);
  EXPECT_EQ(format->write(16, 32).bytes, 64U);  // no multiple of a sector: byte enables
  EXPECT_EQ(format->write(0, 65536).bytes, 69'632U);
}

TEST(PlainPackets, AreAHeaderAndTheData) {
  EXPECT_EQ(plain()->wire_bytes(PacketRole::ReadReply, 128, false), 144U);
  EXPECT_EQ(plain()->store(ByteMask::all(128)).bytes, 144U);
  EXPECT_EQ(plain()->store(ByteMask::range(0, 4)).bytes, 36U);  // and a bit for each byte of the line
  EXPECT_EQ(plain()->write(0, 4096).bytes, 4112U);
}

}  // namespace
}  // namespace nearfar::packet_format_test
