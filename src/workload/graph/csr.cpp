#include "workload/graph/csr.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace nearfar {

void lay_out_rows(Csr& csr) {
  std::uint64_t total = 0;
  for (std::uint32_t& begin : csr.row) begin = static_cast<std::uint32_t>(total += begin);
  assert(total <= std::numeric_limits<std::uint32_t>::max());
  csr.col.resize(total);
}

void sort_and_deduplicate(Csr& csr) {
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

}  // namespace nearfar
