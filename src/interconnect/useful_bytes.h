// Which of the bytes that stores and copies of other devices bring are of use: they had changed at their source since
// they were brought last, and a lane here reads them before they are brought again or overwritten. Simulator only: it
// looks on, and changes nothing.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/byte_masks.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

struct UsefulStats {
  std::uint64_t useful_bytes = 0;
  std::uint64_t wasted_bytes = 0;

  void describe(StatVisitor& visitor) {
    visitor.counter("useful_bytes", "bytes",
                    "Bytes that stores of other GPUs brought and that a lane of this GPU read, each once.",
                    useful_bytes);
    visitor.counter("wasted_bytes", "bytes",
                    "Bytes that stores of other GPUs brought and that nobody here read before they were overwritten.",
                    wasted_bytes);
  }
};

struct UsefulCopyStats {
  std::uint64_t useful_bytes = 0;
  std::uint64_t wasted_bytes = 0;

  void describe(StatVisitor& visitor) {
    visitor.counter("useful_bytes", "bytes",
                    "Bytes that copies brought from other devices, that had changed there since they were copied here "
                    "last, and that a lane of this GPU read, each once.",
                    useful_bytes);
    visitor.counter("wasted_bytes", "bytes",
                    "Bytes that copies brought from other devices and that had not changed there since they were "
                    "copied here last, or that nobody here read before they were overwritten.",
                    wasted_bytes);
  }
};

class UsefulBytes {
 public:
  /// Copies read from this GPU: it remembers what has changed. Else nobody asks.
  void remember_changes() { remembers_ = true; }

  /// Stores have brought bytes of a line at home here.
  void delivered(PhysLine line, const ByteMask& bytes) {
    Fresh& fresh = overwrite(line, bytes);
    fresh.stored = fresh.stored | bytes;
    changed(line, bytes);
  }
  /// A copy has brought all `line_bytes` of a line, of which `dirty` had changed at its source.
  void copied(PhysLine line, unsigned line_bytes, const ByteMask& dirty) {
    const ByteMask whole = ByteMask::all(line_bytes);
    Fresh& fresh = overwrite(line, whole);
    fresh.copied = dirty;
    copies_.wasted_bytes += line_bytes - dirty.count();
    changed(line, whole);
  }
  /// A line was overwritten by a copy from elsewhere in this device, which no link has seen.
  void copied_within(PhysLine line, unsigned line_bytes) { stored(line, ByteMask::all(line_bytes)); }

  /// Lanes of this GPU load, store, or change bytes of a line.
  void loaded(PhysLine line, const ByteMask& bytes) {
    const Fresh used = take(line, bytes);
    stores_.useful_bytes += used.stored.count();
    copies_.useful_bytes += used.copied.count();
  }
  void stored(PhysLine line, const ByteMask& bytes) {
    const Fresh lost = take(line, bytes);
    stores_.wasted_bytes += lost.stored.count();
    copies_.wasted_bytes += lost.copied.count();
    changed(line, bytes);
  }
  void changed(PhysLine line, const ByteMask& bytes) {
    if (!remembers_) return;
    Changes& changes = changes_[line.value];
    changes.bytes = changes.bytes | bytes;
    for (auto& [device, clean] : changes.clean) clean = clean.without(bytes);
  }

  /// What has changed of a line since it was copied to a device last. It is copied there now.
  ByteMask take_changes(PhysLine line, DeviceId to) {
    const auto found = changes_.find(line.value);
    if (found == changes_.end()) return {};
    Changes& changes = found->second;
    auto known = std::ranges::find(changes.clean, to, [](const auto& each) { return each.first; });
    if (known == changes.clean.end()) known = changes.clean.insert(known, {to, ByteMask{}});
    const ByteMask dirty = changes.bytes.without(known->second);
    known->second = changes.bytes;
    return dirty;
  }

  /// As if the run ended now: what has not been read is wasted.
  UsefulStats stats() const {
    UsefulStats all = stores_;
    for (const auto& [line, fresh] : fresh_) all.wasted_bytes += fresh.stored.count();
    return all;
  }
  UsefulCopyStats copy_stats() const {
    UsefulCopyStats all = copies_;
    for (const auto& [line, fresh] : fresh_) all.wasted_bytes += fresh.copied.count();
    return all;
  }

 private:
  /// Of a line: brought, and neither read nor overwritten. No byte is in both.
  struct Fresh {
    ByteMask stored;
    ByteMask copied;
  };
  struct Changes {
    ByteMask bytes;
    std::vector<std::pair<DeviceId, ByteMask>> clean;  ///< who has those that have not changed since
  };

  Fresh& overwrite(PhysLine line, const ByteMask& bytes) {
    Fresh& fresh = fresh_[line.value];
    stores_.wasted_bytes += (fresh.stored & bytes).count();
    copies_.wasted_bytes += (fresh.copied & bytes).count();
    fresh = {fresh.stored.without(bytes), fresh.copied.without(bytes)};
    return fresh;
  }
  Fresh take(PhysLine line, const ByteMask& bytes) {
    const auto found = fresh_.find(line.value);
    if (found == fresh_.end()) return {};
    const Fresh taken{found->second.stored & bytes, found->second.copied & bytes};
    found->second = {found->second.stored.without(bytes), found->second.copied.without(bytes)};
    return taken;
  }

  boost::unordered_flat_map<std::uint64_t, Fresh> fresh_;      ///< by line
  boost::unordered_flat_map<std::uint64_t, Changes> changes_;  ///< by line, where copies may ask
  bool remembers_ = false;
  UsefulStats stores_;
  UsefulCopyStats copies_;
};

}  // namespace nearfar
