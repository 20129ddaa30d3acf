// A trace in a machine: timing, places of workgroups, homes of pages, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "trace/recorded.h"
#include "trace/stream_code.h"
#include "workload/catalog.h"

namespace nearfar::replay_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kHead = "nearfar-trace 1\ntimes\nbuffer A 0x100000000 65536\n";

TEST(Replay, GoesByTheTimesThatWereRecorded) {
  const auto bytes = from_text(
      std::string(kHead) + "launch k 1 1 1 64 1\nwave 0 0\nload 4 row A\nvalu 5000\ntime 100000\nload 4 row A+4096\n");
  const auto cycles = [&](TraceTiming timing) {
    return simulate(test_system({}), {replayed(bytes, timing)}).result.cycles;
  };
  const Cycle program = cycles(TraceTiming::Program), none = cycles(TraceTiming::None);
  EXPECT_GT(program, none + 15'000);
  EXPECT_LT(program, 100'000U);
  EXPECT_GT(cycles(TraceTiming::Recorded), 100'000U);
  EXPECT_LT(cycles(TraceTiming::Recorded), 100'000 + none);
}

TEST(Replay, NeedsTimesToGoBy) {
  const auto bytes = from_text("nearfar-trace 1\nbuffer A 0x100000000 4096\nlaunch k 1 1 1 64 1\n");
  EXPECT_THAT([&] { replayed(bytes, TraceTiming::Recorded); }, ThrowsMessage<InputError>(HasSubstr("without times")));
  EXPECT_THROW(parse_timing("fast"), InputError);
}

/// Workgroup g runs where it is listed, and its pages lie where they are listed.
TEST(Replay, RunsWorkgroupsAndHasPagesWhereTheyAreListed) {
  std::string text = std::string(kHead) + "home A 4 3\nhome A+16384 4 host\nlaunch k 8 1 1 64 1 0 listed\n";
  for (unsigned group = 0; group < 8; ++group) text += "place " + std::to_string(group) + " 3 5\n";
  for (unsigned group = 0; group < 8; ++group) {
    text += "wave " + std::to_string(group) + " 0\nload 4 row A+" + std::to_string(group * 256) + "\n";
  }
  const auto trace = replayed(from_text(text));
  RunRequest request;
  request.system = test_system({});
  request.applications = {trace};
  request.check = request.per_unit = true;
  const Outcome listed(run(request));
  EXPECT_EQ(listed.count("gpu3.cu5.groups"), 8U);
  EXPECT_EQ(listed.count("gpus.l2.remote_requests"), 0U);
  EXPECT_EQ(listed.count("gpu3.dram.reads"), 32U);
  request.system = test_system({"dispatch.policy=round-robin"});
  const Outcome anew(run(request));
  EXPECT_EQ(anew.count("gpu3.cu5.groups"), 0U);
  EXPECT_THAT([&] { simulate(test_system({"gpus=2"}), {trace}); },
              ThrowsMessage<InputError>(HasSubstr("dispatch.policy")));
  EXPECT_THAT(
      [&] {
        simulate(test_system({"gpus=2", "dispatch.policy=blocks"}), {trace});
      },
      ThrowsMessage<InputError>(HasSubstr("places pages on GPU 3")));
}

TEST(Replay, NeedsWavefrontsAsTheyWereRecorded) {
  const auto workload = make_workload("MT", SizeClass::Small, std::vector<ParameterSetting>{{"width", 64}}, 1);
  EXPECT_THAT([&] { simulate(test_system({}), {replayed(recorded(*workload, 32))}); },
              ThrowsMessage<InputError>(HasSubstr("wavefronts of 32 lanes")));
}

TEST(Replay, IsTheSameOnThreads) {
  const auto workload =
      make_workload("PR", SizeClass::Small, std::vector<ParameterSetting>{{"n", 512}, {"m", 4096}}, 1);
  const auto replay = replayed(recorded(*workload));
  const std::string one = whole_result(simulate(test_system({}), {workload}, true, 1).result);
  EXPECT_EQ(one, whole_result(simulate(test_system({}), {replay}, true, 4).result));
}

/// Frames are decompressed again where there is no room to keep them, and the streams stay the same.
TEST(Replay, KeepsAsManyFramesAsItMay) {
  const auto workload = make_workload("MT", SizeClass::Small, std::vector<ParameterSetting>{{"width", 512}}, 1);
  TraceHeader header;
  TraceBytes out;
  TraceWriter writer(out, header, 64);
  StreamEncoder encoder(64);
  const TraceProgram program = program_of(*workload);
  for (std::uint64_t wave = first_wavefronts(program.launches, 64).back(); wave > 0; --wave) {
    encoder.begin();
    encoder.add(valu(static_cast<unsigned>(wave)));
    writer.add(encoder.bytes());
  }
  writer.finish(program, {});
  const auto file = trace_of(out.bytes);
  ASSERT_GT(file->frames().size(), 10U);
  FrameCache cache(*file, 200);
  for (unsigned round = 0; round < 2; ++round) {
    for (std::size_t frame = 0; frame < file->frames().size(); ++frame) {
      cache.get(frame);
      EXPECT_EQ(cache.get(frame)->begin.size(), file->frames()[frame].waves + 1);
      EXPECT_LE(cache.bytes(), 200U);
    }
  }
  EXPECT_EQ(cache.reads(), 2 * file->frames().size());
}

}  // namespace
}  // namespace nearfar::replay_test
