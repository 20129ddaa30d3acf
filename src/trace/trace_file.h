// A trace file: what it says of itself, and its frames of streams. Everything is checked when it is read; a file that
// is truncated, corrupt, foreign or hostile gives one InputError with the offset at which that was seen.
//
//   "nfTRACE\n", version, bytes of the header | header | frames of streams … | directory | where that is, "nfINDEX\n"
//
// Header, frames and directory are zstd frames, each with its checksum. The directory is the program around the
// streams, counts, and the index of the frames.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/buffer_map.h"
#include "trace/format.h"

namespace nearfar {

inline constexpr std::string_view kTraceMagic = "nfTRACE\n";
inline constexpr std::string_view kIndexMagic = "nfINDEX\n";
inline constexpr std::size_t kPreambleBytes = 16;
inline constexpr std::size_t kTrailerBytes = 32;

/// Bytes that can be read at any offset, by several threads at once.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills `out`; throws InputError where that is not possible.
  virtual void read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
};

std::unique_ptr<TraceSource> open_trace_source(const std::string& path);
/// Bytes in memory; they must stay.
std::unique_ptr<TraceSource> trace_source(std::span<const std::uint8_t> bytes);

/// The streams of a frame, decompressed and checked.
struct TraceStreams {
  ByteVector bytes;
  std::vector<std::uint32_t> begin;  ///< of each wavefront's stream in `bytes`, and the end of the last

  std::span<const std::uint8_t> stream(std::size_t wave) const {
    return std::span(bytes).subspan(begin[wave], begin[wave + 1] - begin[wave]);
  }
};

class TraceFile {
 public:
  /// `name` is for errors.
  TraceFile(std::unique_ptr<TraceSource> source, std::string name, const TraceLimits& limits = {});

  static std::shared_ptr<const TraceFile> open(const std::string& path);

  const std::string& name() const { return name_; }
  std::uint64_t bytes() const { return source_->size(); }
  const TraceHeader& header() const { return header_; }
  const TraceProgram& program() const { return program_; }
  const TraceCounts& counts() const { return counts_; }
  const std::vector<TraceFrame>& frames() const { return frames_; }
  /// Number of the first wavefront of each launch, and of all.
  const std::vector<std::uint64_t>& first_wavefronts() const { return first_wavefronts_; }

  /// The frame of a wavefront.
  std::size_t frame_of(std::uint64_t wavefront) const;
  TraceStreams read(std::size_t frame) const;

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const;
  void read_header(const TraceLimits& limits);
  void read_directory(const TraceLimits& limits);
  void check_index() const;
  ByteVector decompressed(std::uint64_t offset, std::uint64_t stored, std::uint64_t plain, const char* what) const;
  TraceStreams streams_of(const TraceFrame& frame, ByteVector bytes) const;

  std::unique_ptr<TraceSource> source_;
  std::string name_;
  TraceHeader header_;
  TraceProgram program_;
  TraceCounts counts_;
  std::vector<TraceFrame> frames_;
  std::vector<std::uint64_t> first_wavefronts_;
  std::unique_ptr<BufferMap> buffers_;
  std::uint64_t header_end_ = 0;
};

}  // namespace nearfar
