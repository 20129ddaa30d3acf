// Goes through the streams of a workload and counts what they do, by GPU under the launches' own split.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

#include "gpu/coalescer.h"
#include "program/split.h"
#include "program/workload.h"
#include "workload/catalog.h"

namespace nearfar::testing {

struct Spread {
  std::uint64_t least = ~std::uint64_t{0}, most = 0, total = 0, times = 0;

  void add(std::uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
    total += value;
    ++times;
  }
  double mean() const { return static_cast<double>(total) / static_cast<double>(times); }
};

struct Census {
  std::uint64_t waves = 0, instructions = 0, loads = 0, stores = 0, scalar_loads = 0, barriers = 0;
  Spread lines, pages;                 ///< of one vector memory instruction
  std::vector<std::uint32_t> readers;  ///< by page from the first buffer on: bit g, GPU g touches it
};

class Counter {
 public:
  explicit Counter(const Workload& workload, unsigned lanes = 64, unsigned line_bytes = 64)
      : workload_(workload), lanes_(lanes), coalescer_(line_bytes) {
    const Buffer& last = workload.buffers().back();
    census_.readers.resize(page_of(last.base + (last.bytes - 1)).value - page_of(kFirstBuffer).value + 1);
  }

  void wave(std::size_t launch, std::uint64_t group, std::uint32_t index, unsigned gpu = 0) {
    Stream stream = workload_.wavefront(launch, workload_.launches()[launch].wave(group, index, lanes_));
    ++census_.waves;
    for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
      census_.instructions += instructions(op);
      count(op, std::uint32_t{1} << gpu);
    }
  }

  void group(std::size_t launch, std::uint64_t id, unsigned gpu = 0) {
    for (std::uint32_t w = 0; w < workload_.launches()[launch].waves(lanes_); ++w) wave(launch, id, w, gpu);
  }

  const Census& census() const { return census_; }

 private:
  void count(const Op& op, std::uint32_t gpu) {
    switch (op.kind) {
      case OpKind::Barrier: ++census_.barriers; break;
      case OpKind::ScalarLoad:
        ++census_.scalar_loads;
        touch(page_of(VirtAddr{op.address}), gpu);
        break;
      case OpKind::Load:
      case OpKind::Store:
      case OpKind::Atomic: count_lanes(op, gpu); break;
      default: break;
    }
  }

  void count_lanes(const Op& op, std::uint32_t gpu) {
    ++(op.kind == OpKind::Load ? census_.loads : census_.stores);
    op.lanes(op.operation, lanes_, addresses_);
    std::uint64_t lines = 0;
    const auto groups = coalescer_.loads(addresses_, op.bytes);
    for (const PageGroup& each : groups) {
      lines += static_cast<std::uint64_t>(std::popcount(each.lines));
      touch(each.page, gpu);
    }
    census_.lines.add(lines);
    census_.pages.add(groups.size());
  }

  void touch(VirtPage page, std::uint32_t gpu) { census_.readers.at(page.value - page_of(kFirstBuffer).value) |= gpu; }

  const Workload& workload_;
  unsigned lanes_;
  Coalescer coalescer_;
  LaneAddresses addresses_;
  Census census_;
};

inline constexpr unsigned kCus = 64;

inline Census take_census(const Workload& workload, unsigned gpus = 1, unsigned lanes = 64, unsigned line_bytes = 64) {
  Counter counter(workload, lanes, line_bytes);
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      const Share share(launch, launch.split, gpu, gpus, kCus);
      for (std::uint64_t i = 0; i < share.size(); ++i) counter.group(l, share[i], gpu);
    }
  }
  return counter.census();
}

/// Counts of one wavefront alone.
inline Census take_wave(const Workload& workload, std::size_t launch = 0, std::uint64_t group = 0,
                        std::uint32_t index = 0, unsigned lanes = 64) {
  Counter counter(workload, lanes);
  counter.wave(launch, group, index);
  return counter.census();
}

inline std::uint64_t pages_touched(const Census& census) {
  return static_cast<std::uint64_t>(std::ranges::count_if(census.readers, [](std::uint32_t by) { return by != 0; }));
}

inline const Buffer& buffer(const Workload& workload, std::string_view name) {
  return *std::ranges::find(workload.buffers(), name, &Buffer::name);
}

inline std::uint64_t pages_of(const Buffer& buffer) { return (buffer.bytes + kPageBytes - 1) / kPageBytes; }

inline std::uint64_t pages_of(const Workload& workload) {
  std::uint64_t pages = 0;
  for (const Buffer& each : workload.buffers()) pages += pages_of(each);
  return pages;
}

/// How many pages of a buffer exactly `gpus` GPUs touch.
inline std::uint64_t pages_by(const Census& census, const Buffer& buffer, int gpus) {
  const auto first = static_cast<std::ptrdiff_t>(page_of(buffer.base).value - page_of(kFirstBuffer).value);
  const auto begin = census.readers.begin() + first;
  return static_cast<std::uint64_t>(std::count_if(begin, begin + static_cast<std::ptrdiff_t>(pages_of(buffer)),
                                                  [&](std::uint32_t by) { return std::popcount(by) == gpus; }));
}

/// Per cent of the touched pages, private tables left out, that exactly `gpus` GPUs touch.
inline double percent_by(const Workload& workload, const Census& census, int gpus) {
  std::uint64_t touched = 0, matching = 0;
  for (const Buffer& each : workload.buffers()) {
    if (each.placement == Placement::Private) continue;
    touched += pages_of(each) - pages_by(census, each, 0);
    matching += pages_by(census, each, gpus);
  }
  return 100.0 * static_cast<double>(matching) / static_cast<double>(touched);
}

/// What each item of a workgroup loads (+) and stores (-), in its order.
struct Touch {
  char how;
  VirtAddr at;
  bool operator==(const Touch&) const = default;
};
using Items = std::vector<std::vector<Touch>>;

inline Items touches(const Workload& workload, std::size_t l, std::uint64_t group, unsigned lanes = 64) {
  const Launch& launch = workload.launches()[l];
  Items items(launch.items());
  LaneAddresses addresses;
  for (std::uint32_t w = 0; w < launch.waves(lanes); ++w) {
    Stream stream = workload.wavefront(l, launch.wave(group, w, lanes));
    for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
      if (op.lanes == nullptr) continue;
      op.lanes(op.operation, lanes, addresses);
      addresses.expand();
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if ((addresses.active >> lane & 1) == 0) continue;
        items.at(w * lanes + lane).push_back({op.kind == OpKind::Load ? '+' : '-', VirtAddr{addresses.address[lane]}});
      }
    }
  }
  return items;
}

inline std::ostream& operator<<(std::ostream& out, const Touch& touch) { return out << touch.how << touch.at.value; }

inline std::shared_ptr<const Workload> make(std::string_view name, std::vector<ParameterSetting> settings = {},
                                            std::uint64_t seed = 1) {
  return make_workload(name, SizeClass::Small, settings, seed);
}

}  // namespace nearfar::testing
