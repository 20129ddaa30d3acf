// What a reading, a value of an open parameter, or a variant sets: words of a run, laid over others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/named_run.h"

namespace nearfar {

struct Settings {
  std::string system{};                   ///< empty: that of the calibration
  std::optional<SizeClass> size{};        ///< nothing: that of the calibration
  std::vector<std::string> overrides{};   ///< as --set takes them
  std::vector<std::string> parameters{};  ///< as --param takes them

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// Lays `upper` over `lower`: what both set is as `upper` has it.
Settings merged(const Settings& lower, const Settings& upper);

/// "key=value" texts of `lower`, then those of `upper`, none with a key twice.
std::vector<std::string> merged_texts(const std::vector<std::string>& lower, const std::vector<std::string>& upper);

/// "link.bandwidth=64GB/s PageRank.publish=1"; "as it is" where nothing is set.
std::string settings_text(const Settings& settings);

}  // namespace nearfar
