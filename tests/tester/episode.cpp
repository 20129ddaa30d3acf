#include "tester/episode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <pcg_random.hpp>

#include "config/error.h"
#include "designs/design.h"
#include "machine/run.h"

namespace nearfar::tester {
namespace {

/// Draws the settings of a machine whose structures hold one, two or a few of everything.
class MachineDraw {
 public:
  MachineDraw(std::uint64_t seed, bool posted, bool hosted)
      : random_(seed, posted   ? 5
                      : hosted ? 7
                               : 3),
        posted_(posted),
        hosted_(hosted) {}

  Episode draw(std::uint64_t seed) {
    episode_.seed = seed;
    episode_.gpus = static_cast<unsigned>(posted_ ? pick({2, 3, 4, 5}) : pick({1, 2, 2, 3, 4, 4, 5, 8}));
    line_ = one_in(posted_ ? 2 : 4) ? 128 : 64;
    compute_units();
    first_level_caches();
    home_cache("gpu.l2");
    home_cache("host.llc");
    memory("gpu.dram");
    memory("host.dram");
    links();
    translation();
    const bool kept = !one_in(4);
    set("boundary.write_back", one_in(4) ? "false" : "true");
    program(seed);
    delays();
    // Drawn last, too.
    const bool cached = kept && one_in(2) && !posted_;
    set("remote_cache", !kept ? "none" : cached ? "l1l2" : "l1");
    // By the seed itself, so that what is drawn for other episodes stays.
    if (cached && !moves_ && seed % 4 == 1) {
      set("remote_write", "back");
    } else if (cached) {
      coherence();
    }
    egress(cached);
    for (const char* cache : {"gpu.l1v", "gpu.l1s", "gpu.l2", "host.llc"}) {
      set(std::string(cache) + ".victim", word({"at_fill", "at_miss"}));
    }
    if (tracked_) directories();
    if (hosted_) host_work(cached);
    return episode_;
  }

 private:
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + random_() % (most - least + 1); }
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  template <class T>
  T pick(std::initializer_list<T> of) {
    return of.begin()[random_() % of.size()];
  }
  const char* word(std::initializer_list<const char*> of) { return pick(of); }
  void set(const std::string& path, const std::string& value) { episode_.settings.push_back(path + "=" + value); }
  void set(const std::string& path, std::uint64_t value) { set(path, std::to_string(value)); }
  void set(const std::string& path, std::uint64_t least, std::uint64_t most) { set(path, between(least, most)); }

  void compute_units() {
    arrays_ = between(1, 2);
    per_array_ = between(1, episode_.gpus > 4 ? 2 : 4);
    lanes_ = one_in(4) ? 32 : 64;
    simds_ = between(1, 2);
    waves_per_simd_ = between(1, 4);
    set("gpu.shader_arrays", arrays_);
    set("gpu.cus_per_array", per_array_);
    set("gpu.wavefront", lanes_);
    set("gpu.line", line_);
    set("gpu.cu.simds", simds_);
    set("gpu.cu.waves_per_simd", waves_per_simd_);
    set("gpu.cu.loads_per_wave", 1, 8);
    set("gpu.cu.store_buffer", 1, 8);
    set("gpu.dispatch_interval", pick({1, 1, 50}));
    set("dispatch.policy", word({"workload", "workload", "workload", "greedy", "blocks"}));
  }

  void first_level_caches() {
    for (const std::string cache : {"gpu.l1v", "gpu.l1s"}) {
      const std::uint64_t ways = pick({1, 2, 3, 4});
      set(cache + ".ways", ways);
      set(cache + ".size", ways * between(1, 4) * line_);
      set(cache + ".mshrs", pick({1, 2, 3, 4, 16}));
      set(cache + ".latency", pick({1, 4, 28}));
      set(cache + ".lines_per_cycle", pick({1, 2, 4}));
      set(cache + ".index", word({"modulo", "xor"}));
      set(cache + ".replacement", word({"lru", "fifo", "random"}));
    }
  }

  void home_cache(const std::string& cache) {
    const std::uint64_t ways = pick({1, 2, 3, 4});
    const std::uint64_t banks = pick({1, 2, 4});
    set(cache + ".ways", ways);
    set(cache + ".banks", banks);
    set(cache + ".size", ways * banks * between(1, 4) * line_);
    set(cache + ".tag_latency", 1, 10);
    set(cache + ".data_latency", 0, 20);
    set(cache + ".mshrs", pick({1, 2, 3, 4}));
    set(cache + ".remote_mshrs", pick({1, 2, 3, 4}));
    set(cache + ".queue", pick({1, 2, 3, 4, 32}));
    set(cache + ".index", word({"modulo", "xor"}));
    set(cache + ".bank_index", word({"modulo", "xor"}));
    set(cache + ".replacement", word({"lru", "fifo", "random"}));
  }

