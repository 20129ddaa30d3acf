// SRRIP as plug-ins: for the L2 of every GPU, and for its L1s.
#include <fmt/format.h>

#include "config/schema.h"
#include "designs/registry.h"
#include "designs/srrip/srrip.h"
#include "gpu/gpu.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

MakeCacheReplacement policies(const SrripSpec& spec, SrripStats& stats) {
  return [&](const CacheArray& array) { return std::make_unique<Srrip>(spec, array, stats); };
}

std::vector<StatInfo> statistics_of(const std::string& part) {
  std::vector<StatInfo> out;
  list_stats<SrripStats>(out, {"gpus." + part + ".", "gpu<g>." + part + "."});
  return out;
}

class SrripOfL2 final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.child("srrip", spec_, "Static Re-Reference Interval Prediction in the L2 of a GPU.");
  }
  void attach(Gpu& gpu, const SystemSpec&) const override {
    gpu.set_l2_replacement(policies(spec_, gpu.parts().add(std::make_unique<SrripPart>("srrip")).stats()));
  }
  std::vector<StatInfo> statistics() const override { return statistics_of("srrip"); }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t lines = system.gpu.l2.size / system.gpu.line;
    return {
        {"RRPVs of the L2", true, lines * spec_.rrpv_bits, fmt::format("{} lines × {} bits", lines, spec_.rrpv_bits)}};
  }

 private:
  SrripSpec spec_;
};

class SrripOfL1s final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.child("srrip_l1", spec_, "Static Re-Reference Interval Prediction in the L1s of a GPU.");
  }
  void attach(Gpu& gpu, const SystemSpec&) const override {
    const MakeCacheReplacement make = policies(spec_, gpu.parts().add(std::make_unique<SrripPart>("srrip_l1")).stats());
    gpu.set_l1v_replacement(make);
    gpu.set_l1s_replacement(make);
  }
  std::vector<StatInfo> statistics() const override { return statistics_of("srrip_l1"); }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const GpuSpec& gpu = system.gpu;
    return {of("vector L1s", gpu.cus(), gpu.l1v, gpu.line), of("scalar L1s", gpu.shader_arrays, gpu.l1s, gpu.line)};
  }

 private:
  StorageItem of(const char* caches, std::uint64_t count, const L1Spec& l1, std::uint64_t line) const {
    const std::uint64_t lines = l1.size / line;
    return {fmt::format("RRPVs of the {}", caches), true, count * lines * spec_.rrpv_bits,
            fmt::format("{} caches × {} lines × {} bits", count, lines, spec_.rrpv_bits)};
  }

  SrripSpec spec_;
};

}  // namespace

void register_srrip(DesignRegistry& registry) {
  constexpr const char* kReadme = "src/designs/srrip/README.md";
  using enum TranslationKind;
  registry.add({.name = "srrip",
                .sentence = "The L2 of a GPU replaces the line whose next use is predicted to be farthest (SRRIP).",
                .seams = {"L2 cache replacement"},
                .systems = {Ideal, Mmu, Ats, Svm},
                .make = make_plug_in<SrripOfL2>,
                .readme = kReadme,
                .paper = "srrip"});
  registry.add({.name = "srrip-l1",
                .sentence = "The L1s of a GPU replace the line whose next use is predicted to be farthest (SRRIP).",
                .seams = {"L1 cache replacement"},
                .systems = {Ideal, Mmu, Ats, Svm},
                .make = make_plug_in<SrripOfL1s>,
                .readme = kReadme,
                .paper = "srrip"});
}

}  // namespace nearfar
