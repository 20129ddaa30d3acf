// Whole files: what is written is read again; what is truncated, corrupt, foreign or hostile is one clear error.
#include "trace/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <pcg_random.hpp>

#include "config/error.h"
#include "trace/recorded.h"
#include "trace/stream_code.h"
#include "workload/catalog.h"

namespace nearfar::trace_file_test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

constexpr const char* kText = R"(nearfar-trace 1
source "by hand"
lanes 64
line 64
page 4096
seed 7
times
parameter "n" "4 \"quoted\""
gpus 2
collective 4096 1.5
buffer "A" 0x100000000 12288 distribute
buffer "B" 0x100010000 4096 host
buffer "C" 0x100020000 4096 private
home 0x100001000 2 1
home 0x100010000 1 host
copy host 0x100000000 4096 1 0
copy 0x100000000 0x100010000 64 4 128 async
host 500
sync
launch "first" 2 1 1 128 1 64 listed x
place 0 0 3
place 1 1 0
wave 0 0
time 5
valu 20
load 4 row 0x100000000
wait 0
time 90
store 4 row 0x100001000 16 2
wave 0 1
sload 4 0x100000010
load 8 rows 0x100000000 8 0 4 8 8 256
atomic 4 stride 0x100002000 8 0xff00ff
wave 1 1
load 4 lanes 0x7 0x100000000 0x100010004 0x100000040
store 2 idle
barrier
fence gpu
salu 2
local 3
launch "second" 1 2 3 64 1 0 greedy y
)";

ByteVector sample() { return from_text(kText); }

void expect_refused(const ByteVector& bytes, const std::string& why) {
  const auto read_all = [&] {
    const auto file = trace_of(bytes);
    for (std::size_t frame = 0; frame < file->frames().size(); ++frame) file->read(frame);
  };
  EXPECT_THAT(read_all, ThrowsMessage<InputError>(HasSubstr(why)));
}

TEST(TraceFile, SaysWhatWasWritten) {
  const auto file = trace_of(sample());
  EXPECT_EQ(file->header().source, "by hand");
  EXPECT_EQ(file->header().seed, 7U);
  EXPECT_EQ(file->header().parameters[0].second, "4 \"quoted\"");
  EXPECT_EQ(file->program().buffers.size(), 3U);
  EXPECT_EQ(file->program().homes.size(), 2U);
  EXPECT_EQ(file->program().homes[1].device, PageHome::kHost);
  EXPECT_EQ(file->program().steps.size(), 6U);
  EXPECT_FALSE(std::get<Copy>(file->program().steps[1]).wait);
  EXPECT_EQ(file->program().launches[0].places->cu, (std::vector<std::uint16_t>{3, 0}));
  EXPECT_EQ(file->program().collective->bus_factor, 1.5);
  EXPECT_EQ(file->first_wavefronts().back(), 4U + 6U);
  EXPECT_EQ(file->counts().instructions, 20 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 2 + 3);
  EXPECT_EQ(file->counts().accesses, 4U + 1U + 4U + 2U + 3U);
}

TEST(TraceText, IsTheSameThereAndBack) {
  EXPECT_EQ(to_text(sample()), kText);
  EXPECT_EQ(from_text(to_text(sample())), sample());
}

TEST(TraceText, OfARecordingIsTheSameThereAndBack) {
  for (const auto& [name, settings] : std::vector<std::pair<std::string, std::vector<ParameterSetting>>>{
           {"MT", {{"width", 192}}}, {"PR", {{"n", 64}, {"m", 2000}}}, {"NW", {{"n", 64}}}, {"RS", {{"n", 1 << 14}}}}) {
    const ByteVector bytes = recorded(*make_workload(name, SizeClass::Small, settings, 1));
    EXPECT_EQ(from_text(to_text(bytes)), bytes) << name;
  }
}

TEST(TraceText, CanBeShort) {
  const ByteVector bytes = from_text(
      "nearfar-trace 1\n# two pages\nbuffer A 0x100000000 8192\n\nlaunch k 1 1 1 64 1\nwave 0 0\n  load 4 row "
      "A+4096\n");
  const auto file = trace_of(bytes);
  EXPECT_EQ(file->header().lanes, 64U);
  EXPECT_EQ(file->counts().accesses, 4U);
}

