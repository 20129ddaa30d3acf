// One function for each part of a system; each rule is one sentence.
#include "machine/system_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "coherence/directory.h"
#include "config/units.h"
#include "interconnect/packet_format.h"
#include "interconnect/topology.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kMostUnits = 1024;
constexpr std::uint32_t kMostWaveSlots = 64;
constexpr std::uint64_t kReservedTag = 0xffff'fffe;

/// An L1 may hold lines of any device, and its tag array keeps 32-bit tags, the two highest of which mean
/// a reserved and an invalid way.
void check_l1(const L1Spec& l1, const std::string& path, const SystemSpec& spec, const Configuration& configuration) {
  const Bytes set = l1.ways * spec.gpu.line;
  if (l1.size % set != 0) {
    configuration.fail({path + ".size", path + ".ways", "gpu.line"},
                       fmt::format("`{}.size` must be a multiple of ways × line = {}.", path, format_bytes(set)));
  }
  const Bytes memory = std::max(spec.gpu.dram.capacity, spec.host.dram.capacity);
  // Where there are more than 255 GPUs, the high bits of a device stand above the frames (memory/cache/l1_cache.h).
  const std::uint64_t frames = memory / kPageBytes;
  const std::uint64_t largest_key = spec.gpus <= 0xff ? PhysLine(PhysPage(DeviceId(0xff), frames - 1), 63).value
                                                      : (std::uint64_t{spec.gpus >> 8} + 1)
                                                            << (8 + kLineIndexBits + std::bit_width(frames * 3 / 2));
  if (largest_key / (l1.size / set) >= kReservedTag) {
    configuration.fail(
        {path + ".size", path + ".ways", "gpu.dram.capacity", "host.dram.capacity"},
        fmt::format("`{}` has too few sets to tell the lines of so much memory apart: a tag has 32 bits.", path));
  }
}

void check_l2(const L2Spec& cache, const std::string& path, const SystemSpec& spec,
              const Configuration& configuration) {
  const Bytes sets = cache.ways * spec.gpu.line * cache.banks;
  if (cache.size % sets == 0) return;
  configuration.fail(
      {path + ".size", path + ".ways", "gpu.line", path + ".banks"},
      fmt::format("`{}.size` must be a multiple of ways × line × banks = {}.", path, format_bytes(sets)));
}

/// With lines of other GPUs a tag of the L2 says at home in which device its line is, too.
void check_remote_lines(const SystemSpec& spec, const Configuration& configuration) {
  if (spec.remote_cache != RemoteCache::L1L2) return;
  const L2Spec& l2 = spec.gpu.l2;
  const std::uint64_t sets = l2.size / (l2.ways * spec.gpu.line * l2.banks);
  const Bytes memory =
      spec.remote_host_lines ? std::max(spec.gpu.dram.capacity, spec.host.dram.capacity) : spec.gpu.dram.capacity;
  const std::uint64_t lines = memory * 3 / 2 / spec.gpu.line / l2.banks;
  if ((std::uint64_t{1} << (std::bit_width(lines) + std::bit_width(spec.gpus + 2U))) / sets < kReservedTag) return;
  configuration.fail({"remote_cache", "gpu.l2.size", "gpu.l2.ways", "gpu.l2.banks", "gpu.dram.capacity"},
                     "`gpu.l2` has too few sets to tell the lines of so much memory of so many GPUs apart: a tag has "
                     "32 bits.");
}

void check_remote_write(const SystemSpec& spec, const Configuration& configuration) {
  if (!spec.writes_remote_lines_back()) return;
  const auto need = [&](bool holds, const char* key, const char* why) {
    if (!holds) configuration.fail({"remote_write", key}, why);
  };
  need(spec.coherence == Coherence::Boundary, "coherence",
       "`remote_write: back` needs `coherence: boundary`: a directory has to know of each store when it is made.");
  need(spec.remote_write_miss == RemoteWriteMiss::NoAllocate, "remote_write_miss",
       "`remote_write: back` needs `remote_write_miss: no-allocate`: the bytes of a store that misses are kept under a "
       "mask, and nothing is read behind it.");
  need(spec.translation.kind != TranslationKind::Mmu, "translation.kind",
       "`remote_write: back` needs pages that stay (`translation.kind` other than `mmu`): one could leave its home "
       "before what was stored to it has come.");
}

