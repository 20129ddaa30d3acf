// Writes a trace: the header first, then the streams of all wavefronts in order, at last the program around them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/format.h"

namespace nearfar {

/// Where the bytes of a trace go, one after another.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void write(std::span<const std::uint8_t> bytes) = 0;
};

/// A file that is there when all of it has been written, and not before: it has no name until `commit`.
class TraceOutput final : public TraceSink {
 public:
  explicit TraceOutput(std::string path);
  TraceOutput(const TraceOutput&) = delete;
  TraceOutput& operator=(const TraceOutput&) = delete;
  ~TraceOutput() override;

  void write(std::span<const std::uint8_t> bytes) override;
  void commit();

 private:
  [[noreturn]] void refuse(int error) const;

  std::string path_;
  std::string temporary_;  ///< its name until then, on file systems where a file must have one
  int descriptor_ = -1;
};

/// In memory.
class TraceBytes final : public TraceSink {
 public:
  void write(std::span<const std::uint8_t> more) override { bytes.insert(bytes.end(), more.begin(), more.end()); }

  ByteVector bytes;
};

class TraceWriter {
 public:
  /// A frame is closed when it has this many bytes.
  static constexpr std::size_t kFrameBytes = std::size_t{1} << 20;

  TraceWriter(TraceSink& sink, const TraceHeader& header, std::size_t frame_bytes = kFrameBytes);

  /// The stream of the next wavefront, in the order of launches, workgroups and wavefronts.
  void add(std::span<const std::uint8_t> stream);
  /// `program` must have as many wavefronts as were added.
  void finish(const TraceProgram& program, const TraceCounts& counts);

 private:
  void close_frame();
  std::uint64_t write_compressed(std::span<const std::uint8_t> bytes);

  TraceSink& sink_;
  std::size_t frame_bytes_;
  std::uint64_t offset_ = 0;
  ByteVector table_;    ///< of the open frame: lengths of its streams
  ByteVector streams_;  ///< the streams themselves
  std::uint64_t waves_ = 0;
  std::vector<TraceFrame> frames_;
};

}  // namespace nearfar