  void memory(const std::string& dram) {
    const std::uint64_t high = between(1, 6);
    set(dram + ".capacity", "64MiB");
    set(dram + ".model", word({"fixed", "banked"}));
    set(dram + ".standard", word({"hbm", "gddr5", "ddr3-1600", "ddr4-2400"}));
    set(dram + ".latency", pick({1, 20, 100, 400}));
    set(dram + ".controller_latency", pick({0, 10, 75, 300}));
    set(dram + ".channels", 1, 3);
    set(dram + ".ranks", 1);
    set(dram + ".banks", pick({1, 2, 4}));
    set(dram + ".row", pick({256, 1024}));
    set(dram + ".channel_bandwidth", word({"2GB/s", "16GB/s", "64GB/s"}));
    set(dram + ".read_queue", 1, 4);
    set(dram + ".write_queue", high + between(0, 2));
    set(dram + ".write_high", high);
    set(dram + ".write_low", 0, high - 1);
    set(dram + ".scheduler", word({"fr-fcfs", "fcfs"}));
    set(dram + ".refresh", one_in(4) ? "true" : "false");
  }

  void links() {
    set("link.topology", word({"switch", "all-to-all", "ring", "pcie-tree"}));
    set("link.gpus_per_switch", 1, 3);
    set("link.host_port_per_gpu", one_in(2) ? "true" : "false");
    set("link.latency", one_in(4) ? between(1, 5) : between(5, 50));
    set("link.host_latency", one_in(2) ? 0 : between(1, 80));
    set("link.switch_latency", 0, 10);
    set("link.bandwidth", word({"2GB/s", "8GB/s", "32GB/s", "256GB/s"}));
    set("link.header", 0, 16);
    set("link.reply_header", 0, 16);
    set("link.credits", pick({1, 2, 3, 4, 8}));
    set("link.queue", pick({1, 2, 3, 4}));
  }

  /// Messages that are late by chance, and bursts of every length. Drawn last: what else a seed draws stays the same.
  void delays() {
    set("link.burst", pick({1, 2, 4, 16}));
    if (one_in(3)) return;
    set("perturb.draw", 1, 1'000'000);
    set("perturb.message_jitter", pick({1, 4, 16, 64}));
    set("perturb.start_jitter", 0, 64);
  }

  /// Copies of remote lines in L2 caches: dropped at boundaries, or tracked by directories of a few entries.
  void coherence() {
    if (!moves_) set("remote_write_miss", word({"no-allocate", "no-allocate", "fetch"}));
    if (one_in(4)) return;
    tracked_ = true;
    set("coherence", "directory");
    const std::uint64_t ways = between(1, 2);
    set("directory.ways", ways);
    set("directory.entries", ways * between(1, 4));
    set("directory.replacement", word({"fifo", "lru"}));
    switch (between(0, 7)) {
      case 0: episode_.designs = {"dir-ideal"}; break;
      case 4: episode_.designs = {"carve"}; break;
      case 5:
        episode_.designs = {"multi-grain"};
        set("multi_grain.lines", pick({2, 4, 16}));
        break;
      case 1:
        episode_.designs = {"hmg"};
        set("hmg.lines", pick({1, 2, 4, 4, 8, 16}));
        break;
      case 2:
      case 3:
        episode_.designs = {"rec"};
        set("rec.range", word({"128", "256", "512", "1KiB", "2KiB", "4KiB"}));
        set("rec.replacement", word({"fifo", "lru"}));
        break;
      default: break;
    }
  }

  /// More of them, after all else.
  void directories() {
    set("directory.index", word({"modulo", "xor"}));
    set("directory.scale", pick({1, 1, 2, 3}));
    set("boundary.markers", one_in(3) ? "false" : "true");
  }

  void translation() {
    const std::uint64_t kind = between(0, 9);
    if (kind < (posted_ ? 7 : hosted_ ? 10 : 4)) {
      stays_ = true;
      set("translation.latency", 0, 3);
      set("placement.initial", word({"workload", "workload", "interleave", "distribute", "host"}));
      return;
    }
    tlbs();
    if (posted_) return ats();
    if (kind == 4) return svm();
    if (kind == 5) return ats();
    mmu();
  }

