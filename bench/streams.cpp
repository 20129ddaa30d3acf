// How fast wavefronts' streams are made, and made and coalesced, with nothing behind them: the ceiling of every whole
// run.
//   bench_streams [small|medium|paper [workloads…]]: of these workloads, or of all
//   bench_streams share [workloads…]: what part of a whole run's time (medium, ideal-4gpu) streams and coalescing take
//   bench_streams table [workloads…]: counts them, or all, in every size, as rows for src/workload/expected.cpp
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu/coalescer.h"
#include "machine/run.h"
#include "machine/system_file.h"
#include "workload/catalog.h"

namespace nearfar {
namespace {

constexpr unsigned kLanes = 64;
constexpr unsigned kLineBytes = 64;
constexpr int kPasses = 3;

struct Tally {
  std::uint64_t instructions = 0, lanes = 0, lines = 0, pages = 0;
  double seconds = 0;
  std::size_t frame = 0;
};

/// Of processor time, so that what else the machine does counts little.
double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
}

template <class Groups>
void count(const Groups& groups, Tally& tally) {
  for (const auto& group : groups) tally.lines += static_cast<std::uint64_t>(std::popcount(group.lines));
  tally.pages += groups.size();
}

/// Only the lanes' addresses: what the kernels themselves cost.
void make(Stream stream, LaneAddresses& addresses, Tally& tally) {
  for (;;) {
    const Op op = stream.next();
    if (op.kind == OpKind::End) return;
    tally.instructions += instructions(op);
    if (op.lanes == nullptr) continue;
    op.lanes(op.operation, kLanes, addresses);
    tally.lanes += kLanes;
  }
}

void consume(Stream stream, Coalescer& coalescer, LaneAddresses& addresses, Tally& tally) {
  for (;;) {
    const Op op = stream.next();
    if (op.kind == OpKind::End) return;
    tally.instructions += instructions(op);
    if (op.lanes == nullptr) continue;
    op.lanes(op.operation, kLanes, addresses);
    tally.lanes += kLanes;
    if (op.kind == OpKind::Load) {
      count(coalescer.loads(addresses, op.bytes), tally);
    } else {
      count(coalescer.stores(addresses, op.bytes).groups, tally);
    }
  }
}

Tally pass(const Workload& workload, bool coalesced = true) {
  Tally tally;
  Coalescer coalescer(kLineBytes);
  LaneAddresses addresses;
  const std::clock_t start = std::clock();
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < launch.waves(kLanes); ++w) {
        Stream stream = workload.wavefront(l, launch.wave(group, w, kLanes));
        if (coalesced) {
          consume(std::move(stream), coalescer, addresses, tally);
        } else {
          make(std::move(stream), addresses, tally);
        }
      }
    }
  }
  tally.seconds = seconds_since(start);
  tally.frame = frames::largest();
  return tally;
}

/// The best of a few passes: a disturbance only ever slows one down.
Tally measure(const Workload& workload, bool coalesced) {
  Tally best = pass(workload, coalesced);
  for (int i = 1; i < kPasses; ++i) {
    const Tally again = pass(workload, coalesced);
    if (again.seconds < best.seconds) best = again;
  }
  return best;
}

void report(const WorkloadInfo& info, SizeClass size) {
  const std::clock_t start = std::clock();
  const auto workload = make_workload(info.name, size, {}, 1);
  const double made = seconds_since(start);
  Tally tally, streams;
  std::thread([&] {  // a thread of its own: its frames are this workload's
    streams = measure(*workload, false);
    tally = measure(*workload, true);
  })
      .join();
  const double mega = 1e-6 / tally.seconds;
  fmt::print("{:11} {:>8.2f} {:>8.2f} {:>12} {:>12} {:>9.0f} {:>9.0f} {:>9.1f} {:>9.1f} {:>7}\n", info.name, made,
             tally.seconds, tally.instructions, tally.lines,
             static_cast<double>(streams.lanes) * 1e-6 / streams.seconds, static_cast<double>(tally.lanes) * mega,
             static_cast<double>(tally.lines) * mega, static_cast<double>(tally.pages) * mega, tally.frame);
}

/// Of the named workloads, or of all when none is named.
std::vector<WorkloadInfo> chosen(std::span<char*> names) {
  std::vector<WorkloadInfo> all(catalog().begin(), catalog().end());
  std::erase_if(all, [&](const WorkloadInfo& info) {
    return !names.empty() && std::ranges::find(names, info.name) == names.end();
  });
  return all;
}

/// Streams and coalescing for themselves against whole runs with the least behind them: ideal translation.
void print_shares(std::span<char*> names) {
  const SystemSpec system = load_system("ideal-4gpu", {}).spec;
  fmt::print("{:11} {:>10} {:>10} {:>8}\n", "workload", "streams s", "run s", "share");
  for (const WorkloadInfo& info : chosen(names)) {
    const std::shared_ptr<const Workload> workload = make_workload(info.name, SizeClass::Medium, {}, 1);
    const double streams = measure(*workload, true).seconds;
    RunRequest request;
    request.system = system;
    request.applications = {workload};
    const std::clock_t start = std::clock();
    run(request);
    const double whole = seconds_since(start);
    fmt::print("{:11} {:>10.2f} {:>10.2f} {:>6.1f} %\n", info.name, streams, whole, 100 * streams / whole);
    std::fflush(stdout);
  }
}

void print_table(std::span<char*> names) {
  for (const WorkloadInfo& info : chosen(names)) {
    fmt::print("      {{\"{}\", {{{{", info.name);
    for (const SizeClass size : {SizeClass::Small, SizeClass::Medium, SizeClass::Paper}) {
      const auto workload = make_workload(info.name, size, {}, 1);
      std::uint64_t bytes = 0;
      for (const Buffer& buffer : workload->buffers()) bytes += buffer.bytes;
      fmt::print("{}{{{}, {}}}", size == SizeClass::Small ? "" : ", ", bytes, pass(*workload).lines);
    }
    fmt::print("}}}}}},\n");
  }
}

}  // namespace
}  // namespace nearfar

int main(int argc, char** argv) {
  using namespace nearfar;
  if (argc > 1 && std::string_view(argv[1]) == "table") {
    print_table({argv + 2, argv + argc});
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "share") {
    print_shares({argv + 2, argv + argc});
    return 0;
  }
  const SizeClass size = parse_size(argc > 1 ? std::string_view(argv[1]) : "medium");
  fmt::print("size {}, {} lanes, {} B lines\n", size_name(size), kLanes, kLineBytes);
  fmt::print("{:11} {:>8} {:>8} {:>12} {:>12} {:>9} {:>9} {:>9} {:>9} {:>7}\n", "", "", "", "", "", "streams",
             "coalesced", "", "", "");
  fmt::print("{:11} {:>8} {:>8} {:>12} {:>12} {:>9} {:>9} {:>9} {:>9} {:>7}\n", "workload", "make s", "run s",
             "instructions", "lines", "M lanes/s", "M lanes/s", "M lines/s", "M pages/s", "frame B");
  for (const WorkloadInfo& info : chosen({argv + std::min(argc, 2), argv + argc})) report(info, size);
}
