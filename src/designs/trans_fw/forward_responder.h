// A GPU's side of forwarded faults: it walks its own page table for another GPU and tells that GPU and the host what it
// found; and it takes what another GPU found for it.
#pragma once

#include <cstdint>
#include <vector>

#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"

namespace nearfar {

struct ForwardStats {
  std::uint64_t received = 0;
  std::uint64_t tlb_hits = 0;
  std::uint64_t found = 0;
  std::uint64_t direct = 0;

  void describe(StatVisitor& visitor);
};

struct ForwardOptions {
  DeviceId host;
  bool probe_l2_tlb = false;
  bool remote_mappings_too = false;  ///< an entry that names another GPU's memory will do
};

class ForwardResponder final : public DesignComponent, public WalkOwner {
 public:
  ForwardResponder(Gmmu& gmmu, L2Tlb& tlb, Messenger& messenger, const ForwardOptions& options);

  const char* name() const override { return "forward"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  bool on_message(const Message& message) override;

  void walked(Walk& walk) override;
  void overtaken(Walk& walk) override;

  ForwardStats& stats() { return stats_; }

 private:
  void take_answer(const Message& direct);
  void walk(const Message& forward);
  Message take_forward(const Walk& walk);
  void on_probed(TranslationPacket* waiting);
  bool may_answer(const Pte& entry) const;
  void tell(const Message& forward, const Mapping* found, Cycle queue, Cycle walk);

  Gmmu& gmmu_;
  L2Tlb& tlb_;
  Messenger& messenger_;
  ForwardOptions options_;
  std::vector<Message> pending_;  ///< forwards that are walked, by the number in their walk's note
  std::vector<std::uint32_t> free_;
  HandlerId probe_handler_;
  ForwardStats stats_;
};

}  // namespace nearfar
