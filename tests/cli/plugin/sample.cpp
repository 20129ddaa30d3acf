// A plug-in as small as one can be: a design that counts the requests before the GMMU's walk, and a workload.
#include "plugin/plugin.h"

#include "config/schema.h"
#include "gpu/gpu.h"
#include "machine/statistics.h"
#include "translation/design_component.h"

using namespace nearfar;

namespace {

struct SampleStats {
  std::uint64_t asked = 0;

  void describe(StatVisitor& visitor) {
    visitor.counter("asked", "misses", "L2 TLB misses on their way to a walk.", asked);
  }
};

/// A filter that lets everything pass, after a time of its own.
class SampleFilter final : public DesignComponent, public WalkFilter {
 public:
  explicit SampleFilter(Cycle latency) : latency_(latency) {}

  const char* name() const override { return "sample"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  Cycle latency() const override { return latency_; }
  bool asks_replays() const override { return false; }
  bool admits(PageKey) override {
    ++stats_.asked;
    return true;
  }

 private:
  Cycle latency_;
  SampleStats stats_;
};

class Sample final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.group("sample", "A sample.").cycles("latency", latency_, {0, 1000}, "Of the filter.");
  }
  void attach(Gpu& gpu, const SystemSpec&) const override {
    gpu.gmmu()->add_filter(gpu.parts().add(std::make_unique<SampleFilter>(latency_)), 9);
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<SampleStats>(out, {"gpus.sample.", "gpu<g>.sample."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec&) const override { return {}; }

 private:
  Cycle latency_ = 5;
};

/// Every item stores a word of its own.
class SampleFill final : public Workload {
 public:
  explicit SampleFill(const Parameters& parameters)
      : words_(allocate("words", 4 * parameters["n"], Placement::Distribute)) {
    add_launch({.kernel = "fill",
                .groups_x = parameters.u32("n") / 64,
                .size_x = 64,
                .split = Split::Offset,
                .split_dim = Dim::X});
  }
  Stream wavefront(std::size_t, const Wave& wave) const override { return fill(wave.item(0)); }

 private:
  Stream fill(std::uint64_t first) const {
    const auto words = store(4, [&] { return Row{words_ + 4 * first}; });
    co_yield valu(2);
    co_yield words;
  }

  VirtAddr words_;
};

WorkloadInfo fill_info() {
  return {.name = "SampleFill",
          .title = "fill an array",
          .suite = "sample",
          .sentence = "Every item stores one word.",
          .parameters = {sized("n", "words", {4096, 8192, 16384}, 64, 1 << 20, 64)}};
}

}  // namespace

NEARFAR_PLUGIN(plugin) {
  plugin.add(Design{.name = "sample-filter",
                    .sentence = "A filter before the walk that lets everything pass.",
                    .seams = {"before the GMMU walk, place 9"},
                    .systems = {TranslationKind::Mmu},
                    .make = make_plug_in<Sample>});
  plugin.add(CatalogEntry{fill_info, construct<SampleFill>});
}