TEST(TraceText, ErrorsHaveAPlace) {
  const auto fails = [](const std::string& more, const std::string& why) {
    const std::string text = "nearfar-trace 1\nbuffer A 0x100000000 8192\nlaunch k 2 1 1 64 1\n" + more;
    EXPECT_THAT([&] { from_text(text); }, ThrowsMessage<InputError>(HasSubstr(why))) << more;
  };
  EXPECT_THAT([] { from_text("hello\n"); }, ThrowsMessage<InputError>(HasSubstr("text:1:1: `nearfar-trace 1`")));
  EXPECT_THAT([] { from_text(""); }, ThrowsMessage<InputError>(HasSubstr("`nearfar-trace 1` was expected")));
  fails("lod 4 row A\n", "text:4:1: `lod` begins no line");
  fails("load 4 row A\n", "belongs to a wavefront");
  fails("wave 2 0\n", "text:4:6: the workgroup must be a whole number from 0 to 1");
  fails("wave 0 0\nload 4 row A+8190\n", "lies in no buffer");
  fails("wave 0 0\nload 4 row D\n", "text:5:12: `D` is no address");
  fails("wave 0 0\nload 4\n", "text:5:7: the form of lanes is missing");
  fails("wave 0 0\nload 99 row A\n", "text:5:6: the bytes must be");
  fails("wave 0 0\nload 4 row A 64 0 1\n", "text:5:19: `1` is one word too many");
  fails("wave 0 0\ntime 4\n", "says `times`");
  fails("wave 0 0\nwave 0 0\n", "has been given before");
  fails("buffer B 0x200000000 8\n", "belongs before the first step");
  fails("copy host A 9000\n", "does not lie in a buffer");
  fails("source \"x\n", "the text in quotes has no end");
}

TEST(TraceFile, ATruncatedFileIsRefusedWhereverItEnds) {
  const ByteVector whole = sample();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ByteVector part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT([&] { trace_of(part); }, ThrowsMessage<InputError>(MatchesRegex("test: at byte [0-9]+: .*\\.")))
        << size;
  }
}

/// A file in which any one byte was changed is refused. A few bits of a zstd frame mean nothing: then it says the same.
TEST(TraceFile, AnyChangedByteIsSeen) {
  const ByteVector whole = sample();
  unsigned refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::uint8_t flip : {std::uint8_t{1}, std::uint8_t{0x80}}) {
      ByteVector bytes = whole;
      bytes[at] ^= flip;
      try {
        EXPECT_EQ(to_text(bytes), kText) << at;
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("test: at byte ")) << at;
        ++refused;
      }
    }
  }
  EXPECT_GE(refused + 6, 2 * whole.size());
}

TEST(TraceFile, ForeignFilesAreRefused) {
  expect_refused({}, "at byte 0: the file is empty");
  expect_refused(ByteVector(100, 'x'), "at byte 0: this is no trace of nearfar's");
  ByteVector newer = sample();
  newer[8] = 2;
  expect_refused(newer, "at byte 8: the trace has version 2 of the format");
  ByteVector longer = sample();
  longer.push_back('\n');
  expect_refused(longer, "truncated");
}

// --- hostile files: with right checksums, and wrong inside

ByteVector packed(const ByteVector& bytes) {
  ByteVector out(ZSTD_compressBound(bytes.size()));
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

/// A file around a header, frames and a directory, as they are.
ByteVector file_of(const ByteVector& header, const std::vector<ByteVector>& frames, const ByteVector& directory) {
  TraceBytes out;
  const auto little = [&](std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) out.bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  };
  const auto text = [&](std::string_view magic) { out.bytes.insert(out.bytes.end(), magic.begin(), magic.end()); };
  text(kTraceMagic);
  little(kTraceVersion, 4);
  const ByteVector head = packed(header);
  little(head.size(), 4);
  out.write(head);
  for (const ByteVector& frame : frames) out.write(packed(frame));
  const std::uint64_t offset = out.bytes.size();
  const ByteVector index = packed(directory);
  out.write(index);
  for (const std::uint64_t each : {offset, std::uint64_t{index.size()}, std::uint64_t{directory.size()}})
    little(each, 8);
  text(kIndexMagic);
  return std::move(out.bytes);
}

