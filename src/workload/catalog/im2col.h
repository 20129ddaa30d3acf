// The unrolling of images that convolutions by matrix multiplication begin with (Im2col, Conv2d, networks).
#pragma once

#include <cstdint>

#include "workload/catalog/entries.h"

namespace nearfar {

/// Images in planes of floats (batch, channel, row, column) become a matrix: a row for every position in the kernel, a
/// column for every place where the kernel is laid.
struct Unrolling {
  struct Sizes {
    std::uint64_t batch = 0, channels = 0, side = 0, kernel = 0, pad = 0;
    std::uint64_t stride = 1, dilation = 1;  ///< pixels from a place to the next, from a position to the next
    std::uint64_t result_side = 0;           ///< places of the kernel along a side
  };

  std::uint32_t batch = 0, channels = 0, side = 0, kernel = 0, pad = 0, stride = 1, dilation = 1;

  std::uint64_t result_side = 0;        ///< places of the kernel along a side
  std::uint64_t rows = 0, columns = 0;  ///< of the matrix

  explicit Unrolling(const Parameters& parameters);
  explicit Unrolling(const Sizes& sizes);
  std::uint64_t input_floats() const { return std::uint64_t{batch} * channels * side * side; }
  Launch launch() const;
};

/// A wavefront's 8 columns × 8 rows. The shape must outlive the stream.
Stream unroll(const Unrolling& shape, VirtAddr input, VirtAddr output, const Wave& wave);

/// The parameters of an Unrolling, in the sizes of one workload.
std::vector<WorkloadParameter> unrolling_parameters(const std::array<std::uint64_t, 3>& batch,
                                                    const std::array<std::uint64_t, 3>& side);

}  // namespace nearfar
