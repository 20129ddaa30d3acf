// Traces in memory for tests, and whole results laid side by side.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

#include "machine/script.h"
#include "trace/record.h"
#include "trace/text_form.h"
#include "trace/trace_file.h"
#include "trace/trace_workload.h"

namespace nearfar {

inline ByteVector recorded(const Workload& workload, unsigned lanes = 64) {
  TraceHeader header;
  header.source = "test";
  header.lanes = lanes;
  TraceBytes out;
  record_workload(workload, header, out);
  return std::move(out.bytes);
}

/// Bytes that stay as long as their trace.
class OwnedSource final : public TraceSource {
 public:
  explicit OwnedSource(ByteVector bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    ASSERT_LE(offset + out.size(), bytes_.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

 private:
  ByteVector bytes_;
};

inline std::shared_ptr<const TraceFile> trace_of(ByteVector bytes, const TraceLimits& limits = {}) {
  return std::make_shared<const TraceFile>(std::make_unique<OwnedSource>(std::move(bytes)), "test", limits);
}

inline std::shared_ptr<const TraceWorkload> replayed(ByteVector bytes, TraceTiming timing = TraceTiming::Program) {
  return std::make_shared<const TraceWorkload>(trace_of(std::move(bytes)), timing);
}

inline ByteVector from_text(const std::string& text) {
  std::istringstream in(text);
  TraceBytes out;
  import_text(in, "text", out);
  return std::move(out.bytes);
}

inline std::string to_text(const ByteVector& bytes) {
  TraceBytes out;
  export_text(*trace_of(bytes), out);
  return {out.bytes.begin(), out.bytes.end()};
}

/// Everything that a run says, but for what depends on the host.
inline std::string whole_result(const RunResult& result) {
  std::ostringstream text;
  text.precision(17);
  text << "cycles " << result.cycles << " instructions " << result.instructions << " accesses " << result.accesses
       << " events " << result.events << "\n";
  for (const StatValue& value : result.statistics) {
    text << value.name << " " << value.count << " " << value.ratio << "\n";
  }
  for (const LaunchResult& launch : result.launches) {
    text << launch.kernel << " " << launch.start << " " << launch.end << " " << launch.instructions << " "
         << launch.accesses << "\n";
  }
  return text.str();
}

}  // namespace nearfar
