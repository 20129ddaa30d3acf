// What a trace says besides its streams, and how that is written (docs/traces.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/workload.h"
#include "trace/bytes.h"

namespace nearfar {

inline constexpr std::uint32_t kTraceVersion = 1;

/// At the front of a file: where the trace comes from.
struct TraceHeader {
  std::string source;         ///< a workload's name, or the program that an importer read
  std::uint32_t lanes = 64;   ///< of a wavefront
  std::uint32_t line = 64;    ///< bytes of a line where it was recorded; `accesses` counts lines of this size
  std::uint64_t page = 4096;  ///< bytes of a page where it was recorded
  std::uint64_t seed = 0;
  bool times = false;                                             ///< operations have times
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< name and value, as its source had them

  bool operator==(const TraceHeader&) const = default;
};

/// The program around the streams.
struct TraceProgram {
  std::vector<Buffer> buffers;
  std::vector<PageHome> homes;
  std::vector<Launch> launches;
  std::vector<Step> steps;
  std::uint64_t gpus = 0;  ///< that it is made for; 0: any number
  std::optional<CollectiveWork> collective;
};

/// Of all streams.
struct TraceCounts {
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;  ///< lines that vector memory instructions touch, instruction by instruction

  bool operator==(const TraceCounts&) const = default;
};

/// A piece of the file that is decompressed at once. Pieces follow one another without gaps.
struct TraceFrame {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t stored = 0;  ///< bytes there
  std::uint64_t plain = 0;   ///< bytes when decompressed
  std::uint64_t first = 0;   ///< number of its first wavefront
  std::uint64_t waves = 0;
};

/// What a file may ask for, at most. All of it is checked before memory is taken.
struct TraceLimits {
  std::uint64_t header_bytes = std::uint64_t{1} << 20;      ///< decompressed
  std::uint64_t directory_bytes = std::uint64_t{16} << 20;  ///< decompressed
  std::uint64_t frame_bytes = std::uint64_t{64} << 20;      ///< decompressed; one wavefront must fit
  std::uint64_t span_bytes = std::uint64_t{64} << 30;       ///< from the first buffer to the end of the last
  std::uint64_t wavefronts = std::uint64_t{1} << 40;
  std::uint64_t group_items = 1 << 16;
  std::size_t buffers = 1 << 16;
  std::size_t homes = 1 << 22;
  std::size_t steps = 1 << 20;
  std::size_t frames = 1 << 22;
};

/// Addresses lie below this: an operation has 48 bits for one.
inline constexpr std::uint64_t kTraceAddresses = std::uint64_t{1} << 47;
/// A lane reads or writes at most this many bytes.
inline constexpr unsigned kMostLaneBytes = 64;

void encode_header(const TraceHeader& header, ByteVector& out);
TraceHeader decode_header(ByteReader& in);

void encode_program(const TraceProgram& program, ByteVector& out);
/// Checks all that a machine takes for granted: buffers apart from each other, homes within them, launches that exist.
TraceProgram decode_program(ByteReader& in, const TraceHeader& header, const TraceLimits& limits);

/// Frames begin at `offset`; those of the directory say nothing that they do not have to.
void encode_frames(const std::vector<TraceFrame>& frames, ByteVector& out);
std::vector<TraceFrame> decode_frames(ByteReader& in, std::uint64_t offset, const TraceLimits& limits);

/// Wavefronts of all launches before each launch, and behind the last of all.
std::vector<std::uint64_t> first_wavefronts(const std::vector<Launch>& launches, std::uint32_t lanes);

}  // namespace nearfar
