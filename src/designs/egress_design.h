// What all designs at the egress have in common: the systems that they go with, and a part in each GPU that makes a
// queue of stores for each peer.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "config/plug_in.h"
#include "config/system_spec.h"
#include "gpu/gpu.h"
#include "interconnect/egress.h"
#include "machine/statistics.h"
#include "translation/design_component.h"

namespace nearfar {

/// Refuses systems in which stores are not posted; `name` is the design's.
inline void require_posted_stores(const SystemSpec& system, const Configuration& configuration,
                                  const std::string& name) {
  if (system.link.is_plain()) {
    configuration.fail({"link.format"}, fmt::format("With `link.format` plain every store is acknowledged; `{}` needs "
                                                    "posted stores: pcie3, pcie4, pcie5, pcie6 or nvlink.",
                                                    name));
  }
  if (system.remote_cache == RemoteCache::L1L2) {
    configuration.fail({"remote_cache"},
                       fmt::format("With `remote_cache: l1l2` an L2 that holds a line of another GPU has to know when "
                                   "its home has ordered a store, so stores are not posted: `{}` needs none or l1.",
                                   name));
  }
  if (!system.posts_stores()) {
    configuration.fail({"placement.policy", "translation.kind"},
                       fmt::format("Where pages may move, stores are not posted, since a page waits for those under "
                                   "way: `{}` needs translation.kind ideal or ats and placement.policy pinned.",
                                   name));
  }
}

/// The part of a design in one GPU, with statistics of its own. `Queue` is made from (spec, format, line, statistics).
template <class Spec, class Stats, class Queue>
class EgressPart final : public DesignComponent, public EgressDesign {
 public:
  EgressPart(const char* name, const Spec& spec, Gpu& gpu, std::uint64_t line_bytes)
      : name_(name), spec_(spec), format_(gpu.egress()->format()), line_bytes_(line_bytes) {
    gpu.egress()->set_design(*this);
  }

  const char* name() const override { return name_; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }

  std::unique_ptr<StoreQueue> make_queue() override {
    return std::make_unique<Queue>(spec_, format_, line_bytes_, stats_);
  }
  std::uint32_t banks() const override { return spec_.banks; }
  Cycle timeout() const override { return spec_.timeout; }
  std::uint32_t stores_per_cycle() const override { return spec_.stores_per_cycle; }

 private:
  const char* name_;
  Spec spec_;
  const PacketFormat& format_;
  std::uint64_t line_bytes_;
  Stats stats_;
};

/// The statistics that the part `name` of each GPU reports.
template <class Stats>
std::vector<StatInfo> egress_statistics(const std::string& name) {
  std::vector<StatInfo> out;
  list_stats<Stats>(out, {"gpus." + name + ".", "gpu<g>." + name + "."});
  return out;
}

}  // namespace nearfar
