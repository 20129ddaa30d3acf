// Trans-FW as plug-ins: its two halves, each of which works alone.
#include <fmt/format.h>

#include "config/schema.h"
#include "designs/registry.h"
#include "designs/trans_fw/forward_responder.h"
#include "designs/trans_fw/forwarding_table.h"
#include "designs/trans_fw/pending_request_table.h"
#include "gpu/gpu.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

constexpr unsigned kPrtPlace = 2;  // in the chain before the GMMU walk: behind IDYLL's IRMB
constexpr const char* kTransFw = "Trans-FW: short-circuited walks and forwarded faults.";

std::string fingerprints(const CuckooFilterSpec& filter) {
  return fmt::format("{} buckets × {} × {} bits", filter.buckets, filter.slots, filter.fingerprint_bits);
}

class Prt final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.group("trans_fw", kTransFw).child("prt", spec_, "The Pending Request Table of a GPU.");
  }
  void attach(Gpu& gpu, const SystemSpec&) const override {
    auto& table = gpu.parts().add(std::make_unique<PendingRequestTable>(*gpu.gmmu(), spec_));
    gpu.gmmu()->add_filter(table, kPrtPlace);
    gpu.gmmu()->set_watch(table);
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<PrtStats>(out, {"gpus.prt.", "gpu<g>.prt."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec&) const override {
    std::vector<StorageItem> items = {
        {"Pending Request Table", true, spec_.filter.fingerprint_storage(), fingerprints(spec_.filter)}};
    if (spec_.filter.counter_storage() != 0) {
      items.push_back({"overflow counters", true, spec_.filter.counter_storage(),
                       fmt::format("{} counters × {} bits", spec_.filter.counter_count(), spec_.filter.counter_bits)});
    }
    return items;
  }
  std::string remark(const std::function<double(const std::string&)>& value) const override {
    const double lookups = value("gpus.prt.lookups");
    const double saturated = value("gpus.prt.saturated_lookups");
    if (saturated <= lookups / 100) return {};
    return fmt::format(
        "the Pending Request Tables are too small for the pages mapped here: {:.0f} % of their lookups were positive "
        "only by an overflow counter (trans_fw.prt.buckets, .region_pages).",
        100 * saturated / lookups);
  }

 private:
  PrtSpec spec_;
};

class Ft final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.group("trans_fw", kTransFw).child("ft", spec_, "The Forwarding Table of the host.");
  }
  void attach(Gpu& gpu, const SystemSpec& system) const override {
    const ForwardOptions options{DeviceId{static_cast<std::uint16_t>(system.gpus)}, spec_.probe_l2_tlb,
                                 spec_.track == FtTrack::Holders};
    gpu.parts().add(std::make_unique<ForwardResponder>(*gpu.gmmu(), *gpu.l2_tlb(), gpu, options));
  }
  void attach(Host& host, const SystemSpec& system) const override {
    host.parts().add(std::make_unique<ForwardingTable>(*host.mmu(), host, system.gpus, spec_));
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<FtStats>(out, {"host.ft."});
    list_stats<ForwardStats>(out, {"gpus.forward.", "gpu<g>.forward."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec&) const override {
    return {{"Forwarding Table", false, spec_.filter.fingerprint_storage(), fingerprints(spec_.filter)}};
  }

 private:
  FtSpec spec_;
};

}  // namespace

void register_trans_fw(DesignRegistry& registry) {
  constexpr const char* kReadme = "src/designs/trans_fw/README.md";
  registry.add({.name = "trans-fw",
                .sentence = "Misses skip walks that would fault, and GPUs answer faults that wait at the host.",
                .systems = {TranslationKind::Mmu},
                .parts = {"trans-fw-prt", "trans-fw-ft"},
                .readme = kReadme,
                .paper = "trans-fw"});
  registry.add({.name = "trans-fw-ft",
                .sentence = "A fault that waits at the host is forwarded to a GPU that has the page.",
                .seams = {"before the host walk"},
                .systems = {TranslationKind::Mmu},
                .make = make_plug_in<Ft>,
                .readme = kReadme,
                .paper = "trans-fw"});
  registry.add({.name = "trans-fw-prt",
                .sentence = "A miss whose page has no valid entry in the local table faults without a walk.",
                .seams = {"before the GMMU walk, place 2"},
                .systems = {TranslationKind::Mmu},
                .make = make_plug_in<Prt>,
                .readme = kReadme,
                .paper = "trans-fw"});
}

}  // namespace nearfar
