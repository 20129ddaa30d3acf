#include "trace/trace_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <system_error>

#include "config/error.h"
#include "trace/trace_file.h"

namespace nearfar {
namespace {

constexpr int kCompressionLevel = 3;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

ByteVector compressed(std::span<const std::uint8_t> bytes) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ByteVector out(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // all else has been provided for
  out.resize(size);
  return out;
}

void put_little(ByteVector& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void put_magic(ByteVector& out, std::string_view magic) { out.insert(out.end(), magic.begin(), magic.end()); }

mode_t mode_of_new_file() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------ TraceOutput

TraceOutput::TraceOutput(std::string path) : path_(std::move(path)) {
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  descriptor_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode_of_new_file());
  if (descriptor_ >= 0) return;
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    refuse(errno);
  }
  if (fchmod(descriptor_, mode_of_new_file()) != 0) refuse(errno);
}

TraceOutput::~TraceOutput() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void TraceOutput::refuse(int error) const {
  throw InputError(fmt::format("`{}` cannot be written: {}.", path_, std::generic_category().message(error)));
}

void TraceOutput::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void TraceOutput::commit() {
  if (fsync(descriptor_) != 0) refuse(errno);
  if (temporary_.empty()) {
    // A file without a name gets one beside its place, and is then moved over whatever is there.
    const std::string name = fmt::format("{}.{}", path_, getpid());
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) refuse(errno);
    temporary_ = name;
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(errno);
  temporary_.clear();
}

// ------------------------------------------------------------------------------------------------------ TraceWriter

TraceWriter::TraceWriter(TraceSink& sink, const TraceHeader& header, std::size_t frame_bytes)
    : sink_(sink), frame_bytes_(frame_bytes) {
  ByteVector bytes;
  encode_header(header, bytes);
  const ByteVector packed = compressed(bytes);
  ByteVector preamble;
  put_magic(preamble, kTraceMagic);
  put_little(preamble, kTraceVersion, 4);
  put_little(preamble, packed.size(), 4);
  sink_.write(preamble);
  sink_.write(packed);
  offset_ = preamble.size() + packed.size();
}

std::uint64_t TraceWriter::write_compressed(std::span<const std::uint8_t> bytes) {
  const ByteVector packed = compressed(bytes);
  sink_.write(packed);
  offset_ += packed.size();
  return packed.size();
}

void TraceWriter::add(std::span<const std::uint8_t> stream) {
  if (stream.size() > TraceLimits{}.frame_bytes / 2) {
    throw InputError(fmt::format("a wavefront has {} bytes of operations, and at most {} fit a trace.", stream.size(),
                                 TraceLimits{}.frame_bytes / 2));
  }
  if (waves_ != 0 && table_.size() + streams_.size() + stream.size() > frame_bytes_) close_frame();
  put_number(table_, stream.size());
  streams_.insert(streams_.end(), stream.begin(), stream.end());
  ++waves_;
}

void TraceWriter::close_frame() {
  TraceFrame frame;
  frame.waves = waves_;
  frame.plain = table_.size() + streams_.size();
  table_.insert(table_.end(), streams_.begin(), streams_.end());
  frame.stored = write_compressed(table_);
  frames_.push_back(frame);
  table_.clear();
  streams_.clear();
  waves_ = 0;
}

void TraceWriter::finish(const TraceProgram& program, const TraceCounts& counts) {
  if (waves_ != 0) close_frame();
  ByteVector directory;
  encode_program(program, directory);
  put_number(directory, counts.instructions);
  put_number(directory, counts.accesses);
  encode_frames(frames_, directory);
  if (directory.size() > TraceLimits{}.directory_bytes) {
    throw InputError(fmt::format("the index of the trace would have {} bytes, and at most {} are possible.",
                                 directory.size(), TraceLimits{}.directory_bytes));
  }
  const std::uint64_t offset = offset_;
  const std::uint64_t stored = write_compressed(directory);
  ByteVector trailer;
  for (const std::uint64_t each : {offset, stored, std::uint64_t{directory.size()}}) put_little(trailer, each, 8);
  put_magic(trailer, kIndexMagic);
  sink_.write(trailer);
}

}  // namespace nearfar
