// How long a report of ten thousand results takes, from the store to the page. The results are made up; what is
// measured is looking them up, deriving figures from them and writing the page.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "report/collect.h"
#include "study/run_key.h"
#include "study/runner.h"

namespace nearfar {
namespace {

constexpr int kSeeds = 500;
constexpr int kStatistics = 800;  // as a run of a machine with translation has

double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Ten workloads, two machines and many seeds.
Study made_up_study() {
  std::string seeds = "1";
  for (int seed = 2; seed <= kSeeds; ++seed) seeds += fmt::format(", {}", seed);
  return read_study_text(fmt::format("title: Made up\n"
                                     "description: Ten thousand runs\n"
                                     "system: ats-4gpu\n"
                                     "workloads: [FIR, KM, PR, AES, MT, MM, BS, ST, FFT, SC]\n"
                                     "seeds: [{}]\n"
                                     "variants:\n"
                                     "  baseline: {{}}\n"
                                     "  infinite: {{design: infinite-iommu-tlb}}\n"
                                     "figures:\n"
                                     "  speedup: {{title: Speedup, value: speedup, against: baseline}}\n",
                                     seeds),
                         "studies/made-up.yaml");
}

void fill(ResultStore& store, const std::vector<PlannedRun>& runs) {
  ResultFile result;
  result.model = model_version();
  result.version = "0", result.workload = "MT", result.size = "medium", result.system = "ats-4gpu";
  result.json = R"({"configuration": {"gpus": "4"}, "configuration_origins": {"gpus": "default"}})";
  for (int i = 0; i < kStatistics; ++i) result.statistics.emplace_back(fmt::format("statistic.{:04}", i), i);
  for (const PlannedRun& run : runs) {
    result.key = run.key;
    ++result.cycles;
    store.add(result, run.program);
  }
}

void measure() {
  const Study study = made_up_study();
  const auto planned = plan_runs(study_runs(study)).runs;
  // In memory where there is such a place: filling the store syncs each result, which is not what is measured.
  const std::filesystem::path memory = "/dev/shm";
  const bool in_memory = access(memory.c_str(), W_OK) == 0;
  const auto place = in_memory ? memory : std::filesystem::temp_directory_path();
  std::string folder = (place / "nearfar-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) std::abort();
  const std::string path = folder + "/results.db";
  ResultStore store(path);
  fill(store, planned);
  const std::clock_t start = std::clock();
  const ReportContent content = collect({}, {study}, store);
  const double collected = seconds_since(start);
  const std::string page = report_html(content);
  fmt::print("{} results: {:.2f} s to look up and derive, {:.2f} s to write {:.1f} MB\n", content.runs.size(),
             collected, seconds_since(start) - collected, static_cast<double>(page.size()) / 1e6);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nearfar

int main() { nearfar::measure(); }
