// Free lists of coroutine frames, one set a thread. A partition always runs on the same thread, so frames are
// released where they were taken; the slabs themselves belong to the process and live until it ends.
#include "program/stream.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace nearfar::frames {
namespace {

constexpr std::size_t kGrain = 32;
constexpr std::size_t kClasses = 64;  // up to 2 KiB; a larger frame goes to the heap
constexpr std::size_t kSlabBytes = std::size_t{64} << 10;

struct FreeFrame {
  FreeFrame* next;
};

struct Lists {
  std::array<FreeFrame*, kClasses + 1> head{};
  std::size_t largest = 0;
};
thread_local Lists lists;

/// Slabs of all threads; never shrinks, because a frame may outlive the thread that took its slab.
std::byte* new_slab() {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<std::byte[]>> slabs;
  const std::scoped_lock lock(mutex);
  slabs.push_back(std::make_unique<std::byte[]>(kSlabBytes));
  return slabs.back().get();
}

void refill(std::size_t cls) {
  const std::size_t frame = cls * kGrain;
  std::byte* slab = new_slab();
  for (std::size_t at = 0; at + frame <= kSlabBytes; at += frame) {
    lists.head[cls] = new (slab + at) FreeFrame{lists.head[cls]};
  }
}

}  // namespace

void* allocate(std::size_t bytes) {
  lists.largest = std::max(lists.largest, bytes);
  const std::size_t cls = (bytes + kGrain - 1) / kGrain;
  if (cls > kClasses) return ::operator new(bytes);
  if (lists.head[cls] == nullptr) refill(cls);
  FreeFrame* frame = lists.head[cls];
  lists.head[cls] = frame->next;
  return frame;
}

void release(void* frame, std::size_t bytes) noexcept {
  const std::size_t cls = (bytes + kGrain - 1) / kGrain;
  if (cls > kClasses) {
    ::operator delete(frame);
    return;
  }
  lists.head[cls] = new (frame) FreeFrame{lists.head[cls]};
}

std::size_t largest() { return lists.largest; }

}  // namespace nearfar::frames