  void tlbs() {
    for (const std::string tlb : {"gpu.l1_tlb", "gpu.l2_tlb"}) {
      set(tlb + ".entries", 1, 4);
      set(tlb + ".ways", 1);
      set(tlb + ".latency", 0, 10);
      set(tlb + ".lookups_per_cycle", 0, 2);
      set(tlb + ".mshrs", 1, 4);
    }
    set("walk.timing", word({"fixed-level", "fixed-total", "memory"}));
    set("walk.cycles_per_level", 1, 30);
    set("walk.cycles", 1, 100);
    set("page_table.levels", 4, 5);
    set("page_table.upper_levels", word({"prebuilt", "prebuilt", "on-demand"}));
    set("iommu.walkers", 1, 4);
    set("iommu.pw_queue.entries", 1, 3);
    set("iommu.pw_cache.entries", 0, 4);
    set("iommu.tlb.entries", 1, 4);
    set("iommu.tlb.ways", 1);
    set("iommu.pending", 0, 3);
    set("uvm.batch_size", 1, 4);
    set("uvm.batch_wait", 0, 50);
    set("uvm.batch_fixed_cycles", 0, 50);
    set("uvm.per_fault_cycles", 0, 50);
    set("uvm.fault_software_cycles", 0, 100);
    set("uvm.concurrent_migrations", pick({1, 2, 64}));
  }

  void svm() {
    episode_.gpus = 1;
    set("translation.kind", "svm");
    set("placement.initial", "distribute");
    set("iommu.l1_tlb.entries", 1, 2);
    set("iommu.l1_tlb.ways", 1);
    set("iommu.hop", 1, 50);
    set("iommu.memory_hop", 0, 20);
  }

  void ats() {
    const bool places = !posted_ && one_in(2);
    set("translation.kind", "ats");
    set("placement.initial", places ? "host" : word({"interleave", "distribute", "host"}));
    set("placement.policy", places ? "first-touch" : "pinned");
    stays_ = !places;
  }

  /// Packets of other formats, posted stores where pages stay, and designs that hold them back. Drawn after all else.
  void egress(bool in_l2) {
    if (!posted_ && one_in(2)) return;
    set("link.format", word({"pcie3", "pcie4", "pcie6", "nvlink"}));
    set("link.pcie.max_payload", pick({256, 512, 4096}));
    set("link.pcie.ecrc", one_in(2) ? "true" : "false");
    set("link.pcie.flit_mode", one_in(2) ? "true" : "false");
    set("link.pcie.dllp", one_in(3) ? "true" : "false");
    set("link.data_credits", pick({16, 17, 40}));
    set("link.track_useful", one_in(2) ? "true" : "false");
    if (in_l2 || !stays_) return;
    std::string design = word({"", "finepack", "finepack", "config-packet", "write-combining", "gps"});
    if (posted_) {
      const std::vector<std::string> all = egress_designs();
      design = all[episode_.seed % all.size()];
    }
    if (design.empty() || design == "baseline") return;
    episode_.designs = {design};
    if (design == "nvls") {
      reducing_switch();
      return;
    }
    std::string key = design;
    std::ranges::replace(key, '-', '_');
    set(key + ".entries", 1, 5);
    set(key + ".banks", 1, 3);
    set(key + ".stores_per_cycle", 1, 2);
    set(key + ".timeout", pick({0, 0, 20, 200}));
    if (design != "finepack" && design != "config-packet") return;
    set(key + ".subheader", 2, 6);
    set(key + ".max_payload", pick({64, 128, 256}));
    set(key + ".load_flush", word({"partition", "entry", "queue"}));
    set(key + ".unpack_entries", 1, 4);
    set(key + ".unpack_per_cycle", 1, 3);
  }

  /// Stores, loads and atomics of multicast memory beside those of its members, and half of the time a design at the
  /// egress.
  void reducing_switch() {
    set("link.topology", "switch");
    set("link.latency", 2, 50);
    set("remote_cache", "none");
    set("placement.initial", word({"workload", "interleave", "distribute"}));
    set("nvls.entries", 1, 5);
    set("nvls.lookup_latency", pick({0, 0, 1, 30}));
    set("nvls.reduction_latency", pick({0, 1, 40}));
    set("nvls.operand_rate", pick({1, 50, 1000}));
    episode_.program.members = static_cast<unsigned>(between(1, 5));
    if (one_in(2)) return;
    episode_.designs.push_back("finepack");
    set("finepack.entries", 1, 5);
    set("finepack.max_payload", 256);
  }

