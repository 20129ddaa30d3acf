// The coherence controller of a GPU: keeps copies of lines in the L2 caches of other GPUs right.
//
// As the home of its lines it consults the directory for every request that its L2 orders, and sends the invalidations
// that follow. As a sharer it drops what it is told to. Nobody acknowledges an invalidation: a write is complete when
// it is ordered and its invalidations have been sent. Instead markers follow the invalidations, in the same class of
// traffic, where somebody must know that they have arrived: at kernel boundaries each GPU sends one to every other, and
// at a system-scope fence every GPU does, which are then answered to the GPU with the fence.
//
// Without markers at kernel boundaries (`boundary.markers`: what they cost, by its absence) a GPU knows how many
// invalidations are under way to it, since each is announced, and a boundary waits until none is. An announcement is
// there before anything that its sender does later can be noticed, and so before the end of the kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/coherence_message.h"
#include "coherence/directory.h"
#include "interconnect/network_interface.h"
#include "memory/cache/l2_cache.h"
#include "memory/cache/protocol_coverage.h"
#include "memory/order_observer.h"
#include "sim/partition.h"
#include "stats/stat.h"

namespace nearfar {

struct CoherenceStats {
  std::uint64_t sent_write = 0;
  std::uint64_t sent_eviction = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t markers = 0;
  std::uint64_t boundaries = 0;
  std::uint64_t boundary_marker_cycles = 0;
  std::uint64_t boundary_flush_cycles = 0;
  std::uint64_t fences = 0;
  std::uint64_t fence_cycles = 0;
  Histogram waiting;  ///< invalidations to a GPU, when one more is sent there

  void describe(StatVisitor& visitor);
};

/// The GPUs of an application.
struct GpuRange {
  std::uint16_t first = 0;
  std::uint16_t count = 0;
};

/// The GPU around a coherence controller.
class CoherenceClient {
 public:
  virtual ~CoherenceClient() = default;
  /// Every invalidation that GPUs of an application had sent before their boundary has arrived here.
  virtual void boundary_settled(std::uint8_t application) = 0;
  /// Every invalidation that any GPU of the application had sent when the fence began has arrived.
  virtual void fence_settled(unsigned cu) = 0;
};

class CoherenceController final : public OrderObserver {
 public:
  /// `units`: compute units of the GPU. `markers`: they are sent at kernel boundaries.
  CoherenceController(Partition& partition, NetworkInterface& network, L2Cache& l2, CoherenceClient& client,
                      DeviceId host, unsigned units, std::vector<GpuRange> applications, bool markers);

  void set_directory(std::unique_ptr<Directory> directory) { directory_ = std::move(directory); }
  Directory& directory() { return *directory_; }

  void ordered(const LineRequest& request, Cycle after) override;
  void overwritten(PhysLine line) override;
  void page_left(PhysPage page) override { directory_->drop_page(page); }

  /// Brings closer to the host's processor what a request of another GPU, or a message, will need.
  void prefetch(const LineRequest& request) const;
  void prefetch(const CoherenceMessage& message) const;

  void on_message(CoherenceMessage* message);
  /// All stores of the application's launch, or its copies, have been ordered everywhere: sends markers, and
  /// boundary_settled() follows when those of the others have come.
  void start_boundary(std::uint8_t application);
  /// All stores of a compute unit have been ordered: fence_settled() follows. One fence of a unit at a time.
  void start_fence(std::uint8_t application, unsigned cu);

  /// From now on counts which events meet which states of the directory.
  void cover(DirectoryCoverage* coverage) { coverage_ = coverage; }
  CoherenceStats& stats() { return stats_; }
  /// The dirty lines of the L2 took so long to memory, at a kernel boundary.
  void note_flush(Cycle cycles) { stats_.boundary_flush_cycles += cycles; }
  bool idle() const;
  std::string describe_waiting() const;

 private:
  struct Boundary {
    unsigned markers = 0;  ///< have come, of this boundary or, early, of it before it has started here
    bool started = false;
    Cycle since = 0;
  };
  struct Fence {
    unsigned open = 0;  ///< markers and their answers that have not come
    Cycle since = 0;
  };

  void send_invalidations(Cycle after);
  void send_behind_invalidations(const CoherenceMessage& message, DeviceId to);
  void send_markers(CoherenceMessage marker);
  template <class Visit>
  void for_each_other(std::uint8_t application, Visit visit) const;
  void on_send(CoherenceMessage* message);
  void settle_boundary(std::uint8_t application);
  void on_announcement(Event* event);
  void invalidation_came();
  void acknowledge(const CoherenceMessage& marker);
  void fence_answered(unsigned cu);
  void cover_request(const LineRequest& request);

  Partition& partition_;
  NetworkInterface& network_;
  L2Cache& l2_;
  CoherenceClient& client_;
  DeviceId host_;
  std::vector<GpuRange> applications_;
  bool markers_;
  std::uint64_t under_way_ = 0;  ///< without markers: invalidations announced to this GPU that have not come
  std::unique_ptr<Directory> directory_;
  Invalidations out_;
  HandlerId send_handler_;
  Cycle last_due_ = 0;                ///< when the last invalidation so far leaves
  std::vector<Boundary> boundaries_;  ///< by application
  std::vector<Fence> fences_;         ///< by compute unit
  DirectoryCoverage* coverage_ = nullptr;
  CoherenceStats stats_;
};

}  // namespace nearfar
