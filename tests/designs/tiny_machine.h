// Machines whose structures are as small as can be, and programs that quarrel over a few pages: what storms on whole
// machines are made of.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <pcg_random.hpp>
#include <string>
#include <vector>

#include "designs/design.h"
#include "machine/script.h"

namespace nearfar {

using Names = std::vector<std::string>;

/// Loads, stores and atomics of a wavefront over a few pages that all GPUs want.
inline Stream roam(VirtAddr base, std::uint64_t lines, std::uint64_t seed) {
  pcg32 random(seed);
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint64_t draw = random();
    const auto lanes = [=](unsigned lane) {
      return base + (draw * (lane / 8 + 1) * 2654435761ULL >> 7) % lines * 64 + lane % 16 * 4;
    };
    switch (random() % 8) {
      case 0:
      case 1: co_yield store(4, lanes); break;
      case 2: co_yield atomic(4, lanes); break;
      case 3: co_yield wait(0); break;
      default: co_yield load(4, lanes);
    }
  }
}

inline std::shared_ptr<Script> roamers(std::uint64_t seed, std::uint64_t pages, std::uint32_t groups) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(pages * kPageBytes, Placement::Interleave);
  for (unsigned launch = 0; launch < 2; ++launch) {
    script->launch(groups_of(groups, 128, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      return roam(base, pages * 64, seed * 1000003 + launch * 7919 + wave.group_x * 131 + wave.index);
    });
  }
  return script;
}

/// One program on all GPUs, or one on each.
inline std::vector<std::shared_ptr<const Workload>> storm_programs(std::uint64_t seed, bool several) {
  if (!several) return {roamers(seed, 4 + seed % 11, 16)};
  return {roamers(seed, 6, 4), roamers(seed + 1, 9, 8), roamers(seed + 2, 4, 6), roamers(seed + 3, 12, 3)};
}

/// The parts of misses add up to their latency, whatever the designs.
inline void expect_parts_add_up(const Outcome& run) {
  std::uint64_t parts = 0;
  for (const StatValue& value : run.result.statistics) {
    if (value.name.starts_with("l2_miss.component.")) parts += value.count;
  }
  EXPECT_EQ(parts, run.count("l2_miss.latency") + run.count("l2_miss.discarded"));
}

/// Settings of a tiny machine, each of them different for different seeds.
class TinySettings {
 public:
  TinySettings(const Names& designs, std::uint64_t seed) : designs_(choose_designs(designs)), seed_(seed) {
    settings_ = {"gpu.shader_arrays=2", "gpu.cus_per_array=2",    "gpu.cu.waves_per_simd=2", "gpu.l1_tlb.ways=1",
                 "gpu.l2_tlb.ways=1",   "gpu.dram.capacity=1GiB", "watchdog.cycles=3000000"};
    set("gpu.l1_tlb.entries", 1 + seed % 3);
    set("gpu.l2_tlb.entries", 1 + seed % 4);
    for (const Design* design : designs_) {
      for (const std::string& need : design->needs) settings_.push_back(need);
    }
  }

  void mmu() {
    static const char* kPolicies[] = {"on-touch", "access-counter", "replication", "first-touch"};
    set("gpu.l2.size", "64KiB");
    set("host.dram.capacity", "1GiB");
    set("gpu.l2_tlb.mshrs", 1 + seed_ % 5);
    const bool one_entry = has("disaggregated-page-table") && seed_ % 4 == 2;  // which cannot name copies
    set("placement.policy", one_entry ? "access-counter" : kPolicies[seed_ % 4]);
    set("placement.initial", seed_ % 5 == 0 ? "distribute" : "host");
    set("placement.access_counter.threshold", 1 + seed_ % 9);
    set("gpu.gmmu.walkers", least_walkers() + seed_ % 2);
    set("gpu.gmmu.pw_queue.entries", least_walkers() + seed_ % 3);
    set("gpu.gmmu.ingress.entries", 1 + seed_ % 2);
    set("gpu.gmmu.replay", seed_ % 9 == 8 ? "short" : "full");
    set("host.mmu.tlb.ways", 1);
    set("host.mmu.tlb.entries", 2);
    set("host.mmu.walkers", least_walkers() + seed_ % 2);
    set("host.mmu.pw_queue.entries", least_walkers() + seed_ % 3);
    set("uvm.concurrent_migrations", seed_ % 3 == 0 ? 2 : 64);
    set("page.size", seed_ % 7 == 6 ? "2M" : "4K");
    set("page_table.upper_levels", seed_ % 8 == 7 ? "on-demand" : "prebuilt");
    of_designs();
  }

