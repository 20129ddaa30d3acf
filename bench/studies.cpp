// What a study costs beside its runs:
//   the time to load ten thousand results and to make figures of them;
//   the processor time of the program around runs of about a second, over that of the runs.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "config/words.h"
#include "study/derive.h"
#include "study/run_key.h"
#include "study/runner.h"

namespace nearfar {
namespace {

constexpr unsigned kSeeds = 556;  // times 9 workloads times 2 variants: ten thousand runs
constexpr unsigned kStatistics = 1500;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double processor_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A folder in memory: what is measured is the program, not the disk.
struct Folder {
  Folder() {
    char name[] = "/dev/shm/nearfar-bench-XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

Study large_study() {
  std::string seeds;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) seeds += fmt::format("{}{}", seed == 1 ? "" : ", ", seed);
  return read_study_text(
      fmt::format("title: T\nsystem: ats-4gpu\nworkloads: [FIR, KM, PR, AES, MT, MM, BS, ST, FFT]\nseeds: [{}]\n"
                  "variants: {{baseline: {{}}, infinite: {{design: infinite-iommu-tlb}}}}\n"
                  "figures: {{speedup: {{value: speedup}}, hits: {{value: iommu.tlb.hits / iommu.tlb.lookups}}}}\n",
                  seeds),
      "bench.yaml");
}

ResultFile result_of(const PlannedRun& run) {
  ResultFile result;
  result.key = run.key;
  result.model = model_version();
  result.workload = run.run.workload;
  result.cycles = 1000 + run.run.seed;
  result.statistics = {{"iommu.tlb.hits", 1}, {"iommu.tlb.lookups", 2}};
  for (unsigned i = 0; i < kStatistics; ++i)
    result.statistics.emplace_back(fmt::format("made.up.statistic{:04}", i), i);
  for (const auto& [name, value] : result.statistics) result.json += fmt::format("\"{}\": {},\n", name, value);
  return result;
}

void load_and_report() {
  const Folder folder;
  const Study study = large_study();
  const std::vector<NamedRun> runs = study_runs(study);
  {
    ResultStore store(folder.path + "/a.db");
    for (const PlannedRun& run : plan_runs(runs).runs) store.add(result_of(run), run.program);
  }
  const auto start = std::chrono::steady_clock::now();
  const ResultStore store(folder.path + "/a.db");
  const StudyResults results(runs, store);
  const double loaded = seconds_since(start);
  const std::vector<FigureData> figures = derive(study, results);
  fmt::print("{} results: {:.2f} s to plan and load, {:.2f} s to make {} figures; {:.1f} MB\n", runs.size(), loaded,
             seconds_since(start) - loaded, figures.size(),
             static_cast<double>(std::filesystem::file_size(folder.path + "/a.db")) / 1e6);
  const auto again = std::chrono::steady_clock::now();
  const std::size_t count = store.all().size();
  fmt::print("{} results: {:.2f} s to read them all from the store\n", count, seconds_since(again));
}

void overhead(const std::string& program) {
  const Folder folder;
  ResultStore store(folder.path + "/a.db");
  std::vector<NamedRun> runs;
  for (const char* workload : {"PR", "ST", "KM", "MM"}) {
    for (const std::uint64_t seed : {1, 2}) {
      runs.push_back({workload, SizeClass::Small, {}, "", "mmu-4gpu", "baseline", {}, seed, {}});
    }
  }
  const auto plain_start = std::chrono::steady_clock::now();
  for (const NamedRun& run : runs) {
    if (std::system((program + " " + join(run_words(run), " ") + " --quiet --json " + folder.path + "/x").c_str()) != 0)
      return;
  }
  const double plain = seconds_since(plain_start);
  RunnerOptions options;
  options.jobs = 1;
  options.program = program;
  const double before = processor_seconds(RUSAGE_SELF), children = processor_seconds(RUSAGE_CHILDREN);
  const auto start = std::chrono::steady_clock::now();
  const RunnerOutcome outcome = run_missing(plan_runs(runs).runs, store, options);
  const double wall = seconds_since(start), around = processor_seconds(RUSAGE_SELF) - before;
  const double inside = processor_seconds(RUSAGE_CHILDREN) - children;
  fmt::print("{} runs of {:.2f} s of processor time: the study around them took {:.4f} s, {:.2f} %\n", outcome.done,
             inside / static_cast<double>(outcome.done), around, 100 * around / inside);
  fmt::print("from start to end {:.2f} s, the same runs in a plain loop {:.2f} s: {:.3f}\n", wall, plain, wall / plain);
}

}  // namespace
}  // namespace nearfar

int main(int argc, char** argv) {
  nearfar::load_and_report();
  if (argc > 1)
    nearfar::overhead(argv[1]);
  else
    fmt::print("bench_studies build/release/nearfar also measures what runs cost in a study\n");
}