void check_memory_management(const SystemSpec& spec, const Configuration& configuration) {
  if (spec.remote_host_lines && (spec.remote_cache != RemoteCache::L1L2 || spec.coherence != Coherence::Boundary)) {
    configuration.fail({"remote_host_lines", "remote_cache", "coherence"},
                       "`remote_host_lines` needs `remote_cache: l1l2` and `coherence: boundary`: the host has no "
                       "directory that could invalidate them.");
  }
  if (spec.memory.management == MemoryManagement::Placed) return;
  if (spec.policy != PagePolicy::Pinned || spec.translation.kind == TranslationKind::Svm) {
    configuration.fail({"memory.management", "placement.policy", "translation.kind"},
                       "`memory.management` other than `placed` decides where pages are: it needs "
                       "`placement.policy: pinned`, and memory of host and GPUs (translation.kind other than `svm`).");
  }
}

/// A unified memory hierarchy is a memory level of its own: what else decides where lines are has no place beside it.
void check_hierarchy_spec(const SystemSpec& spec, const Configuration& configuration) {
  if (!spec.is_unified()) return;
  const auto need = [&](bool holds, std::initializer_list<std::string> keys, const char* why) {
    if (!holds) configuration.fail(keys, why);
  };
  need(spec.translation.kind == TranslationKind::Ideal, {"translation.kind", "memory.management"},
       "`memory.management: umh` needs translation.kind `ideal`: its pages are the host's and never move, and page "
       "tables in GPU memory have no place in a cache.");
  need(spec.remote_cache == RemoteCache::L1 && !spec.remote_host_lines,
       {"remote_cache", "remote_host_lines", "memory.management"},
       "`memory.management: umh` needs `remote_cache: l1`: its own L2 keeps lines of the host, and coherently.");
  need(
      spec.coherence == Coherence::Boundary, {"coherence", "memory.management"},
      "`memory.management: umh` has directories of its own: `coherence: directory` keeps lines of other GPUs' memories "
      "right, and there are none.");
  need(spec.boundary.write_back && spec.boundary.l1 == L1AtBoundary::Invalidate &&
           spec.boundary.l2 == L2AtBoundary::Keep,
       {"boundary.write_back", "boundary.l1", "boundary.l2", "memory.management"},
       "`memory.management: umh` says itself what happens at kernel boundaries (`umh.kernel_boundary`): `boundary` has "
       "to "
       "be as it is by default.");
  need(spec.gpu.line == 64, {"gpu.line", "memory.management"},
       "`memory.management: umh` needs lines of 64 bytes: a mask has 64 bits.");
  need(std::has_single_bit(std::uint64_t{spec.gpu.l2.banks}) && spec.gpus * spec.gpu.l2.banks <= 64,
       {"gpu.l2.banks", "gpus"},
       "`memory.management: umh` needs a power of two for `gpu.l2.banks`, and at most 64 stacked memories in all, one "
       "for each bank: a directory has a bit for each.");
  need(spec.gpu.l2.replacement == Replacement::Lru && spec.gpu.l2.victim == VictimTime::AtFill,
       {"gpu.l2.replacement", "gpu.l2.victim", "memory.management"},
       "`memory.management: umh` has an L2 of its own: `gpu.l2.replacement: lru` and `gpu.l2.victim: at_fill` only.");
  const bool writes_back = spec.umh.l1_writes_back();
  need(!writes_back || spec.gpu.cus() + spec.gpu.shader_arrays <= 32,
       {"umh.l1_write_policy", "gpu.shader_arrays", "gpu.cus_per_array"},
       "`umh.l1_write_policy: write_back` needs at most 32 compute units and shader arrays in a GPU: the L2 has a bit "
       "for the L1 of each.");
  const auto is_plain = [](const L1Spec& l1) {
    return l1.replacement == Replacement::Lru && l1.victim == VictimTime::AtFill;
  };
  need(!writes_back || (is_plain(spec.gpu.l1v) && is_plain(spec.gpu.l1s)),
       {"gpu.l1v.replacement", "gpu.l1v.victim", "gpu.l1s.replacement", "gpu.l1s.victim", "umh.l1_write_policy"},
       "`umh.l1_write_policy: write_back` has L1s of its own: `replacement: lru` and `victim: at_fill` only.");
  const Bytes interleave = spec.umh.interleaved();
  need(std::has_single_bit(interleave) && interleave >= spec.gpu.line && interleave <= spec.umh.block,
       {"umh.interleave", "umh.block"}, "`umh.interleave` must be a power of two from a line to `umh.block`.");
  need(spec.gpu.dram.capacity / spec.gpu.l2.banks >= spec.umh.block * spec.umh.smd.ways,
       {"gpu.dram.capacity", "gpu.l2.banks", "umh.block", "umh.smd.ways"},
       "a stacked memory, one of `gpu.l2.banks` parts of `gpu.dram.capacity`, must hold at least one set of blocks.");
}

