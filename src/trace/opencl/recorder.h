// Makes a trace of what the Oclgrind plugin tells of a program: buffers at addresses of their own, the host's steps,
// launches, and the streams of their wavefronts, written as each workgroup ends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "trace/opencl/kernel_code.h"
#include "trace/opencl/wave_writer.h"
#include "trace/stream_counter.h"
#include "trace/trace_writer.h"

namespace nearfar::opencl {

/// What becomes of the program's transfers between its own memory and that of the device.
enum class HostEvents : std::uint8_t {
  Copies,    ///< copies of the DMA, as the program asked for
  Accesses,  ///< the host reads and writes the buffers themselves, as with memory that it shares with the GPUs
  None,
};

/// What a person may want to know of a recording besides the trace.
struct RecordingNotes {
  std::uint64_t launches = 0;
  std::uint64_t outside = 0;  ///< accesses that lie in no buffer, and were left out
};

class Recorder {
 public:
  Recorder(TraceSink& sink, const TraceHeader& header, HostEvents host_events);

  /// Carries out one message. Throws an InputError for what cannot be recorded, MalformedBytes for what is no message.
  void take(Message message, std::span<const std::uint8_t> bytes);
  /// OpenCL has been used at all.
  bool began() const { return process_ != 0; }
  /// The program ended; the trace is complete.
  RecordingNotes finish();

 private:
  struct Allocation {
    std::size_t buffer = 0;  ///< of the trace
    std::uint64_t bytes = 0;
    bool named = false;
  };
  struct Place {
    std::uint64_t address = 0;  ///< in the trace
    std::size_t buffer = 0;     ///< of the trace
  };
  struct Transfer {
    std::optional<Place> from, to;
    std::uint64_t bytes = 0;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< context, number of the buffer within it

  void hello(ByteReader& in);
  void allocate(ByteReader& in);
  void release(ByteReader& in);
  void host_access(ByteReader& in, bool writes);
  void device_copy(ByteReader& in);
  void kernel_begin(ByteReader& in);
  void name_buffers(ByteReader& in, const std::string& kernel);
  void group_begin(ByteReader& in);
  void slice(ByteReader& in);
  void group_copy(ByteReader& in);
  void barrier(ByteReader& in);
  void group_end();
  void kernel_end();
  void run_phase(bool at_barrier, bool global);
  void need(bool holds, const ByteReader& in) const;

  Allocation* find(std::uint64_t context, std::uint64_t address);
  /// Where a range lies in the trace; nothing where it is not wholly in one buffer.
  std::optional<Place> place(std::uint64_t context, std::uint64_t address, std::uint64_t bytes);
  std::uint64_t touch(const LaneAccess& access);
  void transfer(const Transfer& what);
  void put_transfer();
  const std::string& kernel() const { return program_.launches.back().kernel; }

  TraceHeader header_;
  TraceWriter writer_;
  StreamCounter counter_;
  HostEvents host_events_;
  std::uint64_t process_ = 0;
  TraceProgram program_;
  RecordingNotes notes_;

  std::map<Key, Allocation> allocations_;
  std::multimap<std::uint64_t, std::size_t> unused_;  ///< buffers of the trace whose memory was freed, by pages
  std::set<std::string> names_;
  std::uint64_t next_base_ = kFirstBuffer.value;
  std::optional<Transfer> pending_;  ///< the last one, while it may still grow

  bool in_kernel_ = false;
  std::uint64_t context_ = 0;  ///< of the kernel
  KernelCode code_;
  std::optional<BufferMap> map_;
  AddressMap addresses_;
  std::uint64_t next_group_ = 0;
  bool in_group_ = false;
  std::vector<WaveWriter> waves_;
  std::vector<LaneAccess> group_copy_;
};

}  // namespace nearfar::opencl
