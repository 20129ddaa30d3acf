// What holds for the streams of every workload: they are pure, small while suspended, and stay in their buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>
#include <tuple>

#include "trace/recorded.h"
#include "workload/census.h"

namespace nearfar::streams_test {
namespace {

using namespace nearfar::testing;

constexpr std::size_t kLargestFrame = 320;

/// Sizes at which all streams can be written down.
std::shared_ptr<const Workload> tiny(const std::string& name) {
  static const std::map<std::string, std::vector<ParameterSetting>> kTiny{
      {"AES", {{"bytes", 4096}}},
      {"AllGather", {{"bytes", 7680}, {"ranks", 3}, {"items", 128}}},
      {"AllReduce", {{"bytes", 6000}, {"ranks", 5}, {"items", 128}, {"algorithm", 1}, {"chunks", 3}}},
      {"AllToAll", {{"bytes", 7680}, {"ranks", 5}, {"items", 128}}},
      {"ATAX", {{"nx", 300}, {"ny", 70}}},
      {"BFS", {{"n", 300}, {"m", 2000}, {"wg", 96}}},
      {"BackProp", {{"n", 48}}},
      {"BICG", {{"nx", 300}, {"ny", 70}, {"wg", 32}}},
      {"BS", {{"n", 256}}},
      {"BSch", {{"samples", 1}}},
      {"DCT", {{"width", 40}, {"sdk", 3}}},
      {"Decode", {{"width", 64}, {"heads", 4}, {"context", 20}, {"ranks", 2}, {"by_rows", 1}}},
      {"DH", {{"n", 1 << 12}}},
      {"FW", {{"n", 32}}},
      {"FWT", {{"n", 1024}}},
      {"Hist", {{"width", 256}}},
      {"MTw", {{"width", 48}}},
      {"RD", {{"n", 4096}}},
      {"RS", {{"n", 1 << 14}}},
      {"SC2", {{"width", 64}, {"height", 20}, {"mask", 5}}},
      {"SF", {{"width", 256}, {"height", 5}}},
      {"SLA", {{"n", 1 << 17}}},
      {"ALS", {{"n", 300}}},
      {"BellmanFord", {{"n", 500}}},
      {"Jacobi", {{"n", 4096}, {"iterations", 2}}},
      {"PageRank", {{"n", 333}, {"iterations", 2}}},
      {"CT", {{"side", 16}, {"views", 8}, {"slices", 2}}},
      {"Diffusion", {{"n", 16}}},
      {"EQWP", {{"nx", 20}, {"ny", 20}, {"nz", 8}}},
      {"HIT", {{"n", 16}}},
      {"C2D", {{"n", 50}}},
      {"Color", {{"n", 400}}},
      {"Conv2d", {{"side", 9}, {"filters", 20}, {"full", 1}}},
      {"FFT", {{"bytes", 16384}, {"passes", 2}}},
      {"FIR", {{"n", 1024}}},
      {"GEMM", {{"ni", 13}, {"nj", 50}, {"nk", 7}}},
      {"GEMV", {{"n", 70}}},
      {"GESUMMV", {{"n", 70}, {"wg", 96}}},
      {"Hotspot", {{"n", 40}, {"height", 2}}},
      {"Im2col", {{"batch", 2}, {"side", 9}, {"stride", 2}}},
      {"J2D", {{"n", 50}, {"steps", 2}}},
      {"KM", {{"points", 200}, {"features", 5}, {"clusters", 2}, {"iterations", 2}}},
      {"LU", {{"n", 40}}},
      {"LUD", {{"n", 48}}},
      {"MM", {{"n", 64}}},
      {"MM2", {{"n", 36}, {"strips", 2}}},
      {"MM3", {{"n", 36}}},
      {"MT", {{"width", 192}}},
      {"MVT", {{"n", 70}, {"bytes", 8}}},
      {"NW", {{"n", 64}}},
      {"Prefill", {{"width", 64}, {"heads", 4}, {"tokens", 20}, {"context", 24}, {"ranks", 2}, {"bytes", 2}}},
      {"ReduceScatter", {{"bytes", 7680}, {"ranks", 3}, {"items", 128}, {"word", 8}, {"direct", 1}}},
      {"ReLU", {{"n", 1000}}},
      {"ResNet18", {{"first_part", 7}, {"parts", 3}}},
      {"VGG16", {{"first_part", 12}, {"parts", 2}, {"ranks", 3}, {"phases", 15}, {"exchange", 1}, {"shared", 1}}},
      {"PR", {{"n", 64}, {"m", 2000}, {"iterations", 2}}},
      {"SC", {{"width", 70}, {"height", 9}}},
      {"SpMV", {{"n", 300}, {"m", 1500}}},
      {"SSSP", {{"n", 300}, {"m", 1500}, {"graph", 0}}},
      {"ST", {{"rows", 34}, {"columns", 130}, {"iterations", 2}}},
  };
  const auto found = kTiny.find(name);
  if (found == kTiny.end()) ADD_FAILURE() << name << " has no tiny size";
  return make(name, found == kTiny.end() ? std::vector<ParameterSetting>{} : found->second);
}

using Record = std::tuple<OpKind, unsigned, unsigned, std::vector<std::uint64_t>>;

Record record(const Op& op, unsigned lanes) {
  std::vector<std::uint64_t> touched;
  if (op.lanes != nullptr) {
    LaneAddresses addresses;
    op.lanes(op.operation, lanes, addresses);
    addresses.expand();
    touched.assign(addresses.address.begin(), addresses.address.begin() + lanes);
    touched.push_back(addresses.active);
  } else {
    touched.push_back(op.address);
  }
  return {op.kind, op.bytes, op.count, std::move(touched)};
}

std::vector<std::vector<Record>> record_one_by_one(const Workload& workload) {
  std::vector<std::vector<Record>> all;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < launch.waves(64); ++w) {
        Stream stream = workload.wavefront(l, launch.wave(group, w, 64));
        all.emplace_back();
        for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) all.back().push_back(record(op, 64));
      }
    }
  }
  return all;
}