  void ats() {
    set("gpu.l1_tlb.mshrs", 1 + seed_ % 2);
    set("gpu.l2_tlb.mshrs", 1 + seed_ % 3);
    set("translation.observe", "true");
    set("translation.snapshot", 5000);
    set("iommu.tlb.ways", 1);
    set("iommu.tlb.entries", 1 + seed_ % 5);
    set("iommu.walkers", least_walkers() + seed_ % 2);
    set("iommu.pw_queue.entries", least_walkers() + seed_ % 7);
    set("iommu.pending", seed_ % 4);
    const bool by_level = has("neighborhood") || has("neighborhood-leaf") || has("pte-cache");
    set("walk.timing", by_level || seed_ % 6 == 5 ? "memory" : "fixed-total");
    if (seed_ % 3 == 2 && !has("ideal-translation") && !at_egress()) {
      set("placement.initial", "host");
      set("placement.policy", "first-touch");
      set("uvm.batch_size", 1 + seed_ % 4);
      set("uvm.concurrent_migrations", seed_ % 2 == 0 ? 1 : 64);
    }
    of_designs();
  }

  void svm() {
    set("gpu.l1_tlb.mshrs", 1 + seed_ % 3);
    set("gpu.l2_tlb.mshrs", 1 + seed_ % 5);
    set("iommu.l1_tlb.ways", 1);
    set("iommu.l1_tlb.entries", 1 + seed_ % 2);
    set("iommu.tlb.ways", 1);
    set("iommu.tlb.entries", 1 + seed_ % 5);
    set("iommu.walkers", 1 + seed_ % 3);
    set("iommu.pw_queue.entries", 1 + seed_ % 4);
    of_designs();
  }

  /// Four instances, one compute unit for each slice.
  void mig() {
    settings_.insert(settings_.end(),
                     {"gpu.shader_arrays=7", "gpu.cus_per_array=1", "gpu.l2.size=128KiB", "gpu.l2.banks=8",
                      "gpu.dram.channels=8", "gpu.dram.capacity=8GiB", "host.dram.capacity=1GiB"});
    set("gpu.l2_tlb.entries", 7 * (1 + seed_ % 3));
    set("gpu.l1_tlb.mshrs", 1 + seed_ % 2);
    set("gpu.l2_tlb.mshrs", 7 * (1 + seed_ % 3));
    set("translation.observe", seed_ % 2 == 0 ? "true" : "false");
    set("translation.snapshot", 5000);
    set("mig.instances", seed_ % 4 == 3 ? "2g:2g:2g:1g" : "3g:2g:1g:1g");
    set("mig.sub_entries", has("mig-sharing") || has("mig-packing") ? 4 << seed_ % 3 : 1 << seed_ % 5);
    set("mig.l3_tlb.ways", 4);
    set("mig.l3_tlb.entries", 4 * (1 + seed_ % 3));
    set("mig.walkers", least_walkers() + seed_ % 2);
    set("mig.pw_queue.entries", least_walkers() + seed_ % 7);
    set("page.size", seed_ % 3 == 2 ? "64K" : "4K");
    of_designs();
  }

  void ideal() { of_designs(); }

  const Names& all() const { return settings_; }

 private:
  /// Each process has walkers of its own.
  std::uint64_t least_walkers() const { return has("dws") ? 4 : 1; }

  bool has(const std::string& name) const {
    return std::ranges::any_of(designs_, [&](const Design* design) { return design->name == name; });
  }
  /// What a design sets stays as it is.
  void set(const std::string& key, const std::string& value) {
    const bool taken = std::ranges::any_of(designs_, [&](const Design* design) {
      return std::ranges::any_of(design->settings, [&](const auto& setting) { return setting.starts_with(key + "="); });
    });
    if (!taken) settings_.push_back(key + "=" + value);
  }
  void set(const std::string& key, std::uint64_t value) { set(key, std::to_string(value)); }
  void of_designs();
  /// The egress, or the switch that is behind it.
  bool at_egress() const {
    return std::ranges::any_of(designs_, [](const Design* design) {
      return std::ranges::any_of(design->seams,
                                 [](const std::string& seam) { return seam == "egress" || seam == "switch"; });
    });
  }

  std::vector<const Design*> designs_;
  std::uint64_t seed_;
  Names settings_;
};

