// Imports the SASS traces of Accel-Sim's tracer, versions 3 to 5 (docs/traces.md, "Accel-Sim").
#pragma once

#include <string>

#include "trace/trace_writer.h"

namespace nearfar {

struct AccelSimOptions {
  bool copies = true;  ///< the list's copies between host and GPU become steps
};

/// `path` is a list of kernels (kernelslist.g) or the trace of one kernel; any of them may be compressed by xz.
void import_accel_sim(const std::string& path, const AccelSimOptions& options, TraceSink& out);

/// The bytes that a lane of a SASS memory instruction touches, by its opcode: LDG.E.64 touches 8.
unsigned sass_access_bytes(std::string_view opcode);

}  // namespace nearfar
