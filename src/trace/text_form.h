// Traces as plain text that a person can read and write (docs/traces.md, "Text"). Both ways lose nothing.
#pragma once

#include <iosfwd>
#include <string>

#include "trace/trace_file.h"
#include "trace/trace_writer.h"

namespace nearfar {

void export_text(const TraceFile& file, TraceSink& out);

/// `name` is that of the text, for errors: InputError with file:line:column.
void import_text(std::istream& text, const std::string& name, TraceSink& out, const TraceLimits& limits = {});

}  // namespace nearfar
