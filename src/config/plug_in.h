// A design as code: parameters beside the system's, and parts that it plugs into the seams of each device. The machine
// knows plug-ins only by this class; what they are is in designs/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

class Configuration;
class Directory;
class Gpu;
class Host;
class Section;
struct Process;
class SwitchDevice;
struct SwitchSite;
struct SystemSpec;

/// What a structure of a design costs in hardware.
struct StorageItem {
  std::string structure;
  bool per_gpu = false;  ///< each GPU has one; else there is one in the machine
  std::uint64_t bits = 0;
  std::string formula;  ///< with the numbers in it: 32 entries × (36 + 16 × 9) bits
  // The structure of the baseline that it takes the place of, if any.
  std::uint64_t baseline_bits = 0;
  std::string baseline_formula{};
};

class PlugIn {
 public:
  virtual ~PlugIn() = default;

  /// Declares its parameters, in a group of its own at the root of the system's.
  virtual void describe(Section& root) = 0;
  /// Its parameters that are `auto` get their values from the system's.
  virtual void fill_in(const SystemSpec&) {}
  /// Throws an InputError (Configuration::fail) where its parameters do not go with the system.
  virtual void check(const SystemSpec&, const Configuration&) const {}
  /// Plugs its parts into a device, which is built but holds no mappings yet.
  virtual void attach(Gpu&, const SystemSpec&) const {}
  virtual void attach(Host&, const SystemSpec&) const {}
  /// Called once, before the first cycle, when the devices have their page tables and mappings.
  virtual void begin(std::span<const std::unique_ptr<Gpu>>, Host&, std::span<const Process>) const {}
  /// The coherence directory of a GPU, in the place of the baseline's; none where the design has none. What it answers
  /// without one stands where directories are known, in coherence/make_directory.cpp.
  virtual std::unique_ptr<Directory> make_directory(const SystemSpec&, DeviceId home) const;
  /// Whether the switch between the GPUs is a device with state of its own (interconnect/switch_device.h), and that
  /// device.
  virtual bool adds_switch() const { return false; }
  virtual std::unique_ptr<SwitchDevice> make_switch(const SwitchSite&) const;
  /// The statistics its parts report, as `nearfar list statistics` shows them.
  virtual std::vector<StatInfo> statistics() const = 0;
  virtual std::vector<StorageItem> storage(const SystemSpec&) const = 0;
  /// What a user should know about a run, whose statistics have values by name: a sentence, or nothing.
  virtual std::string remark(const std::function<double(const std::string&)>& /*value*/) const { return {}; }
};

}  // namespace nearfar
