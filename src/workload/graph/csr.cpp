#include "workload/graph/csr.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>

namespace nearfar {

void lay_out_rows(Csr& csr) {
  std::uint64_t total = 0;
  for (std::uint32_t& begin : csr.row) begin = static_cast<std::uint32_t>(total += begin);
  assert(total <= std::numeric_limits<std::uint32_t>::max());
  csr.col.resize(total);
}

void sort_and_deduplicate(Csr& csr) {
  assert(csr.weight.empty());
  auto out = csr.col.begin();
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) {
    const auto begin = csr.col.begin() + csr.row[v];
    const auto end = csr.col.begin() + csr.row[v + 1];
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
    csr.row[v] = static_cast<std::uint32_t>(out - csr.col.begin());
    out = std::unique_copy(begin, end, out);
  }
  csr.row.back() = static_cast<std::uint32_t>(out - csr.col.begin());
  csr.col.erase(out, csr.col.end());
}

void append_to_rows(Csr& csr, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
  csr.col.resize(csr.col.size() + pairs.size());
  auto end = csr.col.end();
  for (std::uint32_t v = csr.vertices(); v-- > 0 && !pairs.empty();) {
    const auto old_begin = csr.col.begin() + csr.row[v];
    const auto old_end = csr.col.begin() + csr.row[v + 1];
    csr.row[v + 1] = static_cast<std::uint32_t>(end - csr.col.begin());
    while (!pairs.empty() && pairs.back().first == v) {
      *--end = pairs.back().second;
      pairs = pairs.first(pairs.size() - 1);
    }
    end = std::move_backward(old_begin, old_end, end);
  }
}

Csr symmetrize(const Csr& graph) {
  assert(graph.weight.empty());
  Csr both;
  both.row.resize(graph.row.size());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) both.row[v + std::size_t{1}] = graph.degree(v);
  for (const std::uint32_t to : graph.col) ++both.row[to + std::size_t{1}];
  lay_out_rows(both);
  std::vector<std::uint32_t> next(both.row.begin(), both.row.end() - 1);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (const std::uint32_t to : graph.neighbours(v)) {
      both.col[next[v]++] = to;
      both.col[next[to]++] = v;
    }
  }
  sort_and_deduplicate(both);
  return both;
}

Csr without_self_loops(const Csr& graph) {
  assert(graph.weight.empty());
  Csr out;
  out.row.reserve(graph.row.size());
  out.col.reserve(graph.col.size());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    std::ranges::remove_copy(graph.neighbours(v), std::back_inserter(out.col), v);
    out.row.push_back(static_cast<std::uint32_t>(out.col.size()));
  }
  return out;
}

}  // namespace nearfar
