// Imports a table of memory accesses with named columns, as MGPUSim's tracers write them (docs/traces.md, "CSV").
#pragma once

#include <cstdint>
#include <string>

#include "trace/trace_writer.h"

namespace nearfar {

struct CsvOptions {
  std::uint32_t lanes = 64;  ///< of a wavefront
};

void import_csv(const std::string& path, const CsvOptions& options, TraceSink& out);

}  // namespace nearfar
