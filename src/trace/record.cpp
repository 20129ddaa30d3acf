#include "trace/record.h"

#include <fmt/format.h>

#include <bit>

#include "config/error.h"
#include "gpu/coalescer.h"
#include "trace/stream_code.h"

namespace nearfar {
namespace {

/// Drains streams, one after the other.
class Recorder {
 public:
  Recorder(const TraceHeader& header, const BufferMap& buffers)
      : header_(header), buffers_(buffers), encoder_(header.lanes), coalescer_(header.line == 128 ? 128 : 64) {}

  const TraceCounts& counts() const { return counts_; }

  const ByteVector& record(Stream stream) {
    encoder_.begin();
    for (Plain op = stream.step(); kind_of(op) != OpKind::End; op = stream.step()) {
      counts_.instructions += instructions(op);
      switch (kind_of(op)) {
        case OpKind::Load:
        case OpKind::Store:
        case OpKind::Atomic: record_memory(stream, op); break;
        default: encoder_.add(op); break;
      }
    }
    check_stream(encoder_.bytes(), header_.lanes, buffers_);  // what is written can be read
    return encoder_.bytes();
  }

 private:
  void record_memory(const Stream& stream, Plain op) {
    stream.lanes(header_.lanes, lanes_);
    encoder_.add(kind_of(op), bytes_of(op), lanes_);
    for (const PageGroup& group : coalescer_.loads(lanes_, bytes_of(op))) {
      counts_.accesses += static_cast<std::uint64_t>(std::popcount(group.lines));
    }
  }

  const TraceHeader& header_;
  const BufferMap& buffers_;
  StreamEncoder encoder_;
  Coalescer coalescer_;
  LaneAddresses lanes_;
  TraceCounts counts_;
};

}  // namespace

TraceProgram program_of(const Workload& workload) {
  TraceProgram program;
  program.buffers = workload.buffers();
  program.homes.assign(workload.page_homes().begin(), workload.page_homes().end());
  program.launches = workload.launches();
  program.steps = workload.steps();
  program.gpus = workload.gpus();
  program.collective = workload.collective();
  return program;
}

RecordResult record_workload(const Workload& workload, const TraceHeader& header, TraceSink& sink,
                             const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  if (workload.lanes() != 0 && workload.lanes() != header.lanes) {
    throw InputError(
        fmt::format("The program is made for wavefronts of {} lanes, not of {}.", workload.lanes(), header.lanes));
  }
  for (const Buffer& buffer : workload.buffers()) {
    if (buffer.placement != Placement::Multicast) continue;
    throw InputError(fmt::format(
        "The program uses multicast memory ('{}'), which traces do not have: record another algorithm.", buffer.name));
  }
  const TraceProgram program = program_of(workload);
  const BufferMap buffers(program.buffers);
  TraceWriter writer(sink, header);
  Recorder recorder(header, buffers);
  RecordResult result;
  const std::uint64_t all = first_wavefronts(program.launches, header.lanes).back();
  for (std::size_t l = 0; l < program.launches.size(); ++l) {
    const Launch& launch = program.launches[l];
    const std::uint32_t waves = launch.waves(header.lanes);
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < waves; ++w) {
        writer.add(recorder.record(workload.wavefront(l, launch.wave(group, w, header.lanes))));
      }
      result.wavefronts += waves;
      if (on_progress) on_progress(result.wavefronts, all);
    }
  }
  writer.finish(program, recorder.counts());
  result.counts = recorder.counts();
  return result;
}

}  // namespace nearfar
