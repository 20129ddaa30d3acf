// The Forwarding Table of Trans-FW: a cuckoo filter beside the host's TLB of the GPUs that have a page. While a fault
// waits for a host walker, a GPU that it names is asked to walk its own table for it; who is first answers, and a walk
// that still waits is taken back.
//
// What can race, and what decides:
//   walk ends, then the notice comes     the record of the forward has lost its fault: the notice is dropped
//   notice comes while the walk goes on  the walk loses its fault and ends for nobody
//   the page moves after the forward     the GPU asked fails, or its answer is of an old epoch, which the receiver
//   drops;
//                                        where the answer is itself the mapping, the receiver counts as a holder from
//                                        the forward on, so that the migration's invalidations reach it
#pragma once

#include <cstdint>
#include <vector>

#include "designs/cuckoo_filter.h"
#include "designs/trans_fw/spec.h"
#include "translation/design_component.h"
#include "translation/host_mmu/host_mmu.h"

namespace nearfar {

struct FtStats {
  std::uint64_t lookups = 0;
  std::uint64_t positives = 0;
  std::uint64_t multiple = 0;
  std::uint64_t forwards = 0;
  std::uint64_t successes = 0;
  std::uint64_t failures = 0;
  std::uint64_t dropped = 0;

  void describe(StatVisitor& visitor);
};

class ForwardingTable final : public DesignComponent, public Forwarder, public ResidencyObserver {
 public:
  ForwardingTable(HostMmu& mmu, Messenger& messenger, unsigned gpus, const FtSpec& spec,
                  CuckooFilter::Hash hash = metro_hash);

  const char* name() const override { return "ft"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  bool on_message(const Message& message) override;
  bool idle() const override { return outstanding_ == 0; }
  std::string describe_waiting() const override;

  void walk_asked(Fault& fault, std::uint32_t waiting) override;
  void walk_ended(Fault& fault) override;
  void answer_seen(Fault& fault, bool valid) override;

  void came(PageKey page, DeviceId gpu) override { insert(page, gpu); }
  void left(PageKey page, DeviceId gpu) override { filter_.erase(filter_key(page, gpu)); }
  void mapped_remotely(PageKey page, DeviceId gpu) override {
    if (spec_.track == FtTrack::Holders) insert(page, gpu);
  }
  void remote_mapping_void(PageKey page, DeviceId gpu) override {
    if (spec_.track == FtTrack::Holders) filter_.erase(filter_key(page, gpu));
  }

  CuckooFilter& filter() { return filter_; }
  FtStats& stats() { return stats_; }

 private:
  /// A forward whose notice has not come; or whose answer the driver has not yet seen.
  struct Record {
    Fault* fault = nullptr;   ///< none: its walk ended first
    bool answers = false;     ///< what is found is the mapping the fault waits for
    std::uint32_t queue = 0;  ///< cycles that the answer took in the GPU asked
    std::uint32_t walk = 0;
    Cycle told = 0;  ///< when the notice came
  };

  void insert(PageKey page, DeviceId gpu);
  void forward(Fault& fault, DeviceId to, Cycle after);
  void on_send(TranslationPacket* waiting);
  void charge(Fault& fault);

  HostMmu& mmu_;
  Messenger& messenger_;
  unsigned gpus_;
  FtSpec spec_;
  CuckooFilter filter_;
  std::vector<Record> records_;  ///< by number; Fault::design_data is the number and one
  std::vector<std::uint32_t> free_;
  std::uint32_t outstanding_ = 0;
  HandlerId send_handler_;
  FtStats stats_;
};

}  // namespace nearfar
