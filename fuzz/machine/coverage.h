// What a campaign has exercised: endings, parameters, values of choice parameters and pairs of these, designs, systems
// and workloads.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "trial.h"

namespace nearfar::fuzz {

class Coverage {
 public:
  void add(const Verdict& verdict);
  std::size_t cases() const;
  /// Several lines, with the names of what no run has seen.
  std::string summary() const;

 private:
  std::size_t count(Ending ending) const { return endings_[static_cast<std::size_t>(ending)]; }

  std::array<std::size_t, 5> endings_{};
  std::size_t refusals_ = 0;  ///< while cases were drawn
  double seconds_ = 0;
  std::map<std::string, std::size_t> parameters_;  ///< that were set, in cases that ran
  std::set<std::string> choices_;                  ///< path=value that was effective in a run
  std::set<std::pair<std::string, std::string>> pairs_;
  std::set<std::string> systems_, designs_, workloads_;
};

}  // namespace nearfar::fuzz