ByteVector plain_header() {
  ByteVector bytes;
  encode_header({}, bytes);
  return bytes;
}

TraceProgram small_program() {
  TraceProgram program;
  program.buffers = {{"a", VirtAddr{0x10000}, 4096, Placement::Distribute}};
  program.launches.emplace_back();
  program.steps = {LaunchStep{0}};
  return program;
}

ByteVector directory_of(const TraceProgram& program, const std::vector<TraceFrame>& frames) {
  ByteVector bytes;
  encode_program(program, bytes);
  put_number(bytes, 0);
  put_number(bytes, 0);
  encode_frames(frames, bytes);
  return bytes;
}

TraceFrame entry(const ByteVector& frame, std::uint64_t waves) {
  return {0, packed(frame).size(), frame.size(), 0, waves};
}

TEST(TraceFile, HostileStreamsAreRefused) {
  const auto with = [](const ByteVector& frame, std::uint64_t waves = 1) {
    return file_of(plain_header(), {frame}, directory_of(small_program(), {entry(frame, waves)}));
  };
  EXPECT_NO_THROW(trace_of(with({1, 0x14}))->read(0));
  expect_refused(with({3, 0x14}), "the length of a stream");
  expect_refused(with({2, 0x14}), "its streams have 2 bytes, and 1 follow");
  expect_refused(with({0, 0x14}), "its streams have 0 bytes, and 1 follow");
  expect_refused(with({1, 0x00}), "in a frame of streams, 2 bytes into it: there is no operation");
  expect_refused(with({3, 0x08, 0x04, 0x02}), "lies in no buffer");
  expect_refused(with({1, 1, 0x14, 0x14}, 2), "the launches have 1 wavefronts, and the frames 2");
}

