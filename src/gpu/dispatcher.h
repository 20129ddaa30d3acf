// The dispatcher of a GPU: starts the workgroups of a launch on the compute units and carries out the acquire and the
// release at its ends, as the host's command processor asks for them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "gpu/compute_unit.h"
#include "gpu/control.h"
#include "gpu/launch_timeline.h"
#include "gpu/scalar_cache.h"
#include "interconnect/jitter.h"
#include "memory/cache/l2_cache.h"
#include "program/split.h"
#include "translation/process.h"

namespace nearfar {

class Dispatcher final : public GroupListener {
 public:
  /// The compute units and scalar caches may be made after it: they know their dispatcher.
  Dispatcher(GpuContext& context, NetworkInterface& network, const SystemSpec& spec, DeviceId host,
             const std::vector<Process>& processes, std::vector<ComputeUnit>& cus, std::vector<ScalarCache>& scalars);

  /// A message of the command processor.
  void on_control(Packet* packet);
  void group_done(unsigned cu) override;
  void stores_settled() override { try_release(); }
  /// Where stores are posted: all that the launch stored has been written.
  void stores_written();
  /// The dirty lines of the L2 cache have gone to memory.
  void flushed();
  /// The invalidations that GPUs sent to one another have arrived.
  void boundary_settled(std::uint8_t application);

  /// From now on says when launches begin and end.
  void record(LaunchTimeline* timeline) { timeline_ = timeline; }

  std::uint64_t instructions() const;
  std::uint64_t accesses() const;
  std::string describe_waiting() const;

  /// Called when an application's first execution has ended on this GPU.
  std::function<void()> on_first_execution;

 private:
  void start_launch(const Control& control);
  void acquire();
  void take_share(const Process& process, const Launch& launch);
  void start_groups();
  /// Workgroups that are this GPU's and have not been started.
  bool groups_left() const { return share_ ? !share_->empty() : next_granted_ < granted_.size(); }
  bool start_one(unsigned cu);
  std::optional<std::uint64_t> next_group(unsigned cu);
  void try_release();
  void release(const Control& control);
  std::uint64_t flushed_lines() const;
  void released_in_part();
  void end_launch();
  void execution_ends();
  void tell_host(const Control& control);

  GpuContext& context_;
  Partition& partition_;
  NetworkInterface& network_;
  DeviceId host_;
  const std::vector<Process>& processes_;
  std::vector<ComputeUnit>& cus_;
  std::vector<ScalarCache>& scalars_;
  DispatchPolicy policy_;
  std::uint64_t chunk_;
  StartJitter start_jitter_;
  Cycle interval_;
  BoundarySpec boundary_;
  Cycle released_ = 0;      ///< when the second half of a release began
  unsigned releasing_ = 0;  ///< what the second half of a release waits for: the flush, the markers
  bool settling_ = false;   ///< the host asked for markers alone
  LaunchTimeline* timeline_ = nullptr;

  bool running_ = false;         ///< from a launch to the end of its stores
  bool writing_stores_ = false;  ///< its posted stores are being written
  Control launch_;
  bool greedy_ = false;
  bool more_may_come_ = false;
  std::optional<ShareQueue> share_;
  std::vector<Control> granted_;  ///< greedy: runs of workgroups the host has sent, not yet started
  std::size_t next_granted_ = 0;
  std::uint64_t running_groups_ = 0;
  unsigned next_cu_ = 0;
  Cycle dispatch_free_ = 0;
  Cycle groups_ended_ = 0;            ///< the last of the launch, so far
  std::uint64_t flushed_before_ = 0;  ///< lines, at the release
  std::uint64_t instructions_before_ = 0;
  std::uint64_t accesses_before_ = 0;
};

}  // namespace nearfar
