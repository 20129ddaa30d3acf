// A stored result as the page of `nearfar explore` shows it, as JSON.
#pragma once

#include <string>

#include "study/named_run.h"
#include "study/store.h"

namespace nearfar {

/// Cycles, what bounds the run, how busy everything is, latency components, and rates that a reader looks for first.
std::string result_view(const NamedRun& run, const StoredResult& stored);

/// The parameters of the second result's machine that differ from the first one's. Both are complete results.
std::string difference_view(const std::string& base_json, const std::string& other_json);

}  // namespace nearfar
