// The host: its last-level cache and memory, which GPUs may reach over the links, and the command processor that
// launches the applications' kernels one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/control.h"
#include "gpu/gpu.h"
#include "interconnect/fabric.h"
#include "machine/system_spec.h"
#include "memory/home_cache.h"

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

class Host final : public FabricClient, public HomeClient {
 public:
  Host(Partition& partition, const SystemSpec& spec, const Topology& topology, const std::vector<Process>& processes,
       Oracle* oracle);

  /// Launches the first kernel of every application at cycle 0.
  void start();

  void lines_served(Transaction*) override {}  // the host has no compute units
  void stores_ordered(unsigned, unsigned) override {}
  void answer(Transaction* t, Cycle after) override { fabric_.answer(t, spec_.gpu.line, after); }
  void request_taken(DeviceId source) override { fabric_.request_taken(source); }
  void home_has_room(std::uint16_t) override {}
  void flushed() override {}

  void on_request(Transaction* t) override { home_.remote_request(t); }
  void on_reply(Transaction*) override {}
  void on_control(Transaction* t) override;
  void coming(const Transaction& t) override { home_.prefetch(t.line); }
  void fabric_has_room(std::uint16_t) override {}

  /// Every application has been executed once.
  bool finished() const { return running_ == 0; }
  Cycle end() const { return end_; }
  const std::vector<LaunchRecord>& records() const { return records_; }
  Fabric& fabric() { return fabric_; }
  HomeCache& home() { return home_; }
  bool idle() const;
  std::string describe_waiting() const;

  template <class Visit>
  void for_each_stats(Visit visit) {
    visit("llc", home_.stats());
    DramStats dram = home_.dram().stats();
    visit("dram", dram);
    visit("link", fabric_.stats());
  }

 private:
  struct Progress {
    std::size_t launch = 0;
    unsigned gpus_running = 0;
    std::uint64_t next_group = 0;  ///< greedy: first workgroup not yet handed out
    LaunchRecord record;
    bool first = true;  ///< in its first execution
  };

  void on_start(Transaction* t);
  void launch(std::size_t application);
  void grant(std::size_t application, DeviceId gpu, std::uint64_t groups);
  void share_done(std::size_t application, const Control& control);
  void launch_done(std::size_t application);
  void execution_done(std::size_t application);
  void tell(DeviceId gpu, const Control& control);
  std::uint64_t capacity(const Launch& launch) const;

  Partition& partition_;
  const SystemSpec& spec_;
  Topology topology_;
  const std::vector<Process>& processes_;
  Oracle* oracle_;
  HomeCache home_;
  Fabric fabric_;
  std::vector<Progress> progress_;
  std::vector<LaunchRecord> records_;
  std::size_t running_;
  Cycle end_ = 0;
  HandlerId start_handler_;
};

}  // namespace nearfar