/// All wavefronts at once, last one first, an operation each in turn.
std::vector<std::vector<Record>> record_interleaved(const Workload& workload) {
  std::vector<Stream> streams;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < launch.waves(64); ++w) {
        streams.push_back(workload.wavefront(l, launch.wave(group, w, 64)));
      }
    }
  }
  std::vector<std::vector<Record>> all(streams.size());
  for (bool alive = true; alive;) {
    alive = false;
    for (std::size_t i = streams.size(); i-- > 0;) {
      const Op op = streams[i].next();
      if (op.kind == OpKind::End) continue;
      all[i].push_back(record(op, 64));
      alive = true;
    }
  }
  return all;
}

class Streams : public ::testing::TestWithParam<std::string> {};

TEST_P(Streams, AreTheSameInAnyOrder) {
  const auto workload = tiny(GetParam());
  const auto first = record_one_by_one(*workload);
  EXPECT_EQ(first, record_one_by_one(*workload));
  EXPECT_EQ(first, record_interleaved(*workload));
  EXPECT_EQ(first, record_one_by_one(*tiny(GetParam())));
}

TEST_P(Streams, StaySmallWhileSuspended) {
  const auto workload = tiny(GetParam());
  for (std::size_t l = 0; l < workload->launches().size(); ++l) {
    std::size_t frame = 0;
    std::thread([&] {
      const Stream stream = workload->wavefront(l, workload->launches()[l].wave(0, 0, 64));
      frame = frames::largest();
    }).join();
    EXPECT_LE(frame, kLargestFrame) << workload->launches()[l].kernel;
    RecordProperty(workload->launches()[l].kernel + "_frame_bytes", static_cast<int>(frame));
  }
}

TEST_P(Streams, StayInTheirBuffers) {
  const auto workload = tiny(GetParam());
  for (const auto& wave : record_one_by_one(*workload)) {
    for (const auto& [kind, bytes, count, touched] : wave) {
      if (kind != OpKind::Load && kind != OpKind::Store && kind != OpKind::Atomic && kind != OpKind::ScalarLoad)
        continue;
      const std::size_t lanes = kind == OpKind::ScalarLoad ? 1 : 64;
      const std::uint64_t active = kind == OpKind::ScalarLoad ? 1 : touched.back();
      EXPECT_NE(active, 0U) << "nobody takes part";
      for (std::size_t i = 0; i < lanes; ++i) {
        if ((active >> i & 1) == 0) continue;
        const bool inside =
            std::ranges::any_of(workload->buffers(), [&, at = touched[i], size = bytes](const Buffer& b) {
              return at >= b.base.value && at + size <= b.base.value + b.bytes;
            });
        ASSERT_TRUE(inside) << std::hex << touched[i];
      }
    }
  }
}

TEST_P(Streams, TouchTheSamePagesOnAnyNumberOfGpusAndLanes) {
  const auto workload = tiny(GetParam());
  const Census one = take_census(*workload);
  const auto touched = [](const Census& census) {
    std::vector<bool> pages;
    for (const std::uint32_t by : census.readers) pages.push_back(by != 0);
    return pages;
  };
  for (const unsigned gpus : {2U, 4U}) {
    const Census several = take_census(*workload, gpus);
    EXPECT_EQ(touched(several), touched(one)) << gpus << " GPUs";
    EXPECT_EQ(several.instructions, one.instructions);
    EXPECT_EQ(several.lines.total, one.lines.total);
  }
  const Census halves = take_census(*workload, 1, 32);
  EXPECT_EQ(touched(halves), touched(one));
  EXPECT_GE(halves.lines.total, one.lines.total);
}

TEST_P(Streams, GiveEachItemTheSameAddressesInHalfWavefronts) {
  const auto workload = tiny(GetParam());
  for (std::size_t l = 0; l < workload->launches().size(); ++l) {
    const std::uint64_t last = workload->launches()[l].groups() - 1;
    EXPECT_EQ(touches(*workload, l, last, 64), touches(*workload, l, last, 32)) << "launch " << l;
  }
}

