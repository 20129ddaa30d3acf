// Which page each frame of memory holds, as one device knows it for its timeline: caches, memory and links see physical
// lines, and a person thinks in virtual addresses.
//
// What lay where before the first cycle is known to all. Where pages move, a device is told of the pages that come into
// its own memory, and sees the frames of other devices in the translations that it uses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sim/types.h"

namespace nearfar {

class TimelineFrames {
 public:
  /// By frame (key()): the page's number and its process.
  using Pages = std::unordered_map<std::uint64_t, std::uint64_t>;

  TimelineFrames() : before_(std::make_shared<Pages>()) {}
  TimelineFrames(std::shared_ptr<const Pages> before, DeviceId own, PageSize size, bool pages_move)
      : before_(std::move(before)), own_(own), size_(size), pages_move_(pages_move) {}

  /// A page's frames are known by its first.
  static std::uint64_t key(PhysPage frame, PageSize size) {
    return PhysPage{frame.device(), frame.frame() >> size.bits}.value;
  }
  static constexpr std::uint64_t page_id(std::uint8_t process, std::uint64_t number) { return number << 8 | process; }

  void set(PhysPage frame, std::uint64_t page_and_process) { since_[key(frame, size_)] = page_and_process; }

  struct Place {
    std::uint64_t address;  ///< virtual, of the frame's first byte
    std::uint8_t process;
  };
  std::optional<Place> find(PhysPage frame) const {
    const std::uint64_t at = key(frame, size_);
    if (const auto found = since_.find(at); found != since_.end()) return place(found->second, frame);
    // Another device's frame may hold another page by now.
    if (pages_move_ && frame.device() != own_) return std::nullopt;
    const auto found = before_->find(at);
    return found == before_->end() ? std::nullopt : std::optional(place(found->second, frame));
  }

 private:
  Place place(std::uint64_t page_and_process, PhysPage frame) const {
    const std::uint64_t piece = frame.frame() & (size_.frames() - 1);
    const std::uint64_t page = (page_and_process >> 8 << size_.bits) + piece;
    return {page << kPageShift, static_cast<std::uint8_t>(page_and_process & 0xff)};
  }

  std::shared_ptr<const Pages> before_;
  Pages since_;
  DeviceId own_;
  PageSize size_;
  bool pages_move_ = false;
};

}  // namespace nearfar
