// What the PolyBench kernels have in common. Their loops add into an element of global memory, and without `restrict`
// the compiler may keep the sum in a register but must store it in every step: products and walks do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "workload/catalog/entries.h"

namespace nearfar::polybench {

/// Kernels over matrices have workgroups of 32 columns × 8 rows: a wavefront is two rows of 32.
inline constexpr std::uint32_t kColumns = 32, kRows = 8;
/// Kernels over vectors.
inline constexpr std::uint32_t kGroup = 256;

/// How an item's sum begins.
enum class Start : std::uint8_t { Load, Zero };

/// The cells of a matrix that have an item: columns [left, right) of rows [top, bottom).
struct Cells {
  std::uint64_t left = 0, top = 0, right = 0, bottom = 0;
};

/// The patch of a matrix that a wavefront works on, and which of its cells have items.
struct Patch {
  std::uint64_t x = 0, y = 0;  ///< of lane 0
  std::uint32_t rows = 2;
  Cells cells;

  Patch(const Wave& wave, const Cells& those)
      : x(std::uint64_t{kColumns} * wave.group_x),
        y(std::uint64_t{kRows} * wave.group_y + wave.local(0) / kColumns),
        rows(wave.lanes / kColumns),
        cells(those) {}

  /// The lanes that have items, in rows: what is at `pitch * row + step * column` from `origin`, if not `empty()`.
  Rows lanes_at(VirtAddr origin, std::uint64_t pitch, std::uint32_t step) const {
    const std::uint64_t left = std::max(x, cells.left), right = std::min(x + kColumns, cells.right);
    const std::uint64_t top = std::max(y, cells.top), bottom = std::min(y + rows, cells.bottom);
    return {.first = origin + pitch * top + step * left,
            .lanes = static_cast<std::uint32_t>(right - left),
            .rows = static_cast<std::uint32_t>(bottom - top),
            .width = kColumns,
            .step = step,
            .pitch = pitch,
            .lane = static_cast<std::uint32_t>((top - y) * kColumns + left - x)};
  }
  bool empty() const {
    return x >= cells.right || x + kColumns <= cells.left || y >= cells.bottom || y + rows <= cells.top;
  }
};

/// A grid with an item for every cell of a matrix.
Launch matrix_launch(std::string kernel, std::uint64_t rows, std::uint64_t columns);
/// A grid with an item for every element of a vector. These grids have few workgroups, so they are split evenly: in
/// blocks of a GPU's compute units they would not reach the later GPUs.
Launch vector_launch(std::string kernel, std::uint64_t items, std::uint32_t group = kGroup);

/// A walk through a matrix: each item adds up one row, or one column, times a vector.
struct Walk {
  VirtAddr matrix{};
  std::uint64_t pitch = 0;  ///< elements in a row of the matrix
  VirtAddr vector{};
  std::uint64_t steps = 0;  ///< elements of the vector
  VirtAddr sum{};           ///< one for each item
  std::uint64_t items = 0;
  Start start = Start::Load;
  std::uint8_t bytes = 4;  ///< of an element
  VirtAddr addend{};       ///< added to the sums at the end, if there is one
};

/// Item i goes along row i: 64 lines a load, each used again in the next 15 steps.
Stream row_walk(const Walk& walk, const Wave& wave);
/// Item j goes down column j.
Stream column_walk(const Walk& walk, const Wave& wave);

/// The product of a (inner columns) and b (inner rows), added to c.
struct Product {
  VirtAddr a, b, c;
  std::uint64_t columns = 0, inner = 0;  ///< of b and c; of a
  Start start = Start::Load;
};
Stream product(Product matrices, Patch patch);

/// A window on a matrix: some of the rows of workgroups, evenly spread over all of them; 0 for all.
class Strips {
 public:
  Strips(std::uint64_t rows, std::uint64_t strips)
      : all_((rows + kRows - 1) / kRows), chosen_(strips == 0 || strips > all_ ? all_ : strips) {}

  Launch launch(std::string kernel, std::uint64_t columns) const;
  /// The wavefront with its row of workgroups moved to where the strip lies.
  Wave place(Wave wave) const {
    wave.group_y = static_cast<std::uint32_t>(wave.group_y * all_ / chosen_);
    return wave;
  }
  static WorkloadParameter parameter(std::uint64_t paper);

 private:
  std::uint64_t all_, chosen_;
};

/// Items in a workgroup of the kernels over vectors.
WorkloadParameter group_parameter();

}  // namespace nearfar::polybench
