// The designs that `--design` can name. `baseline` is the machine without any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

inline constexpr std::string_view kBaseline = "baseline";

struct DesignInfo {
  std::string name;
  std::string sentence;
  std::string paper;  ///< as in config/bibliography.h, or ""
};

/// All designs, `baseline` first.
std::vector<DesignInfo> list_designs();

/// The designs in "a+b"; none in "baseline". Unknown names are InputErrors that name the nearest right one.
std::vector<std::string> parse_designs(std::string_view text);

}  // namespace nearfar