void check_fetches(const SystemSpec& spec, const Configuration& configuration) {
  if (spec.remote_write_miss == RemoteWriteMiss::NoAllocate || !spec.moves_pages()) return;
  configuration.fail({"remote_write_miss", "placement.policy"},
                     "`remote_write_miss: fetch` needs pages that stay: nobody waits for a line that is fetched, so a "
                     "page could leave before it has come.");
}

void check_directory(const SystemSpec& spec, const Configuration& configuration) {
  if (spec.coherence != Coherence::Directory) return;
  if (spec.remote_cache != RemoteCache::L1L2) {
    configuration.fail(
        {"coherence", "remote_cache"},
        "`coherence: directory` needs `remote_cache: l1l2`: without it no L2 holds lines of other GPUs.");
  }
  if (spec.gpus > kMaxDirectoryGpus) {
    configuration.fail({"coherence", "gpus"}, fmt::format("`coherence: directory` is for at most {} GPUs: an entry has "
                                                          "a bit for each.",
                                                          kMaxDirectoryGpus));
  }
  if (spec.directory.all_entries() % spec.directory.ways != 0) {
    configuration.fail({"directory.entries", "directory.scale", "directory.ways"},
                       "The entries of `directory`, `entries` times `scale`, must be a multiple of its ways.");
  }
}

void check_timings(const DramSpec& dram, const std::string& path, const Configuration& configuration) {
  if (dram.t_ras < dram.t_rcd) {
    configuration.fail(
        {path + ".t_ras", path + ".t_rcd"},
        fmt::format("`{0}.t_ras` must be at least `{0}.t_rcd`: a row is read before it is closed.", path));
  }
  if (dram.t_faw < dram.t_rrd) {
    configuration.fail(
        {path + ".t_faw", path + ".t_rrd"},
        fmt::format("`{0}.t_faw` must be at least `{0}.t_rrd`: four activates take longer than two.", path));
  }
  if (dram.refresh && dram.t_refi <= dram.t_rfc) {
    configuration.fail(
        {path + ".t_refi", path + ".t_rfc", path + ".refresh"},
        fmt::format("`{0}.t_refi` must exceed `{0}.t_rfc`: else memory does nothing but refresh.", path));
  }
  // A refresh closes all rows of a rank. Where they cannot all be opened again before the next one, it comes first for
  // ever, and no request is served.
  const Cycle activates = dram.banks * std::max(dram.t_rrd, (dram.t_faw + 3) / 4);
  const Cycle between = dram.t_rfc + dram.t_rp + dram.t_ras + activates;
  if (dram.refresh && dram.t_refi <= between) {
    configuration.fail({path + ".t_refi", path + ".t_rfc", path + ".t_rp", path + ".t_ras", path + ".t_rrd",
                        path + ".t_faw", path + ".banks", path + ".refresh"},
                       fmt::format("`{}.t_refi` must exceed the {} cycles of a refresh and of opening a row in every "
                                   "bank after it: else memory does nothing but refresh.",
                                   path, between));
  }
}

void check_dram(const DramSpec& dram, const std::string& path, const SystemSpec& spec,
                const Configuration& configuration) {
  if (dram.row % spec.gpu.line != 0) {
    configuration.fail({path + ".row", "gpu.line"}, fmt::format("`{}.row` must be a multiple of the line.", path));
  }
  if (dram.capacity % kPageBytes != 0) {
    configuration.fail({path + ".capacity"}, fmt::format("`{}.capacity` must be a multiple of the 4KiB frame.", path));
  }
  const Bytes rows = dram.row * dram.banks * dram.ranks * dram.channels;
  if (dram.capacity < rows) {
    configuration.fail(
        {path + ".capacity", path + ".channels", path + ".ranks", path + ".banks", path + ".row"},
        fmt::format("`{}.capacity` must be at least one row in every bank, which is {}.", path, format_bytes(rows)));
  }
  if (dram.write_low >= dram.write_high) {
    configuration.fail({path + ".write_low", path + ".write_high"},
                       fmt::format("`{0}.write_low` must be less than `{0}.write_high`.", path));
  }
  if (dram.write_high > dram.write_queue) {
    configuration.fail({path + ".write_high", path + ".write_queue"},
                       fmt::format("`{0}.write_high` must be at most `{0}.write_queue`.", path));
  }
  check_timings(dram, path, configuration);
}

