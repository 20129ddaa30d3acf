// The switch between the GPUs as a device of its own: a partition with a port for each GPU, where a design gives it
// state. Packets between two GPUs do not stop there; pages at home in the switch are a design's (multicast memory).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/network_interface.h"
#include "memory/data_oracle.h"
#include "stats/latency.h"
#include "stats/stat.h"

namespace nearfar {

struct SystemSpec;

/// What a switch is made of.
struct SwitchSite {
  Partition& partition;
  const SystemSpec& system;
  const Topology& topology;
  ByteMaskPool& masks;
  DataWatch* watch = nullptr;
};

/// A page that one of multicast memory stands for.
struct MulticastMember {
  PhysPage page;
  Location first;  ///< its line 0, as the data oracle knows it; else unused
};

class SwitchDevice {
 public:
  virtual ~SwitchDevice() = default;

  /// Its part in the names of statistics.
  virtual const char* name() const = 0;
  /// Says which pages the next page of multicast memory stands for. Before the first cycle.
  virtual void map_next(std::vector<MulticastMember> members) = 0;

  virtual NetworkInterface& network() = 0;
  virtual void describe(StatVisitor& visitor) = 0;
  /// What it added to the latency of loads.
  virtual const LoadLatency& latency() const = 0;
  virtual bool idle() const = 0;
  virtual std::string describe_waiting() const = 0;
};

/// The switch of a system, by the design that has one; none where it only passes packets.
std::unique_ptr<SwitchDevice> make_switch(const SwitchSite& site);

}  // namespace nearfar