inline void TinySettings::of_designs() {
  static const char* kOverflows[] = {"conservative", "drop", "exact"};
  static const char* kModes[] = {"dws++", "dws", "strict"};
  static const char* kReplacements[] = {"lru", "fifo", "random"};
  if (has("trans-fw-prt")) {
    set("trans_fw.prt.buckets", 1 + seed_ % 3);
    set("trans_fw.prt.overflow_counters", 1 + seed_ % 4);
    set("trans_fw.prt.overflow", kOverflows[seed_ % 3]);
  }
  if (has("trans-fw-ft")) {
    set("trans_fw.ft.buckets", 1 + seed_ % 9);
    set("trans_fw.ft.threshold_percent", seed_ % 2 * 50);
  }
  if (has("disaggregated-page-table")) {
    set("dpt.home", seed_ % 2 == 0 ? "first-touch" : "hash");
    set("dpt.migrate", seed_ % 5 == 4 ? "false" : "true");
    set("dpt.threshold", seed_ % 3);
    set("dpt.access_bits", 1 + seed_ % 6);
  }
  if (has("idyll-lazy")) {
    set("idyll.irmb.bases", 1 + seed_ % 2);
    set("idyll.irmb.offsets", 1 + seed_ % 3);
    set("idyll.irmb.writeback_buffers", 1 + seed_ % 2);
    set("idyll.irmb.idle_writeback", seed_ % 3 == 0 ? "false" : "true");
  }
  if (has("least-tlb")) {
    set("least_tlb.tracker.entries", 8 * (1 + seed_ % 4));
    set("least_tlb.spill.count", seed_ % 4);
    set("least_tlb.race", seed_ % 5 == 0 ? "false" : "true");
    set("least_tlb.mode", seed_ % 7 == 6 ? "multi" : "auto");
  }
  set("directory.ways", 1 + seed_ % 3);
  set("directory.entries", (1 + seed_ % 3) * (1 + seed_ % 5));
  set("directory.replacement", seed_ % 2 == 0 ? "fifo" : "lru");
  if (has("hmg")) set("hmg.lines", std::uint64_t{1} << seed_ % 7);
  if (has("rec")) {
    set("rec.range", std::uint64_t{64} << seed_ % 7);
    set("rec.replacement", seed_ % 3 == 0 ? "fifo" : "lru");
  }
  if (has("mig-dynamic")) {
    set("mig.epoch", 1000 * (1 + seed_ % 5));
    set("mig.shadow_sample", 1 << seed_ % 3);
  }
  if (has("mig-packing")) set("mig_packing.ranges", 2 << seed_ % 2);
  if (has("tlb-probing")) set("tlb_probing.overlap", seed_ % 4 < 2 ? "true" : "false");
  if (has("dws")) set("dws.mode", kModes[seed_ % 3]);
  if (has("pte-cache")) set("pte_cache.lines", 1 + seed_ % 5);
  if (has("srrip")) {
    set("gpu.l2.size", seed_ % 2 == 0 ? "1KiB" : "4KiB");
    set("gpu.l2.banks", 2);
    set("gpu.l2.ways", seed_ % 3 == 0 ? 1 : 4);
    set("srrip.rrpv_bits", 1 + seed_ % 3);
    set("srrip.promotion", seed_ % 4 == 3 ? "frequency" : "hit");
  }
  if (has("srrip-l1")) set("srrip_l1.rrpv_bits", 1 + seed_ % 7);
  if (at_egress()) {
    set("link.format", seed_ % 3 == 0 ? "nvlink" : "pcie4");
    set("link.data_credits", 16 + seed_ % 3);
    set("link.credits", 1 + seed_ % 5);
    set("link.track_useful", "true");
    set("remote_cache", has("nvls") || seed_ % 2 == 0 ? "none" : "l1");
  }
  for (const char* queue : {"finepack", "config_packet"}) {
    if (!has(queue == std::string("finepack") ? "finepack" : "config-packet")) continue;
    const std::string at = std::string(queue) + ".";
    set(at + "max_payload", 64 << seed_ % 3);
    set(at + "entries", 1 + seed_ % 4);
    set(at + "subheader", 2 + seed_ % 5);
    set(at + "banks", 1 + seed_ % 2);
    set(at + "unpack_entries", 1 + seed_ % 3);
  }
  if (has("write-combining")) set("write_combining.entries", 1 + seed_ % 4);
  if (has("gps")) set("gps.entries", 1 + seed_ % 4);
  if (has("next-page")) {
    set("next_page.degree", 1 + seed_ % 4);
    set("next_page.tagged", seed_ % 3 == 0 ? "false" : "true");
    set("gpu.l2_tlb.replacement", kReplacements[seed_ % 3]);
    set("gpu.l1_tlb.replacement", kReplacements[(seed_ + 1) % 3]);
  }
}

/// A tiny machine of one kind with designs in it.
inline SystemSpec tiny_machine(TranslationKind kind, const Names& designs, std::uint64_t seed) {
  TinySettings settings(designs, seed);
  switch (kind) {
    case TranslationKind::Mmu: settings.mmu(); return load_system_with(designs, "mmu-4gpu", settings.all()).spec;
    case TranslationKind::Ats: settings.ats(); return load_system_with(designs, "ats-4gpu", settings.all()).spec;
    case TranslationKind::Svm: settings.svm(); return load_system_with(designs, "svm-1gpu", settings.all()).spec;
    case TranslationKind::Mig: settings.mig(); return load_system_with(designs, "mig-a100", settings.all()).spec;
    case TranslationKind::Ideal: break;
  }
  settings.ideal();
  return load_system_with(designs, "ideal-4gpu", settings.all()).spec;
}

}  // namespace nearfar
