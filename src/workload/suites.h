// The suites that the workloads are taken from, and the publications that describe them.
#pragma once

#include <string_view>

namespace nearfar {

/// The key of a suite's publication (config/bibliography.h); "" for one that has none, or is unknown.
std::string_view suite_paper(std::string_view suite);

}  // namespace nearfar
