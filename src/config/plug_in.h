// A design as code: parameters beside the system's, and parts that it plugs into the seams of each device. The machine
// knows plug-ins only by this class; what they are is in designs/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stats/stat.h"

namespace nearfar {

class Configuration;
class Gpu;
class Host;
class Section;
struct SystemSpec;

/// What a structure of a design costs in hardware.
struct StorageItem {
  std::string structure;
  bool per_gpu = false;  ///< each GPU has one; else there is one in the machine
  std::uint64_t bits = 0;
  std::string formula;  ///< with the numbers in it: 32 entries × (36 + 16 × 9) bits
};

class PlugIn {
 public:
  virtual ~PlugIn() = default;

  /// Declares its parameters, in a group of its own at the root of the system's.
  virtual void describe(Section& root) = 0;
  /// Throws an InputError (Configuration::fail) where its parameters do not go with the system.
  virtual void check(const SystemSpec&, const Configuration&) const {}
  /// Plugs its parts into a device, which is built but holds no mappings yet.
  virtual void attach(Gpu&, const SystemSpec&) const {}
  virtual void attach(Host&, const SystemSpec&) const {}
  /// The statistics its parts report, as `nearfar list statistics` shows them.
  virtual std::vector<StatInfo> statistics() const = 0;
  virtual std::vector<StorageItem> storage(const SystemSpec&) const = 0;
  /// What a user should know about a run, whose statistics have values by name: a sentence, or nothing.
  virtual std::string remark(const std::function<double(const std::string&)>& /*value*/) const { return {}; }
};

}  // namespace nearfar
