// What a trace costs, by processor time, all in turns so that a slow minute of the machine meets all:
//   bench_traces [small|medium [SYSTEM [WORKLOAD...]]]
// bytes an access in the file; a replay's time over that of the native run; and how much longer the native run takes
// than reading all streams of the file. Each is the least of several times: what else the machine does only ever adds.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "machine/run.h"
#include "machine/system_file.h"
#include "trace/record.h"
#include "trace/trace_file.h"
#include "trace/trace_workload.h"
#include "workload/catalog.h"

namespace {

using namespace nearfar;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

void run_on(const SystemSpec& system, std::shared_ptr<const Workload> workload) {
  RunRequest request;
  request.system = system;
  request.applications = {std::move(workload)};
  run(request);
}

/// Bytes that stay with the one who reads them.
class BytesSource final : public TraceSource {
 public:
  explicit BytesSource(const ByteVector& bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

 private:
  const ByteVector& bytes_;
};

std::shared_ptr<const TraceFile> file_of(const ByteVector& bytes) {
  return std::make_shared<const TraceFile>(std::make_unique<BytesSource>(bytes), "bench");
}

/// Reads, checks and decodes everything, with the addresses of all lanes.
void decode(const ByteVector& bytes) {
  const TraceWorkload workload(file_of(bytes));
  const unsigned lanes = workload.lanes();
  LaneAddresses addresses;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < launch.waves(lanes); ++w) {
        Stream stream = workload.wavefront(l, launch.wave(group, w, lanes));
        for (Plain op = stream.step(); kind_of(op) != OpKind::End; op = stream.step()) {
          if (kind_of(op) == OpKind::Load || kind_of(op) == OpKind::Store || kind_of(op) == OpKind::Atomic) {
            stream.lanes(lanes, addresses);
          }
        }
      }
    }
  }
}

void measure(const SystemSpec& system, const std::string& name, SizeClass size) {
  const auto make = [&] { return make_workload(name, size, {}, 1); };
  TraceBytes recorded;
  const RecordResult result = record_workload(*make(), {.source = name}, recorded);
  const auto bytes = static_cast<double>(recorded.bytes.size());
  double native = 1e9, replay = 1e9, decoding = 1e9;
  constexpr int kTimes = 5;
  for (int again = 0; again < kTimes; ++again) {
    native = std::min(native, seconds_of([&] { run_on(system, make()); }));
    replay = std::min(
        replay, seconds_of([&] { run_on(system, std::make_shared<const TraceWorkload>(file_of(recorded.bytes))); }));
    decoding = std::min(decoding, seconds_of([&] { decode(recorded.bytes); }));
  }
  fmt::print("{:>4} {:>10} {:>8.2f} {:>9.3f} {:>9.3f} {:>14.2f} {:>13.1f}\n", name, result.counts.accesses,
             bytes / static_cast<double>(result.counts.accesses), native, replay, replay / native, native / decoding);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const SizeClass size = !words.empty() && words[0] == "medium" ? SizeClass::Medium : SizeClass::Small;
  const std::string system = words.size() > 1 ? words[1] : "ideal-4gpu";
  std::vector<std::string> workloads{"MT", "FIR", "ST", "PR"};
  if (words.size() > 2) workloads.assign(words.begin() + 2, words.end());
  fmt::print("Traces, {}, {}, one thread, processor time\n{:>4} {:>10} {:>8} {:>9} {:>9} {:>14} {:>13}\n", system,
             size == SizeClass::Medium ? "medium" : "small", "", "accesses", "B/access", "native s", "replay s",
             "replay/native", "native/decode");
  for (const std::string& name : workloads) measure(load_system(system, {}).spec, name, size);
}
