// A machine: the devices of a system, joined, with the applications that will run on them. builder.h makes one,
// check.h looks whether it has lost anything, results.h says what it has done.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "gpu/gpu.h"
#include "host/host.h"
#include "interconnect/switch_device.h"
#include "machine/device_timeline.h"
#include "machine/run.h"
#include "memory/data_oracle.h"
#include "sim/engine.h"

namespace nearfar {

struct Machine {
  explicit Machine(const RunRequest& of);

  const SystemSpec& spec() const { return request.system; }
  /// The system as a GPU sees it: another for each instance of a GPU.
  const SystemSpec& spec_of_gpu(unsigned gpu) const { return instances.empty() ? spec() : instances[gpu]; }

  RunRequest request;
  std::deque<SystemSpec> instances;  ///< none where GPUs are whole
  Topology topology;
  std::unique_ptr<DataOracle> data_oracle;  ///< these two where the run is checked
  std::unique_ptr<TranslationOracle> translation_oracle;
  FrameAllocator frames;
  ByteMaskPool masks;  ///< of stores under way
  Engine engine;
  std::vector<Process> processes;
  std::vector<std::unique_ptr<Gpu>> gpus;
  std::unique_ptr<Host> host;
  std::unique_ptr<SwitchDevice> switch_device;  ///< where a design gives the switch between the GPUs state
  std::vector<ProtocolCoverage> coverage;       ///< by device, where the run asks for it
  std::vector<Timeline*> timelines;             ///< the same, in the partitions
  std::vector<std::unique_ptr<DeviceTimeline>> device_timelines;
};

}  // namespace nearfar
