// The command processor: carries out the steps of every application one after another. It launches kernels on the
// application's GPUs, hands out workgroups where they are granted greedily, and asks for the release at the end of each
// launch; copies it leaves to the DMA.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "gpu/control.h"
#include "host/copy_engine.h"
#include "host/host_agent.h"
#include "host/run_parts.h"
#include "interconnect/network_interface.h"
#include "memory/data_oracle.h"
#include "memory/memory_level.h"
#include "translation/process.h"

namespace nearfar {

/// One launch of an application's first execution, from its start to its last GPU's end.
struct LaunchRecord {
  std::size_t application = 0;
  std::size_t launch = 0;
  Cycle start = 0;
  Cycle end = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
};

struct HostPhaseStats {
  std::uint64_t count = 0;
  std::uint64_t cycles = 0;

  void describe(StatVisitor& visitor);
};

class CommandProcessor {
 public:
  CommandProcessor(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes,
                   NetworkInterface& network, CopyEngine& dma, HostAgent& core, DataWatch* watch);

  /// Begins with the first step of every application at cycle 0.
  void start();
  /// A message of a GPU's dispatcher.
  void on_control(Packet* packet);

  /// The host's part of a unified memory hierarchy, to be said before the start.
  void set_level(HostMemoryLevel& level) { level_ = &level; }

  /// Is told when an application's first execution ends.
  std::function<void(std::size_t)> on_first_execution;

  /// Every application has been executed once.
  bool finished() const { return running_ == 0; }
  Cycle end() const { return end_; }
  const std::vector<LaunchRecord>& records() const { return records_; }
  HostPhaseStats& host_phases() { return host_phases_; }
  RunParts& parts() { return parts_; }
  std::string describe_waiting() const;

 private:
  struct Progress {
    std::size_t step = 0;  ///< the next one
    unsigned copies = 0;   ///< under way
    bool waits_for_copies = false;
    bool copied = false;     ///< since the last launch
    bool unsettled = false;  ///< what kernels stored is still to be made visible before the next one
    unsigned late = 0;       ///< GPUs that have not answered a release that nobody waits for
    std::size_t launch = 0;
    unsigned gpus_running = 0;
    std::uint64_t next_group = 0;  ///< greedy: first workgroup not yet handed out
    LaunchRecord record;
    bool first = true;  ///< in its first execution
  };

  struct PhaseEvent : Event {
    Cycle cycles_left = 0;
    std::uint32_t application = 0;
  };

  void on_start(Event* event);
  void on_host_phase(PhaseEvent* event);
  void proceed(std::size_t application);
  void take_step(std::size_t application, const LaunchStep& step);
  void take_step(std::size_t application, const Copy& copy);
  void take_step(std::size_t application, const HostPhase& phase);
  void take_step(std::size_t application, const HostAccess& access);
  void take_step(std::size_t application, const Transfer& transfer);
  void take_step(std::size_t application, const Sync& sync);
  void wait_for_copies(std::size_t application);
  void copy_done(std::size_t application);
  void launch(std::size_t application);
  void grant(std::size_t application, DeviceId gpu, std::uint64_t groups);
  void share_done(std::size_t application, const Control& control);
  void launch_done(std::size_t application);
  bool host_is_next(std::size_t application) const;
  std::uint64_t synchronized_bytes() const;
  std::uint64_t bound_of_synchronization(std::size_t a) const;
  void execution_done(std::size_t application);
  void tell_all(std::size_t application, const Control& control);
  void note_step(std::size_t application, const char* name, Cycle start, Cycle end);
  void tell(DeviceId gpu, const Control& control);
  std::uint64_t capacity(const Launch& launch) const;

  Partition& partition_;
  const SystemSpec& spec_;
  const std::vector<Process>& processes_;
  NetworkInterface& network_;
  CopyEngine& dma_;
  HostAgent& core_;
  DataWatch* watch_;
  HostMemoryLevel* level_ = nullptr;
  std::vector<Progress> progress_;
  std::vector<LaunchRecord> records_;
  std::size_t running_;
  Cycle end_ = 0;
  HandlerId start_handler_;
  HandlerId phase_handler_;
  HostPhaseStats host_phases_;
  RunParts parts_;
};

}  // namespace nearfar
