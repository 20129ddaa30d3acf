// The way from a GPU to lines at home in other devices: over the links. What leaves here is what access counters
// count, unless they are elsewhere (placement.access_counter.count_at).
#pragma once

#include "interconnect/egress.h"
#include "interconnect/network_interface.h"
#include "memory/lower_level.h"
#include "translation/gmmu/page_access_tracker.h"

namespace nearfar {

class RemoteHome final : public LowerLevel {
 public:
  explicit RemoteHome(NetworkInterface& network) : network_(network) {}
  /// Pages can move: remote accesses are counted.
  void set_tracker(PageAccessTracker& tracker) { tracker_ = &tracker; }
  /// Stores are posted: all requests leave by way of the egress.
  void set_egress(Egress& egress) { egress_ = &egress; }

  bool reserve(PhysLine line, Waiter waiter) override { return network_.reserve(line.device(), waiter); }
  void reserve_always(PhysLine line) override { network_.reserve_always(line.device()); }
  void request(LineRequest* request) override {
    if (tracker_ != nullptr && tracker_->counts_at(CountAt::Egress)) {
      tracker_->count_remote(request->line.page(), request->lines());
    }
    if (egress_ != nullptr) {
      egress_->request(request);
    } else {
      network_.send_request(request);
    }
  }

 private:
  NetworkInterface& network_;
  PageAccessTracker* tracker_ = nullptr;
  Egress* egress_ = nullptr;
};

}  // namespace nearfar
