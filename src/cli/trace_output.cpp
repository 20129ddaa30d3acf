#include "cli/trace_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/numbers.h"
#include "cli/output_file.h"
#include "config/error.h"

namespace nearfar {

void check_trace_output(const std::string& path) {
  const OutputFile output(path);
  if (output.is_stdout()) throw InputError("-o takes a file, not standard output.");
}

std::string written_text(const std::string& path, const TraceFile& file) {
  const auto accesses = static_cast<double>(std::max<std::uint64_t>(file.counts().accesses, 1));
  const auto bytes = static_cast<double>(file.bytes());
  return fmt::format("{}: {}, {} wavefronts, {} accesses, {} bytes an access\n", path, size_text(bytes),
                     grouped(file.first_wavefronts().back()), grouped(file.counts().accesses),
                     fixed(bytes / accesses, 2));
}

}  // namespace nearfar