  /// What the host does, and how its data gets to GPUs.
  void host_work(bool in_l2) {
    episode_.program.host = true;
    set("host.cpu.outstanding", pick({1, 2, 4, 16}));
    set("host.cpu.latency", 0, 20);
    set("memory.management", word({"placed", "memcpy", "memcpy", "zero-copy", "software-um"}));
    set("host.dma.chunk", pick({128, 512, 4096}));
    set("host.dma.outstanding", pick({1, 2, 16}));
    set("host.llc.remote_lookup", one_in(2) ? "true" : "false");
    set("gpu.l2.remote_lookup", one_in(2) ? "true" : "false");
    set("dispatch.chunk", 1, 5);
    if (in_l2 && !tracked_) set("remote_host_lines", one_in(3) ? "false" : "true");
  }

  void mmu() {
    const char* policy = word({"on-touch", "first-touch", "access-counter", "access-counter", "replication", "pinned"});
    set("translation.kind", "mmu");
    set("placement.policy", policy);
    set("placement.initial", word({"host", "host", "interleave", "distribute"}));
    set("placement.host_first_touch", word({"move", "map"}));
    set("placement.access_counter.threshold", pick({1, 3, 10, 100}));
    set("placement.access_counter.granularity", word({"page", "page", "64K"}));
    set("gpu.gmmu.walkers", 1, 2);
    set("gpu.gmmu.pw_queue.entries", 1, 3);
    set("gpu.gmmu.pw_cache.entries", 0, 4);
    set("gpu.gmmu.ingress.entries", 1, 2);
    set("gpu.gmmu.replay", word({"full", "short"}));
    set("gpu.tlb.shootdown_cycles", 0, 20);
    set("host.mmu.tlb.entries", 1, 4);
    set("host.mmu.tlb.ways", 1);
    set("host.mmu.walkers", 1, 4);
    set("host.mmu.pw_queue.entries", 1, 3);
    set("host.mmu.pw_cache.entries", 0, 4);
    set("uvm.replay", word({"per-fault", "per-batch"}));
    set("invalidate.targets", word({"auto", "broadcast"}));
    set("invalidate.how", word({"walk", "walk", "zero-latency"}));
    set("migration.setup_cycles", 0, 50);
    moves_ = true;
    if (one_in(10)) {
      // A memory of 256 pages, and more of them than that.
      evicts_ = true;
      set("migration.evict", "true");
      set("placement.initial", "host");
      set("gpu.dram.capacity", "1MiB");
      set("host.dram.capacity", "4MiB");
    }
  }

