// Golden results: what small runs of every workload's, system's and design's kind have measured, kept as files in
// golden/. A difference is a change of the model. Where it is meant, `./test golden` writes all of them anew, and the
// commit says why they changed.
//
// A file has the leading statistics in clear and, for each part of the machine, a hash of all of its statistics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include "designs/design.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::golden_test {
namespace {

namespace fs = std::filesystem;
using Programs = std::vector<std::shared_ptr<const Workload>>;

const fs::path kFolder = NEARFAR_SOURCE_DIR "/tests/machine/golden";

/// One file: a system with designs, and the programs that run on it, one after another.
struct Golden {
  std::string name;
  std::string system;
  std::vector<std::string> overrides;
  std::vector<std::string> designs;
  std::function<std::vector<Programs>()> programs;
};

std::ostream& operator<<(std::ostream& stream, const Golden& golden) { return stream << golden.name; }

// ---------------------------------------------------------------------------------------------- which runs there are

std::shared_ptr<const Workload> tiny(const std::string& name, std::vector<ParameterSetting> settings) {
  return make_workload(name, SizeClass::Small, settings, 1);
}

Programs page_rank() { return {tiny("PR", {{"n", 1024}, {"m", 8192}, {"iterations", 2}})}; }

Programs four_applications() {
  return {tiny("MT", {{"width", 256}}), tiny("PR", {{"n", 512}, {"m", 4096}, {"iterations", 1}}),
          tiny("FIR", {{"n", 4096}}), tiny("ST", {{"rows", 66}, {"columns", 130}, {"iterations", 1}})};
}

/// On GPU instances, one application each: the same with pages that several of them have at the same address.
std::vector<Programs> for_instances() {
  const Programs all = four_applications();
  return {{all[0], all[1], all[3]}, {all[0], all[0], all[2]}};
}

std::vector<Golden> workload_runs() {
  const auto run = [](const char* name, const char* workload, std::vector<ParameterSetting> settings) {
    const auto programs = [=] { return std::vector<Programs>{{tiny(workload, settings)}}; };
    return Golden{name, "ideal-4gpu", {}, {}, programs};
  };
  return {run("mt", "MT", {{"width", 1024}}),  run("fir", "FIR", {{"n", 1 << 17}}),
          run("km", "KM", {{"points", 4096}}), run("st", "ST", {{"rows", 514}, {"columns", 514}}),
          run("mm", "MM", {{"n", 256}}),       run("pr", "PR", {{"n", 4096}, {"m", 32768}})};
}

/// Every system that is shipped.
std::vector<Golden> system_runs() {
  std::vector<Golden> runs;
  for (const SystemSummary& system : list_systems()) {
    const auto programs = [instances = load_system(system.name, {}).spec.has_instances()] {
      if (instances) return for_instances();
      return std::vector<Programs>{page_rank(), {tiny("MT", {{"width", 512}})}};
    };
    runs.push_back({"system_" + system.name, system.name, {}, {}, programs});
  }
  return runs;
}

/// The shipped system that a design is tried on: of the kind that it was made for, and not one that has it already.
std::string system_for(const Design& design) {
  if (!design.system.empty()) return design.system;
  if (std::ranges::find(design.seams, "egress") != design.seams.end()) return "finepack-4gpu";
  switch (choose_designs(std::vector<std::string>{design.name}).front()->systems.front()) {
    case TranslationKind::Ats: return "ats-4gpu";
    case TranslationKind::Svm: return "svm-1gpu";
    case TranslationKind::Mig: return "mig-a100";
    case TranslationKind::Ideal: return "ideal-4gpu";
    case TranslationKind::Mmu: break;
  }
  // With access counters several GPUs map a page and it moves, so that every seam has something to do.
  const bool places = std::ranges::find(design.seams, "placement") != design.seams.end();
  return places && design.name != "on-touch" ? "mmu-4gpu" : "mmu-4gpu-counters";
}

/// TLBs so small that tiny programs miss them, few walkers, pages that move soon, and directories that are soon full:
/// else most designs have nothing to do.
std::vector<std::string> busy_structures() {
  return {"gpu.l2_tlb.entries=8",
          "gpu.l2_tlb.ways=4",
          "iommu.tlb.entries=16",
          "iommu.tlb.ways=4",
          "host.mmu.tlb.entries=16",
          "host.mmu.tlb.ways=4",
          "gpu.gmmu.walkers=1",
          "iommu.walkers=4",
          "host.mmu.walkers=1",
          "gpu.gmmu.pw_cache.entries=1",
          "host.mmu.pw_cache.entries=1",
          "gpu.shader_arrays=4",
          "placement.access_counter.threshold=8",
          "walk.cycles_per_level=800",
          "directory.entries=96",
          "directory.ways=4"};
}

/// What the tiny programs meet beside a design: caches that they overflow, where the design decides what is replaced.
std::vector<std::string> busy_machine(const Design& design) {
  std::vector<std::string> overrides = busy_structures();
  if (design.systems.front() == TranslationKind::Mig) {
    overrides = {"gpu.cus_per_array=1", "gpu.l2_tlb.entries=14", "gpu.l2_tlb.ways=2", "mig.l3_tlb.entries=4",
                 "mig.l3_tlb.ways=4",   "mig.walkers=2",         "page.size=4K",      "mig.pw_cache.entries=1"};
  }
  const auto replaces = [](const std::string& seam) { return seam.ends_with("cache replacement"); };
  if (std::ranges::any_of(design.seams, replaces)) {
    overrides.insert(overrides.end(), {"gpu.l2.size=16KiB", "gpu.l2.banks=4", "gpu.l1v.size=4KiB"});
  }
  return overrides;
}

/// What the design sets itself is left to it: on the command line it would be overruled.
std::vector<std::string> without_settings_of(const Design& design, std::vector<std::string> overrides) {
  std::erase_if(overrides, [&](const std::string& setting) {
    const std::string key = setting.substr(0, setting.find('=') + 1);
    return std::ranges::any_of(design.settings, [&](const std::string& own) { return own.starts_with(key); });
  });
  return overrides;
}

/// Every design: pages that one GPU uses, pages that all share, and (where there are several GPUs) an application on
/// each.
std::vector<Golden> design_runs() {
  std::vector<Golden> runs;
  for (const Design& design : all_designs()) {
    const std::string system = system_for(design);
    // A unified memory hierarchy runs one application at a time.
    const bool unified = std::ranges::find(design.seams, "memory level") != design.seams.end();
    const bool one_only = system == "svm-1gpu" || unified;
    const bool instances = design.systems.front() == TranslationKind::Mig;
    const auto programs = [one_only, instances] {
      if (instances) return for_instances();
      std::vector<Programs> all = {{tiny("MT", {{"width", 256}})}, page_rank()};
      if (!one_only) all.push_back(four_applications());
      return all;
    };
    runs.push_back(
        {"design_" + design.name, system, without_settings_of(design, busy_machine(design)), {design.name}, programs});
  }
  return runs;
}

/// Collective operations with the switch that makes them: all that it can do.
std::vector<Golden> in_switch_runs() {
  const auto programs = [] {
    const auto run = [](const char* name, const char* way, std::uint64_t value) {
      return Programs{tiny(name, {{"bytes", 1 << 16}, {"ranks", 5}, {way, value}})};
    };
    return std::vector<Programs>{run("AllReduce", "algorithm", 5), run("AllReduce", "algorithm", 6)};
  };
  return {{"in_switch", "finepack-16gpu-nvlink", {"gpus=5", "gpu.shader_arrays=4"}, {"nvls"}, programs}};
}

std::vector<Golden> all_runs() {
  std::vector<Golden> all = workload_runs();
  for (const auto& more : {system_runs(), design_runs(), in_switch_runs()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

// ----------------------------------------------------------------------------------------------- what a file contains

std::string text_of(const StatValue& value) {
  std::ostringstream text;
  text << std::setprecision(17);
  value.real ? text << value.ratio : text << value.count;
  return text.str();
}

/// The part of the machine that a statistic belongs to: gpu0.l2.reads and gpus.l2.reads are of `gpu.l2`.
std::string part_of(const std::string& name) {
  const std::size_t first = name.find('.');
  std::string device = name.substr(0, first);
  if (device != "host" && !device.starts_with("gpu")) return device;
  if (device != "host") device = "gpu";
  return device + name.substr(first, name.find('.', first + 1) - first);
}

/// What is shown in clear: totals of the run, and of each part what says most about it; of designs everything.
bool leads(const StatValue& value) {
  static const std::set<std::string> kNames = {"gpus.cu.accesses",
                                               "gpus.cu.stalled_instructions",
                                               "gpus.l1v.load_lines",
                                               "gpus.l1v.load_hits",
                                               "gpus.l1v.merges",
                                               "gpus.l1s.load_hits",
                                               "gpus.l2.reads",
                                               "gpus.l2.read_hits",
                                               "gpus.l2.merges",
                                               "gpus.l2.writes",
                                               "gpus.l2.remote_requests",
                                               "gpus.l2.write_backs",
                                               "gpus.l2.flushed_lines",
                                               "gpus.l2.stalled_requests",
                                               "gpus.dram.reads",
                                               "gpus.dram.writes",
                                               "gpus.dram.row_hits",
                                               "gpus.link.request_packets",
                                               "gpus.link.reply_packets",
                                               "gpus.link.credit_waits",
                                               "gpus.l1_tlb.lookups",
                                               "gpus.l1_tlb.hits",
                                               "gpus.l2_tlb.lookups",
                                               "gpus.l2_tlb.hits",
                                               "gpus.gmmu.walks",
                                               "host.llc.reads",
                                               "host.dram.reads",
                                               "host.mmu.walks",
                                               "latency.load.count",
                                               "latency.load.total_cycles",
                                               "l2_miss.count",
                                               "l2_miss.latency",
                                               "iommu.walks",
                                               "iommu.tlb.hits",
                                               "uvm.faults",
                                               "uvm.migrations",
                                               "uvm.invalidations_sent",
                                               "link.bytes",
                                               "link.packets"};
  static const std::set<std::string> kBaseline = {"gpu.cu",   "gpu.l1v",   "gpu.l1s",    "gpu.l1_tlb",  "gpu.l2",
                                                  "gpu.dram", "gpu.link",  "gpu.l2_tlb", "gpu.l2_miss", "gpu.gmmu",
                                                  "host.llc", "host.dram", "host.link",  "host.mmu"};
  if (value.name.starts_with("run.") || kNames.contains(value.name)) return true;
  const bool of_all = value.name.starts_with("gpus.") || value.name.starts_with("host.");
  return of_all && !kBaseline.contains(part_of(value.name)) && value.name.find(".below_") == std::string::npos;
}

/// FNV-1a, which is the same everywhere.
void add_to_hash(std::uint64_t& hash, const std::string& text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
}

using Contents = std::map<std::string, std::string>;

/// Adds one run, the statistics of which have `label` before their names. Those that are zero are left out in clear.
void add_run(Contents& contents, const std::string& label, const Outcome& run) {
  std::map<std::string, std::uint64_t> hashes;
  for (const StatValue& value : run.result.statistics) {
    const std::string text = text_of(value);
    std::uint64_t& hash = hashes.try_emplace(part_of(value.name), 0xcbf29ce484222325U).first->second;
    add_to_hash(hash, value.name + " " + text + "\n");
    if (leads(value) && text != "0") contents[label + value.name] = text;
  }
  for (const auto& [part, hash] : hashes) {
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << hash;
    contents[label + "hash of all of " + part] = text.str();
  }
}

Contents measure(const Golden& golden) {
  const SystemSpec system = load_system_with(golden.designs, golden.system, golden.overrides).spec;
  Contents contents;
  unsigned number = 0;
  for (const Programs& programs : golden.programs()) {
    add_run(contents, "run " + std::to_string(++number) + ": ", simulate(system, programs, false));
  }
  return contents;
}

Contents read(const fs::path& path) {
  Contents contents;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.rfind(' ');
    if (space != std::string::npos) contents[line.substr(0, space)] = line.substr(space + 1);
  }
  return contents;
}

/// Every difference on a line: which statistic, what it was, what it is.
std::string differences(const Contents& was, const Contents& is) {
  Contents all = was;
  all.insert(is.begin(), is.end());
  const auto value = [](const Contents& contents, const std::string& name) {
    const auto found = contents.find(name);
    return found == contents.end() ? std::string("0") : found->second;
  };
  std::string text;
  for (const auto& [name, unused] : all) {
    if (value(was, name) != value(is, name)) {
      text += "  " + name + ": was " + value(was, name) + ", is " + value(is, name) + "\n";
    }
  }
  return text;
}

bool writes_anew() {
  const char* mode = std::getenv("NEARFAR_GOLDEN");
  return mode != nullptr && std::string(mode) == "write";
}

// -------------------------------------------------------------------------------------------------------------- tests

class GoldenRun : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenRun, IsTheSameAsEver) {
  const fs::path path = kFolder / (GetParam().name + ".txt");
  const Contents now = measure(GetParam());
  if (writes_anew()) {
    std::ofstream file(path);
    for (const auto& [name, value] : now) file << name << ' ' << value << '\n';
    return;
  }
  ASSERT_TRUE(fs::exists(path)) << path << " is missing; `./test golden` writes it.";
  const std::string text = differences(read(path), now);
  EXPECT_TRUE(text.empty()) << "Statistics differ from " << path.filename() << ":\n"
                            << text << "Where the model was meant to change, `./test golden` writes all files anew.";
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRun, ::testing::ValuesIn(all_runs()), [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// A design that changes nothing in its golden run is not tested by it.
class GoldenDesign : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenDesign, DiffersFromItsBaseline) {
  if (writes_anew()) GTEST_SKIP();
  const Contents design = read(kFolder / (GetParam().name + ".txt"));
  Golden plain = GetParam();
  plain.overrides = busy_machine(*std::ranges::find(all_designs(), plain.designs.front(), &Design::name));
  plain.designs.clear();
  const Contents baseline = measure(plain);
  // What both have: a design's own statistics are no change of the machine.
  const bool changes = std::ranges::any_of(baseline, [&](const auto& statistic) {
    const auto same = design.find(statistic.first);
    return same != design.end() && same->second != statistic.second;
  });
  // These programs have no multicast memory: all that they send passes a switch as before.
  const std::vector<std::string>& seams = choose_designs(GetParam().designs).front()->seams;
  const bool idle = std::ranges::find(seams, "switch") != seams.end();
  EXPECT_EQ(changes, !idle) << "Statistics of the machine beside the baseline's.";
}

INSTANTIATE_TEST_SUITE_P(All, GoldenDesign, ::testing::ValuesIn(design_runs()), [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// A file that belongs to no run any more is removed when all are written anew.
TEST(GoldenFolder, HasNoFileWithoutARun) {
  std::set<std::string> names;
  for (const Golden& golden : all_runs()) names.insert(golden.name + ".txt");
  std::vector<fs::path> left_over;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (!names.contains(entry.path().filename().string())) left_over.push_back(entry.path());
  }
  for (const fs::path& path : left_over) {
    if (writes_anew()) {
      fs::remove(path);
    } else {
      ADD_FAILURE() << path << " belongs to no run; `./test golden` removes it.";
    }
  }
}

TEST(GoldenDifference, SaysWhichStatisticWasWhatAndIsWhat) {
  const Contents was = {{"run 1: run.cycles", "100"}, {"run 1: link.bytes", "7"}, {"run 1: uvm.faults", "3"}};
  const Contents is = {{"run 1: run.cycles", "101"}, {"run 1: link.bytes", "7"}, {"run 1: l2_miss.count", "5"}};
  EXPECT_EQ(differences(was, is),
            "  run 1: l2_miss.count: was 0, is 5\n"
            "  run 1: run.cycles: was 100, is 101\n"
            "  run 1: uvm.faults: was 3, is 0\n");
  EXPECT_EQ(differences(was, was), "");
}

}  // namespace
}  // namespace nearfar::golden_test
