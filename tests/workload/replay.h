// Carries out a replicated program on the CPU: who stores how much into whose copy, and with the arithmetic of its
// kernels given by a test, what all copies hold in the end.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "workload/census.h"

namespace nearfar::testing {

constexpr unsigned kWarp = 32;

/// Whose copy an address is in, and who runs a workgroup.
class RankMap {
 public:
  RankMap(const Workload& workload, std::uint64_t ranks) : workload_(workload), ranks_(ranks) {}

  std::uint64_t count() const { return ranks_; }
  const Buffer& buffer_at(VirtAddr address) const {
    const auto above = std::ranges::upper_bound(workload_.buffers(), address, {}, &Buffer::base);
    return *std::prev(above);
  }
  std::uint64_t owner(VirtAddr address) const {
    const Buffer& buffer = buffer_at(address);
    return (address.value - buffer.base.value) / (buffer.bytes / ranks_);
  }
  /// The copy that a rank has of a buffer.
  VirtAddr copy(std::string_view name, std::uint64_t rank) const {
    const Buffer& found = buffer(workload_, name);
    return found.base + found.bytes / ranks_ * rank;
  }
  std::uint64_t runs(std::size_t launch, std::uint64_t group) const {
    return group * ranks_ / workload_.launches()[launch].groups();
  }

 private:
  const Workload& workload_;
  std::uint64_t ranks_;
};

/// Stores of one launch from one rank into the copy of another, and the line accesses that stay at home.
struct Traffic {
  struct Pair {
    std::uint64_t transfers = 0, bytes = 0, small = 0, whole = 0;  ///< small: less than 32 bytes; whole: 128
    std::map<std::uint64_t, std::uint64_t> sizes;                  ///< transfers by their bytes
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Pair> pairs;
  std::uint64_t loaded_lines = 0, stored_lines = 0, foreign_loads = 0;

  Pair all() const {
    Pair sum;
    for (const auto& [ranks, pair] : pairs) {
      sum.transfers += pair.transfers;
      sum.bytes += pair.bytes;
      sum.small += pair.small;
      sum.whole += pair.whole;
      for (const auto& [size, times] : pair.sizes) sum.sizes[size] += times;
    }
    return sum;
  }
};

/// The bytes of one line that an instruction touches.
struct TouchedLine {
  std::uint64_t line;
  std::bitset<128> bytes;
};
inline std::vector<TouchedLine> lines_of(const LaneAddresses& lanes, unsigned bytes) {
  std::vector<TouchedLine> lines;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((lanes.active >> lane & 1) == 0) continue;
    const std::uint64_t first = lanes.address[lane];
    for (std::uint64_t at = first; at < first + bytes;) {
      const std::uint64_t end = std::min(first + bytes, at / 128 * 128 + 128);
      auto found = std::ranges::find(lines, at / 128, &TouchedLine::line);
      if (found == lines.end()) found = lines.insert(found, {at / 128, {}});
      for (; at < end; ++at) found->bytes.set(at % 128);
    }
  }
  return lines;
}

inline void add_instruction(const RankMap& ranks, std::uint64_t rank, const Op& op, LaneAddresses& lanes,
                            Traffic& traffic) {
  op.lanes(op.operation, kWarp, lanes);
  lanes.expand();
  for (const auto& [line, touched] : lines_of(lanes, op.bytes)) {
    const std::uint64_t owner = ranks.owner(VirtAddr{line * 128});
    if (op.kind == OpKind::Load) {
      ++traffic.loaded_lines;
      if (owner != rank) ++traffic.foreign_loads;
    } else if (owner == rank) {
      ++traffic.stored_lines;
    } else {
      const std::uint64_t bytes = touched.count();
      Traffic::Pair& pair = traffic.pairs[{rank, owner}];
      ++pair.transfers;
      pair.bytes += bytes;
      pair.small += bytes < 32 ? 1 : 0;
      pair.whole += bytes == 128 ? 1 : 0;
      ++pair.sizes[bytes];
    }
  }
}

inline Traffic traffic_of(const Workload& workload, std::uint64_t rank_count, std::size_t launch) {
  const RankMap ranks(workload, rank_count);
  const Launch& grid = workload.launches()[launch];
  Traffic traffic;
  LaneAddresses lanes;
  for (std::uint64_t group = 0; group < grid.groups(); ++group) {
    for (std::uint32_t w = 0; w < grid.waves(kWarp); ++w) {
      Stream stream = workload.wavefront(launch, grid.wave(group, w, kWarp));
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
        if (op.lanes != nullptr) add_instruction(ranks, ranks.runs(launch, group), op, lanes, traffic);
      }
    }
  }
  return traffic;
}

/// Bytes that the DMA copies.
inline std::uint64_t copied_bytes(const Workload& workload) {
  std::uint64_t bytes = 0;
  for (const Step& step : workload.steps()) {
    if (const Copy* copy = std::get_if<Copy>(&step)) bytes += copy->rows * copy->bytes;
  }
  return bytes;
}
inline std::size_t copies_of(const Workload& workload) {
  return static_cast<std::size_t>(
      std::ranges::count_if(workload.steps(), [](const Step& step) { return std::holds_alternative<Copy>(step); }));
}

/// What all copies hold, by the address of an element. A launch reads what was there before it.
class Memory {
 public:
  double operator[](VirtAddr at) const {
    const auto found = now_.find(at.value);
    return found == now_.end() ? 0 : found->second;
  }
  void set(VirtAddr at, double value) { now_[at.value] = value; }
  void write(VirtAddr at, double value) { written_[at.value] = value; }
  /// Of several values the least stays.
  void write_least(VirtAddr at, double value) {
    const auto [place, first] = written_.emplace(at.value, value);
    if (!first) place->second = std::min(place->second, value);
  }
  void commit() {
    for (const auto& [at, value] : written_) now_[at] = value;
    written_.clear();
  }
  void copy(const Copy& copy) {
    for (std::uint64_t row = 0; row < copy.rows; ++row) {
      for (std::uint64_t i = row * copy.pitch; i < row * copy.pitch + copy.bytes; i += 4) {
        if (const auto found = now_.find((*copy.from + i).value); found != now_.end()) {
          const double value = found->second;
          now_[(*copy.to + i).value] = value;
        }
      }
    }
  }

 private:
  std::unordered_map<std::uint64_t, double> now_, written_;
};

/// Runs all steps: `kernel(launch, group, items)` does what the items of a workgroup do, with Memory::write.
template <class Kernel>
void replay(const Workload& workload, Memory& memory, const Kernel& kernel) {
  for (const Step& step : workload.steps()) {
    if (const Copy* copy = std::get_if<Copy>(&step)) memory.copy(*copy);
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      for (std::uint64_t group = 0; group < workload.launches()[launch->launch].groups(); ++group) {
        kernel(launch->launch, group, touches(workload, launch->launch, group, kWarp));
      }
      memory.commit();
    }
  }
}

}  // namespace nearfar::testing
