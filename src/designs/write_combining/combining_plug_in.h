// A design whose queue is a write-combining buffer: write combining itself, and GPS.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "config/schema.h"
#include "designs/egress_design.h"
#include "designs/write_combining/combining_queue.h"

namespace nearfar {

class CombiningPlugIn : public PlugIn {
 public:
  /// `name` is the design's, `key` that of its parameters and statistics.
  CombiningPlugIn(const char* name, const char* key) : name_(name), key_(key) {}

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_posted_stores(system, configuration, name_);
    if (spec_.payload != CombinedPayload::MaskedLine) return;
    const std::uint64_t payload = system.gpu.line + system.gpu.line / 8;
    const std::uint64_t most = make_packet_format(system.link, system.gpu.line)->largest_payload();
    if (payload <= most) return;
    configuration.fail(
        {"link.pcie.max_payload", "gpu.line"},
        fmt::format("A packet of `{}` has a line and its mask, {} B, but `link.pcie.max_payload` is {} B.", name_,
                    payload, most));
  }
  void attach(Gpu& gpu, const SystemSpec& system) const override {
    using Part = EgressPart<CombiningSpec, CombiningStats, CombiningQueue>;
    gpu.parts().add(std::make_unique<Part>(key_, spec_, gpu, system.gpu.line));
  }
  std::vector<StatInfo> statistics() const override { return egress_statistics<CombiningStats>(key_); }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t peers = system.gpus - 1;
    const std::uint64_t line = system.gpu.line;
    const std::string all = fmt::format("{} peers × {} entries", peers, spec_.entries);
    return {
        {"write-combining data", true, peers * spec_.entries * line * 8, fmt::format("{} × {} B", all, line)},
        {"write-combining byte enables", true, peers * spec_.entries * line, fmt::format("{} × {} bits", all, line)}};
  }

 protected:
  CombiningSpec& spec() { return spec_; }
  const char* key() const { return key_; }

 private:
  const char* name_;
  const char* key_;
  CombiningSpec spec_;
};

}  // namespace nearfar
