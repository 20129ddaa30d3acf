// Whole runs, as ratios taken in one go:
//   bench_runs speed    every workload: accesses/s, events, and how much faster a functional pass is
//   bench_runs threads  one thread against two, and what two runs side by side get done
//   bench_runs designs  cost of an access with a design, over that without
//   bench_runs scale    cost of an access as the GPUs grow 1, 4, 16, 64 at the same work per GPU
//   bench_runs memory   bytes of a resident wavefront
// As ./nearfar does, set GLIBC_TUNABLES=glibc.malloc.hugetlb=1 to have large pages of the host.
// Without an argument it does all of them. For speed and threads a second argument names one workload, a third one a
// system.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "designs/design.h"
#include "functional.h"
#include "gpu/wavefront.h"
#include "machine/run.h"
#include "machine/system_file.h"
#include "sim/event.h"
#include "workload/catalog.h"

namespace {

using namespace nearfar;

const std::vector<std::string> kWorkloads = {"MT", "FIR", "ST", "KM", "MM", "PR"};

/// What runs on which system.
struct Subject {
  std::string system;
  std::vector<std::string> workloads;
};

const std::vector<Subject> kSubjects = {
    {"ideal-4gpu", kWorkloads}, {"ats-4gpu", {"MT", "FIR"}}, {"mmu-4gpu", {"MT", "FIR"}}};

/// A design on the system and with a workload of its study.
struct DesignSubject {
  std::string design;
  std::string system;
  std::string workload;
};

const std::vector<DesignSubject> kDesigns = {
    {"least-tlb", "ats-4gpu", "MT"},         {"least-tlb", "ats-4gpu", "ST"},      {"trans-fw", "mmu-4gpu", "MT"},
    {"trans-fw", "mmu-4gpu", "ST"},          {"idyll", "mmu-4gpu-counters", "MT"}, {"idyll", "mmu-4gpu-counters", "ST"},
    {"neighborhood", "svm-1gpu", "GESUMMV"}, {"neighborhood", "svm-1gpu", "MVT"}};

SystemSpec system_with(unsigned gpus) {
  const std::vector<std::string> overrides = {fmt::format("gpus={}", gpus)};
  return load_system("ideal-4gpu", overrides).spec;
}

RunResult timed_run(const SystemSpec& system, const std::shared_ptr<const Workload>& workload, unsigned threads) {
  RunRequest request;
  request.system = system;
  request.applications = {workload};
  request.threads = threads;
  return run(request);
}

/// The quickest of three: what else the machine does only ever adds.
RunResult best_run(const SystemSpec& system, const std::shared_ptr<const Workload>& workload, unsigned threads) {
  RunResult best = timed_run(system, workload, threads);
  for (int again = 0; again < 2; ++again) {
    RunResult next = timed_run(system, workload, threads);
    if (next.host_seconds < best.host_seconds) best = std::move(next);
  }
  return best;
}

double functional_seconds(const SystemSpec& system, const Workload& workload) {
  double best = 1e9;
  for (int again = 0; again < 3; ++again) {
    FunctionalPass pass(system, workload);
    const auto begin = std::chrono::steady_clock::now();
    pass.run();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

void speed(const Subject& subject) {
  const SystemSpec system = load_system(subject.system, {}).spec;
  fmt::print("Whole runs, {}, medium, one thread\n{:>4} {:>10} {:>8} {:>9} {:>9} {:>9} {:>11} {:>9}\n", subject.system,
             "", "accesses", "seconds", "M acc/s", "ev/acc", "M ev/s", "functional×", "MiB");
  for (const std::string& name : subject.workloads) {
    const auto workload = make_workload(name, SizeClass::Medium, {}, 1);
    const RunResult result = best_run(system, workload, 1);
    const auto accesses = static_cast<double>(result.accesses);
    const auto events = static_cast<double>(result.events);
    fmt::print("{:>4} {:>10} {:>8.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>11.1f} {:>9.0f}\n", name, result.accesses,
               result.host_seconds, accesses / result.host_seconds / 1e6, events / accesses,
               events / result.host_seconds / 1e6, result.host_seconds / functional_seconds(system, *workload),
               static_cast<double>(result.peak_rss_bytes) / (1 << 20));
  }
}

/// Seconds that two runs of one thread take side by side: what the machine gives to two that share nothing, caches
/// among it, of which two threads of one run have half as much to fill.
double side_by_side(const SystemSpec& system, const std::shared_ptr<const Workload>& workload) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const std::jthread other([&] { timed_run(system, workload, 1); });
    timed_run(system, workload, 1);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// All three in turns, so that a slow minute of the machine meets all.
void threads(const Subject& subject) {
  const SystemSpec system = load_system(subject.system, {}).spec;
  fmt::print("Threads, {}, medium; two runs side by side show what the machine has\n{:>4} {:>10} {:>10} {:>8} {:>12}\n",
             subject.system, "", "1 thread", "2 threads", "ratio", "side by side");
  for (const std::string& name : subject.workloads) {
    const auto workload = make_workload(name, SizeClass::Medium, {}, 1);
    double one = 1e9;
    double two = 1e9;
    double both = 1e9;
    for (int again = 0; again < 4; ++again) {
      one = std::min(one, timed_run(system, workload, 1).host_seconds);
      two = std::min(two, timed_run(system, workload, 2).host_seconds);
      both = std::min(both, side_by_side(system, workload));
    }
    fmt::print("{:>4} {:>9.2f}s {:>9.2f}s {:>8.2f} {:>12.2f}\n", name, one, two, one / two, 2 * one / both);
  }
}

double cost_of_access(const RunResult& result) {
  return result.host_seconds * 1e9 / static_cast<double>(result.accesses);
}

/// Both in turns, so that a slow minute of the machine meets both.
void designs() {
  fmt::print("Designs, medium, one thread\n{:<13} {:<18} {:<8} {:>12} {:>12} {:>6}\n", "", "", "", "ns/access",
             "with design", "ratio");
  for (const DesignSubject& subject : kDesigns) {
    const auto workload = make_workload(subject.workload, SizeClass::Medium, {}, 1);
    const SystemSpec plain = load_system(subject.system, {}).spec;
    const std::vector<std::string> names = {subject.design};
    const SystemSpec designed = load_system_with(names, subject.system, {}).spec;
    double without = 1e9;
    double with = 1e9;
    for (int again = 0; again < 3; ++again) {
      without = std::min(without, cost_of_access(timed_run(plain, workload, 1)));
      with = std::min(with, cost_of_access(timed_run(designed, workload, 1)));
    }
    fmt::print("{:<13} {:<18} {:<8} {:>12.0f} {:>12.0f} {:>6.2f}\n", subject.design, subject.system, subject.workload,
               without, with, with / without);
  }
}

/// The same work per GPU: MT's matrix grows with the square of its width.
std::shared_ptr<const Workload> scaled_workload(const std::string& name, unsigned gpus, unsigned side) {
  const std::vector<ParameterSetting> settings = {name == "MT" ? ParameterSetting{"width", std::uint64_t{2048} * side}
                                                               : ParameterSetting{"n", std::uint64_t{1 << 20} * gpus}};
  return make_workload(name, SizeClass::Medium, settings, 1);
}

/// All sizes in turns, so that a slow minute of the machine meets all.
void scale() {
  struct Size {
    unsigned gpus;
    unsigned side;
    std::uint64_t accesses = 0;
    double cost = 1e9;
    double mebibytes = 0;
  };
  fmt::print("Scale, the same work per GPU, one thread\n{:>4} {:>5} {:>10} {:>10} {:>10} {:>9}\n", "", "GPUs",
             "accesses", "ns/access", "of 4 GPUs", "MiB");
  for (const std::string name : {"MT", "FIR"}) {
    std::vector<Size> sizes = {{1, 1}, {4, 2}, {16, 4}, {64, 8}};
    for (int again = 0; again < 3; ++again) {
      for (Size& size : sizes) {
        const RunResult result = timed_run(system_with(size.gpus), scaled_workload(name, size.gpus, size.side), 1);
        size.accesses = result.accesses;
        size.cost = std::min(size.cost, cost_of_access(result));
        if (again == 0) size.mebibytes = static_cast<double>(result.peak_rss_bytes) / (1 << 20);
      }
    }
    for (const Size& size : sizes) {
      fmt::print("{:>4} {:>5} {:>10} {:>10.0f} {:>10.2f} {:>9.0f}\n", name, size.gpus, size.accesses, size.cost,
                 size.cost / sizes[1].cost, size.mebibytes);
    }
  }
}

/// The largest frame among a workload's kernels; on a thread of its own, since the frame lists remember per thread.
std::size_t largest_frame(const Workload& workload) {
  std::size_t largest = 0;
  std::thread([&] {
    for (std::size_t l = 0; l < workload.launches().size(); ++l) {
      Wave wave;
      wave.size_x = workload.launches()[l].size_x;
      wave.size_y = workload.launches()[l].size_y;
      const Stream stream = workload.wavefront(l, wave);
    }
    largest = frames::largest();
  }).join();
  return largest;
}

void memory() {
  fmt::print("Memory of a resident wavefront\n");
  const std::size_t fixed = sizeof(Wavefront) + kEventBytes;
  for (const std::string& name : kWorkloads) {
    const std::size_t frame = largest_frame(*make_workload(name, SizeClass::Small, {}, 1));
    fmt::print("{:>4}: {} B slot and event + {} B stream = {} B\n", name, fixed, frame, fixed + frame);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  std::vector<Subject> subjects = kSubjects;
  if (argc > 3) subjects = {{argv[3], kWorkloads}};
  if (argc > 2) subjects = {{subjects.front().system, {argv[2]}}};
  const auto wanted = [&](std::string_view name) { return what.empty() || what == name; };
  if (wanted("speed")) std::ranges::for_each(subjects, speed);
  if (wanted("threads")) std::ranges::for_each(subjects, threads);
  if (wanted("designs")) designs();
  if (wanted("scale")) scale();
  if (wanted("memory")) memory();
}
