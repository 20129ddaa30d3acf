// Operations as bytes: what is written is read again, and nothing else passes the check.
#include "trace/stream_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>

namespace nearfar::stream_code_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<Buffer>& buffers() {
  static const std::vector<Buffer> all{{"a", VirtAddr{0x10000}, 0x8000, Placement::Distribute},
                                       {"b", VirtAddr{0x100000}, 0x100000, Placement::Distribute}};
  return all;
}
const BufferMap& map() {
  static const BufferMap all(buffers());
  return all;
}

void check(const ByteVector& bytes, unsigned lanes = 64) { check_stream(bytes, lanes, map()); }

/// One operation with all that its lanes say.
struct Seen {
  Plain op{};
  std::uint64_t active = 0;
  Rows rows{};
  std::vector<std::uint64_t> addresses;

  bool operator==(const Seen& other) const {
    const auto same_rows = [](const Rows& a, const Rows& b) {
      return a.first == b.first && a.lanes == b.lanes && a.rows == b.rows && a.width == b.width && a.step == b.step &&
             a.pitch == b.pitch && a.lane == b.lane;
    };
    return op == other.op && active == other.active && addresses == other.addresses &&
           (rows.lanes == 0 || same_rows(rows, other.rows)) && rows.lanes == other.rows.lanes;
  }
};

Seen seen(Plain op, const LaneAddresses& lanes) {
  Seen out{op, lanes.in_rows() ? 0 : lanes.active, lanes.rows, {}};
  if (lanes.in_rows()) return out;
  out.rows.lanes = 0;
  for (std::uint64_t left = lanes.active; left != 0; left &= left - 1) {
    out.addresses.push_back(lanes.address[static_cast<unsigned>(std::countr_zero(left))]);
  }
  return out;
}

std::vector<Seen> decoded(const ByteVector& bytes, unsigned lanes = 64) {
  StreamDecoder decoder(bytes.data(), bytes.data() + bytes.size(), lanes);
  std::vector<Seen> all;
  RecordedLanes recorded;
  while (!decoder.at_end()) {
    const Plain op = decoder.next(recorded);
    LaneAddresses addresses;
    if (kind_of(op) == OpKind::Load || kind_of(op) == OpKind::Store || kind_of(op) == OpKind::Atomic) {
      recorded.fill(addresses);
    }
    all.push_back(seen(op, addresses));
  }
  return all;
}

std::uint64_t draw(std::uint64_t least, std::uint64_t most) { return *rc::gen::inRange(least, most + 1); }

LaneAddresses draw_lanes(unsigned lanes, unsigned bytes) {
  LaneAddresses out;
  const std::uint64_t base = 0x100000;
  if (draw(0, 2) == 0) {
    out.rows.lanes = static_cast<std::uint32_t>(draw(1, lanes));
    out.rows.lane = static_cast<std::uint32_t>(draw(0, lanes - out.rows.lanes));
    out.rows.step = static_cast<std::uint32_t>(draw(0, 1) == 0 ? bytes : draw(0, 300));
    out.rows.first = VirtAddr{base + draw(0, 1000)};
    if (out.rows.lanes <= 16 && out.rows.lane == 0) {
      out.rows.rows = static_cast<std::uint32_t>(draw(1, 2));
      out.rows.width = 16;
      out.rows.pitch = draw(0, 5000);
    }
    return out;
  }
  out.active = *rc::gen::arbitrary<std::uint64_t>() & (~std::uint64_t{0} >> (64 - lanes));
  if (draw(0, 1) == 0) out.active = ~std::uint64_t{0} >> (64 - lanes);
  const std::uint64_t stride = draw(0, 200);
  const bool strided = draw(0, 1) == 0;
  for (unsigned lane = 0; lane < 64; ++lane) {
    out.address[lane] = base + (strided ? 500 + lane * stride : draw(0, 0xf0000));
  }
  return out;
}

RC_GTEST_PROP(StreamCode, WhatIsWrittenIsReadAgain, ()) {
  const unsigned lanes = *rc::gen::element(32U, 64U);
  StreamEncoder encoder(lanes);
  encoder.begin();
  std::vector<Seen> expected;
  for (std::uint64_t left = draw(0, 20); left > 0; --left) {
    const auto bytes = static_cast<unsigned>(*rc::gen::element(1, 2, 4, 8, 16, 64));
    const auto count = static_cast<unsigned>(draw(0, 2) == 0 ? draw(0, 0xffff) : draw(0, 20));
    const auto kind = static_cast<OpKind>(draw(0, static_cast<std::uint64_t>(OpKind::Fence)));
    if (kind == OpKind::Load || kind == OpKind::Store || kind == OpKind::Atomic) {
      const LaneAddresses addresses = draw_lanes(lanes, bytes);
      encoder.add(kind, bytes, addresses);
      expected.push_back(seen(plain(kind, 1, bytes), addresses));
      continue;
    }
    const Plain op = kind == OpKind::ScalarLoad ? scalar_load(bytes, VirtAddr{0x10000 + draw(0, 0x7000)})
                     : kind == OpKind::Barrier  ? barrier()
                     : kind == OpKind::Fence    ? fence(static_cast<Scope>(count % 3))
                                                : plain(kind, count);
    encoder.add(op);
    expected.push_back(seen(op, {}));
  }
  check(encoder.bytes(), lanes);
  RC_ASSERT(decoded(encoder.bytes(), lanes) == expected);
}

