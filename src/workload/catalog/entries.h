// What the catalogue and the files of its workloads know of each other: one pair of functions a workload.
//
// Kernels issue what the compiled kernels of the suites issue, in their order: vector and scalar arithmetic, loads,
// stores, waits, local memory, barriers. Loads of kernel arguments are counted as scalar instructions; a machine
// may make loads of some of them (program/kernel_arguments.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "program/workload.h"
#include "workload/catalog.h"

namespace nearfar {

/// A workload's parameters, complete: the size's values with the user's own laid over them, each within its range.
class Parameters {
 public:
  Parameters(std::string workload, std::vector<ParameterSetting> values, std::string input)
      : workload_(std::move(workload)), values_(std::move(values)), input_(std::move(input)) {}

  std::uint64_t operator[](std::string_view name) const;
  std::uint32_t u32(std::string_view name) const { return static_cast<std::uint32_t>((*this)[name]); }

  /// The user's own graph; empty when it is to be generated.
  const std::string& input() const { return input_; }

  /// Refuses a value that is impossible together with others: `expected` goes on after "but".
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, std::uint64_t nearest) const;

  /// The exponent of a value that must be a power of two.
  unsigned log2(std::string_view name, std::string_view expected = "must be a power of two") const;

 private:
  std::string workload_;
  std::vector<ParameterSetting> values_;
  std::string input_;
};

/// A parameter with a value for each size.
inline WorkloadParameter sized(std::string name, std::string sentence, const std::array<std::uint64_t, 3>& values,
                               std::uint64_t minimum, std::uint64_t maximum, std::uint64_t step = 1) {
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .small = values[0],
          .medium = values[1],
          .paper = values[2],
          .minimum = minimum,
          .maximum = maximum,
          .step = step};
}

/// A parameter with one value for all sizes.
inline WorkloadParameter constant(std::string name, std::string sentence, std::uint64_t value, std::uint64_t minimum,
                                  std::uint64_t maximum, std::uint64_t step = 1) {
  return sized(std::move(name), std::move(sentence), {value, value, value}, minimum, maximum, step);
}

/// Whether a program's host works on its data too, where the suite's own does.
inline WorkloadParameter host_parameter() {
  return constant("host",
                  "1: the host fills the buffers before the launches, works on them between launches as the sample "
                  "does, and reads the results; 0: the launches alone",
                  0, 0, 1);
}

/// A grid in one dimension that has room for `items`; the last workgroup may be partly idle.
inline Launch linear_launch(std::string kernel, std::uint64_t items, std::uint32_t group, Split split,
                            std::uint64_t local_bytes = 0) {
  return {.kernel = std::move(kernel),
          .groups_x = static_cast<std::uint32_t>((items + group - 1) / group),
          .size_x = group,
          .local_bytes = local_bytes,
          .split = split};
}

/// How many lanes of a wavefront have an item: a workgroup may be smaller than a wavefront, and a grid in one
/// dimension may end before its last workgroup does.
inline std::uint32_t live_lanes(const Wave& wave, std::uint64_t items = ~std::uint64_t{0}) {
  const std::uint64_t first = wave.item(0);
  if (first >= items) return 0;
  const std::uint64_t in_group = wave.size_x * wave.size_y - wave.local(0);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>({in_group, items - first, wave.lanes}));
}

/// A whole wavefront in rows of `width` lanes, as in a workgroup of that size.
constexpr Rows rows_of(std::uint32_t width, VirtAddr first, std::uint64_t pitch, std::uint32_t step) {
  return {.first = first, .lanes = width, .rows = kMaxLanes / width, .width = width, .step = step, .pitch = pitch};
}

/// One address for all of `lanes` lanes.
constexpr Rows everybody_at(VirtAddr address, std::uint32_t lanes = kMaxLanes) {
  return {.first = address, .lanes = lanes};
}

/// One element of the pair of each item, from item `first` on: pairs have their elements of 4 bytes `distance` apart,
/// a power of two, and element (t mod d) + 2d·(t div d) is the left one of item t's.
constexpr Rows pairs_of(VirtAddr array, std::uint64_t first, std::uint64_t distance, bool right) {
  const std::uint64_t left = (first & (distance - 1)) + 2 * (first & ~(distance - 1));
  const auto width = static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, kMaxLanes));
  return rows_of(width, array + 4 * (left + (right ? distance : 0)), 8 * distance, 4);
}

/// Whether any of the first `lanes` lanes takes part in a memory operation: a kernel branches around it if not.
template <class Address>
bool anybody(const LaneOp<Address>& operation, unsigned lanes) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (operation.address(lane) != kIdle) return true;
  }
  return false;
}

struct CatalogEntry {
  WorkloadInfo (*info)();
  std::shared_ptr<const Workload> (*make)(const Parameters& parameters, std::uint64_t seed);
};

/// Makes a workload from its parameters, and from the seed if its class wants that too.
template <class W>
std::shared_ptr<const Workload> construct(const Parameters& parameters, [[maybe_unused]] std::uint64_t seed) {
  if constexpr (std::is_constructible_v<W, const Parameters&, std::uint64_t>) {
    return std::make_shared<W>(parameters, seed);
  } else {
    return std::make_shared<W>(parameters);
  }
}

extern const CatalogEntry kAes, kAllGather, kAllReduce, kAllToAll, kAls, kAtax, kBackProp, kBellmanFord, kBfs, kBicg,
    kBs, kBsch, kC2d, kColor, kConv2d, kCt, kDct, kDecode, kDh, kDiffusion, kEqwp, kFft, kFir, kFw, kFwt, kGemm, kGemv,
    kGesummv, kHist, kHit, kHotspot, kIm2col, kJ2d, kJacobi, kKm, kLu, kLud, kMm, kMm2, kMm3, kMt, kMtw, kMvt, kNw,
    kPageRank, kPr, kPrefill, kRd, kReduceScatter, kRelu, kResNet18, kRs, kSc, kSc2, kSf, kSla, kSpmv, kSssp, kSt,
    kVgg16;

}  // namespace nearfar
