// The wavefronts that are resident in the compute units of all GPUs, and the order in which they take turns: round
// robin, a vector memory instruction each, over GPUs first, then compute units, then wavefronts. Workgroups are split
// over GPUs and start on compute units as in the machine, where there is room for their wavefronts and local memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "characterize/functional/functional_gpu.h"
#include "config/system_spec.h"
#include "machine/run.h"
#include "program/split.h"
#include "program/workload.h"

namespace nearfar {

class ResidentWavefronts {
 public:
  ResidentWavefronts(const SystemSpec& system, const Workload& workload, std::vector<FunctionalGpu>& gpus);

  /// Runs a launch from its first workgroup to the end of its last. `after_round` is called now and then.
  void run(std::size_t launch, const std::function<void()>& after_round);

  std::uint64_t groups_done() const { return groups_done_; }

 private:
  /// Its place in the order of turns is its place among all of them.
  struct Wave {
    Stream stream;
    std::uint16_t gpu = 0;
    std::uint16_t cu = 0;
    std::uint8_t slot = 0;
    std::uint8_t group = 0;  ///< of its compute unit
  };
  /// Slots of its compute unit.
  struct Group {
    std::uint64_t waves = 0;       ///< that have not ended; none: nobody runs here
    std::uint64_t at_barrier = 0;  ///< that wait there
  };
  struct Unit {
    std::uint64_t free_slots = 0;
    std::uint64_t free_local_bytes = 0;
    std::vector<Group> groups;
  };

  void sweep();
  void take_turn(std::size_t turn);
  void meet_barrier(Wave& wave);
  void end(Wave& wave);
  void pass_barrier(const Wave& wave, Group& group);
  bool start_one(unsigned gpu, unsigned cu);
  void start_groups(unsigned gpu);
  bool has_room(const Unit& unit) const;
  std::optional<std::uint64_t> next_group(unsigned gpu, unsigned cu);

  std::size_t turn_of(unsigned gpu, unsigned cu, unsigned slot) const {
    return (std::size_t{slot} * cus_ + cu) * gpus_.size() + gpu;
  }
  Unit& unit_of(const Wave& wave) { return units_[wave.gpu * cus_ + wave.cu]; }
  void set_ready(std::size_t turn) { ready_[turn / 64] |= std::uint64_t{1} << turn % 64; }
  void clear_ready(std::size_t turn) { ready_[turn / 64] &= ~(std::uint64_t{1} << turn % 64); }

  const Workload& workload_;
  std::vector<FunctionalGpu>& gpus_;
  DispatchPolicy policy_;
  unsigned cus_;
  unsigned lanes_;
  std::vector<Wave> waves_;           ///< in the order of turns
  std::vector<std::uint64_t> ready_;  ///< a bit for each of them: it has a turn
  std::vector<Unit> units_;           ///< by GPU and compute unit
  std::vector<unsigned> next_cu_;     ///< by GPU: who is asked next to take a workgroup

  const Launch* launch_ = nullptr;
  std::size_t launch_index_ = 0;
  std::vector<ShareQueue> shares_;  ///< by GPU; none where workgroups go greedily
  std::uint64_t next_greedy_ = 0;
  std::uint64_t running_groups_ = 0;
  std::uint64_t groups_done_ = 0;
};

}  // namespace nearfar
