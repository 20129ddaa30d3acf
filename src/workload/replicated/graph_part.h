// The rows of a sparse matrix that a rank has in its own memory: their bounds, columns and values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "workload/graph/csr.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {

/// Where the rows of a rank lie: each rank's begin with entry 0 of its own arrays.
struct RowArrays {
  Replicas row, col, val;
};

/// Entries of the rank that has most of them.
inline std::uint64_t most_entries(const Csr& matrix, const Parts& parts) {
  std::uint64_t most = 1;
  for (std::uint64_t rank = 0; rank < parts.ranks; ++rank) {
    const Interval own = parts.of(rank);
    most = std::max<std::uint64_t>(most, matrix.row[own.end] - matrix.row[own.begin]);
  }
  return most;
}

/// The place of an entry among those of the rank that has its row.
inline std::uint64_t own_entry(const Csr& matrix, const Parts& parts, std::uint64_t rank, std::uint64_t entry) {
  return entry - matrix.row[parts.of(rank).begin];
}

}  // namespace nearfar::replicated
