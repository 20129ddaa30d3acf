// What a machine has done: the statistics of its devices under their names, the series of an observed run, its launches
// and its timeline.
#pragma once

#include <memory>
#include <vector>

#include "machine/machine.h"
#include "machine/sharing.h"
#include "machine/statistics.h"

namespace nearfar {

class Results {
 public:
  /// Made before the run: where several applications run, a GPU's statistics are those of its first execution.
  explicit Results(Machine& machine);

  /// After the run.
  RunResult collect();

 private:
  void keep_first_executions();
  StatTable statistics();
  void add_devices(StatTable& table);
  void add_switch(StatTable& table, LoadLatency& latency);
  void add_link_pairs(StatTable& table);
  void add_steps(StatTable& table);
  void add_translation(StatTable& table);
  void add_sharing(StatTable& table);
  void add_series(const SharingStats& sharing);
  void add_processes(StatTable& table);
  void add_launches(StatTable& table, RunResult& result);
  void add_collective(StatTable& table, Cycle cycles);

  Machine& machine_;
  std::vector<Series> series_;
  std::vector<std::unique_ptr<StatTable>> first_executions_;  ///< by GPU, when several applications run
  std::vector<MissStats> first_served_;  ///< by GPU: the same of its misses, where the host served them
};

}  // namespace nearfar
