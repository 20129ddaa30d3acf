// Small programs for whole-machine tests: buffers and kernels written where the test needs them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine/run.h"
#include "machine/system_file.h"
#include "program/workload.h"

namespace nearfar {

class Script final : public Workload {
 public:
  using Kernel = std::function<Stream(const Script&, const Wave&)>;
  using Workload::add_copy;
  using Workload::add_copy_in;
  using Workload::add_copy_out;
  using Workload::add_host_access;
  using Workload::add_host_phase;
  using Workload::add_sync;

  VirtAddr buffer(std::uint64_t bytes, Placement placement, const KernelUse& kernels = {}) {
    return allocate("b" + std::to_string(buffers().size()), bytes, placement, kernels);
  }
  VirtAddr multicast(std::uint64_t bytes, const MulticastMembers& members) {
    return allocate_multicast("b" + std::to_string(buffers().size()), bytes, members);
  }
  void launch(Launch shape, Kernel kernel) {
    add_launch(std::move(shape));
    kernels_.push_back(std::move(kernel));
  }
  Stream wavefront(std::size_t launch, const Wave& wave) const override { return kernels_[launch](*this, wave); }

 private:
  std::vector<Kernel> kernels_;
};

inline Launch groups_of(std::uint32_t groups, std::uint32_t items = 64, Split split = Split::Blocks) {
  Launch launch;
  launch.kernel = "k";
  launch.groups_x = groups;
  launch.size_x = items;
  launch.split = split;
  return launch;
}

/// A run's statistics by name.
class Outcome {
 public:
  explicit Outcome(RunResult run) : result(std::move(run)) {
    for (const StatValue& value : result.statistics) values_[value.name] = value;
  }
  std::uint64_t count(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? 0 : found->second.count;
  }

  RunResult result;

 private:
  std::map<std::string, StatValue> values_;
};

inline SystemSpec test_system(std::vector<std::string> overrides = {}, const std::string& name = "ideal-4gpu") {
  return load_system(name, overrides).spec;
}

inline Outcome simulate(const SystemSpec& system, std::vector<std::shared_ptr<const Workload>> applications,
                        bool check = true, unsigned threads = 1, Cycle window = 0) {
  RunRequest request;
  request.system = system;
  request.applications = std::move(applications);
  request.check = check;
  request.threads = threads;
  request.window = window;
  return Outcome(run(request));
}

}  // namespace nearfar
