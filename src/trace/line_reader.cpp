#include "trace/line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "config/error.h"

namespace nearfar {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::size_t kMostLine = std::size_t{1} << 20;
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;  // what xz may take
constexpr std::array<std::uint8_t, 6> kXzMagic{0xfd, '7', 'z', 'X', 'Z', 0};

}  // namespace

struct LineReader::Decompressor {
  lzma_stream stream = LZMA_STREAM_INIT;
  std::array<std::uint8_t, kChunk> input{};
  bool at_end = false;

  ~Decompressor() { lzma_end(&stream); }
};

LineReader::LineReader(std::string path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const auto refuse = [&](int error) {
    if (descriptor_ >= 0) close(descriptor_);
    throw InputError(fmt::format("`{}` cannot be read: {}.", path_, std::generic_category().message(error)));
  };
  if (descriptor_ < 0) refuse(errno);
  std::array<std::uint8_t, kXzMagic.size()> begin{};
  const ssize_t got = pread(descriptor_, begin.data(), begin.size(), 0);
  if (got < 0) refuse(errno);
  if (begin != kXzMagic) return;
  decompressor_ = std::make_unique<Decompressor>();
  if (lzma_stream_decoder(&decompressor_->stream, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) refuse(ENOMEM);
}

LineReader::~LineReader() {
  if (descriptor_ >= 0) close(descriptor_);
}

void LineReader::fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}.", path_, number_, what));
}

/// Adds to `text_`; false when there is no more.
bool LineReader::refill() {
  if (ended_) return false;
  text_.erase(0, at_);
  at_ = 0;
  const std::size_t before = text_.size();
  text_.resize(before + kChunk);
  const auto read_some = [&](void* into) {
    ssize_t got = -1;
    do got = ::read(descriptor_, into, kChunk);
    while (got < 0 && errno == EINTR);
    if (got < 0) fail(fmt::format("it cannot be read: {}", std::generic_category().message(errno)));
    return static_cast<std::size_t>(got);
  };
  std::size_t added = 0;
  if (decompressor_ == nullptr) {
    added = read_some(text_.data() + before);
    ended_ = added == 0;
  } else {
    lzma_stream& stream = decompressor_->stream;
    stream.next_out = reinterpret_cast<std::uint8_t*>(text_.data() + before);
    stream.avail_out = kChunk;
    while (stream.avail_out != 0 && !ended_) {
      if (stream.avail_in == 0 && !decompressor_->at_end) {
        stream.next_in = decompressor_->input.data();
        stream.avail_in = read_some(decompressor_->input.data());
        decompressor_->at_end = stream.avail_in == 0;
      }
      const lzma_ret result = lzma_code(&stream, decompressor_->at_end ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) ended_ = true;
      if (result == LZMA_OK || result == LZMA_STREAM_END) continue;
      fail(result == LZMA_BUF_ERROR
               ? "the compressed file is truncated"
               : fmt::format("the compressed file is corrupt (xz error {})", static_cast<int>(result)));
    }
    added = kChunk - stream.avail_out;
  }
  text_.resize(before + added);
  return added != 0 || !ended_;
}

bool LineReader::next(std::string_view& line) {
  std::size_t end = text_.find('\n', at_);
  while (end == std::string::npos) {
    const std::size_t seen = text_.size() - at_;
    if (seen > kMostLine) {
      ++number_;
      fail(fmt::format("the line is longer than {} characters", kMostLine));
    }
    if (!refill()) break;
    end = text_.find('\n', at_ + seen);
  }
  if (end == std::string::npos && at_ == text_.size()) return false;
  ++number_;
  const std::size_t stop = end == std::string::npos ? text_.size() : end;
  line = std::string_view(text_).substr(at_, stop - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  at_ = end == std::string::npos ? stop : stop + 1;
  return true;
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
}

}  // namespace nearfar