TEST_P(Streams, ReplayToTheSameResultOnAnyNumberOfGpus) {
  // A system and a dispatch policy each, by turns: together the workloads see all of them.
  static constexpr const char* kSystems[] = {"ideal-4gpu", "mmu-4gpu", "ats-4gpu", "rec-4gpu"};
  static constexpr const char* kPolicies[] = {"workload", "greedy", "round-robin", "blocks", "offset"};
  const auto workload = tiny(GetParam());
  const auto replay = replayed(recorded(*workload));
  std::size_t turn = std::hash<std::string>{}(GetParam());
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::vector<unsigned> counts{2};  // where runs take ten times as long
#else
  const std::vector<unsigned> counts{1, 2, 4};
#endif
  for (const unsigned gpus : counts) {
    const bool copies =
        std::ranges::any_of(workload->steps(), [](const Step& step) { return std::holds_alternative<Copy>(step); });
    const std::string system = copies ? "ideal-4gpu" : kSystems[turn++ % std::size(kSystems)];
    const std::string policy = kPolicies[turn % std::size(kPolicies)];
    const auto count = workload->gpus() == 0 ? gpus : workload->gpus();
    const SystemSpec machine =
        test_system({"gpus=" + std::to_string(count), "gpu.shader_arrays=2", "dispatch.policy=" + policy}, system);
    EXPECT_EQ(whole_result(simulate(machine, {workload}, false).result),
              whole_result(simulate(machine, {replay}, false).result))
        << system << ", " << count << " GPUs, " << policy;
    if (workload->gpus() != 0) break;
  }
}

TEST_P(Streams, AreRecordedInHalfWavefrontsToo) {
  const auto workload = tiny(GetParam());
  const auto replay = replayed(recorded(*workload, 32));
  for (std::size_t l = 0; l < workload->launches().size(); ++l) {
    const std::uint64_t last = workload->launches()[l].groups() - 1;
    EXPECT_EQ(touches(*workload, l, last, 32), touches(*replay, l, last, 32)) << "launch " << l;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const WorkloadInfo& info : catalog()) all.push_back(info.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Catalog, Streams, ::testing::ValuesIn(names()), [](const auto& which) { return which.param; });

Stream countdown(unsigned from) {
  const auto access = load(4, [&](unsigned lane) { return lane < from ? VirtAddr{std::uint64_t{lane} * 4} : kIdle; });
  for (; from > 0; --from) {
    co_yield valu(from);
    co_yield access;
  }
  co_yield scalar_load(8, VirtAddr{0x1234'5678'9abc});
}

TEST(Stream, RunsTheKernelToItsEndAndStaysThere) {
  Stream stream = countdown(2);
  LaneAddresses lanes;
  for (const unsigned left : {2U, 1U}) {
    const Op arithmetic = stream.next();
    EXPECT_EQ(arithmetic.kind, OpKind::VectorAlu);
    EXPECT_EQ(arithmetic.count, left);
    EXPECT_EQ(arithmetic.lanes, nullptr);
    const Op access = stream.next();
    EXPECT_EQ(access.kind, OpKind::Load);
    EXPECT_EQ(access.bytes, 4U);
    access.lanes(access.operation, 64, lanes);
    lanes.expand();
    EXPECT_EQ(lanes.active, (std::uint64_t{1} << left) - 1);
    EXPECT_EQ(lanes.address[left - 1], 4 * (left - 1));
  }
  const Op scalar = stream.next();
  EXPECT_EQ(scalar.kind, OpKind::ScalarLoad);
  EXPECT_EQ(scalar.bytes, 8U);
  EXPECT_EQ(scalar.address, 0x1234'5678'9abcU);
  EXPECT_EQ(stream.next().kind, OpKind::End);
  EXPECT_EQ(stream.next().kind, OpKind::End);
}

TEST(Stream, LanesBeyondTheWavefrontAreIdle) {
  Stream stream = countdown(100);
  stream.next();
  const Op access = stream.next();
  LaneAddresses lanes;
  access.lanes(access.operation, 64, lanes);
  lanes.expand();
  EXPECT_EQ(lanes.active, ~std::uint64_t{0});
  access.lanes(access.operation, 32, lanes);
  lanes.expand();
  EXPECT_EQ(lanes.active, 0xffff'ffffU);
}

TEST(Op, CountsInstructions) {
  EXPECT_EQ(instructions(to_op(valu(7))), 7U);
  EXPECT_EQ(instructions(to_op(salu(3))), 3U);
  EXPECT_EQ(instructions(to_op(local(4))), 4U);
  EXPECT_EQ(instructions(to_op(wait(5))), 1U);
  EXPECT_EQ(to_op(wait(5)).count, 5U);
  EXPECT_EQ(instructions(to_op(wait(0))), 1U);
  EXPECT_EQ(instructions(to_op(barrier())), 1U);
  EXPECT_EQ(instructions(to_op(fence())), 1U);
  EXPECT_EQ(instructions(to_op(scalar_load(4, VirtAddr{64}))), 1U);
  EXPECT_EQ(instructions(Op{}), 0U);
}

}  // namespace
}  // namespace nearfar::streams_test
