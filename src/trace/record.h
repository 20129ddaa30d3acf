// Records a workload as a trace, by draining the streams of all its wavefronts: no machine, no time.
#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace_writer.h"

namespace nearfar {

struct RecordResult {
  TraceCounts counts;
  std::uint64_t wavefronts = 0;
};

/// `header` says the lanes. `on_progress` is told now and then how many of how many wavefronts are done.
RecordResult record_workload(const Workload& workload, const TraceHeader& header, TraceSink& sink,
                             const std::function<void(std::uint64_t, std::uint64_t)>& on_progress = {});

/// What a workload is besides its streams.
TraceProgram program_of(const Workload& workload);

}  // namespace nearfar
