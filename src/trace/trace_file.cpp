#include "trace/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "config/error.h"
#include "trace/stream_code.h"

namespace nearfar {
namespace {

std::uint64_t read_little(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

class DiskSource final : public TraceSource {
 public:
  explicit DiskSource(const std::string& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) refuse(errno);
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) refuse(errno);
    if (!S_ISREG(status.st_mode)) {
      close(descriptor_);
      throw InputError(fmt::format("`{}` is no file; a trace was expected.", path_));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  DiskSource(const DiskSource&) = delete;
  DiskSource& operator=(const DiskSource&) = delete;
  ~DiskSource() override { close(descriptor_); }

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    while (!out.empty()) {
      const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(errno);
      if (got == 0) throw InputError(fmt::format("{}: at byte {}: it has become shorter.", path_, offset));
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  [[noreturn]] void refuse(int error) const {
    throw InputError(fmt::format("`{}` cannot be read: {}.", path_, std::generic_category().message(error)));
  }

  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

class MemorySource final : public TraceSource {
 public:
  explicit MemorySource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// Whether a zstd frame has a checksum of what it holds.
bool has_checksum(const ByteVector& stored) {
  constexpr std::size_t kDescriptor = 4;
  constexpr std::uint8_t kChecksum = 1 << 2;
  return stored.size() > kDescriptor && (stored[kDescriptor] & kChecksum) != 0;
}

}  // namespace

std::unique_ptr<TraceSource> open_trace_source(const std::string& path) { return std::make_unique<DiskSource>(path); }

std::unique_ptr<TraceSource> trace_source(std::span<const std::uint8_t> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

TraceFile::TraceFile(std::unique_ptr<TraceSource> source, std::string name, const TraceLimits& limits)
    : source_(std::move(source)), name_(std::move(name)) {
  read_header(limits);
  read_directory(limits);
  check_index();
}

std::shared_ptr<const TraceFile> TraceFile::open(const std::string& path) {
  return std::make_shared<const TraceFile>(open_trace_source(path), path);
}

void TraceFile::fail(std::uint64_t offset, const std::string& what) const {
  throw InputError(fmt::format("{}: at byte {}: {}.", name_, offset, what));
}

/// `stored` bytes at `offset`, which are `plain` when decompressed; both have been checked against their limits.
ByteVector TraceFile::decompressed(std::uint64_t offset, std::uint64_t stored, std::uint64_t plain,
                                   const char* what) const {
  ByteVector packed(stored);
  source_->read(offset, packed);
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != plain || !has_checksum(packed)) {
    fail(offset, fmt::format("{} is corrupt: no zstd frame of {} bytes with a checksum begins here", what, plain));
  }
  ByteVector bytes(plain);
  const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0) fail(offset, fmt::format("{} is corrupt: {}", what, ZSTD_getErrorName(got)));
  if (got != plain) fail(offset, fmt::format("{} is corrupt: it has {} bytes, not {}", what, got, plain));
  return bytes;
}

void TraceFile::read_header(const TraceLimits& limits) {
  std::array<std::uint8_t, kPreambleBytes> preamble{};
  const std::uint64_t size = source_->size();
  source_->read(0, std::span(preamble).first(std::min<std::uint64_t>(size, kPreambleBytes)));
  const auto begins = std::min<std::uint64_t>(size, kTraceMagic.size());
  if (size == 0) fail(0, "the file is empty; a trace was expected");
  if (std::memcmp(preamble.data(), kTraceMagic.data(), begins) != 0) {
    fail(0, "this is no trace of nearfar's; `nearfar trace import` reads others");
  }
  if (size < kPreambleBytes + kTrailerBytes) fail(size, "the trace is truncated: it ends in its header");
  const std::uint64_t version = read_little(std::span(preamble).subspan(8, 4));
  if (version != kTraceVersion) {
    fail(8, fmt::format("the trace has version {} of the format, and this program reads version {}", version,
                        kTraceVersion));
  }
  const std::uint64_t stored = read_little(std::span(preamble).subspan(12, 4));
  if (stored > 2 * limits.header_bytes) fail(12, fmt::format("a header of {} bytes is not possible", stored));
  header_end_ = kPreambleBytes + stored;
  if (header_end_ > size - kTrailerBytes) fail(size, "the trace is truncated: it ends in its header");
  ByteVector packed(stored);
  source_->read(kPreambleBytes, packed);
  const unsigned long long plain = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (plain > limits.header_bytes) fail(kPreambleBytes, "the header is corrupt: it is no zstd frame of known size");
  const ByteVector bytes = decompressed(kPreambleBytes, stored, plain, "the header");
  try {
    ByteReader in(bytes);
    header_ = decode_header(in);
  } catch (const MalformedBytes& malformed) {
    fail(kPreambleBytes, fmt::format("in the header, {} bytes into it: {}", malformed.offset, malformed.what()));
  }
}

void TraceFile::read_directory(const TraceLimits& limits) {
  const std::uint64_t end = source_->size() - kTrailerBytes;
  std::array<std::uint8_t, kTrailerBytes> trailer{};
  source_->read(end, trailer);
  if (std::memcmp(trailer.data() + 24, kIndexMagic.data(), kIndexMagic.size()) != 0) {
    fail(source_->size(), "the trace is truncated: it does not end with the place of its index");
  }
  const std::uint64_t offset = read_little(std::span(trailer).first(8));
  const std::uint64_t stored = read_little(std::span(trailer).subspan(8, 8));
  const std::uint64_t plain = read_little(std::span(trailer).subspan(16, 8));
  if (plain > limits.directory_bytes || stored > 2 * limits.directory_bytes || offset < header_end_ || offset > end ||
      end - offset != stored) {
    fail(end, fmt::format("the index cannot be {} bytes from byte {} on, {} when decompressed", stored, offset, plain));
  }
  const ByteVector bytes = decompressed(offset, stored, plain, "the index");
  try {
    ByteReader in(bytes);
    program_ = decode_program(in, header_, limits);
    counts_.instructions = in.number();
    counts_.accesses = in.number();
    frames_ = decode_frames(in, header_end_, limits);
    if (!in.at_end()) in.fail("something follows it");
  } catch (const MalformedBytes& malformed) {
    fail(offset, fmt::format("in the index, {} bytes into it: {}", malformed.offset, malformed.what()));
  }
  first_wavefronts_ = nearfar::first_wavefronts(program_.launches, header_.lanes);
  buffers_ = std::make_unique<BufferMap>(program_.buffers);
  const std::uint64_t frames_end = frames_.empty() ? header_end_ : frames_.back().offset + frames_.back().stored;
  if (frames_end != offset) {
    fail(frames_end, fmt::format("the frames end here, and the index begins at byte {}", offset));
  }
}

void TraceFile::check_index() const {
  const std::uint64_t waves = frames_.empty() ? 0 : frames_.back().first + frames_.back().waves;
  if (waves != first_wavefronts_.back()) {
    fail(source_->size() - kTrailerBytes,
         fmt::format("the launches have {} wavefronts, and the frames {}", first_wavefronts_.back(), waves));
  }
}

std::size_t TraceFile::frame_of(std::uint64_t wavefront) const {
  const auto after = std::ranges::upper_bound(frames_, wavefront, {}, &TraceFrame::first);
  return static_cast<std::size_t>(after - frames_.begin()) - 1;
}

TraceStreams TraceFile::read(std::size_t number) const {
  const TraceFrame& frame = frames_[number];
  ByteVector bytes = decompressed(frame.offset, frame.stored, frame.plain, "a frame of streams");
  try {
    return streams_of(frame, std::move(bytes));
  } catch (const MalformedBytes& malformed) {
    fail(frame.offset, fmt::format("in a frame of streams, {} bytes into it: {}", malformed.offset, malformed.what()));
  }
}

TraceStreams TraceFile::streams_of(const TraceFrame& frame, ByteVector bytes) const {
  TraceStreams streams;
  streams.begin.reserve(frame.waves + 1);
  ByteReader in(bytes);
  std::uint64_t at = 0;
  for (std::uint64_t wave = 0; wave < frame.waves; ++wave) {
    streams.begin.push_back(static_cast<std::uint32_t>(at));
    at += in.number(0, bytes.size() - at, "the length of a stream");
  }
  if (at != in.left()) in.fail(fmt::format("its streams have {} bytes, and {} follow", at, in.left()));
  const std::size_t table = in.offset();
  for (std::uint32_t& begin : streams.begin) begin += static_cast<std::uint32_t>(table);
  streams.begin.push_back(static_cast<std::uint32_t>(bytes.size()));
  streams.bytes = std::move(bytes);
  for (std::size_t wave = 0; wave < frame.waves; ++wave) {
    try {
      check_stream(streams.stream(wave), header_.lanes, *buffers_);
    } catch (const MalformedBytes& malformed) {
      throw MalformedBytes(streams.begin[wave] + malformed.offset, malformed.what());
    }
  }
  return streams;
}

}  // namespace nearfar
