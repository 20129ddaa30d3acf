// A design whose queue is a remote write queue, whatever it makes of a flush: FinePack itself, and the configuration
// packet.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/schema.h"
#include "config/units.h"
#include "designs/egress_design.h"
#include "designs/finepack/remote_write_queue.h"

namespace nearfar {

template <class Queue>
class RemoteWriteQueuePlugIn : public PlugIn {
 public:
  /// `name` is the design's, `key` that of its parameters and statistics.
  RemoteWriteQueuePlugIn(const char* name, const char* key) : name_(name), key_(key) {}

  void describe(Section& root) override {
    root.child(key_, spec_, fmt::format("The remote write queue of the design {}.", name_));
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_posted_stores(system, configuration, name_);
    const std::uint64_t payload = spec_.payload_of(*make_packet_format(system.link, system.gpu.line));
    const std::uint64_t room = std::uint64_t{system.link.data_credits} * WireSize::kCreditBytes;
    if (room < payload) {
      configuration.fail({"link.data_credits", std::string(key_) + ".max_payload"},
                         fmt::format("A packet of `{}` has up to {} of payload, but `link.data_credits` lets only {} "
                                     "be under way: it could never be sent.",
                                     name_, format_bytes(payload), format_bytes(room)));
    }
  }
  void attach(Gpu& gpu, const SystemSpec& system) const override {
    using Part = EgressPart<RemoteWriteQueueSpec, RemoteWriteQueueStats, Queue>;
    gpu.parts().add(std::make_unique<Part>(key_, spec_, gpu, system.gpu.line));
    gpu.ingress()->set_unpacking(spec_.unpack_entries, spec_.unpack_per_cycle);
  }
  std::vector<StatInfo> statistics() const override { return egress_statistics<RemoteWriteQueueStats>(key_); }

  /// Tags are not counted, as in the published sizes.
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t peers = system.gpus - 1;
    const std::uint64_t lines = peers * spec_.entries * spec_.banks;
    const std::string all = fmt::format("{} peers × {} entries × {} bank{}", peers, spec_.entries, spec_.banks,
                                        spec_.banks == 1 ? "" : "s");
    const std::uint64_t line = system.gpu.line;
    return {{"remote write queue data", true, lines * line * 8, fmt::format("{} × {} B", all, line)},
            {"remote write queue byte enables", true, lines * line, fmt::format("{} × {} bits", all, line)},
            {"remote write queue registers", true, peers * spec_.banks * (8 + 2 + 2) * 8,
             fmt::format("{} peers × {} bank{} × (8 base + 2 available + 2 stores) B", peers, spec_.banks,
                         spec_.banks == 1 ? "" : "s")},
            {"de-packetizer", true, spec_.unpack_entries * line * 8,
             fmt::format("{} pieces × {} B", spec_.unpack_entries, line)}};
  }

 private:
  const char* name_;
  const char* key_;
  RemoteWriteQueueSpec spec_;
};

}  // namespace nearfar
