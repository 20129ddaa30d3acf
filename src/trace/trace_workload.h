// A trace as a workload: its streams come out of the file instead of out of a kernel. Any run, study or comparison
// takes it, as `trace:FILE`.
//
// A wavefront keeps a copy of its own operations, and a few decompressed frames are kept for the wavefronts that come
// next: so memory follows the wavefronts that are resident, not the length of the trace.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "program/workload.h"
#include "trace/trace_file.h"

namespace nearfar {

/// What stands for the time between memory operations.
enum class TraceTiming : std::uint8_t {
  Program,   ///< the program's own arithmetic, local memory and waits for loads
  Recorded,  ///< the times that the trace was recorded with
  None,      ///< nothing: memory operations, barriers and fences alone
};

/// Whether the steps between launches take place: copies, and what the host does. Systems in which pages move take
/// none.
enum class HostSteps : std::uint8_t { Kept, LeftOut };

/// "program", "recorded" or "none"; an InputError for anything else.
TraceTiming parse_timing(std::string_view text);

/// Decompressed frames, those used last, up to a number of bytes. Any number of threads may ask.
class FrameCache {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;

  explicit FrameCache(const TraceFile& file, std::uint64_t bytes = kBytes) : file_(file), capacity_(bytes) {}

  std::shared_ptr<const TraceStreams> get(std::size_t frame);
  std::uint64_t bytes() const { return bytes_; }
  /// Frames that were decompressed so far.
  std::uint64_t reads() const { return reads_; }

 private:
  struct Entry {
    std::size_t frame;
    std::shared_ptr<const TraceStreams> streams;
  };

  const TraceFile& file_;
  std::uint64_t capacity_;
  std::uint64_t bytes_ = 0;
  std::uint64_t reads_ = 0;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< the one used last in front
  std::unordered_map<std::size_t, std::list<Entry>::iterator> places_;
};

class TraceWorkload final : public Workload {
 public:
  explicit TraceWorkload(std::shared_ptr<const TraceFile> file, TraceTiming timing = TraceTiming::Program,
                         HostSteps host = HostSteps::Kept);

  const TraceFile& file() const { return *file_; }
  Stream wavefront(std::size_t launch, const Wave& wave) const override;
  std::uint64_t gpus() const override { return file_->program().gpus; }
  std::uint32_t lanes() const override { return file_->header().lanes; }
  std::span<const PageHome> page_homes() const override { return file_->program().homes; }
  std::optional<CollectiveWork> collective() const override { return file_->program().collective; }

 private:
  std::shared_ptr<const TraceFile> file_;
  TraceTiming timing_;
  std::unique_ptr<FrameCache> frames_;
};

/// A trace by the name of its file.
std::shared_ptr<const TraceWorkload> open_trace(const std::string& path, TraceTiming timing = TraceTiming::Program,
                                                HostSteps host = HostSteps::Kept);

}  // namespace nearfar