TEST(StreamCode, ARegularAccessTakesThreeBytes) {
  StreamEncoder encoder(64);
  encoder.begin();
  LaneAddresses lanes;
  lanes.rows = {.first = VirtAddr{0x100000}, .lanes = 64, .step = 4};
  encoder.add(OpKind::Load, 4, lanes);
  const std::size_t first = encoder.bytes().size();
  lanes.rows.first = VirtAddr{0x100020};
  encoder.add(OpKind::Load, 4, lanes);
  EXPECT_EQ(encoder.bytes().size() - first, 3U);
}

TEST(StreamCode, ABytesMaskIsALaneForEachByte) {
  StreamEncoder encoder(64);
  encoder.begin();
  LaneAddresses lanes;
  lanes.active = 0xff00'0000'0000'00ff;
  for (unsigned lane = 0; lane < 64; ++lane) lanes.address[lane] = 0x10040 + lane;
  encoder.add(OpKind::Store, 1, lanes);
  check(encoder.bytes());
  EXPECT_EQ(encoder.bytes()[0] >> 4, static_cast<int>(LaneForm::MaskedStrided));
  EXPECT_EQ(decoded(encoder.bytes())[0].addresses.back(), 0x1007fU);
}

/// Streams that no encoder writes.
TEST(StreamCode, WhatIsImpossibleIsRefusedAtItsPlace) {
  const auto fails = [](ByteVector bytes, const char* why) {
    EXPECT_THAT([&] { check(bytes); }, ThrowsMessage<MalformedBytes>(HasSubstr(why)));
  };
  fails({0x00}, "no operation");
  fails({0x0f}, "no operation");
  fails({0x01}, "ends in the middle");
  fails({0x01, 0x80, 0x80, 0x04}, "the count of an operation is 65536");
  fails({0x46}, "the count of an operation is 3");
  fails({0x08, 0x00, 0x00}, "a lane touches 0 bytes");
  fails({0x08, 0x04, 0x00}, "address 0x0 lies in no buffer");
  fails({0x88, 0x04, 0x80, 0x80, 0x08}, "no form 8");
  const ByteVector first = [] {
    ByteVector bytes;
    put_number(bytes, zigzag(0x10000));
    return bytes;
  }();
  const auto with = [&](std::uint8_t head, ByteVector rest) {
    ByteVector bytes{head, 4};
    bytes.insert(bytes.end(), first.begin(), first.end());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
  };
  EXPECT_NO_THROW(check(with(0x08, {})));
  fails(with(0x28, {65, 0}), "the lanes of a row is 65");
  fails(with(0x28, {64, 1}), "the first lane of a row is 1");
  fails(with(0x18, {32, 0, 33, 1, 4, 0}), "do not fit a wavefront");
  fails(with(0x48, {0, 0, 0, 0, 0, 0, 0, 0, 0}), "the mask 0x0");
  fails(with(0x48, {1, 0, 0}), "ends in the middle");
  fails(with(0x58, {3, 13, 0, 0}), "the unit of distances");
  fails(with(0x38, {0x80, 0x80, 0x04}), "lies in no buffer");
}

TEST(StreamCode, ARowMayNotCrossWhatIsNotMapped) {
  const std::vector<Buffer> apart{{"a", VirtAddr{0x1000}, 0x1000, Placement::Distribute},
                                  {"b", VirtAddr{0x3000}, 0x1000, Placement::Distribute}};
  const BufferMap holes(apart);
  StreamEncoder encoder(64);
  encoder.begin();
  LaneAddresses lanes;
  lanes.rows = {.first = VirtAddr{0x1f00}, .lanes = 64, .step = 128};
  encoder.add(OpKind::Load, 4, lanes);
  EXPECT_THROW(check_stream(encoder.bytes(), 64, holes), MalformedBytes);
  lanes.rows = {.first = VirtAddr{0x1f00}, .lanes = 2, .step = 0x1100};
  encoder.begin();
  encoder.add(OpKind::Load, 4, lanes);
  EXPECT_NO_THROW(check_stream(encoder.bytes(), 64, holes));
}

}  // namespace
}  // namespace nearfar::stream_code_test
