// A machine: the devices of a system, joined, with the applications that will run on them.
#pragma once

#include <memory>
#include <vector>

#include "gpu/gpu.h"
#include "host/host.h"
#include "machine/run.h"
#include "machine/sharing.h"
#include "machine/statistics.h"
#include "memory/data_oracle.h"
#include "sim/engine.h"

namespace nearfar {

class Machine {
 public:
  explicit Machine(const RunRequest& request);

  RunResult run();

 private:
  void place_applications();
  void check_memory() const;
  void fill_page_tables();
  std::unique_ptr<PageTable> make_table(DeviceId device, const AddressSpace& space);
  void fill_records(Pid pid, const AddressSpace& space);
  void add_translation(StatTable& table);
  static void add_walkers(StatTable& table, WalkUnit& walkers);
  void add_sharing(StatTable& table);
  void add_series(const SharingStats& sharing);
  void add_processes(StatTable& table);
  void run_engine();
  void cover_caches();
  void check_drained();
  static StatTable gpu_table(Gpu& gpu);
  StatTable collect();
  RunResult result();

  RunRequest request_;
  Topology topology_;
  std::unique_ptr<DataOracle> data_oracle_;
  std::unique_ptr<TranslationOracle> translation_oracle_;
  FrameAllocator frames_;
  ByteMaskPool masks_;
  Engine engine_;
  std::vector<Process> processes_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::unique_ptr<Host> host_;
  std::vector<ProtocolCoverage> coverage_;  ///< by device, where the run asks for it
  std::vector<Series> series_;
  std::vector<std::unique_ptr<StatTable>> first_executions_;  ///< by GPU, when several applications run
  std::vector<MissStats> first_served_;  ///< by GPU: the same of its misses, where the host served them
};

}  // namespace nearfar