  void program(std::uint64_t seed) {
    ProgramShape& program = episode_.program;
    program.seed = seed;
    program.lanes = static_cast<unsigned>(lanes_);
    program.line_bytes = static_cast<unsigned>(line_);
    program.launches = static_cast<unsigned>(between(1, 5));
    program.waves = static_cast<unsigned>(between(1, std::min<std::uint64_t>(simds_ * waves_per_simd_, 4)));
    const std::uint64_t units = episode_.gpus * arrays_ * per_array_;
    program.groups = static_cast<unsigned>(units * between(1, 3));
    program.pages = static_cast<unsigned>(evicts_ ? 300 : between(1, moves_ ? 6 : 12));
    program.lines = static_cast<unsigned>(evicts_ ? 400 : pick({2, 4, 8, 16, 40}));
    program.hot = static_cast<unsigned>(between(1, std::min(program.lines, 4U)));
    program.one_buffer = !one_in(3);
    program.split = pick({Split::RoundRobin, Split::RoundRobin, Split::Blocks, Split::Offset, Split::Greedy});
    const auto weight = [&](Action action, std::uint64_t least, std::uint64_t most) {
      program.weights[static_cast<std::size_t>(action)] = static_cast<std::uint8_t>(between(least, most));
    };
    weight(Action::Load, 3, 12);
    weight(Action::Store, 2, 12);
    weight(Action::Atomic, 0, 4);
    weight(Action::Scalar, 0, 3);
    weight(Action::Fence, 0, 2);
    weight(Action::Wait, 0, 4);
    weight(Action::Barrier, 0, 2);
    weight(Action::Compute, 0, 3);
    if (posted_) {
      weight(Action::Load, 1, 3);
      weight(Action::Store, 12, 20);
      weight(Action::Atomic, 0, 1);
    }
    // An operation accesses about four lines. Pages that move cost far more than lines that do not.
    const std::uint64_t accesses = (evicts_ ? 1 : moves_ ? 3 : posted_ ? 40 : 12) * between(2'000, 5'000);
    const std::uint64_t waves = std::uint64_t{program.launches} * program.groups * program.waves;
    program.operations = static_cast<unsigned>(std::clamp<std::uint64_t>(accesses / 4 / waves, 6, 1'000));
    program.apart = one_in(2) && !evicts_ ? 16 : 1;
  }

  pcg64 random_;
  bool posted_;
  bool hosted_;
  Episode episode_;
  std::uint64_t line_ = 64;
  std::uint64_t arrays_ = 1;
  std::uint64_t per_array_ = 1;
  std::uint64_t lanes_ = 64;
  std::uint64_t simds_ = 1;
  std::uint64_t waves_per_simd_ = 1;
  bool moves_ = false;
  bool tracked_ = false;  ///< copies of remote lines, by directories
  bool stays_ = false;    ///< pages, in a machine in which stores may be posted
  bool evicts_ = false;
};

void cut(unsigned& value, const std::optional<unsigned>& to) {
  if (to) value = *to;
}

}  // namespace

std::string Cuts::text() const {
  std::string text;
  const auto add = [&](const char* option, const std::optional<unsigned>& value) {
    if (value) text += fmt::format(" --{} {}", option, *value);
  };
  add("gpus", gpus);
  add("launches", launches);
  add("groups", groups);
  add("waves", waves);
  add("operations", operations);
  for (const std::string& action : without) text += " --without " + action;
  for (const std::string& setting : set) text += " --set " + setting;
  if (design) text += " --design " + *design;
  if (posted) text += " --posted";
  if (hosted) text += " --hosted";
  return text;
}

Episode draw_episode(std::uint64_t seed, const Cuts& cuts) {
  Episode episode = MachineDraw(seed, cuts.posted, cuts.hosted).draw(seed);
  cut(episode.gpus, cuts.gpus);
  ProgramShape& program = episode.program;
  cut(program.launches, cuts.launches);
  cut(program.groups, cuts.groups);
  cut(program.waves, cuts.waves);
  cut(program.operations, cuts.operations);
  for (const std::string& action : cuts.without) {
    const auto at = std::ranges::find(kActions, action);
    if (at == kActions.end()) {
      throw InputError(fmt::format("--without knows no `{}`, only {}.", action, fmt::join(kActions, ", ")));
    }
    program.weights[static_cast<std::size_t>(at - kActions.begin())] = 0;
  }
  if (cuts.design) {
    episode.designs.clear();
    if (*cuts.design != "baseline") episode.designs.push_back(*cuts.design);
  }
  episode.settings.push_back("gpus=" + std::to_string(episode.gpus));
  episode.settings.insert(episode.settings.end(), cuts.set.begin(), cuts.set.end());
  return episode;
}

std::string describe(const Episode& episode) {
  const ProgramShape& program = episode.program;
  std::string text = fmt::format(
      "  program: {} launches of {} workgroups of {} wavefronts of {} operations on {} lines ({} hot) in {} pages",
      program.launches, program.groups, program.waves, program.operations, program.lines, program.hot, program.pages);
  for (std::size_t a = 0; a < kActions.size(); ++a) text += fmt::format(", {} {}", kActions[a], program.weights[a]);
  if (!episode.designs.empty()) text += fmt::format("\n  designs: {}", fmt::join(episode.designs, "+"));
  return text + fmt::format("\n  machine: {}\n", fmt::join(episode.settings, " "));
}

std::vector<std::string> egress_designs() {
  std::vector<std::string> names{"baseline"};
  for (const Design& design : all_designs()) {
    const auto claims = [&](const char* seam) { return std::ranges::find(design.seams, seam) != design.seams.end(); };
    if (design.make != nullptr && (claims("egress") || claims("switch"))) names.push_back(design.name);
  }
  return names;
}

std::uint64_t run_episode(const Episode& episode, ProtocolCoverage& coverage) {
  return count_episode(episode, coverage).accesses;
}

Counts count_episode(const Episode& episode, ProtocolCoverage& coverage) {
  RunRequest request;
  request.system = load_system_with(episode.designs, "ideal-4gpu", episode.settings).spec;
  request.applications = {std::make_shared<RandomProgram>(episode.program)};
  request.check = true;
  request.coverage = &coverage;
  const RunResult result = run(request);
  const auto stores = std::ranges::lower_bound(result.statistics, "gpus.egress.stores", {}, &StatValue::name);
  const bool posted = stores != result.statistics.end() && stores->name == "gpus.egress.stores";
  return {result.accesses, posted ? static_cast<std::uint64_t>(stores->as_double()) : 0};
}

}  // namespace nearfar::tester
