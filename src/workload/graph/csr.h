// A sparse matrix, or directed graph, in compressed sparse rows: the one in-memory form for all graph workloads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nearfar {

struct Csr {
  std::vector<std::uint32_t> row{0};    ///< where each row begins in `col`; one more at the end
  std::vector<std::uint32_t> col;       ///< ascending within a row
  std::vector<std::uint32_t> weight{};  ///< of each edge; empty when they have none

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(row.size() - 1); }
  std::uint64_t edges() const { return col.size(); }
  std::uint32_t degree(std::uint32_t vertex) const { return row[vertex + 1] - row[vertex]; }
  std::span<const std::uint32_t> neighbours(std::uint32_t vertex) const {
    return {col.data() + row[vertex], degree(vertex)};
  }
};

/// Turns the degrees in row[1..n] into beginnings, and gives `col` its length.
void lay_out_rows(Csr& csr);

/// Sorts every row and keeps each column once. The edges must have no weights yet.
void sort_and_deduplicate(Csr& csr);

/// Adds (row, column) pairs, sorted by row, to the ends of their rows.
void append_to_rows(Csr& csr, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);

/// The graph with the reverse of every edge. The edges must have no weights yet.
Csr symmetrize(const Csr& graph);

/// The graph without edges from a vertex to itself. The edges must have no weights yet.
Csr without_self_loops(const Csr& graph);

}  // namespace nearfar
