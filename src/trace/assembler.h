// Puts a trace together for importers: launches one after another, the streams of each in any order, steps between
// them. What is held in memory is the encoded streams of one launch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trace/buffer_map.h"
#include "trace/stream_counter.h"
#include "trace/trace_writer.h"

namespace nearfar {

class TraceAssembler {
 public:
  /// The buffers are known beforehand: every stream is checked against them.
  TraceAssembler(TraceSink& sink, const TraceHeader& header, std::vector<Buffer> buffers,
                 std::vector<PageHome> homes = {});

  void set_gpus(std::uint64_t gpus) { program_.gpus = gpus; }
  void set_collective(const CollectiveWork& work) { program_.collective = work; }

  /// Any step but a launch.
  void add_step(const Step& step);
  void begin_launch(Launch launch);
  Launch& launch() { return program_.launches.back(); }
  bool in_launch() const { return in_launch_; }
  /// The stream of a wavefront of the launch that was begun; those that are never given are empty. Throws
  /// InputError where an operation is not possible.
  void add_stream(std::uint64_t group, std::uint32_t wave, ByteVector stream);
  /// False where the wavefront has a stream already.
  bool is_free(std::uint64_t group, std::uint32_t wave) const { return !streams_.contains({group, wave}); }
  void finish();

 private:
  void end_launch();

  TraceHeader header_;
  TraceProgram program_;
  BufferMap buffers_;
  TraceWriter writer_;
  StreamCounter counter_;
  bool in_launch_ = false;
  std::map<std::pair<std::uint64_t, std::uint32_t>, ByteVector> streams_;  ///< by workgroup and wavefront
};

}  // namespace nearfar
