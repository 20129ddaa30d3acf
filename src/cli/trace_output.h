// Where the commands that make traces put them, and what they say of one that they have made.
#pragma once

#include <string>

#include "trace/trace_file.h"

namespace nearfar {

/// Whether a file can be made there is asked before the work begins.
void check_trace_output(const std::string& path);

/// One line: its size, and what is in it.
std::string written_text(const std::string& path, const TraceFile& file);

}  // namespace nearfar