void check_compute_units(const GpuSpec& gpu, const Configuration& configuration) {
  if (gpu.cus() > kMostUnits) {
    configuration.fail({"gpu.shader_arrays", "gpu.cus_per_array"},
                       fmt::format("a GPU has at most {} compute units, and shader_arrays × cus_per_array = {}.",
                                   kMostUnits, gpu.cus()));
  }
  if (gpu.wavefront % gpu.cu.simd_lanes != 0) {
    configuration.fail({"gpu.cu.simd_lanes", "gpu.wavefront"}, "`gpu.cu.simd_lanes` must divide `gpu.wavefront`.");
  }
  if (gpu.cu.simds * gpu.cu.waves_per_simd > kMostWaveSlots) {
    configuration.fail({"gpu.cu.simds", "gpu.cu.waves_per_simd"},
                       fmt::format("a compute unit holds at most {} wavefronts, and simds × waves_per_simd = {}.",
                                   kMostWaveSlots, gpu.cu.simds * gpu.cu.waves_per_simd));
  }
}

void check_tlb(const PlainTlbSpec& tlb, const std::string& path, const Configuration& configuration) {
  if (tlb.entries % tlb.ways == 0) return;
  configuration.fail({path + ".entries", path + ".ways"},
                     fmt::format("`{}.entries` must be a multiple of its ways, or 0 for no limit.", path));
}

void check_translation(const SystemSpec& spec, const Configuration& configuration) {
  check_tlb(spec.gpu.l1_tlb, "gpu.l1_tlb", configuration);
  check_tlb(spec.gpu.l2_tlb, "gpu.l2_tlb", configuration);
  check_tlb(spec.iommu.tlb, "iommu.tlb", configuration);
  check_tlb(spec.iommu.l1_tlb, "iommu.l1_tlb", configuration);
  check_tlb(spec.host.mmu.tlb, "host.mmu.tlb", configuration);
  const TranslationKind kind = spec.translation.kind;
  if (kind == TranslationKind::Svm && spec.gpus != 1) {
    configuration.fail({"gpus", "translation.kind"}, "translation.kind `svm` is one GPU beside its host: set gpus=1.");
  }
  const bool requests = kind == TranslationKind::Ats && spec.policy == PagePolicy::FirstTouch;
  if (kind != TranslationKind::Mmu && spec.policy != PagePolicy::Pinned && !requests) {
    configuration.fail({"placement.policy", "translation.kind"},
                       "mapped pages move only where GPUs have page tables of their own: `placement.policy` other than "
                       "`pinned` needs translation.kind `mmu`, or, for `first-touch`, `ats`.");
  }
  if (requests && (spec.migration.evict || spec.migration.ideal)) {
    configuration.fail({"migration.evict", "migration.ideal", "translation.kind"},
                       "with translation.kind `ats` a page that has been placed stays: `migration.evict` and "
                       "`migration.ideal` need `mmu`.");
  }
  if (kind == TranslationKind::Svm && spec.placement == InitialPlacement::Host) {
    configuration.fail({"placement.initial", "translation.kind"},
                       "translation.kind `svm` has one memory, that of the GPU: `placement.initial` cannot be `host`.");
  }
  if (spec.page.size.bits != 0 &&
      (spec.gpu.dram.capacity < spec.page.size.bytes() || spec.host.dram.capacity < spec.page.size.bytes())) {
    configuration.fail({"page.size", "gpu.dram.capacity", "host.dram.capacity"},
                       "a memory must hold at least one page of `page.size`.");
  }
}

}  // namespace

void check_system(const SystemSpec& spec, const Configuration& configuration) {
  check_compute_units(spec.gpu, configuration);
  check_l1(spec.gpu.l1v, "gpu.l1v", spec, configuration);
  check_l1(spec.gpu.l1s, "gpu.l1s", spec, configuration);
  check_l2(spec.gpu.l2, "gpu.l2", spec, configuration);
  check_remote_lines(spec, configuration);
  check_remote_write(spec, configuration);
  check_directory(spec, configuration);
  check_fetches(spec, configuration);
  check_memory_management(spec, configuration);
  check_hierarchy_spec(spec, configuration);
  check_l2(spec.host.llc, "host.llc", spec, configuration);
  check_dram(spec.gpu.dram, "gpu.dram", spec, configuration);
  check_dram(spec.host.dram, "host.dram", spec, configuration);
  check_translation(spec, configuration);
  if (spec.boundary.l2 != L2AtBoundary::Keep && !spec.boundary.write_back) {
    configuration.fail({"boundary.l2", "boundary.write_back"},
                       "lines that leave the L2 caches when a kernel ends have to be written back: `boundary.l2` other "
                       "than `keep` needs `boundary.write_back`.");
  }
  if (!spec.boundary.markers && !spec.has_directories()) {
    configuration.fail({"boundary.markers", "coherence"},
                       "markers follow the invalidations of coherence directories, and this machine has none: "
                       "`boundary.markers` = false needs `coherence: directory`.");
  }
  if (spec.watchdog != 0 && spec.watchdog <= spec.link.latency) {
    configuration.fail({"watchdog.cycles", "link.latency"},
                       "`watchdog.cycles` must exceed `link.latency`: else every remote access looks stuck.");
  }
}

