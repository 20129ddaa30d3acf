// Draws cases: a system, a legal set of designs, values for a few parameters and a tiny workload. All of it comes from
// what the systems, designs, parameters and workloads declare about themselves.
#pragma once

#include <cstdint>
#include <map>
#include <pcg_random.hpp>
#include <string>
#include <vector>

#include "case.h"
#include "declared.h"
#include "trial.h"
#include "workload/catalog.h"

namespace nearfar::fuzz {

class Draw {
 public:
  Draw(std::uint64_t campaign, std::uint64_t number);

  /// Values that the machine refuses are told to the report and drawn again, so what comes out is legal but for what
  /// only the workload can show.
  Case operator()(Report& report);

 private:
  std::uint64_t below(std::uint64_t limit) { return random_(static_cast<std::uint32_t>(limit)); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class Range>
  const auto& any_of(const Range& range) {
    return range[below(std::size(range))];
  }

  void draw_workload();
  void draw_applications(std::size_t count);
  void draw_sizes(const WorkloadInfo& info, const std::string& prefix, std::uint64_t gpus);
  void draw_designs();
  void draw_overrides();
  void draw_few_units();
  std::uint64_t draw_number(const NumberDomain& domain);
  std::uint64_t draw_fitting(const NumberDomain& domain);
  std::string draw_value(const Declared& declared, bool fitting);
  const Declared& draw_parameter();

  bool is_legal();
  /// Sets a parameter, together with those that refused it, or leaves the case as it was.
  void set(const Declared& declared, const std::string& value);
  void put(const std::string& path, const std::string& value);

  pcg32 random_;
  Case case_;
  Report* report_ = nullptr;
  std::string refusal_;  ///< of the last configuration that was not legal
  std::vector<Declared> declared_;
};

/// A workload's parameters at a size that runs in an instant: the small size, halved until few instructions are left.
const std::vector<ParameterSetting>& tiny_parameters(const WorkloadInfo& info);

/// Does what all draws need, so that children need not do it again.
void prepare_draws();

}  // namespace nearfar::fuzz