TEST(TraceFile, HostileProgramsAreRefused) {
  const ByteVector frame{1, 0x14};
  const auto with = [&](const auto& change) {
    TraceProgram program = small_program();
    change(program);
    return file_of(plain_header(), {frame}, directory_of(program, {entry(frame, 1)}));
  };
  expect_refused(with([](TraceProgram& p) { p.buffers[0].base = VirtAddr{0x10001}; }), "begins inside a page");
  expect_refused(with([](TraceProgram& p) { p.buffers.push_back(p.buffers[0]); }), "overlap");
  expect_refused(with([](TraceProgram& p) {
                   p.buffers.push_back({"far", VirtAddr{std::uint64_t{1} << 46}, 1, {}});
                 }),
                 "its buffers lie");
  expect_refused(with([](TraceProgram& p) { p.homes = {{VirtPage{0x11}, 1, 0}}; }), "lies in no buffer");
  expect_refused(with([](TraceProgram& p) { p.steps.clear(); }), "a launch is missing among the steps");
  expect_refused(with([](TraceProgram& p) { p.steps.push_back(LaunchStep{0}); }), "do not follow each other");
  expect_refused(with([](TraceProgram& p) { p.launches[0].groups_x = p.launches[0].groups_y = 0xffff'ffff; }),
                 "workgroups");
  expect_refused(with([](TraceProgram& p) { p.launches[0].size_x = 70000; }), "the size of a workgroup is 70000");
  expect_refused(with([](TraceProgram& p) { p.steps.push_back(Copy{.from = VirtAddr{0}, .to = {}, .bytes = 4}); }),
                 "does not lie in a buffer");
}

TEST(TraceFile, WhatIsAnnouncedIsCheckedBeforeMemoryIsTaken) {
  const ByteVector frame{1, 0x14};
  TraceFrame large = entry(frame, 1);
  large.plain = std::uint64_t{1} << 40;
  expect_refused(file_of(plain_header(), {frame}, directory_of(small_program(), {large})), "decompressed is");
  large.plain = std::uint64_t{60} << 20;
  expect_refused(file_of(plain_header(), {frame}, directory_of(small_program(), {large})),
                 "no zstd frame of 62914560 bytes");
  ByteVector many;  // 2^60 buffers
  for (const std::uint64_t each : {std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1} << 60}) put_number(many, each);
  expect_refused(file_of(plain_header(), {frame}, many), "1152921504606846976 buffers are announced");
  const ByteVector bomb(std::size_t{80} << 20, 0);
  expect_refused(file_of(plain_header(), {frame}, bomb), "the index cannot be");
}

TEST(TraceFile, AFrameWithoutAChecksumIsRefused) {
  ByteVector bytes = sample();
  bytes[kPreambleBytes + 4] &= static_cast<std::uint8_t>(~4U);
  expect_refused(bytes, "with a checksum");
}

// --- mutations: thousands of small changes behind right checksums

TEST(TraceFile, MutatedPartsAreReadOrRefused) {
  pcg32 random(1);
  ByteVector program, streams;
  encode_program(trace_of(sample())->program(), program);
  const auto file = trace_of(sample());
  const TraceStreams first = file->read(0);
  const BufferMap buffers(file->program().buffers);
  std::uint64_t refused = 0, read = 0;
  for (unsigned round = 0; round < 40'000; ++round) {
    const bool of_program = round % 4 == 0;
    const auto stream = first.stream(random(static_cast<std::uint32_t>(first.begin.size() - 1)));
    ByteVector bytes = of_program ? program : ByteVector(stream.begin(), stream.end());
    for (std::uint32_t changes = 1 + random(3); changes > 0 && !bytes.empty(); --changes) {
      const std::uint32_t at = random(static_cast<std::uint32_t>(bytes.size()));
      switch (random(4)) {
        case 0: bytes[at] = static_cast<std::uint8_t>(random()); break;
        case 1: bytes[at] ^= static_cast<std::uint8_t>(1U << random(8)); break;
        case 2: bytes.erase(bytes.begin() + at); break;
        default: bytes.insert(bytes.begin() + at, static_cast<std::uint8_t>(random())); break;
      }
    }
    try {
      if (of_program) {
        ByteReader in(bytes);
        decode_program(in, file->header(), {});
      } else {
        check_stream(bytes, 64, buffers);
        StreamDecoder decoder(bytes.data(), bytes.data() + bytes.size(), 64);
        RecordedLanes lanes;
        LaneAddresses addresses;
        while (!decoder.at_end()) {
          const OpKind kind = kind_of(decoder.next(lanes));
          if (kind != OpKind::Load && kind != OpKind::Store && kind != OpKind::Atomic) continue;
          lanes.fill(addresses);
          addresses.expand();
          for (std::uint64_t left = addresses.active; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(left));
            ASSERT_NE(buffers.find(addresses.address[lane]), nullptr);
          }
        }
      }
      ++read;
    } catch (const MalformedBytes& malformed) {
      ASSERT_NE(*malformed.what(), '\0');
      ASSERT_LE(malformed.offset, bytes.size());
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(read, 1000U);
}

TEST(TraceFile, AnUnfinishedFileHasNoName) {
  const fs::path folder = fs::path(::testing::TempDir()) / "nearfar_trace_output";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const std::string path = (folder / "t.nft").string();
  {
    TraceOutput output(path);
    output.write(ByteVector(10, 1));
  }
  EXPECT_TRUE(fs::is_empty(folder));
  std::ofstream(path) << "before";
  {
    TraceOutput output(path);
    output.write(sample());
    output.commit();
  }
  EXPECT_EQ(TraceFile::open(path)->header().source, "by hand");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_THROW(TraceOutput((folder / "none" / "t.nft").string()), InputError);
  EXPECT_THROW(TraceFile::open((folder / "none").string()), InputError);
  EXPECT_THROW(TraceFile::open(folder.string()), InputError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nearfar::trace_file_test
