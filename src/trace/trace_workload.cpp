#include "trace/trace_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "config/error.h"
#include "config/nearest.h"
#include "trace/stream_code.h"

namespace nearfar {

template <>
void LaneOp<RecordedLanes>::fill(const void* operation, unsigned, LaneAddresses& __restrict out) {
  static_cast<const LaneOp*>(operation)->address.fill(out);
}

namespace {

constexpr std::array<std::string_view, 3> kTimings{"program", "recorded", "none"};

/// The bytes of one wavefront.
class OwnBytes {
 public:
  explicit OwnBytes(std::span<const std::uint8_t> bytes)
      : bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size())), size_(bytes.size()) {
    if (size_ != 0) std::memcpy(bytes_.get(), bytes.data(), size_);
  }
  const std::uint8_t* begin() const { return bytes_.get(); }
  const std::uint8_t* end() const { return bytes_.get() + size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_;
};

/// Whether an operation stands for time only.
bool passes_time(OpKind kind) {
  return kind == OpKind::VectorAlu || kind == OpKind::ScalarAlu || kind == OpKind::Local || kind == OpKind::Wait;
}

Stream replay(OwnBytes bytes, unsigned lanes, TraceTiming timing) {
  constexpr unsigned kLongestPause = 0xffff;
  StreamDecoder decoder(bytes.begin(), bytes.end(), lanes);
  LaneOp<RecordedLanes> memory{};
  while (!decoder.at_end()) {
    const Plain op = decoder.next(memory.address);
    memory.kind = kind_of(op);
    if (memory.kind == OpKind::Load || memory.kind == OpKind::Store || memory.kind == OpKind::Atomic) {
      memory.bytes = bytes_of(op);
      co_yield memory;
    } else if (memory.kind == OpKind::Pause) {
      if (timing != TraceTiming::Recorded) continue;
      for (std::uint64_t left = decoder.pause_cycles(); left != 0;) {
        const auto piece = static_cast<unsigned>(std::min<std::uint64_t>(left, kLongestPause));
        left -= piece;
        co_yield pause(piece);
      }
    } else if (timing == TraceTiming::Program || !passes_time(memory.kind)) {
      co_yield op;
    }
  }
}

}  // namespace

TraceTiming parse_timing(std::string_view text) {
  const auto found = std::ranges::find(kTimings, text);
  if (found == kTimings.end()) {
    const std::vector<std::string> names(kTimings.begin(), kTimings.end());
    throw InputError(
        fmt::format("--timing is program, recorded or none, not `{}`.{}", text, did_you_mean(text, names)));
  }
  return static_cast<TraceTiming>(found - kTimings.begin());
}

std::shared_ptr<const TraceStreams> FrameCache::get(std::size_t frame) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = places_.find(frame); found != places_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front().streams;
  }
  auto streams = std::make_shared<const TraceStreams>(file_.read(frame));
  ++reads_;
  bytes_ += streams->bytes.size();
  entries_.push_front({frame, streams});
  places_[frame] = entries_.begin();
  while (bytes_ > capacity_ && entries_.size() > 1) {
    bytes_ -= entries_.back().streams->bytes.size();
    places_.erase(entries_.back().frame);
    entries_.pop_back();
  }
  return streams;
}

TraceWorkload::TraceWorkload(std::shared_ptr<const TraceFile> file, TraceTiming timing, HostSteps host)
    : file_(std::move(file)), timing_(timing), frames_(std::make_unique<FrameCache>(*file_)) {
  if (timing == TraceTiming::Recorded && !file_->header().times) {
    throw InputError(
        fmt::format("{}: the trace was recorded without times, so --timing recorded has nothing to go by; program "
                    "and none are possible.",
                    file_->name()));
  }
  if (file_->program().buffers.empty()) throw InputError(fmt::format("{}: the trace has no buffers.", file_->name()));
  for (const Buffer& buffer : file_->program().buffers) add_buffer(buffer);
  for (const Step& step : file_->program().steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      add_launch(file_->program().launches[launch->launch]);
    } else if (host == HostSteps::Kept) {
      add_step(step);
    }
  }
}

Stream TraceWorkload::wavefront(std::size_t launch, const Wave& wave) const {
  const Launch& what = launches()[launch];
  const std::uint64_t group =
      (std::uint64_t{wave.group_z} * what.groups_y + wave.group_y) * what.groups_x + wave.group_x;
  const std::uint64_t number = file_->first_wavefronts()[launch] + group * what.waves(lanes()) + wave.index;
  const std::size_t frame = file_->frame_of(number);
  const auto streams = frames_->get(frame);
  return replay(OwnBytes(streams->stream(number - file_->frames()[frame].first)), lanes(), timing_);
}

std::shared_ptr<const TraceWorkload> open_trace(const std::string& path, TraceTiming timing, HostSteps host) {
  return std::make_shared<const TraceWorkload>(TraceFile::open(path), timing, host);
}

}  // namespace nearfar