LinkSpec::CreditLoop credit_loop(const SystemSpec& spec) {
  const Topology topology(spec.link, spec.gpus);
  Cycle longest = 0;
  for (unsigned to = 1; to < topology.devices(); ++to) {
    longest = std::max(longest, topology.latency(DeviceId{0}, DeviceId{static_cast<std::uint16_t>(to)}));
  }
  const auto home = [](const L2Spec& cache, const DramSpec& dram) {
    return cache.tag_latency + dram.controller_latency + dram.latency;
  };
  LinkSpec::CreditLoop loop;
  loop.latency = 2 * longest;
  loop.service = std::max(home(spec.gpu.l2, spec.gpu.dram), home(spec.host.llc, spec.host.dram));
  loop.clock = spec.gpu.clock;
  loop.line = spec.gpu.line;
  return loop;
}

namespace {

/// A source that waits for credits although its link and its destination are idle.
std::string credit_remark(const SystemSpec& spec) {
  LinkSpec::CreditLoop loop = credit_loop(spec);
  loop.service = 0;  // what the destination does meanwhile may hide it
  const std::uint64_t enough = spec.link.credits_to_fill(loop, spec.link.reply_header + spec.gpu.line);
  if (spec.gpus < 2 || spec.link.credits >= enough) return {};
  return fmt::format(
      "`link.credits` = {} lets one device use at most {} % of its link to another for whole lines; {} are enough.",
      spec.link.credits, spec.link.credits * 100 / enough, enough);
}

/// The same of posted stores, which have credits for packets and for payload.
std::string store_credit_remark(const SystemSpec& spec) {
  if (spec.gpus < 2 || !spec.posts_stores()) return {};
  LinkSpec::CreditLoop loop = credit_loop(spec);
  loop.service = 0;
  const std::uint64_t packets = spec.link.credits_to_fill(loop, spec.link.smallest_store(spec.gpu.line));
  const std::uint64_t payload = spec.link.credits_to_fill(loop, WireSize::kCreditBytes);
  if (spec.link.credits < packets) {
    return fmt::format(
        "`link.credits` = {} lets one device use at most {} % of its link to another for stores of 4 bytes; {} are "
        "enough.",
        spec.link.credits, spec.link.credits * 100 / packets, packets);
  }
  if (spec.link.data_credits >= payload) return {};
  return fmt::format(
      "`link.data_credits` = {} lets one device use at most {} % of its link to another for large stores; {} are "
      "enough.",
      spec.link.data_credits, spec.link.data_credits * 100 / payload, payload);
}

std::string svm_remark(const SystemSpec& spec) {
  if (spec.translation.kind != TranslationKind::Svm || spec.iommu.walkers == 0) return {};
  const std::uint64_t room = std::uint64_t{spec.iommu.queue} + spec.iommu.walkers;
  const std::uint64_t first = std::uint64_t{spec.gpu.cus()} * spec.gpu.l1_tlb.mshrs;
  const std::uint64_t second = spec.gpu.l2_tlb.mshrs;
  if (std::min(first, second) > room) return {};
  return fmt::format(
      "`{}` lets {} misses be under way, and `iommu.pw_queue.entries` and `iommu.walkers` have room for "
      "{} walks: the queue can never fill.",
      first < second ? "gpu.l1_tlb.mshrs" : "gpu.l2_tlb.mshrs", std::min(first, second), room);
}

std::string coherence_remark(const SystemSpec& spec) {
  if (spec.boundary.l1 == L1AtBoundary::Invalidate) return {};
  return "`boundary.l1` = keep: the machine is not coherent. A kernel may read what its L1 caches held before an "
         "earlier "
         "kernel changed it, and --check does not hold loads to kernel boundaries.";
}

}  // namespace

std::string system_remark(const SystemSpec& spec) {
  std::string all;
  for (const std::string& remark :
       {svm_remark(spec), credit_remark(spec), store_credit_remark(spec), coherence_remark(spec)}) {
    if (!all.empty() && !remark.empty()) all += ' ';
    all += remark;
  }
  return all;
}

}  // namespace nearfar
