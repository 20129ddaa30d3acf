// The launches of a GPU for its timeline: each from its acquire to the end of its release, with the phases between:
// workgroups run, their stores are ordered, the other GPUs end theirs, dirty lines are written back.
#pragma once

#include <cstdint>

#include "sim/partition.h"
#include "sim/timeline.h"

namespace nearfar {

class LaunchTimeline {
 public:
  LaunchTimeline(Partition& partition, Timeline& timeline) : partition_(partition), timeline_(timeline) {}

  void begins(std::uint8_t application, std::uint64_t launch);
  /// Caches that software keeps coherent have dropped what they held.
  void acquired();
  /// No workgroup is left, perhaps not for the first time.
  void groups_ended();
  /// Their stores are ordered at their homes, and the host knows.
  void stores_ordered() { phase("release: stores"); }
  /// All GPUs are so far: dirty lines go to memory.
  void write_back_begins() { phase("release: other GPUs"); }
  void written_back() { phase("release: write-back"); }
  void ends();

 private:
  TimelineEvent event(const char* name, Cycle start) const;
  void phase(const char* name);

  Partition& partition_;
  Timeline& timeline_;
  std::uint8_t application_ = 0;
  std::uint64_t launch_ = 0;
  Cycle start_ = 0;
  Cycle phase_start_ = 0;
  bool running_ = false;  ///< workgroups are
};

}  // namespace nearfar
